//===- Trace.h - what a simulated chip did when ----------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collected while a program is simulated; times are cycles since its begin.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/tpu/KernelTime.h"

namespace spokeshave::runtime::tpu {

/// Kernel `kernel` of the program from `begin` to `end`, its launch included.
struct LaunchSlice {
  uint32_t kernel = 0;
  int64_t begin = 0, end = 0;
  KernelTime time;
};

/// A block of a kernel, so many times in a row.
struct BlockSlice {
  int32_t core = 0;
  uint32_t kernel = 0, block = 0;
  int64_t begin = 0, end = 0, trips = 1;
};

/// Bytes in flight: from the descriptor's start until the semaphore is raised.
struct TransferSlice {
  int32_t core = 0;
  int64_t kernel = -1; ///< -1: a step of the program started it
  int64_t begin = 0, end = 0, bytes = 0;
  bool toVmem = true;
  uint32_t location = 0; ///< of Kernel::locations; of a step's: its semaphore
};

/// A step that is no launch. Collectives run beside others.
struct StepSlice {
  enum class Kind : uint8_t { Copy, Wait, Meeting, Collective } kind = Kind::Copy;
  int64_t begin = 0, end = 0, bytes = 0;
  std::string location;
  uint32_t collective = 0; ///< of Program::collectives
};

struct Trace {
  /// Blocks and transfers of a kernel's launch; of launches that repeat earlier ones
  /// there are none, and of long ones the first so many.
  size_t mostDetails = 2000;
  size_t mostLaunches = 200'000; ///< later ones are counted in `dropped`

  std::vector<LaunchSlice> launches;
  std::vector<BlockSlice> blocks;
  std::vector<TransferSlice> transfers;
  std::vector<StepSlice> steps;
  int64_t dropped = 0;

  void clear() {
    launches.clear(), blocks.clear(), transfers.clear(), steps.clear();
    dropped = 0;
  }
};

} // namespace spokeshave::runtime::tpu
