//===- ConvolutionShape.h - where a convolution reads ----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "input/StablehloOps.h"
#include "kernel/Elements.h"

namespace spokeshave::kernel {

/// A convolution's dimension numbers and window, with all defaults filled in.
struct ConvolutionShape {
  explicit ConvolutionShape(stablehlo::ConvolutionOp op);

  llvm::SmallVector<int64_t> window, strides, lhsDilation, rhsDilation, padLow;
  llvm::SmallVector<bool> reversed;
  llvm::SmallVector<int64_t> lhsExtents; ///< of the spatial dimensions
  int64_t batch = 1;                     ///< of the result
  int64_t outputFeatures = 1;            ///< of the result
  int64_t features = 1;                  ///< input features of one group
  int64_t featureGroups = 1, batchGroups = 1;

  /// What one term of the result at `at` reads: `w` is the position in the window
  /// followed by the input feature within its group. `inside` is and-ed with the
  /// condition that the term is no padding; false: it always is.
  bool operands(ElementEmitter &emitter, const Position &at, const Position &w, Position &lhs,
                Position &rhs, Num &inside) const;

  stablehlo::ConvDimensionNumbersAttr dims;
};

/// Whether the convolution is worth lowering as a matrix product of patches and
/// filters: one group and enough features.
bool isMatrixConvolution(stablehlo::ConvolutionOp op);

} // namespace spokeshave::kernel
