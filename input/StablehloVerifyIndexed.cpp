//===- StablehloVerifyIndexed.cpp - verifiers of gather and scatter ---------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both say how the dimensions of a tensor, of indices into it and of a collection
// of boxes belong together; scatter reads gather's attributes the other way.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloVerify.h"

using namespace mlir;

namespace spokeshave::stablehlo {
namespace {

SmallVector<int64_t> joined(Sizes a, Sizes b) {
  SmallVector<int64_t> both(a);
  llvm::append_range(both, b);
  return both;
}

/// The shape of the indices without the dimension that holds index vectors.
SmallVector<int64_t> batchShape(Sizes indices, int64_t vectorDim) {
  SmallVector<int64_t> shape(indices);
  if (vectorDim < int64_t(shape.size()))
    shape.erase(shape.begin() + vectorDim);
  return shape;
}

/// Puts `window` at the dimensions `windowDims` and `batch` at the others.
SmallVector<int64_t> combine(Sizes batch, Sizes window, Sizes windowDims) {
  SmallVector<int64_t> shape(batch.size() + window.size());
  size_t nextBatch = 0, nextWindow = 0;
  for (auto [dim, size] : llvm::enumerate(shape))
    size = llvm::is_contained(windowDims, int64_t(dim)) ? window[nextWindow++] : batch[nextBatch++];
  return shape;
}

/// How many numbers an index vector holds.
int64_t vectorSize(Sizes indices, int64_t vectorDim) {
  return vectorDim < int64_t(indices.size()) ? indices[vectorDim] : 1;
}

/// What gather calls C11, C13 to C17 and scatter C13 to C18: batching dimensions
/// of a tensor of shape `operand` and those of its indices, in pairs.
struct BatchingDims {
  Sizes operandDims, indexDims;
  StringRef operandName, indexName;
  int inRange, indexUnique, indexInRange, notVector, sameCount, sameSizes;
};

LogicalResult verifyBatching(Operation *op, const BatchingDims &b, Sizes operand, Sizes indices,
                             int64_t vectorDim) {
  if (failed(verifyInRange(op, b.inRange, b.operandName, b.operandDims, operand.size())) ||
      failed(verifyUnique(op, b.indexUnique, b.indexName, b.indexDims)) ||
      failed(verifyInRange(op, b.indexInRange, b.indexName, b.indexDims, indices.size())))
    return failure();
  if (llvm::is_contained(b.indexDims, vectorDim))
    return violation(op, b.notVector)
           << b.indexName << " must not contain index_vector_dim " << vectorDim;
  if (b.operandDims.size() != b.indexDims.size())
    return violation(op, b.sameCount)
           << b.operandName << " and " << b.indexName << " must have as many elements, got "
           << b.operandDims.size() << " and " << b.indexDims.size();
  for (auto [operandDim, indexDim] : llvm::zip(b.operandDims, b.indexDims))
    if (!sameSize(operand[operandDim], indices[indexDim]))
      return violation(op, b.sameSizes) << "batching dimensions must have the same size, got "
                                        << operand[operandDim] << " and " << indices[indexDim];
  return success();
}

LogicalResult verifyVectorDim(Operation *op, int constraint, int64_t vectorDim, int64_t rank) {
  if (vectorDim < 0 || vectorDim > rank)
    return violation(op, constraint)
           << "index_vector_dim must be at least 0 and at most " << rank << ", got " << vectorDim;
  return success();
}

LogicalResult verifyIndexMap(Operation *op, int constraint, StringRef name, Sizes map,
                             int64_t size) {
  if (!sameSize(map.size(), size))
    return violation(op, constraint) << name << " must have as many elements as an index vector, "
                                     << size << ", got " << map.size();
  return success();
}

} // namespace

//===----------------------------------------------------------------------===//
// Gather.
//===----------------------------------------------------------------------===//

static LogicalResult verifyGatherDims(GatherOp op) {
  GatherDimensionNumbersAttr n = op.getDimensionNumbers();
  Sizes operand = shapeOf(op.getOperand()), indices = shapeOf(op.getStartIndices());
  Sizes offset = n.getOffsetDims(), collapsed = n.getCollapsedSliceDims(),
        batching = n.getOperandBatchingDims(), map = n.getStartIndexMap();
  int64_t rank = operand.size();
  if (rank != int64_t(offset.size() + collapsed.size() + batching.size()))
    return violation(op, 1) << "offset_dims, collapsed_slice_dims and operand_batching_dims must "
                               "together have as many elements as the operand has dimensions, "
                            << rank << ", got "
                            << offset.size() + collapsed.size() + batching.size();
  BatchingDims pairs{batching,
                     n.getStartIndicesBatchingDims(),
                     "operand_batching_dims",
                     "start_indices_batching_dims",
                     11,
                     13,
                     14,
                     15,
                     16,
                     17};
  if (failed(verifyVectorDim(op, 2, n.getIndexVectorDim(), indices.size())) ||
      failed(verifyIndexMap(op, 3, "start_index_map", map,
                            vectorSize(indices, n.getIndexVectorDim()))) ||
      failed(verifyUnique(op, 4, "offset_dims", offset)) ||
      failed(verifySorted(op, 4, "offset_dims", offset)) ||
      failed(verifyInRange(op, 5, "offset_dims", offset, rankOf(op.getResult()))) ||
      failed(verifyUnique(op, 6, "collapsed_slice_dims and operand_batching_dims",
                          joined(collapsed, batching))) ||
      failed(verifySorted(op, 7, "collapsed_slice_dims", collapsed)) ||
      failed(verifyInRange(op, 8, "collapsed_slice_dims", collapsed, rank)) ||
      failed(verifySorted(op, 10, "operand_batching_dims", batching)) ||
      failed(verifyBatching(op, pairs, operand, indices, n.getIndexVectorDim())) ||
      failed(
          verifyUnique(op, 18, "start_index_map and operand_batching_dims", joined(map, batching))))
    return failure();
  return verifyInRange(op, 19, "start_index_map", map, rank);
}

LogicalResult GatherOp::verify() {
  GatherDimensionNumbersAttr n = getDimensionNumbers();
  Sizes operand = shapeOf(getOperand()), slices = getSliceSizes();
  if (failed(verifyGatherDims(*this)) ||
      failed(verifyCount(*this, 20, "slice_sizes", slices.size(), operand.size())))
    return failure();
  for (auto [dim, size, slice] : llvm::enumerate(operand, slices))
    if (slice < 0 || (!ShapedType::isDynamic(size) && slice > size))
      return violation(*this, 21) << "slice size " << slice << " of dimension " << dim
                                  << " must be at least 0 and at most " << size;
  for (auto [dims, constraint] :
       {std::pair(n.getCollapsedSliceDims(), 9), {n.getOperandBatchingDims(), 12}})
    for (int64_t dim : dims)
      if (slices[dim] > 1)
        return violation(*this, constraint) << "slice size of collapsed or batching dimension "
                                            << dim << " must be at most 1, got " << slices[dim];
  SmallVector<int64_t> window;
  for (auto [dim, slice] : llvm::enumerate(slices))
    if (!llvm::is_contained(n.getCollapsedSliceDims(), int64_t(dim)) &&
        !llvm::is_contained(n.getOperandBatchingDims(), int64_t(dim)))
      window.push_back(slice);
  SmallVector<int64_t> batch = batchShape(shapeOf(getStartIndices()), n.getIndexVectorDim());
  if (failed(verifyInRange(*this, 5, "offset_dims", n.getOffsetDims(),
                           batch.size() + window.size())) ||
      failed(verifyShape(*this, 22, "result", shapeOf(getResult()),
                         combine(batch, window, n.getOffsetDims()))))
    return failure();
  if (elementOf(getOperand()) != elementOf(getResult()))
    return violation(*this, 23) << "operand and result must have the same element type, got "
                                << getOperand().getType() << " and " << getType();
  return success();
}

/// C8 and C12, where the sizes of slices are constant.
static LogicalResult verifyConstantSlices(DynamicGatherOp op) {
  std::optional<SmallVector<int64_t>> slices = constantIntegers(op.getSliceSizes());
  if (!slices)
    return success();
  GatherDimensionNumbersAttr n = op.getDimensionNumbers();
  for (auto [dim, slice, size] : llvm::enumerate(*slices, shapeOf(op.getOperand()))) {
    if (slice < 0 || (!ShapedType::isDynamic(size) && slice > size))
      return violation(op, 12) << "slice size " << slice << " of dimension " << dim
                               << " must be at least 0 and at most " << size;
    bool gone = llvm::is_contained(n.getCollapsedSliceDims(), int64_t(dim)) ||
                llvm::is_contained(n.getOperandBatchingDims(), int64_t(dim));
    if (gone && slice > 1)
      return violation(op, 8) << "slice size of collapsed or batching dimension " << dim
                              << " must be at most 1, got " << slice;
  }
  return success();
}

LogicalResult DynamicGatherOp::verify() {
  GatherDimensionNumbersAttr n = getDimensionNumbers();
  Sizes operand = shapeOf(getOperand()), indices = shapeOf(getStartIndices());
  Sizes offset = n.getOffsetDims(), collapsed = n.getCollapsedSliceDims();
  int64_t rank = operand.size();
  // Batching dimensions are counted as gather does; the specification of
  // dynamic_gather does not have them yet.
  if (rank != int64_t(offset.size() + collapsed.size() + n.getOperandBatchingDims().size()))
    return violation(*this, 1) << "offset_dims and collapsed_slice_dims must together have as "
                                  "many elements as the operand has dimensions";
  if (failed(verifyVectorDim(*this, 2, n.getIndexVectorDim(), indices.size())) ||
      failed(verifyIndexMap(*this, 3, "start_index_map", n.getStartIndexMap(),
                            vectorSize(indices, n.getIndexVectorDim()))) ||
      failed(verifyUnique(*this, 4, "offset_dims", offset)) ||
      failed(verifySorted(*this, 4, "offset_dims", offset)) ||
      failed(verifyInRange(*this, 5, "offset_dims", offset, rankOf(getResult()))) ||
      failed(verifyUnique(*this, 6, "collapsed_slice_dims", collapsed)) ||
      failed(verifySorted(*this, 6, "collapsed_slice_dims", collapsed)) ||
      failed(verifyInRange(*this, 7, "collapsed_slice_dims", collapsed, rank)) ||
      failed(verifyUnique(*this, 9, "start_index_map", n.getStartIndexMap())) ||
      failed(verifyInRange(*this, 10, "start_index_map", n.getStartIndexMap(), rank)) ||
      failed(verifyCount(*this, 11, "slice_sizes", shapeOf(getSliceSizes()).front(), rank)) ||
      failed(verifyConstantSlices(*this)))
    return failure();
  if (elementOf(getOperand()) != elementOf(getResult()))
    return violation(*this, 14) << "operand and result must have the same element type, got "
                                << getOperand().getType() << " and " << getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Scatter.
//===----------------------------------------------------------------------===//

static LogicalResult verifyScatterOperands(ScatterOp op) {
  size_t count = op.getInputs().size();
  if (count == 0 || op->getNumOperands() != 2 * count + 1)
    return violation(op, 5) << "there must be as many updates as inputs, at least one";
  if (op->getNumResults() != count)
    return violation(op, 24) << "there must be as many results as inputs, got "
                             << op->getNumResults() << " and " << count;
  for (auto [input, update, result] : llvm::zip(op.getInputs(), op.getUpdates(), op.getResults())) {
    if (!sameShape(shapeOf(input), shapeOf(op.getInputs().front())))
      return violation(op, 1) << "inputs must have the same shape, got " << input.getType();
    if (!sameShape(shapeOf(update), shapeOf(op.getUpdates().front())))
      return violation(op, 3) << "updates must have the same shape, got " << update.getType();
    if (elementOf(input) != elementOf(update))
      return violation(op, 6) << "inputs and updates must have the same element type, got "
                              << input.getType() << " and " << update.getType();
    if (!sameShape(shapeOf(input), shapeOf(result)))
      return violation(op, 24) << "inputs and results must have the same shape, got "
                               << input.getType() << " and " << result.getType();
  }
  return success();
}

static LogicalResult verifyScatterDims(ScatterOp op) {
  ScatterDimensionNumbersAttr n = op.getScatterDimensionNumbers();
  Sizes input = shapeOf(op.getInputs().front()), indices = shapeOf(op.getScatterIndices()),
        update = shapeOf(op.getUpdates().front());
  Sizes window = n.getUpdateWindowDims(), inserted = n.getInsertedWindowDims(),
        batching = n.getInputBatchingDims(), map = n.getScatterDimsToOperandDims();
  int64_t rank = input.size();
  if (rank != int64_t(window.size() + inserted.size() + batching.size()))
    return violation(op, 2) << "update_window_dims, inserted_window_dims and input_batching_dims "
                               "must together have as many elements as the input has dimensions, "
                            << rank << ", got "
                            << window.size() + inserted.size() + batching.size();
  BatchingDims pairs{batching,
                     n.getScatterIndicesBatchingDims(),
                     "input_batching_dims",
                     "scatter_indices_batching_dims",
                     13,
                     14,
                     15,
                     16,
                     17,
                     18};
  if (failed(verifyUnique(op, 7, "update_window_dims", window)) ||
      failed(verifySorted(op, 7, "update_window_dims", window)) ||
      failed(verifyInRange(op, 8, "update_window_dims", window, update.size())) ||
      failed(verifyUnique(op, 9, "inserted_window_dims and input_batching_dims",
                          joined(inserted, batching))) ||
      failed(verifySorted(op, 10, "inserted_window_dims", inserted)) ||
      failed(verifyInRange(op, 11, "inserted_window_dims", inserted, rank)) ||
      failed(verifySorted(op, 12, "input_batching_dims", batching)) ||
      failed(verifyVectorDim(op, 22, n.getIndexVectorDim(), indices.size())) ||
      failed(verifyBatching(op, pairs, input, indices, n.getIndexVectorDim())) ||
      failed(verifyIndexMap(op, 19, "scatter_dims_to_operand_dims", map,
                            vectorSize(indices, n.getIndexVectorDim()))) ||
      failed(verifyUnique(op, 20, "scatter_dims_to_operand_dims and input_batching_dims",
                          joined(map, batching))))
    return failure();
  return verifyInRange(op, 21, "scatter_dims_to_operand_dims", map, rank);
}

/// C4: the updates' shape is made of the indices' and of a window in the input.
static LogicalResult verifyUpdateShape(ScatterOp op) {
  ScatterDimensionNumbersAttr n = op.getScatterDimensionNumbers();
  Sizes input = shapeOf(op.getInputs().front()), update = shapeOf(op.getUpdates().front());
  SmallVector<int64_t> batch = batchShape(shapeOf(op.getScatterIndices()), n.getIndexVectorDim());
  SmallVector<int64_t> largest;
  for (auto [dim, size] : llvm::enumerate(input))
    if (!llvm::is_contained(n.getInsertedWindowDims(), int64_t(dim)) &&
        !llvm::is_contained(n.getInputBatchingDims(), int64_t(dim)))
      largest.push_back(size);
  if (update.size() != batch.size() + largest.size())
    return violation(op, 4) << "updates must have rank " << batch.size() + largest.size()
                            << ", got " << update.size();
  for (auto [dim, size] : llvm::zip(n.getUpdateWindowDims(), largest))
    if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(update[dim]) && update[dim] > size)
      return violation(op, 4) << "size " << update[dim] << " of update window dimension " << dim
                              << " must be at most " << size;
  SmallVector<int64_t> window;
  for (int64_t dim : n.getUpdateWindowDims())
    window.push_back(update[dim]);
  return verifyShape(op, 4, "updates", update, combine(batch, window, n.getUpdateWindowDims()));
}

LogicalResult ScatterOp::verify() {
  if (failed(verifyScatterOperands(*this)) || failed(verifyScatterDims(*this)) ||
      failed(verifyUpdateShape(*this)))
    return failure();
  SmallVector<Type> elements;
  for (Value input : getInputs())
    elements.push_back(elementOf(input));
  return verifyReducer(*this, 23, 25, "update_computation", getUpdateComputation(), elements);
}

} // namespace spokeshave::stablehlo
