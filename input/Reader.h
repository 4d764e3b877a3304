//===- Reader.h - programs as text or bytecode -----------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Support/LLVM.h"

namespace spokeshave {

/// Reads a program, whichever of StableHLO text and portable bytecode it is, and
/// verifies it. `name` stands for it in messages. Null after an error, which is
/// then a diagnostic of `context`. `bytesOrText` is no longer needed after that.
mlir::OwningOpRef<mlir::ModuleOp> readProgram(llvm::StringRef bytesOrText, llvm::StringRef name,
                                              mlir::MLIRContext *context);

} // namespace spokeshave
