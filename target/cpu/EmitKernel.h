//===- EmitKernel.h - kernel.func to LLVM IR -------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/KernelDialect.h"
#include "machine/Machine.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <map>
#include <string>

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace spokeshave::cpu {

/// A loop that several kernels have becomes a function of the values that it
/// takes from outside. Constants and scratch memory it finds itself.
struct LoopFunction {
  std::string symbol;
  llvm::SmallVector<mlir::Value> captured;
};
using LoopFunctions = llvm::DenseMap<mlir::Operation *, LoopFunction>;

/// What functions call, by symbol: tiles of matrix products, and loops that are in
/// `shared`.
struct Callees {
  const LoopFunctions *shared = nullptr;
  std::map<std::string, kernel::TileDotOp> tiles;
  std::map<std::string, mlir::scf::ForOp> loops;
};

/// Adds to `module` the function of `kernel`'s symbol with the signature of
/// KernelFunction in Abi.h: a loop over tasks around the kernel's body. Nothing
/// in it calls a library. Fails, with a diagnostic at the operation, on an
/// operation that has no translation. With `callees`, some parts of it are calls of
/// the functions that are added there; else all is part of the function.
mlir::LogicalResult emitKernel(kernel::FuncOp kernel, llvm::Module &module,
                               const machine::Machine &machine, Callees *callees = nullptr);

/// Adds to `module` the function `symbol` of a register tile, as kernels call it.
void emitTileFunction(kernel::TileDotOp op, llvm::StringRef symbol, llvm::Module &module,
                      const machine::Machine &machine);

/// Adds to `module` the function of a loop, as kernels call it.
mlir::LogicalResult emitLoopFunction(mlir::scf::ForOp loop, const LoopFunction &info,
                                     llvm::Module &module, const machine::Machine &machine,
                                     Callees *callees);

/// The symbol of `kernel` in object code: its own, or what setObjectSymbol said.
llvm::StringRef objectSymbol(kernel::FuncOp kernel);
void setObjectSymbol(kernel::FuncOp kernel, llvm::StringRef symbol);

/// Gives a function the attributes that all generated code has: the processor,
/// the vector width, no unwinding.
void setFunctionAttributes(llvm::Function &function, const machine::Machine &machine);

/// The attribute of functions whose time goes by in those that they call: the code
/// generator may spend less on them.
inline constexpr llvm::StringLiteral kFrameAttribute = "spokeshave-frame";

} // namespace spokeshave::cpu
