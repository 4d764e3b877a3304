//===- Passes.h - every pass of every phase, for tools ----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Command-line tools name passes; the phases only know their own.
//
//===----------------------------------------------------------------------===//
#pragma once

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace spokeshave {

/// Registers the passes of every phase by their command-line names.
void registerAllPasses();

/// Registers the dialects of every phase, and those of MLIR that we lower to.
void registerAllDialects(mlir::DialectRegistry &registry);

} // namespace spokeshave
