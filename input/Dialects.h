//===- Dialects.h - the dialects that programs come in ----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One call makes a context ready to read programs: StableHLO, sdy, functions.
//
//===----------------------------------------------------------------------===//
#pragma once

namespace mlir {
class DialectRegistry;
class MLIRContext;
} // namespace mlir

namespace spokeshave {

/// Adds every dialect that may occur in an input program.
void registerInputDialects(mlir::DialectRegistry &registry);

/// Loads them into `context`.
void loadInputDialects(mlir::MLIRContext &context);

} // namespace spokeshave
