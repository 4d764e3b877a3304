//===- EmitKernel.h - kernel.func to LLVM IR -------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/KernelDialect.h"
#include "machine/Machine.h"

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace spokeshave::cpu {

/// Adds to `module` the function of `kernel`'s symbol with the signature of
/// KernelFunction in Abi.h: a loop over tasks around the kernel's body. Nothing
/// in it calls a library. Fails, with a diagnostic at the operation, on an
/// operation that has no translation.
mlir::LogicalResult emitKernel(kernel::FuncOp kernel, llvm::Module &module,
                               const machine::Machine &machine);

/// Gives a function the attributes that all generated code has: the processor,
/// the vector width, no unwinding.
void setFunctionAttributes(llvm::Function &function, const machine::Machine &machine);

} // namespace spokeshave::cpu
