//===- Reader.h - portable bytecode as JAX sends it ------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A portable artifact is MLIR bytecode whose operations are those of VHLO, the
// versioned form of StableHLO. It is read here without MLIR's bytecode reader
// and without a VHLO dialect: by tables, straight into StableHLO.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Support/LLVM.h"

namespace spokeshave {

/// Whether `bytes` begin like MLIR bytecode.
bool isPortableBytecode(llvm::StringRef bytes);

/// Reads the program in `bytes`, which are no longer needed after that, without
/// verifying it. Errors become diagnostics of `context` at a byte of `name`.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
readPortableBytecode(llvm::StringRef bytes, mlir::MLIRContext *context,
                     llvm::StringRef name = "<bytecode>");

} // namespace spokeshave
