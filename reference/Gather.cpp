//===- Gather.cpp - boxes of a tensor at many places -----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// dynamic_gather, gather, torch_index_select.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "reference/Evaluator.h"
#include "reference/GatherIndex.h"
#include "reference/Ops.h"

#include <cstring>

using namespace mlir;

namespace spokeshave::reference {

IndexVectors::IndexVectors(const Tensor &indices, int64_t indexVectorDim)
    : indices(indices), vectorDim(indexVectorDim) {
  for (int64_t axis = 0; axis < indices.rank(); ++axis)
    if (axis != vectorDim)
      batch.push_back(indices.dim(axis));
  length = vectorDim < indices.rank() ? indices.dim(vectorDim) : 1;
}

void IndexVectors::read(ArrayRef<int64_t> batchIndex, Index &vector) const {
  Index index(batchIndex);
  bool hasVectorDim = vectorDim < indices.rank();
  if (hasVectorDim)
    index.insert(index.begin() + vectorDim, 0);
  vector.resize(length);
  for (int64_t i = 0; i < length; ++i) {
    if (hasVectorDim)
      index[vectorDim] = i;
    Scalar value = indices.at(index);
    // An unsigned index beyond int64 lies past every dimension.
    bool huge = indices.elementType().isUnsigned() && value.i < 0;
    vector[i] = huge ? std::numeric_limits<int64_t>::max() : value.i;
  }
}

/// Axes of 0..rank-1 that are not in `axes`.
static SmallVector<int64_t> otherAxes(int64_t rank, ArrayRef<int64_t> axes) {
  SmallVector<int64_t> result;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(axes, axis))
      result.push_back(axis);
  return result;
}

static LogicalResult gather(Call &call, stablehlo::GatherDimensionNumbersAttr numbers,
                            ArrayRef<int64_t> sliceSizes) {
  const Tensor &operand = call[0];
  IndexVectors starts(call[1], numbers.getIndexVectorDim());
  int64_t rank = operand.rank();
  if (static_cast<int64_t>(sliceSizes.size()) != rank)
    return call.error() << "needs a slice size for each dimension of the operand";
  for (int64_t axis = 0; axis < rank; ++axis)
    if (sliceSizes[axis] < 0 || sliceSizes[axis] > operand.dim(axis))
      return call.error() << "slice size " << sliceSizes[axis] << " does not fit dimension "
                          << axis;

  // Dimensions of the slice that appear in the result, in order.
  SmallVector<int64_t> dropped(numbers.getCollapsedSliceDims());
  llvm::append_range(dropped, numbers.getOperandBatchingDims());
  SmallVector<int64_t> offsetAxes = otherAxes(rank, dropped);
  ArrayRef<int64_t> offsetDims = numbers.getOffsetDims();
  auto resultRank = static_cast<int64_t>(starts.batch.size() + offsetDims.size());
  SmallVector<int64_t> batchDims = otherAxes(resultRank, offsetDims);
  if (offsetAxes.size() != offsetDims.size() || batchDims.size() != starts.batch.size())
    return call.error() << "has offset dimensions that do not match the slices";
  Index shape(resultRank);
  for (auto [i, dim] : llvm::enumerate(batchDims))
    shape[dim] = starts.batch[i];
  for (auto [i, dim] : llvm::enumerate(offsetDims))
    shape[dim] = sliceSizes[offsetAxes[i]];
  if (failed(checkShape(call, shape, operand.elementType().bytes())))
    return failure();

  Tensor result(operand.elementType(), shape);
  unsigned bytes = operand.elementType().bytes();
  char *to = result.mutableData();
  Index batchIndex(batchDims.size()), start, operandIndex(rank);
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    for (auto [i, dim] : llvm::enumerate(batchDims))
      batchIndex[i] = index[dim];
    starts.read(batchIndex, start);
    std::fill(operandIndex.begin(), operandIndex.end(), 0);
    for (auto [i, axis] : llvm::enumerate(numbers.getStartIndexMap()))
      operandIndex[axis] = std::clamp<int64_t>(start[i], 0, operand.dim(axis) - sliceSizes[axis]);
    for (auto [axis, indexAxis] :
         llvm::zip(numbers.getOperandBatchingDims(), numbers.getStartIndicesBatchingDims()))
      operandIndex[axis] += batchIndex[starts.batchAxis(indexAxis)];
    for (auto [i, dim] : llvm::enumerate(offsetDims))
      operandIndex[offsetAxes[i]] += index[dim];
    std::memcpy(to, operand.data() + operand.linearIndex(operandIndex) * bytes, bytes);
    to += bytes;
  });
  return call.give(std::move(result));
}

static LogicalResult evalGather(stablehlo::GatherOp op, Call &call) {
  return gather(call, op.getDimensionNumbers(), op.getSliceSizes());
}

static LogicalResult evalDynamicGather(stablehlo::DynamicGatherOp op, Call &call) {
  return gather(call, op.getDimensionNumbers(), call[2].toIndex());
}

/// result[batch, outer, i, inner] = operand[batch, outer, index[batch, i], inner],
/// where the first batch_dims dimensions are shared and `dim` is replaced by the
/// remaining dimensions of the index.
static LogicalResult evalTorchIndexSelect(stablehlo::TorchIndexSelectOp op, Call &call) {
  const Tensor &operand = call[0], &index = call[1];
  auto dim = static_cast<int64_t>(op.getDim()), batch = static_cast<int64_t>(op.getBatchDims());
  if (dim < 0)
    dim += operand.rank();
  if (batch < 0)
    batch += index.rank();
  if (batch < 0 || batch > dim || dim >= operand.rank() || batch > index.rank())
    return call.error() << "has dim or batch_dims out of range";
  Index shape(operand.shape().take_front(dim));
  llvm::append_range(shape, index.shape().drop_front(batch));
  llvm::append_range(shape, operand.shape().drop_front(dim + 1));
  int64_t chosen = index.rank() - batch;

  Tensor result(operand.elementType(), shape);
  unsigned bytes = operand.elementType().bytes();
  char *to = result.mutableData();
  LogicalResult status = success();
  forEachIndex(shape, [&](ArrayRef<int64_t> at) {
    Index indexIndex(at.take_front(batch));
    llvm::append_range(indexIndex, at.slice(dim, chosen));
    int64_t picked = index.at(indexIndex).i;
    if (picked < 0 || picked >= operand.dim(dim)) {
      status = failure();
      return;
    }
    Index operandIndex(at.take_front(dim));
    operandIndex.push_back(picked);
    llvm::append_range(operandIndex, at.drop_front(dim + chosen));
    std::memcpy(to, operand.data() + operand.linearIndex(operandIndex) * bytes, bytes);
    to += bytes;
  });
  if (failed(status))
    return call.error() << "has an index out of bounds";
  return call.give(std::move(result));
}

void addGather(HandlerTable &table) {
  table.add<stablehlo::DynamicGatherOp, evalDynamicGather>();
  table.add<stablehlo::GatherOp, evalGather>();
  table.add<stablehlo::TorchIndexSelectOp, evalTorchIndexSelect>();
}

} // namespace spokeshave::reference
