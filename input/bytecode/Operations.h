//===- Operations.h - the operations of portable bytecode ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "input/bytecode/Container.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace spokeshave::bytecode {

/// Builds the module of `container`; null after an error.
mlir::OwningOpRef<mlir::ModuleOp> readOperations(Input &input, const Container &container);

} // namespace spokeshave::bytecode
