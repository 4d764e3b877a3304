//===- Lowering.h - fusions become kernels ---------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/KernelDialect.h"
#include "machine/Machine.h"
#include "schedule/ScheduleDialect.h"

#include "mlir/IR/BuiltinOps.h"

namespace mlir {
class DialectRegistry;
}

namespace spokeshave::kernel {

/// The dialects that kernels are written in.
void registerKernelDialects(mlir::DialectRegistry &registry);

/// Replaces `op` by a kernel.func of the same name. Its dialects are loaded.
mlir::FailureOr<FuncOp> lowerKernel(schedule::KernelOp op, const machine::Machine &machine);

/// Replaces each schedule.kernel of `module` by a kernel.func of the same name.
/// Afterwards the module holds no operation on tensors inside kernels. Fails,
/// with a diagnostic at the operation, on one that no kernel form supports.
mlir::LogicalResult lowerKernels(mlir::ModuleOp module, const machine::Machine &machine);

} // namespace spokeshave::kernel
