//===- ConvolutionShape.cpp - where a convolution reads --------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ConvolutionShape.h.
//
//===----------------------------------------------------------------------===//
#include "kernel/ConvolutionShape.h"

#include "kernel/Accumulate.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

ConvolutionShape::ConvolutionShape(hlo::ConvolutionOp op) : dims(op.getDimensionNumbers()) {
  size_t rank = dims.getInputSpatialDimensions().size();
  auto fill = [&](std::optional<ArrayRef<int64_t>> given, SmallVector<int64_t> &to) {
    to = given ? SmallVector<int64_t>(*given) : SmallVector<int64_t>(rank, 1);
  };
  fill(op.getWindowStrides(), strides);
  fill(op.getLhsDilation(), lhsDilation);
  fill(op.getRhsDilation(), rhsDilation);
  reversed.assign(rank, false);
  if (auto reversal = op.getWindowReversal())
    reversed.assign(reversal->begin(), reversal->end());
  for (size_t d = 0; d < rank; ++d) {
    window.push_back(typeOf(op.getRhs()).getDimSize(dims.getKernelSpatialDimensions()[d]));
    lhsExtents.push_back(typeOf(op.getLhs()).getDimSize(dims.getInputSpatialDimensions()[d]));
    padLow.push_back(op.getPadding() ? (*op.getPadding()).getValues<int64_t>()[2 * d] : 0);
  }
  batch = typeOf(op).getDimSize(dims.getOutputBatchDimension());
  outputFeatures = typeOf(op).getDimSize(dims.getOutputFeatureDimension());
  features = typeOf(op.getRhs()).getDimSize(dims.getKernelInputFeatureDimension());
  featureGroups = op.getFeatureGroupCount();
  batchGroups = op.getBatchGroupCount();
}

bool ConvolutionShape::operands(ElementEmitter &emitter, const Position &at, const Position &w,
                                Position &lhs, Position &rhs, Num &inside) const {
  IndexSpace &space = emitter.space();
  lhs.resize(window.size() + 2);
  rhs.resize(window.size() + 2);
  for (size_t d = 0; d < window.size(); ++d) {
    Index tap = w[d];
    Index from = space.add(space.scale(at[dims.getOutputSpatialDimensions()[d]], strides[d]),
                           space.scale(tap, rhsDilation[d]));
    from = space.add(from, -padLow[d]);
    if (!undilate(emitter, from, lhsExtents[d], lhsDilation[d], inside))
      return false;
    lhs[dims.getInputSpatialDimensions()[d]] = from;
    rhs[dims.getKernelSpatialDimensions()[d]] =
        reversed[d] ? space.subtract(window[d] - 1, tap) : tap;
  }
  Index feature = at[dims.getOutputFeatureDimension()], image = at[dims.getOutputBatchDimension()];
  Index channel = w.back();
  if (featureGroups > 1) {
    Index group = space.divide(feature, outputFeatures / featureGroups).first;
    channel = space.add(space.scale(group, features), channel);
  }
  if (batchGroups > 1) {
    Index group = space.divide(feature, outputFeatures / batchGroups).first;
    image = space.add(space.scale(group, batch), image);
  }
  lhs[dims.getInputBatchDimension()] = image;
  lhs[dims.getInputFeatureDimension()] = channel;
  rhs[dims.getKernelOutputFeatureDimension()] = feature;
  rhs[dims.getKernelInputFeatureDimension()] = w.back();
  return true;
}

bool kernel::isMatrixConvolution(hlo::ConvolutionOp op) {
  ConvolutionShape shape(op);
  if (shape.featureGroups != 1 || shape.batchGroups != 1 ||
      isa<ComplexType>(typeOf(op).getElementType()))
    return false;
  int64_t depth = shape.features;
  for (int64_t size : shape.window)
    depth *= size;
  return shape.outputFeatures >= 4 && depth >= 4;
}
