//===- Interpreter.h - the specification as an interpreter -----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The oracle: runs StableHLO programs as the specification defines them, one
// operation after another, for every operation and element type. It is what
// tests compare with and what constants are folded by; programs of users never
// run on it.
//
// Bad programs and bad arguments give errors located at the operation.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "reference/Tensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace spokeshave::reference {

struct Options {
  /// Stop with an error after so many operations; 0 means never.
  uint64_t stepLimit = 0;
  /// A function of the module to run; "main" if empty, or else the only one.
  std::string entry;
};

/// Runs the entry function of `module`.
llvm::Expected<llvm::SmallVector<Tensor>>
evaluate(mlir::ModuleOp module, llvm::ArrayRef<Tensor> arguments, const Options &options = {});

/// Runs one function.
mlir::FailureOr<llvm::SmallVector<Tensor>> evaluateFunction(mlir::func::FuncOp function,
                                                            llvm::ArrayRef<Tensor> arguments,
                                                            const Options &options = {});

/// Runs one operation, whose regions use no values from outside. Errors are
/// diagnostics at `op`.
mlir::FailureOr<llvm::SmallVector<Tensor>> evaluateOp(mlir::Operation *op,
                                                      llvm::ArrayRef<Tensor> operands);

/// Runs the same program on a grid of processes, in which collective operations
/// meet. `arguments[replica * partitions + partition]` are those of a process,
/// and so are the results.
llvm::Expected<llvm::SmallVector<llvm::SmallVector<Tensor>>>
evaluateGrid(mlir::ModuleOp module, int64_t replicas, int64_t partitions,
             llvm::ArrayRef<llvm::SmallVector<Tensor>> arguments, const Options &options = {});

} // namespace spokeshave::reference
