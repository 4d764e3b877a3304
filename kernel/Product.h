//===- Product.h - what the lowerings of matrix products share -------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How products are summed, and what their fusions do with a finished sum.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/LowerFusion.h"
#include "kernel/MatrixPlan.h"

namespace spokeshave::kernel {

/// The type in which the products are summed: f32 for all narrow floats,
/// integers of at least 32 bits.
mlir::Type accumulatorType(mlir::Operation *product);
/// A factor in that type. `isUnsigned` is of the operand's element type.
Num widened(Num value, mlir::Type accumulator, bool isUnsigned);
/// A sum as what registers hold for the product's element type.
Num finishedSum(Num sum, mlir::Type element);

/// Parts in bf16 of the factors of a product of floats, on a machine with matrix units:
/// those of tile_dot.
struct ProductParts {
  int64_t left = 1, right = 1, order = 0;
  int64_t passes() const;
  void set(TileDotOp dot) const;
};
ProductParts partsOf(const MatrixProblem &problem, const machine::Machine &machine);

/// From a position in `from` to the one in `to`, which `from` reaches through
/// reshapes and transposes: for results that are not laid out like the product.
std::optional<Position> followProduct(IndexSpace &space, mlir::Value from, mlir::Value to,
                                      Position position);

/// Writes the fusion's results at a row and column of the product, in the present
/// tile. The product itself is bound by the caller.
mlir::LogicalResult emitProductOutputs(FusionLowering &lowering, ElementEmitter &emitter,
                                       MatrixProblem &problem, const Index &batch, const Index &row,
                                       const Index &column);

/// Whether the product is that of a matrix and a few vectors whose elements along
/// the depth lie beside each other: lowerMatvec reads each of them once.
bool isMatvec(MatrixProblem &problem, ElementEmitter &emitter);
/// Whether its transpose, of swapped operands, is such a product, or one whose
/// matrix has rows beside each other for the lanes.
bool shouldSwap(MatrixProblem &problem, ElementEmitter &emitter);
mlir::LogicalResult lowerMatvec(FusionLowering &lowering, MatrixProblem &problem,
                                ElementEmitter &emitter);
/// Whether lhs is a few vectors and rhs a large matrix that lies in memory with its
/// columns beside each other: lowerVecmat reads it where it lies.
bool isVecmat(MatrixProblem &problem, ElementEmitter &emitter);
mlir::LogicalResult lowerVecmat(FusionLowering &lowering, MatrixProblem &problem,
                                ElementEmitter &emitter);

} // namespace spokeshave::kernel
