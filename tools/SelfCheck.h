//===- SelfCheck.h - programs that check themselves, compiled ---------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A self-checking function computes on constants and holds check.expect_*
// operations, which are made for an interpreter. To run it as code it is cut in
// two: what it computes becomes a program @main, whose arguments are the
// constants (or folding would compute it all at compile time) and whose results
// are what the expectations look at; the expectations are then tested on these.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "reference/Tensor.h"
#include "target/cpu/Compile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace spokeshave::tools {

struct SelfCheck {
  /// The computation: @main, ready to compile.
  mlir::OwningOpRef<mlir::ModuleOp> program;
  std::vector<reference::Tensor> arguments;
  /// Where the expectations live.
  mlir::OwningOpRef<mlir::ModuleOp> expectations;
  struct Expectation {
    mlir::Operation *op;
    llvm::SmallVector<unsigned> results; ///< of @main, one per operand
  };
  llvm::SmallVector<Expectation> list;
};

/// The functions of `module` that check themselves: main of it and of modules
/// within, or else the public functions without arguments.
llvm::SmallVector<mlir::func::FuncOp> selfCheckingFunctions(mlir::ModuleOp module);

/// Inlines calls and removes what only an interpreter does but grids, so that
/// computation and expectations stand in the one block of `function`.
/// UnsupportedProgram where an interpreter is needed within a region.
llvm::Error makePlain(mlir::func::FuncOp function);
/// The same, and makes `function` the program @main of its `module`.
llvm::Error makeMain(mlir::ModuleOp module, mlir::func::FuncOp function);

/// Cuts `function` in two. UnsupportedProgram where it needs an interpreter:
/// probes or expectations within regions.
llvm::Expected<SelfCheck> cutSelfCheck(mlir::func::FuncOp function);

/// Compiles a program and runs it on arguments, filling results of its types.
using ProgramRunner = llvm::function_ref<llvm::Error(mlir::OwningOpRef<mlir::ModuleOp> program,
                                                     std::vector<reference::Tensor> &arguments,
                                                     std::vector<reference::Tensor> &results)>;

/// Runs the computation and tests the expectations. One that fails is an Internal
/// error.
llvm::Error runSelfCheck(SelfCheck check, ProgramRunner run);
/// On this machine's processor.
llvm::Error runOnCpu(mlir::OwningOpRef<mlir::ModuleOp> program, const cpu::CompileOptions &options,
                     std::vector<reference::Tensor> &arguments,
                     std::vector<reference::Tensor> &results);

} // namespace spokeshave::tools
