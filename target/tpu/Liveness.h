//===- Liveness.h - where registers hold values that are read later ---------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "target/tpu/Isa.h"

#include "llvm/ADT/BitVector.h"

namespace spokeshave::tpu {

/// Virtual registers, by number; numbers are unique over all files.
struct Liveness {
  explicit Liveness(const Kernel &kernel);

  unsigned numRegisters = 0;
  std::vector<llvm::BitVector> liveIn, liveOut; ///< by block
};

/// A stretch of code in which a register is taken. Instruction i of the kernel reads
/// at 2 i and writes at 2 i + 1; both ends are taken.
struct Segment {
  int64_t begin = 0, end = 0;
};
struct Interval {
  Reg reg;
  std::vector<Segment> segments; ///< ascending, apart; between them nothing is kept
  int64_t begin() const { return segments.front().begin; }
  int64_t end() const { return segments.back().end; }
};

/// Of all registers, by their begins.
std::vector<Interval> findIntervals(const Kernel &kernel, const Liveness &liveness);

} // namespace spokeshave::tpu
