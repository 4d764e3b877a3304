//===- ShareKernels.h - which kernels the cores of a device share ----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "target/tpu/KeepNear.h"
#include "target/tpu/Program.h"

#include "llvm/ADT/StringMap.h"

namespace spokeshave::tpu {

/// Chooses, for the kernels in `module`, which ones all cores share: the ways of
/// sharing are tried on copies of the program, with what would stay in VMEM then, and
/// the one that takes the least time by an estimate is taken.
class ShareKernels {
public:
  ShareKernels(mlir::ModuleOp module, const Program &program, const kernel::StageOptions &stage,
               const std::optional<schedule::NearMemoryOptions> &near, int64_t cores);
  void choose();
  int64_t coresFor(kernel::FuncOp op) const;
  /// What HBM could move while the kernel works on its cores.
  int64_t bytesBeside(schedule::LaunchOp launch) const;

private:
  struct Work {
    double cycles = 0;    ///< on one core
    bool isAlone = false; ///< its blocks are those of one core
  };
  double cyclesOf(kernel::FuncOp op) const;
  int64_t coresFor(const Work &work) const;
  double estimate() const;

  mutable mlir::ModuleOp module; ///< accessors of operations are not const
  const Program &program;        ///< chip, timing, and what the kernels compute
  const kernel::StageOptions &stage;
  const std::optional<schedule::NearMemoryOptions> &near;
  int64_t cores;              ///< that may share
  llvm::StringMap<Work> work; ///< by the symbols of the module's kernels
  /// Kernels that take less on one core are not shared.
  double shortest = 0;
};

/// The kernel's symbol before copies of it were made for buffers in VMEM.
llvm::StringRef originOf(kernel::FuncOp op);

} // namespace spokeshave::tpu
