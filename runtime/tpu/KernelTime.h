//===- KernelTime.h - what the launches of a kernel took -------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "target/tpu/Program.h"

namespace spokeshave::runtime::tpu {

/// What one launch took, and why. Cycles of the core's clock.
struct KernelTime {
  int64_t cycles = 0;
  int64_t coreCycles = 0;  ///< the same, of all cores that took part
  int64_t dmaStall = 0;    ///< of these: waiting for transfers
  int64_t matrixStall = 0; ///< of these: waiting for the queues of matrix units
  int64_t bundles = 0;
  std::array<int64_t, spokeshave::tpu::kNumUnits> busy{}; ///< slot-cycles used, by unit
  int64_t hbmBytes = 0, transfers = 0;

  double cores() const { // on average over the launches
    return cycles ? double(coreCycles) / double(cycles) : 1;
  }
  KernelTime &operator+=(const KernelTime &other);
  bool operator==(const KernelTime &) const = default;
};

} // namespace spokeshave::runtime::tpu
