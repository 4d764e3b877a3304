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
  Index origin;               ///< element number where both variables are zero
  int64_t rowStride, stride2; ///< per step of the first and the second variable
};

/// Follows `value` at `position` through operations that only move data to an
/// input of the fusion. `first` and `second` are variables within `position`.
/// Nothing, where the element is computed, converted, or not affine in them.
std::optional<DirectRead> resolveDirect(ElementEmitter &emitter, mlir::Value value,
                                        const Position &position, mlir::Value first,
                                        mlir::Value second);

} // namespace spokeshave::kernel
