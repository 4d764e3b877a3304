//===- ExpandChlo.h - chlo becomes StableHLO --------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LogicalResult.h"

namespace spokeshave::chlo {

/// Replaces every operation of the dialect chlo in `module`. erf, erfc and top_k
/// become composites, which later phases know by name; the others what they mean.
/// Afterwards the module holds no chlo. Fails at an operation on types that it is
/// not defined for.
mlir::LogicalResult expand(mlir::ModuleOp module);

} // namespace spokeshave::chlo
