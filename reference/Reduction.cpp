//===- Reduction.cpp - reductions, also over windows -----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// map, reduce, reduce_window, select_and_scatter.
//
// The tree of a reduction, which the specification leaves open, is the simplest:
// body(...body(body(init, x0), x1)..., xn) in ascending order of indices.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "reference/Body.h"
#include "reference/Ops.h"

using namespace mlir;

namespace spokeshave::reference {

/// Partial results of one reduction: several tensors, one body.
static LogicalResult accumulate(Body &body, ArrayRef<Tensor> inputs, int64_t from,
                                MutableArrayRef<Tensor> results, int64_t to,
                                MutableArrayRef<Scalar> arguments) {
  size_t count = inputs.size();
  for (size_t i = 0; i < count; ++i) {
    arguments[i] = results[i].at(to);
    arguments[count + i] = inputs[i].at(from);
  }
  if (failed(body(arguments, arguments.take_front(count))))
    return failure();
  for (size_t i = 0; i < count; ++i)
    results[i].set(to, arguments[i]);
  return success();
}

static SmallVector<Tensor> filledWithInit(Call &call, ArrayRef<Tensor> inits, Shape shape) {
  SmallVector<Tensor> results;
  for (auto [init, type] : llvm::zip(inits, call.resultTypes))
    results.push_back(Tensor::splat(type, shape, init.at(0)));
  return results;
}

static LogicalResult evalReduce(stablehlo::ReduceOp op, Call &call) {
  unsigned count = op.getInputs().size();
  ArrayRef<Tensor> inputs = call.operands.take_front(count);
  Body body(call, op.getBody());
  if (failed(body.expect(2 * count, count)))
    return failure();
  // A dimension that is reduced does not move the position in the result.
  Index shape, steps(inputs[0].rank(), 0);
  SmallVector<int64_t> kept;
  for (int64_t axis = 0; axis < inputs[0].rank(); ++axis)
    if (!llvm::is_contained(op.getDimensions(), axis)) {
      kept.push_back(axis);
      shape.push_back(inputs[0].dim(axis));
    }
  for (auto [axis, stride] : llvm::zip(kept, stridesOf(shape)))
    steps[axis] = stride;
  for (const Tensor &input : inputs)
    if (input.shape() != inputs[0].shape())
      return call.error() << "has inputs of different shapes";

  SmallVector<Tensor> results = filledWithInit(call, call.operands.take_back(count), shape);
  SmallVector<Scalar> arguments(2 * count);
  Index index(inputs[0].rank(), 0);
  for (int64_t linear = 0; linear < inputs[0].size(); ++linear) {
    int64_t to = 0;
    for (auto [i, step] : llvm::zip(index, steps))
      to += i * step;
    if (failed(accumulate(body, inputs, linear, results, to, arguments)))
      return failure();
    nextIndex(index, inputs[0].shape());
  }
  llvm::append_range(call.results, results);
  return success();
}

static LogicalResult evalMap(stablehlo::MapOp op, Call &call) {
  Body body(call, op.getComputation());
  if (failed(body.expect(call.operands.size(), 1)))
    return failure();
  Tensor result(call.resultType(), call[0].shape());
  SmallVector<Scalar> arguments(call.operands.size());
  Scalar value;
  for (int64_t i = 0; i < result.size(); ++i) {
    for (auto [argument, operand] : llvm::zip(arguments, call.operands))
      argument = operand.at(i);
    if (failed(body(arguments, value)))
      return failure();
    result.set(i, value);
  }
  return call.give(std::move(result));
}

//===----------------------------------------------------------------------===//
// Windows.
//===----------------------------------------------------------------------===//

static int64_t dilated(int64_t size, int64_t dilation) {
  return size == 0 ? 0 : (size - 1) * dilation + 1;
}

Index Window::resultShape(Shape operand) const {
  Index shape;
  for (size_t axis = 0; axis < operand.size(); ++axis) {
    int64_t padded = low[axis] + dilated(operand[axis], baseDilations[axis]) + high[axis];
    int64_t extent = dilated(dimensions[axis], windowDilations[axis]);
    shape.push_back(padded < extent || padded <= 0 ? 0 : (padded - extent) / strides[axis] + 1);
  }
  return shape;
}

bool Window::locate(ArrayRef<int64_t> position, ArrayRef<int64_t> within, Shape operand,
                    MutableArrayRef<int64_t> index) const {
  for (size_t axis = 0; axis < operand.size(); ++axis) {
    int64_t at = position[axis] * strides[axis] + within[axis] * windowDilations[axis] - low[axis];
    if (at < 0 || at % baseDilations[axis] != 0)
      return false;
    index[axis] = at / baseDilations[axis];
    if (index[axis] >= operand[axis])
      return false;
  }
  return true;
}

static Index valuesOr(std::optional<ArrayRef<int64_t>> values, size_t rank, int64_t otherwise) {
  return values ? Index(*values) : Index(rank, otherwise);
}

/// Reads padding given as a rank x 2 attribute.
static LogicalResult readPadding(Call &call, std::optional<DenseIntElementsAttr> padding,
                                 Window &window) {
  size_t rank = window.dimensions.size();
  window.low.assign(rank, 0);
  window.high.assign(rank, 0);
  if (!padding)
    return success();
  auto values = llvm::to_vector(padding->getValues<int64_t>());
  if (values.size() != 2 * rank)
    return call.error() << "needs padding for each of " << rank << " dimensions";
  for (size_t axis = 0; axis < rank; ++axis) {
    window.low[axis] = values[2 * axis];
    window.high[axis] = values[2 * axis + 1];
  }
  return success();
}

/// Every list has an entry per dimension, and none that would make us divide by
/// zero or overflow.
static LogicalResult checkWindow(Call &call, const Window &window, Shape operand) {
  constexpr int64_t limit = int64_t{1} << 30;
  auto inRange = [&](const Index &values, int64_t least) {
    return values.size() == operand.size() &&
           llvm::all_of(values, [&](int64_t value) { return value >= least && value <= limit; });
  };
  if (!inRange(window.dimensions, 1) || !inRange(window.strides, 1) ||
      !inRange(window.baseDilations, 1) || !inRange(window.windowDilations, 1) ||
      !inRange(window.low, -limit) || !inRange(window.high, -limit))
    return call.error() << "has a window with sizes missing or out of range";
  return success();
}

static LogicalResult evalReduceWindow(stablehlo::ReduceWindowOp op, Call &call) {
  unsigned count = op.getInputs().size();
  ArrayRef<Tensor> inputs = call.operands.take_front(count);
  auto rank = static_cast<size_t>(inputs[0].rank());
  Window window;
  window.dimensions = Index(op.getWindowDimensions());
  window.strides = valuesOr(op.getWindowStrides(), rank, 1);
  window.baseDilations = valuesOr(op.getBaseDilations(), rank, 1);
  window.windowDilations = valuesOr(op.getWindowDilations(), rank, 1);
  Body body(call, op.getBody());
  if (failed(readPadding(call, op.getPadding(), window)) ||
      failed(checkWindow(call, window, inputs[0].shape())) || failed(body.expect(2 * count, count)))
    return failure();

  Index shape = window.resultShape(inputs[0].shape());
  SmallVector<Tensor> results = filledWithInit(call, call.operands.take_back(count), shape);
  SmallVector<Scalar> arguments(2 * count);
  Index position(rank, 0), index(rank);
  for (int64_t linear = 0; linear < results[0].size(); ++linear) {
    // Padding is the initial value, with which the reduction has begun already.
    Index within(rank, 0);
    do {
      if (window.locate(position, within, inputs[0].shape(), index) &&
          failed(
              accumulate(body, inputs, inputs[0].linearIndex(index), results, linear, arguments)))
        return failure();
    } while (nextIndex(within, window.dimensions));
    nextIndex(position, shape);
  }
  llvm::append_range(call.results, results);
  return success();
}

//===----------------------------------------------------------------------===//
// select_and_scatter.
//===----------------------------------------------------------------------===//

/// The linear index of the element of `operand` that `select` keeps from the
/// window at `position`, or -1 for a window without elements.
static FailureOr<int64_t> selectIndex(Body &select, const Window &window, const Tensor &operand,
                                      ArrayRef<int64_t> position) {
  int64_t chosen = -1;
  Index within(operand.rank(), 0), index(operand.rank());
  do {
    if (!window.locate(position, within, operand.shape(), index))
      continue;
    int64_t candidate = operand.linearIndex(index);
    if (chosen < 0) {
      chosen = candidate;
      continue;
    }
    Scalar arguments[2] = {operand.at(chosen), operand.at(candidate)}, keep;
    if (failed(select(arguments, keep)))
      return failure();
    if (!keep.i)
      chosen = candidate;
  } while (nextIndex(within, window.dimensions));
  return chosen;
}

static LogicalResult evalSelectAndScatter(stablehlo::SelectAndScatterOp op, Call &call) {
  const Tensor &operand = call[0], &source = call[1];
  auto rank = static_cast<size_t>(operand.rank());
  Window window;
  window.dimensions = valuesOr(op.getWindowDimensions(), rank, 1);
  window.strides = valuesOr(op.getWindowStrides(), rank, 1);
  window.baseDilations = window.windowDilations = Index(rank, 1);
  Body select(call, op.getSelect()), scatter(call, op.getScatter());
  if (failed(readPadding(call, op.getPadding(), window)) ||
      failed(checkWindow(call, window, operand.shape())) || failed(select.expect(2, 1)) ||
      failed(scatter.expect(2, 1)))
    return failure();
  if (window.resultShape(operand.shape()) != Index(source.shape()))
    return call.error() << "has a source of another shape than its windows";

  Tensor result = Tensor::splat(call.resultType(), operand.shape(), call[2].at(0));
  Index position(rank, 0);
  for (int64_t linear = 0; linear < source.size(); ++linear) {
    FailureOr<int64_t> to = selectIndex(select, window, operand, position);
    if (failed(to))
      return failure();
    if (*to >= 0) {
      Scalar arguments[2] = {result.at(*to), source.at(linear)}, value;
      if (failed(scatter(arguments, value)))
        return failure();
      result.set(*to, value);
    }
    nextIndex(position, source.shape());
  }
  return call.give(std::move(result));
}

void addReduction(HandlerTable &table) {
  table.add<stablehlo::MapOp, evalMap>();
  table.add<stablehlo::ReduceOp, evalReduce>();
  table.add<stablehlo::ReduceWindowOp, evalReduceWindow>();
  table.add<stablehlo::SelectAndScatterOp, evalSelectAndScatter>();
}

} // namespace spokeshave::reference
