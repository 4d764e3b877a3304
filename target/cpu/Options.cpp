//===- Options.cpp - the options of a compilation --------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "target/cpu/Compile.h"

#include "machine/Machine.h"
#include "support/Error.h"

#include "llvm/Support/xxhash.h"

using namespace spokeshave;
using namespace spokeshave::cpu;

static llvm::Error setBool(bool &option, llvm::StringRef name, llvm::StringRef value) {
  std::optional<bool> parsed = llvm::StringSwitch<std::optional<bool>>(value.lower())
                                   .Cases("1", "true", "on", "yes", true)
                                   .Cases("0", "false", "off", "no", false)
                                   .Default(std::nullopt);
  if (!parsed)
    return makeError(ErrorCode::BadOption,
                     "option " + name + " is true or false, not '" + value + "'");
  option = *parsed;
  return llvm::Error::success();
}

llvm::Error CompileOptions::set(llvm::StringRef name, llvm::StringRef value) {
  if (name == "isa") {
    llvm::Expected<machine::Machine> described = machine::describe(value);
    if (!described)
      return described.takeError();
    isa = value.str();
    return llvm::Error::success();
  }
  if (name == "threads") {
    int parsed = 0;
    if (value.getAsInteger(10, parsed) || parsed < 0 || parsed > 4096)
      return makeError(ErrorCode::BadOption,
                       "option threads is a number from 0 to 4096, not '" + value + "'");
    threads = parsed;
    return llvm::Error::success();
  }
  if (name == "verify-each-pass")
    return setBool(verifyEachPass, name, value);
  if (name == "fusion")
    return setBool(fusion, name, value);
  if (name == "share-kernels")
    return setBool(shareKernels, name, value);
  if (name == "attention")
    return setBool(attention, name, value);
  return makeError(ErrorCode::BadOption,
                   "No such compile option: '" + name +
                       "'; there are isa, threads, verify-each-pass, fusion, attention and "
                       "share-kernels");
}

uint64_t CompileOptions::hash() const {
  std::string key;
  llvm::raw_string_ostream(key) << isa << '|' << threads << '|' << verifyEachPass << '|' << fusion
                                << '|' << shareKernels << '|' << attention;
  return llvm::xxh3_64bits(llvm::StringRef(key));
}
