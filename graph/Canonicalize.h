//===- Canonicalize.h - families of rewrites -------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each rewrite goes one way and keeps every bit of every result, NaN, infinity
// and signed zero included.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace spokeshave::graph {

/// Reshapes, transposes, broadcasts: CanonicalizeShapes.cpp.
void populateShapeRewrites(mlir::RewritePatternSet &patterns);
/// Slices, pads, concatenations, dynamic slices and updates: CanonicalizeSlices.cpp.
void populateSliceRewrites(mlir::RewritePatternSet &patterns);
/// Operations with sizes as operands: CanonicalizeDynamic.cpp.
void populateDynamicRewrites(mlir::RewritePatternSet &patterns);
/// Arithmetic, selects, comparisons, conversions: CanonicalizeValues.cpp.
void populateValueRewrites(mlir::RewritePatternSet &patterns);

} // namespace spokeshave::graph
