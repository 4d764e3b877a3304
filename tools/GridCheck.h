//===- GridCheck.h - self-checking programs of several devices, compiled ----===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// interpreter.run_parallel runs a grid of programs. Each of them is compiled for a
// grid of that size, for the CPU or a simulated chip each, all run at once, and what
// stands around them in the function is interpreted: constants before, expectations
// after.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "reference/Tensor.h"
#include "runtime/Exchange.h"
#include "target/cpu/Compile.h"
#include "target/tpu/Compile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace spokeshave::tools {

/// Runs a compiled program as one device of a grid.
using GridProgram = std::function<llvm::Error(std::vector<reference::Tensor> &arguments,
                                              std::vector<reference::Tensor> &results,
                                              runtime::Exchange &exchange, int64_t device)>;
using GridCompiler =
    std::function<llvm::Expected<GridProgram>(mlir::OwningOpRef<mlir::ModuleOp> module)>;

GridCompiler gridOnCpu(const cpu::CompileOptions &options);
GridCompiler gridOnChips(const tpu::CompileOptions &options);

/// Does `function` run a grid?
bool runsGrid(mlir::func::FuncOp function);

/// Runs `function`, the grid's programs as code. An expectation that fails is an
/// Internal error.
llvm::Error runGridCheck(mlir::func::FuncOp function, const GridCompiler &compiler);

} // namespace spokeshave::tools
