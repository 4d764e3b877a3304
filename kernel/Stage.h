//===- Stage.h - kernels for machines with an explicit near memory ---------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/KernelDialect.h"

namespace spokeshave::kernel {

struct StageOptions {
  int64_t nearBytes = 16 << 20; ///< that a kernel may use, scratch included
  int64_t buffers = 2;          ///< copies of a window: 1 does not overlap anything
  int64_t cores = 1;            ///< that may share a kernel's tasks
};

/// Rewrites `kernel` such that only transfers touch its buffers: loads and stores
/// go to scratch, which transfers fill and empty. Afterwards the kernel has one
/// task, a loop over the former tasks; or one for each of several cores, each over a
/// contiguous part of them, if what they write lies apart. A buffer of which a task uses a window
/// that moves with the task's number is transferred window by window, `buffers` deep, ahead of the
/// computation; another one is transferred as a whole.
///
/// A buffer with a near offset (kernel.func's near_offsets) is used where it is: each
/// core finds there what its part of the tasks touches. What that is of every buffer,
/// the kernel says in `core_parts`.
///
/// Fails with a diagnostic that names each buffer's need where the near memory
/// does not suffice.
mlir::LogicalResult stageBuffers(FuncOp kernel, const StageOptions &options);

/// What stageBuffers would need of the near memory.
struct StageNeed {
  int64_t scratch = 0;                  ///< bytes of the kernel's own
  llvm::SmallVector<int64_t> far, near; ///< more for each buffer, by where it lies
  /// The bytes [begin, end) of each buffer that each of the cores touches: all pairs
  /// of the first buffer, then of the next one.
  llvm::SmallVector<int64_t> parts;
  llvm::SmallVector<int64_t> moved; ///< the bytes of each part that are moved
  int64_t cores = 1;                ///< that have tasks
};
StageNeed stageNeed(FuncOp kernel, const StageOptions &options);

} // namespace spokeshave::kernel
