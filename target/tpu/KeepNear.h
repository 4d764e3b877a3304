//===- KeepNear.h - values in VMEM from kernel to kernel -------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/Stage.h"
#include "schedule/NearMemory.h"

#include "mlir/IR/BuiltinOps.h"

namespace spokeshave::tpu {

/// The cores of the device that may share a kernel.
using CoresOf = llvm::function_ref<int64_t(kernel::FuncOp)>;

/// Of the bytes that launches touch, the share that is likely to stay in VMEM, of which
/// `bytes` are for values.
double likelyNearShare(mlir::ModuleOp module, int64_t bytes);

/// Before kernels are lowered: tells those in `module` which of their buffers are likely
/// to stay in VMEM, of which `bytes` are for values (schedule::kExpectedNearAttr).
void expectNear(mlir::ModuleOp module, int64_t bytes);

/// Chooses what stays in VMEM between the launches of the program in `module` and
/// tells its kernels (near_offsets): one that is launched with buffers in different
/// places becomes several, each with an attribute `tpu.origin` that names the first.
/// `bytesBeside`: what HBM gives in the time that a launch works.
void keepNear(mlir::ModuleOp module, const kernel::StageOptions &stage,
              const schedule::NearMemoryOptions &options, CoresOf coresOf,
              llvm::function_ref<int64_t(schedule::LaunchOp)> bytesBeside);

} // namespace spokeshave::tpu
