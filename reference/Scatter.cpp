//===- Scatter.cpp - boxes combined into tensors at many places ------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// scatter. The schedule, which the specification leaves open, is the ascending
// order of update indices.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "reference/Body.h"
#include "reference/GatherIndex.h"
#include "reference/Ops.h"

using namespace mlir;

namespace spokeshave::reference {

namespace {
/// Where in the inputs an update goes.
class Target {
public:
  Target(stablehlo::ScatterDimensionNumbersAttr numbers, const Tensor &input, const Tensor &indices,
         const Tensor &update)
      : numbers(numbers), input(input), starts(indices, numbers.getIndexVectorDim()) {
    for (int64_t axis = 0; axis < update.rank(); ++axis)
      if (!llvm::is_contained(numbers.getUpdateWindowDims(), axis))
        scatterDims.push_back(axis);
    for (int64_t axis = 0; axis < input.rank(); ++axis)
      if (!llvm::is_contained(numbers.getInsertedWindowDims(), axis) &&
          !llvm::is_contained(numbers.getInputBatchingDims(), axis))
        windowAxes.push_back(axis);
  }

  bool isConsistent() const {
    return windowAxes.size() == numbers.getUpdateWindowDims().size() &&
           scatterDims.size() == starts.batch.size();
  }

  /// Fills `result` for an index of the updates; false if out of bounds.
  bool locate(ArrayRef<int64_t> updateIndex, Index &result) {
    scatterIndex.clear();
    for (int64_t dim : scatterDims)
      scatterIndex.push_back(updateIndex[dim]);
    starts.read(scatterIndex, start);
    result.assign(input.rank(), 0);
    for (auto [i, axis] : llvm::enumerate(numbers.getScatterDimsToOperandDims())) {
      // A window is no larger than the dimension; so far out, none of it is in.
      if (start[i] <= -input.dim(axis) || start[i] >= input.dim(axis))
        return false;
      result[axis] = start[i];
    }
    for (auto [axis, indexAxis] :
         llvm::zip(numbers.getInputBatchingDims(), numbers.getScatterIndicesBatchingDims()))
      result[axis] += scatterIndex[starts.batchAxis(indexAxis)];
    for (auto [i, dim] : llvm::enumerate(numbers.getUpdateWindowDims()))
      result[windowAxes[i]] += updateIndex[dim];
    return llvm::all_of_zip(result, input.shape(),
                            [](int64_t i, int64_t dim) { return i >= 0 && i < dim; });
  }

private:
  stablehlo::ScatterDimensionNumbersAttr numbers;
  const Tensor &input;
  IndexVectors starts;
  SmallVector<int64_t> scatterDims, windowAxes;
  Index scatterIndex, start;
};
} // namespace

static LogicalResult evalScatter(stablehlo::ScatterOp op, Call &call) {
  unsigned count = op.getInputs().size();
  ArrayRef<Tensor> inputs = call.operands.take_front(count);
  ArrayRef<Tensor> updates = call.operands.take_back(count);
  Body body(call, op.getUpdateComputation());
  if (failed(body.expect(2 * count, count)))
    return failure();
  Target target(op.getScatterDimensionNumbers(), inputs[0], call[count], updates[0]);
  if (!target.isConsistent())
    return call.error() << "has dimension numbers that do not match its operands";

  SmallVector<Tensor> results;
  for (auto [input, type] : llvm::zip(inputs, call.resultTypes))
    results.push_back(convertTo(input, type));
  SmallVector<char *> to;
  for (Tensor &result : results)
    to.push_back(result.mutableData());
  SmallVector<Scalar> arguments(2 * count), values(count);
  Index updateIndex(updates[0].rank(), 0), resultIndex;
  for (int64_t linear = 0; linear < updates[0].size(); ++linear) {
    if (target.locate(updateIndex, resultIndex)) {
      int64_t at = results[0].linearIndex(resultIndex);
      for (unsigned i = 0; i < count; ++i) {
        const ElementType &type = call.resultTypes[i];
        arguments[i] = type.load(to[i] + at * type.bytes());
        arguments[count + i] = updates[i].at(linear);
      }
      if (failed(body(arguments, values)))
        return failure();
      for (unsigned i = 0; i < count; ++i)
        call.resultTypes[i].store(to[i] + at * call.resultTypes[i].bytes(), values[i]);
    }
    nextIndex(updateIndex, updates[0].shape());
  }
  llvm::append_range(call.results, results);
  return success();
}

void addScatter(HandlerTable &table) {
  table.add<stablehlo::ScatterOp, evalScatter>();
}

} // namespace spokeshave::reference
