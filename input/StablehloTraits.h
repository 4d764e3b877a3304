//===- StablehloTraits.h - traits and type predicates of StableHLO ----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// "Compatible" is the specification's equality of types, widened by what programs
// with dynamic dimensions need: a dynamic dimension matches any size, and of
// quantized types only the expressed type counts.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

namespace spokeshave::stablehlo {

/// A float type of the specification (no f80, f128, tf32).
bool isFloatElement(::mlir::Type type);
/// Of all dimensions one is dynamic, and its encoding has a bound for it.
bool hasSingleBoundedDimension(::mlir::Type type);

/// A quantized type whose scales and zero points fit the types it is made of.
bool isValidQuantizedElement(::mlir::Type type);
/// Per-axis scales belong to a dimension that exists and has their number.
bool hasValidQuantizedDimension(::mlir::Type type);

/// The same element type, or quantized with the same expressed type.
bool areCompatibleElementTypes(::mlir::Type a, ::mlir::Type b);
/// The same type up to dynamic dimensions, bounds and quantization.
bool areCompatibleTypes(::mlir::Type a, ::mlir::Type b);
bool areCompatibleTypes(::mlir::TypeRange a, ::mlir::TypeRange b);

namespace detail {
::llvm::LogicalResult verifyElementTypes(::mlir::Operation *op, ::mlir::TypeRange types);
::llvm::LogicalResult verifySameShape(::mlir::Operation *op);
::llvm::LogicalResult verifySameTypes(::mlir::Operation *op, ::mlir::TypeRange types);
::llvm::LogicalResult verifyPairwise(::mlir::Operation *op, bool elementsOnly);
::llvm::SmallVector<::mlir::Type> operandsAndResults(::mlir::Operation *op);
} // namespace detail

namespace OpTrait {

template <typename Op> struct SameShape : ::mlir::OpTrait::TraitBase<Op, SameShape> {
  static ::llvm::LogicalResult verifyTrait(::mlir::Operation *op) {
    return detail::verifySameShape(op);
  }
};

template <typename Op>
struct CompatibleElementTypes : ::mlir::OpTrait::TraitBase<Op, CompatibleElementTypes> {
  static ::llvm::LogicalResult verifyTrait(::mlir::Operation *op) {
    return detail::verifyElementTypes(op, detail::operandsAndResults(op));
  }
};

template <typename Op>
struct CompatibleOperandElementTypes
    : ::mlir::OpTrait::TraitBase<Op, CompatibleOperandElementTypes> {
  static ::llvm::LogicalResult verifyTrait(::mlir::Operation *op) {
    return detail::verifyElementTypes(op, op->getOperandTypes());
  }
};

template <typename Op> struct CompatibleTypes : ::mlir::OpTrait::TraitBase<Op, CompatibleTypes> {
  static ::llvm::LogicalResult verifyTrait(::mlir::Operation *op) {
    return detail::verifySameTypes(op, detail::operandsAndResults(op));
  }
  static ::llvm::LogicalResult inferReturnTypes(::mlir::MLIRContext *,
                                                std::optional<::mlir::Location>,
                                                ::mlir::ValueRange operands, ::mlir::DictionaryAttr,
                                                ::mlir::OpaqueProperties, ::mlir::RegionRange,
                                                ::llvm::SmallVectorImpl<::mlir::Type> &types) {
    if (operands.empty())
      return ::mlir::failure();
    types.push_back(operands.front().getType());
    return ::mlir::success();
  }
};

template <typename Op> struct PairwiseSameType : ::mlir::OpTrait::TraitBase<Op, PairwiseSameType> {
  static ::llvm::LogicalResult verifyTrait(::mlir::Operation *op) {
    return detail::verifyPairwise(op, /*elementsOnly=*/false);
  }
  static ::llvm::LogicalResult inferReturnTypes(::mlir::MLIRContext *,
                                                std::optional<::mlir::Location>,
                                                ::mlir::ValueRange operands, ::mlir::DictionaryAttr,
                                                ::mlir::OpaqueProperties, ::mlir::RegionRange,
                                                ::llvm::SmallVectorImpl<::mlir::Type> &types) {
    ::llvm::append_range(types, operands.getTypes());
    return ::mlir::success();
  }
};

template <typename Op>
struct PairwiseSameElementType : ::mlir::OpTrait::TraitBase<Op, PairwiseSameElementType> {
  static ::llvm::LogicalResult verifyTrait(::mlir::Operation *op) {
    return detail::verifyPairwise(op, /*elementsOnly=*/true);
  }
};

} // namespace OpTrait
} // namespace spokeshave::stablehlo
