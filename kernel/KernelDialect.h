//===- KernelDialect.h - the kernel dialect --------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one kernel does to memory: loads and stores of register tiles, scratch,
// tables. Declared in KernelOps.td.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "kernel/KernelDialect.h.inc"

#define GET_OP_CLASSES
#include "kernel/KernelOps.h.inc"

namespace spokeshave::kernel {

/// Of a kernel: how many cores its tasks are planned for.
inline constexpr llvm::StringLiteral kCoresAttr = "kernel.cores";
/// Of a conversion to f16: it rounds the sums of a product; true: of several tasks.
inline constexpr llvm::StringLiteral kOfProductAttr = "kernel.of_product";

} // namespace spokeshave::kernel
