//===- Attention.h - two products around a softmax -------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// softmax(f(q k^T)) v, as programs write it:
//
//   products = dot_general(q, k)                  [.., rows, keys], or transposed
//   scores   = f(products, ...)                   elementwise: scale, mask, bias, cap
//   weights  = exp(scores - max over keys of scores)
//   result   = dot_general(weights / sum over keys of weights, v)
//
// or divided after the second product, with reshapes, transposes and conversions between. One
// description for the pass that makes fusions of it and for the kernel that computes them.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "input/StablehloOps.h"

#include <optional>

namespace spokeshave::graph {

struct Attention {
  stablehlo::DotGeneralOp products; ///< of queries and keys
  stablehlo::DotGeneralOp mix;      ///< of weights and values
  mlir::Value result;               ///< of mix, or of the division behind it
  mlir::Value scores;               ///< whose maximum along the keys is subtracted
  mlir::Value weights;              ///< exp(scores - maximum)
  stablehlo::ReduceOp maximum, sum;
  bool weightsAreLeft = true; ///< of mix
  bool keysAreColumns = true; ///< of products
  int64_t keyDim = 0;         ///< of `scores`
  /// What is computed from the products, or for the weights from their maximum and
  /// sum, up to the operand of `mix`: nothing of it may be read elsewhere.
  llvm::SmallVector<mlir::Operation *> inner;
  /// The value on the way from the products to `scores` that each value is made of.
  llvm::DenseMap<mlir::Value, mlir::Value> source;

  int64_t keys() const {
    return mlir::cast<mlir::RankedTensorType>(scores.getType()).getDimSize(keyDim);
  }
  int64_t depth() const {
    stablehlo::DotGeneralOp op = products;
    return mlir::cast<mlir::RankedTensorType>(op.getLhs().getType()).getShape().back();
  }
};

/// Whether `mix`, a product in normal form, ends an attention; its parts. The
/// element types are f32, bf16 and f16, all parts stand in the block of `mix`.
std::optional<Attention> matchAttention(stablehlo::DotGeneralOp mix);

/// The value of which `value` is a view or a transpose.
mlir::Value withoutMoves(mlir::Value value);

/// How far keys are hidden behind a row: select(row + offset >= key, scores, low),
/// where a row of the mask is dimension `rowDim` of `scores`, and `low` is so low
/// that the weight of a hidden key is 0 wherever another one is seen.
struct CausalMask {
  int64_t rowDim, offset;
  mlir::Value compare;     ///< row + offset >= key, of a shape of its own
  bool isAlone = true;     ///< nothing else hides keys
  mlir::Value select = {}; ///< of the scores
};
std::optional<CausalMask> causalMaskOf(const Attention &attention);

} // namespace spokeshave::graph
