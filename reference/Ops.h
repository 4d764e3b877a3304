//===- Ops.h - operations on tensors that other operations build on --------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Named and parametrised as in the specification, whose formulas use them. They
// expect arguments that satisfy the specification's constraints.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "reference/Tensor.h"

namespace spokeshave::reference {

struct Call;

/// The elements of `operand` at offset + sum(index[d] * strides[d]), in elements,
/// for each index of `shape`. Slices, transposes, reversals and broadcasts are
/// all such views.
Tensor stridedView(const Tensor &operand, Shape shape, llvm::ArrayRef<int64_t> strides,
                   int64_t offset);

Tensor broadcastInDim(const Tensor &operand, llvm::ArrayRef<int64_t> broadcastDimensions,
                      Shape resultShape);
Tensor concatenate(llvm::ArrayRef<Tensor> inputs, int64_t dimension);
Tensor pad(const Tensor &operand, const Scalar &paddingValue, llvm::ArrayRef<int64_t> low,
           llvm::ArrayRef<int64_t> high, llvm::ArrayRef<int64_t> interior);
Tensor reverse(const Tensor &operand, llvm::ArrayRef<int64_t> dimensions);
Tensor slice(const Tensor &operand, llvm::ArrayRef<int64_t> start, llvm::ArrayRef<int64_t> limit,
             llvm::ArrayRef<int64_t> strides);
/// The `part`-th of `parts` equal slices along an axis.
Tensor splitPart(const Tensor &operand, int64_t part, int64_t parts, int64_t axis);
Tensor transpose(const Tensor &operand, llvm::ArrayRef<int64_t> permutation);

/// dot_general on plain element types; see Dot.cpp for how it accumulates.
struct DotDimensions {
  llvm::ArrayRef<int64_t> lhsBatching, rhsBatching, lhsContracting, rhsContracting;
};
Tensor dotGeneral(const Tensor &lhs, const Tensor &rhs, const DotDimensions &dims,
                  ElementType resultType);

/// Converts elementwise, as `convert` does.
Tensor convertTo(const Tensor &operand, ElementType type);

/// An error unless `shape` has sizes of at least 0 and a result of that shape is
/// small enough to make. For shapes that are only known when run.
mlir::LogicalResult checkShape(const Call &call, Shape shape, unsigned elementBytes);

/// A window that slides over a tensor, of reduce_window and its kin.
struct Window {
  Index dimensions, strides, baseDilations, windowDilations, low, high;

  /// How many positions the window takes along each axis of `operand`.
  Index resultShape(Shape operand) const;
  /// Where in `operand` the element `within` of the window at `position` lies;
  /// false in the padding or in a hole.
  bool locate(llvm::ArrayRef<int64_t> position, llvm::ArrayRef<int64_t> within, Shape operand,
              llvm::MutableArrayRef<int64_t> index) const;
};

} // namespace spokeshave::reference
