//===- Options.cpp - the options of a compilation --------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "target/cpu/Compile.h"

#include "machine/Machine.h"
#include "support/Error.h"
#include "support/Flag.h"

#include "llvm/Support/xxhash.h"

using namespace spokeshave;
using namespace spokeshave::cpu;

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
    return setFlag(verifyEachPass, name, value);
  if (name == "fusion")
    return setFlag(fusion, name, value);
  if (name == "share-kernels")
    return setFlag(shareKernels, name, value);
  if (name == "attention")
    return setFlag(attention, name, value);
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
