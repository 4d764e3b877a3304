//===- DeviceRun.h - runs programs of several devices -----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "reference/Tensor.h"
#include "target/cpu/Compile.h"
#include "target/tpu/Compile.h"

#include "mlir/IR/BuiltinOps.h"

namespace spokeshave::tools {

/// For how many devices `module` is.
int64_t deviceCount(mlir::ModuleOp module);

/// Compiles `module` and runs it on all its devices at once. Arguments that the program
/// splits over devices are cut; others go to each device. Results are put together if
/// the program splits anything; else `results` are those of device 0, of device 1, ...
llvm::Error runOnDevices(mlir::OwningOpRef<mlir::ModuleOp> module,
                         const cpu::CompileOptions &options,
                         const std::vector<reference::Tensor> &arguments,
                         std::vector<reference::Tensor> &results);
/// The same on simulated chips, in a torus of the shape `chips` (torusFor); prints the
/// time of the first one.
llvm::Error runOnChips(mlir::OwningOpRef<mlir::ModuleOp> module, const tpu::CompileOptions &options,
                       llvm::StringRef chips, const std::vector<reference::Tensor> &arguments,
                       std::vector<reference::Tensor> &results);

} // namespace spokeshave::tools
