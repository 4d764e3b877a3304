//===- Loops.h - loops of one block that count ------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "target/tpu/Isa.h"

#include <optional>

namespace spokeshave::tpu {

/// A block that repeats itself while a counter is below a bound, and is entered only
/// from the block before it:
///
///     iv = iv + step;  again = iv < bound;  br.if again
///
/// It runs at least once.
struct CountedLoop {
  uint32_t block = 0;
  Reg counter, bound; ///< no register: the bound is `last`
  int64_t step = 1, last = 0;
  std::optional<int64_t> first;     ///< the counter's value at the start, if known
  std::optional<int64_t> trips;     ///< if known
  uint32_t compare = 0, branch = 0; ///< numbers of instructions
};

/// Nothing if the block is no such loop.
std::optional<CountedLoop> findCountedLoop(const Kernel &kernel, uint32_t block);

} // namespace spokeshave::tpu
