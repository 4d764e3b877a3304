//===- NarrowFloats.h - floating-point types newer than MLIR ----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"

#include "input/NarrowDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "input/NarrowTypes.h.inc"

#include <optional>
#include <string>

namespace spokeshave::narrow {

/// Whether `type` is one of this dialect.
bool isNarrowFloat(mlir::Type type);
/// Its bits: 4, 6 or 8.
unsigned widthOf(mlir::Type type);

/// A constant from one byte per element.
mlir::DenseElementsAttr constantFromBytes(mlir::ShapedType type, llvm::ArrayRef<char> bytes);

/// StableHLO text in which these types have the form that MLIR's parser reads:
/// `tensor<4xf8E3M4>` becomes `tensor<4x!narrow.f8E3M4>`, and the elements of
/// constants become strings. Nothing if there is nothing to change.
std::optional<std::string> rewriteText(llvm::StringRef text);

} // namespace spokeshave::narrow
