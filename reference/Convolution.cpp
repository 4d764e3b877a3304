//===- Convolution.cpp - dot products with windows -------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// convolution, dynamic_conv. Groups are convolutions of their own, joined, as
// the specification defines them; one group is, for each position of the window,
// a dot product, which here accumulates as Dot.cpp says.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "reference/Evaluator.h"
#include "reference/Ops.h"

#include <cstring>

using namespace mlir;

namespace spokeshave::reference {

namespace {
struct Convolution {
  stablehlo::ConvDimensionNumbersAttr dims;
  Window window; ///< over the spatial dimensions
  SmallVector<bool> reversal;
  ElementType resultType;

  Tensor run(const Tensor &lhs, const Tensor &rhs) const;
  Tensor runGroups(const Tensor &lhs, const Tensor &rhs, int64_t groups, int64_t lhsAxis) const;
};
} // namespace

/// lhs as [position, kernel element, feature] for one batch element and window
/// position would be a large copy; instead one matrix product per position.
Tensor Convolution::run(const Tensor &lhs, const Tensor &rhs) const {
  Index space, kernel;
  for (int64_t axis : dims.getInputSpatialDimensions())
    space.push_back(lhs.dim(axis));
  for (int64_t axis : dims.getKernelSpatialDimensions())
    kernel.push_back(rhs.dim(axis));
  Index positions = window.resultShape(space);
  int64_t batch = lhs.dim(dims.getInputBatchDimension());
  int64_t features = lhs.dim(dims.getInputFeatureDimension());
  int64_t outputs = rhs.dim(dims.getKernelOutputFeatureDimension());

  // rhs as [output feature, kernel..., input feature].
  SmallVector<int64_t> order = {dims.getKernelOutputFeatureDimension()};
  llvm::append_range(order, dims.getKernelSpatialDimensions());
  order.push_back(dims.getKernelInputFeatureDimension());
  int64_t depth = elementCount(kernel) * features;
  Tensor flatRhs = transpose(rhs, order).withShape({outputs, depth});
  // lhs as [batch, space..., feature].
  order = {dims.getInputBatchDimension()};
  llvm::append_range(order, dims.getInputSpatialDimensions());
  order.push_back(dims.getInputFeatureDimension());
  Tensor flatLhs = transpose(lhs, order).withShape({batch, elementCount(space), features});

  Index shape(lhs.rank());
  shape[dims.getOutputBatchDimension()] = batch;
  shape[dims.getOutputFeatureDimension()] = outputs;
  for (auto [axis, size] : llvm::zip(dims.getOutputSpatialDimensions(), positions))
    shape[axis] = size;
  Tensor result(resultType, shape);
  char *to = result.mutableData();
  unsigned lhsBytes = lhs.elementType().bytes(), bytes = resultType.bytes();

  forEachIndex(positions, [&](ArrayRef<int64_t> position) {
    // The window of every batch element; holes and padding stay zero.
    Tensor windows(lhs.elementType(), {batch, depth});
    char *in = windows.mutableData();
    Index where(space.size()), mirrored(space.size());
    int64_t column = 0;
    forEachIndex(kernel, [&](ArrayRef<int64_t> within) {
      for (size_t axis = 0; axis < within.size(); ++axis)
        mirrored[axis] = reversal[axis] ? kernel[axis] - 1 - within[axis] : within[axis];
      if (window.locate(position, mirrored, space, where)) {
        int64_t at = 0;
        for (auto [i, size] : llvm::zip(where, space))
          at = at * size + i;
        for (int64_t n = 0; n < batch; ++n)
          std::memcpy(in + (n * depth + column) * lhsBytes,
                      flatLhs.data() + (n * elementCount(space) + at) * features * lhsBytes,
                      features * lhsBytes);
      }
      column += features;
    });
    Tensor product = dotGeneral(windows, flatRhs, {{}, {}, {1}, {1}}, resultType);
    Index index(shape.size());
    for (auto [axis, i] : llvm::zip(dims.getOutputSpatialDimensions(), position))
      index[axis] = i;
    for (int64_t n = 0; n < batch; ++n)
      for (int64_t o = 0; o < outputs; ++o) {
        index[dims.getOutputBatchDimension()] = n;
        index[dims.getOutputFeatureDimension()] = o;
        std::memcpy(to + result.linearIndex(index) * bytes,
                    product.data() + (n * outputs + o) * bytes, bytes);
      }
  });
  return result;
}

Tensor Convolution::runGroups(const Tensor &lhs, const Tensor &rhs, int64_t groups,
                              int64_t lhsAxis) const {
  SmallVector<Tensor> results;
  for (int64_t group = 0; group < groups; ++group)
    results.push_back(run(splitPart(lhs, group, groups, lhsAxis),
                          splitPart(rhs, group, groups, dims.getKernelOutputFeatureDimension())));
  return concatenate(results, dims.getOutputFeatureDimension());
}

/// What the two operations have in common, with padding as low, high pairs.
template <typename Op> static LogicalResult convolve(Op op, Call &call, const Index &padding) {
  const Tensor &lhs = call[0], &rhs = call[1];
  Convolution conv;
  conv.dims = op.getDimensionNumbers();
  conv.resultType = call.resultType();
  ArrayRef<int64_t> spatial = conv.dims.getInputSpatialDimensions();
  size_t rank = spatial.size();
  auto listOr = [&](std::optional<ArrayRef<int64_t>> list) {
    return list ? Index(*list) : Index(rank, 1);
  };
  for (int64_t axis : conv.dims.getKernelSpatialDimensions())
    conv.window.dimensions.push_back(rhs.dim(axis));
  conv.window.strides = listOr(op.getWindowStrides());
  conv.window.baseDilations = listOr(op.getLhsDilation());
  conv.window.windowDilations = listOr(op.getRhsDilation());
  for (size_t axis = 0; axis < rank && padding.size() == 2 * rank; ++axis) {
    conv.window.low.push_back(padding[2 * axis]);
    conv.window.high.push_back(padding[2 * axis + 1]);
  }
  conv.reversal.assign(rank, false);
  if (auto reversal = op.getWindowReversal())
    conv.reversal.assign(reversal->begin(), reversal->end());

  constexpr int64_t limit = int64_t{1} << 30;
  auto inRange = [&](const Index &values, int64_t least) {
    return values.size() == rank &&
           llvm::all_of(values, [&](int64_t v) { return v >= least && v <= limit; });
  };
  if (!inRange(conv.window.strides, 1) || !inRange(conv.window.baseDilations, 1) ||
      !inRange(conv.window.windowDilations, 1) || !inRange(conv.window.dimensions, 0) ||
      !inRange(conv.window.low, -limit) || !inRange(conv.window.high, -limit) ||
      conv.reversal.size() != rank)
    return call.error() << "has a window with sizes missing or out of range";

  auto featureGroups = static_cast<int64_t>(op.getFeatureGroupCount());
  auto batchGroups = static_cast<int64_t>(op.getBatchGroupCount());
  int64_t inputFeature = conv.dims.getInputFeatureDimension();
  int64_t inputBatch = conv.dims.getInputBatchDimension();
  int64_t kernelOutput = rhs.dim(conv.dims.getKernelOutputFeatureDimension());
  if (featureGroups < 1 || batchGroups < 1 || lhs.dim(inputFeature) % featureGroups ||
      lhs.dim(inputBatch) % batchGroups || kernelOutput % featureGroups ||
      kernelOutput % batchGroups ||
      lhs.dim(inputFeature) / featureGroups != rhs.dim(conv.dims.getKernelInputFeatureDimension()))
    return call.error() << "has groups that do not divide its features or batches";
  if (featureGroups > 1)
    return call.give(conv.runGroups(lhs, rhs, featureGroups, inputFeature));
  if (batchGroups > 1)
    return call.give(conv.runGroups(lhs, rhs, batchGroups, inputBatch));
  return call.give(conv.run(lhs, rhs));
}

static LogicalResult evalConvolution(stablehlo::ConvolutionOp op, Call &call) {
  Index padding(2 * op.getDimensionNumbers().getInputSpatialDimensions().size(), 0);
  if (auto given = op.getPadding())
    padding.assign(given->template getValues<int64_t>().begin(),
                   given->template getValues<int64_t>().end());
  return convolve(op, call, padding);
}

static LogicalResult evalDynamicConv(stablehlo::DynamicConvOp op, Call &call) {
  return convolve(op, call, call[2].toIndex());
}

void addConvolution(HandlerTable &table) {
  table.add<stablehlo::ConvolutionOp, evalConvolution>();
  table.add<stablehlo::DynamicConvOp, evalDynamicConv>();
}

} // namespace spokeshave::reference
