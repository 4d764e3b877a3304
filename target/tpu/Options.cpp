//===- Options.cpp - the options of a compilation for the chip --------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "target/tpu/Compile.h"

#include "support/Error.h"
#include "support/Flag.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace spokeshave;
using namespace spokeshave::tpu;

llvm::Error CompileOptions::set(llvm::StringRef name, llvm::StringRef value) {
  if (name == "buffers") {
    if (value.getAsInteger(10, buffers) || buffers < 1 || buffers > 8)
      return makeError(ErrorCode::BadOption,
                       "option buffers is a number from 1 to 8, not '" + value + "'");
    return llvm::Error::success();
  }
  if (name == "precision") {
    std::optional<stablehlo::Precision> named = stablehlo::symbolizePrecision(value.upper());
    if (!named)
      return makeError(ErrorCode::BadOption,
                       "option precision is default, high or highest, not '" + value + "'");
    precision = *named;
    return llvm::Error::success();
  }
  if (name == "hbm-limit") {
    if (value.getAsInteger(10, hbmLimit) || hbmLimit < 0)
      return makeError(ErrorCode::BadOption,
                       "option hbm-limit is a number of bytes, not '" + value + "'");
    return llvm::Error::success();
  }
  bool *option = llvm::StringSwitch<bool *>(name)
                     .Case("fusion", &fusion)
                     .Case("attention", &attention)
                     .Case("row-tiles", &rowTiles)
                     .Case("transcendentals", &transcendentals)
                     .Case("unrolling", &unrolling)
                     .Case("pipelining", &pipelining)
                     .Case("megacore", &megacore)
                     .Case("keep", &keep)
                     .Case("prefetch", &prefetch)
                     .Case("overlap", &overlap)
                     .Case("slice-stacks", &sliceStacks)
                     .Case("rematerialize", &rematerialize)
                     .Case("sliced-prefetch", &slicedPrefetch)
                     .Case("cross-program-prefetch", &crossProgramPrefetch)
                     .Case("verify-each-pass", &verifyEachPass)
                     .Default(nullptr);
  if (!option)
    return makeError(ErrorCode::BadOption,
                     "No such compile option of the chip: '" + name +
                         "'; there are attention, buffers, cross-program-prefetch, fusion, "
                         "hbm-limit, keep, megacore, overlap, pipelining, precision, prefetch, "
                         "rematerialize, row-tiles, slice-stacks, sliced-prefetch, "
                         "transcendentals, unrolling and verify-each-pass");
  return setFlag(*option, name, value);
}

uint64_t CompileOptions::hash() const {
  std::string key;
  llvm::raw_string_ostream(key) << verifyEachPass << fusion << overlap << attention << rowTiles
                                << transcendentals << megacore << unrolling << pipelining << keep
                                << prefetch << crossProgramPrefetch << slicedPrefetch << sliceStacks
                                << rematerialize << '|' << hbmLimit << '|' << buffers << '|'
                                << unsigned(precision);
  return llvm::xxh3_64bits(llvm::StringRef(key));
}
