//===- Precision.h - how precisely a product is asked for ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For units that multiply bf16. A float is the sum of parts in bf16, the largest
// first; a product of order n has the products of parts i and j with i + j <= n:
//
//   DEFAULT  order 0   1 product     8 bits of each factor
//   HIGH     order 1   3 products   16 bits, bf16_bf16_f32_x3
//   HIGHEST  order 2   6 products   24 bits, bf16_bf16_f32_x6
//            order 4   9 products   all of f32, bf16_bf16_f32_x9
//
//===----------------------------------------------------------------------===//
#pragma once

#include "input/StablehloOps.h"

namespace spokeshave::graph {

/// The order where it is not that of precision_config, as attribute of a product.
constexpr llvm::StringLiteral kProductOrder = "graph.product_order";

/// The order with so many products.
int64_t orderOfPasses(int64_t passes);
/// Of a dot_general or convolution.
int64_t productOrder(mlir::Operation *product);
/// Parts in bf16 that hold every bit of a float type up to f32: 2 of f16.
int64_t partsOf(mlir::Type element);
/// Whether a product of f32 and narrower floats needs more than one pass.
bool needsParts(mlir::Operation *product);

} // namespace spokeshave::graph
