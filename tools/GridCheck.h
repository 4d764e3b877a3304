//===- GridCheck.h - self-checking programs of several devices, compiled ----===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// interpreter.run_parallel runs a grid of programs. Each of them is compiled for a
// grid of that size, all run at once, and what stands around them in the function
// is interpreted: constants before, expectations after.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "target/cpu/Compile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace spokeshave::tools {

/// Does `function` run a grid?
bool runsGrid(mlir::func::FuncOp function);

/// Runs `function`, the grid's programs as code. An expectation that fails is an
/// Internal error.
llvm::Error runGridCheck(mlir::func::FuncOp function, const cpu::CompileOptions &options);

} // namespace spokeshave::tools
