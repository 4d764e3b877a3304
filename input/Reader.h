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
#include "llvm/Support/Error.h"

namespace spokeshave {

/// Reads a program, whichever of StableHLO text and portable bytecode it is, and
/// verifies it. What it has of the dialect chlo becomes StableHLO. `name` stands for it in
/// messages. Null after an error, which is then a diagnostic of `context`. `bytesOrText` is no
/// longer needed after that.
mlir::OwningOpRef<mlir::ModuleOp> readProgram(llvm::StringRef bytesOrText, llvm::StringRef name,
                                              mlir::MLIRContext *context);

/// The same with an error that tells what cannot be read (MalformedProgram) from
/// what breaks a rule of the specification (InvalidProgram), or has operations of
/// chlo on types that they are not defined for (UnsupportedProgram).
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
readValidProgram(llvm::StringRef bytesOrText, llvm::StringRef name, mlir::MLIRContext &context);

} // namespace spokeshave
