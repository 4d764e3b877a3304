//===- MatrixPlan.h - a dot_general as (batch, m, k) x (batch, k, n) -------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the lowerings of matrix products. Groups of dimensions count as one:
// a position is given by four numbers, and worked out per operand from them.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "input/StablehloOps.h"
#include "kernel/Elements.h"

#include <optional>

namespace spokeshave::kernel {

/// The dimensions of a dot_general in four groups, and their extents.
class MatrixView {
public:
  explicit MatrixView(stablehlo::DotGeneralOp dot);

  int64_t batch = 1, m = 1, n = 1, k = 1;

  Position lhs(IndexSpace &space, const Index &b, const Index &m, const Index &k) const;
  Position rhs(IndexSpace &space, const Index &b, const Index &k, const Index &n) const;
  Position result(IndexSpace &space, const Index &b, const Index &m, const Index &n) const;

  /// Of the batch's dimensions, outermost first.
  llvm::ArrayRef<int64_t> batchExtents() const { return lhsBatch.extents; }

private:
  struct Group {
    llvm::SmallVector<int64_t> dims, extents;
  };
  static int64_t addGroup(Group &group, mlir::Value operand, llvm::ArrayRef<int64_t> dims);
  static void place(IndexSpace &space, const Group &group, const Index &index, Position &position);

  Group lhsBatch, lhsFree, lhsDepth, rhsBatch, rhsFree, rhsDepth;
};

/// An operand that lies in an input buffer such that one step along each of two
/// variables is a constant number of elements.
struct DirectRead {
  mlir::Value buffer;
  Index origin;                      ///< element number where both variables are zero
  int64_t firstStride, secondStride; ///< per step of the first and the second variable
};

/// Elements from one step of a variable to the next.
struct Strides {
  int64_t first, second;
};

/// What the lowering of matrix products needs to know of the operation.
class MatrixProblem {
public:
  virtual ~MatrixProblem() = default;
  int64_t batch = 1, m = 1, n = 1, k = 1;
  /// The innermost part of k along which lhs is packed: a divisor of k.
  int64_t depthRow = 1;
  llvm::SmallVector<int64_t> batchExtents; ///< the batch as dimensions, outermost first
  mlir::Operation *op = nullptr;           ///< its one result is the product
  mlir::Value left, right;                 ///< tensors whose elements lhs and rhs give

  virtual mlir::FailureOr<Element> lhs(ElementEmitter &emitter, const Index &b, const Index &row,
                                       const Index &depth) = 0;
  virtual mlir::FailureOr<Element> rhs(ElementEmitter &emitter, const Index &b, const Index &depth,
                                       const Index &column) = 0;
  virtual Position result(IndexSpace &space, const Index &b, const Index &row,
                          const Index &column) = 0;
  /// The positions in `left` and `right` of these elements, where all of them are.
  virtual std::optional<Position> lhsAt(IndexSpace &space, const Index &b, const Index &row,
                                        const Index &depth) {
    return {};
  }
  virtual std::optional<Position> rhsAt(IndexSpace &space, const Index &b, const Index &depth,
                                        const Index &column) {
    return {};
  }
  /// Where lhs lies for (row, depth), rhs for (column, depth), if in place.
  virtual std::optional<DirectRead> directLhs(ElementEmitter &emitter, const Index &b) {
    return {};
  }
  virtual std::optional<DirectRead> directRhs(ElementEmitter &emitter, const Index &b) {
    return {};
  }
  /// How lhs lies along (row, depth), rhs along (column, depth), also beneath
  /// elementwise work.
  virtual std::optional<Strides> lhsStrides(ElementEmitter &emitter) { return {}; }
  virtual std::optional<Strides> rhsStrides(ElementEmitter &emitter) { return {}; }
};

std::unique_ptr<MatrixProblem> matrixOf(stablehlo::DotGeneralOp dot);
/// Of a convolution that isMatrixConvolution picks: rows are places of the result,
/// the depth is the window and the input features.
std::unique_ptr<MatrixProblem> matrixOf(stablehlo::ConvolutionOp convolution, int64_t lanes);

/// The transposed product: rhs's transpose times lhs's.
std::unique_ptr<MatrixProblem> swapped(std::unique_ptr<MatrixProblem> problem);

/// One step from a position in the result of a data movement to one in its
/// operand; null for anything that is not a pure movement.
mlir::Value stepThrough(ElementEmitter &emitter, mlir::Operation *op, Position &position);

/// The same product with rows in `extent` parts, a divisor of m, which are a dimension
/// of the batch.
std::unique_ptr<MatrixProblem> hoisted(std::unique_ptr<MatrixProblem> problem, int64_t extent);

/// Follows `value` at `position` through operations that only move data to an
/// input of the fusion. `first` and `second` are variables within `position`.
/// Nothing, where the element is computed, converted, or not affine in them.
std::optional<DirectRead> resolveDirect(ElementEmitter &emitter, mlir::Value value,
                                        const Position &position, mlir::Value first,
                                        mlir::Value second);
/// The same for the largest of the inputs beneath elementwise work and movement.
std::optional<Strides> resolveStrides(ElementEmitter &emitter, mlir::Value value,
                                      const Position &position, mlir::Value first,
                                      mlir::Value second);

} // namespace spokeshave::kernel
