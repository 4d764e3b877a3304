//===- CheckOps.h - the dialects of test programs --------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"

#include "reference/CheckDialect.h.inc"
#include "reference/InterpreterDialect.h.inc"

#define GET_OP_CLASSES
#include "reference/CheckOps.h.inc"

namespace spokeshave::reference {

/// Adds the dialects `check` and `interpreter`.
void registerCheckDialects(mlir::DialectRegistry &registry);

} // namespace spokeshave::reference
