//===- StablehloVerifyReduce.cpp - verifiers of reductions and windows ------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// reduce, reduce_window, select_and_scatter, sort, map: operations with a body
// that is applied to scalars.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloVerify.h"

using namespace mlir;

namespace spokeshave::stablehlo {

static SmallVector<Type> elementsOf(ValueRange values) {
  SmallVector<Type> elements;
  for (Value value : values)
    elements.push_back(elementOf(value));
  return elements;
}

/// As many inputs as initial values and results; inputs of one shape; initial
/// values are scalars of the inputs' element types.
static LogicalResult verifyInputs(Operation *op, ValueRange inputs, ValueRange inits, int count,
                                  int shape, int element) {
  size_t n = inputs.size();
  if (n == 0 || op->getNumOperands() != 2 * n || op->getNumResults() != n)
    return violation(op, count) << "there must be as many inputs as initial values and results, "
                                   "at least one, got "
                                << op->getNumOperands() << " operands and " << op->getNumResults()
                                << " results";
  for (auto [input, init] : llvm::zip(inputs, inits)) {
    if (!sameShape(shapeOf(input), shapeOf(inputs.front())))
      return violation(op, shape) << "inputs must have the same shape, got "
                                  << inputs.front().getType() << " and " << input.getType();
    if (rankOf(init) != 0)
      return violation(op, element) << "initial values must be scalars, got " << init.getType();
    if (!areCompatibleElementTypes(input.getType(), init.getType()))
      return violation(op, element)
             << "input and initial value must have the same element type, got " << input.getType()
             << " and " << init.getType();
  }
  return success();
}

LogicalResult ReduceOp::verify() {
  if (failed(verifyInputs(*this, getInputs(), getInitValues(), 3, 1, 2)))
    return failure();
  Sizes shape = shapeOf(getInputs().front());
  if (failed(verifyInRange(*this, 4, "dimensions", getDimensions(), shape.size())) ||
      failed(verifyUnique(*this, 5, "dimensions", getDimensions())) ||
      failed(verifyReducer(*this, 6, 8, "body", getBody(), elementsOf(getInputs()))))
    return failure();
  SmallVector<int64_t> wanted;
  for (auto [dim, size] : llvm::enumerate(shape))
    if (!llvm::is_contained(getDimensions(), int64_t(dim)))
      wanted.push_back(size);
  for (Value result : getResults())
    if (failed(verifyShape(*this, 7, "result", shapeOf(result), wanted)))
      return failure();
  return success();
}

LogicalResult ReduceWindowOp::verify() {
  if (failed(verifyInputs(*this, getInputs(), getInitValues(), 1, 2, 3)))
    return failure();
  Sizes shape = shapeOf(getInputs().front());
  int64_t rank = shape.size();
  if (failed(verifyWindowList(*this, 4, 5, "window_dimensions", getWindowDimensions(), rank)) ||
      failed(verifyWindowList(*this, 6, 7, "window_strides", getWindowStrides(), rank)) ||
      failed(verifyWindowList(*this, 8, 9, "base_dilations", getBaseDilations(), rank)) ||
      failed(verifyWindowList(*this, 10, 11, "window_dilations", getWindowDilations(), rank)) ||
      failed(verifyPadding(*this, 12, getPadding(), rank)) ||
      failed(verifyReducer(*this, 13, 16, "body", getBody(), elementsOf(getInputs()))))
    return failure();
  std::vector<WindowDim> window = windowOf(getWindowDimensions(), getWindowStrides(), getPadding(),
                                           getBaseDilations(), getWindowDilations());
  SmallVector<int64_t> wanted;
  for (auto [size, dim] : llvm::zip(shape, window))
    wanted.push_back(countWindows(size, dim));
  for (Value result : getResults())
    if (failed(verifyShape(*this, 15, "result", shapeOf(result), wanted)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// select_and_scatter
//===----------------------------------------------------------------------===//

/// C4 to C8 and C2: the window, and the source, which has an element for each.
static LogicalResult verifySelectWindow(SelectAndScatterOp op) {
  Sizes shape = shapeOf(op.getOperand());
  int64_t rank = shape.size();
  Sizes sizes = op.getWindowDimensions().value_or(Sizes());
  if (failed(verifyWindowList(op, 4, 5, "window_dimensions", sizes, rank)) ||
      failed(verifyWindowList(op, 6, 7, "window_strides", op.getWindowStrides(), rank)) ||
      failed(verifyPadding(op, 8, op.getPadding(), rank)))
    return failure();
  std::vector<WindowDim> window =
      windowOf(sizes, op.getWindowStrides(), op.getPadding(), std::nullopt, std::nullopt);
  SmallVector<int64_t> wanted;
  for (auto [size, dim] : llvm::zip(shape, window))
    wanted.push_back(countWindows(size, dim));
  return verifyShape(op, 2, "source", shapeOf(op.getSource()), wanted);
}

LogicalResult SelectAndScatterOp::verify() {
  Type element = elementOf(getOperand());
  if (!areCompatibleElementTypes(element, elementOf(getSource())))
    return violation(*this, 1) << "operand and source must have the same element type, got "
                               << getOperand().getType() << " and " << getSource().getType();
  if (rankOf(getInitValue()) != 0 || !areCompatibleElementTypes(element, elementOf(getInitValue())))
    return violation(*this, 3) << "initial value must be a scalar of type " << element << ", got "
                               << getInitValue().getType();
  if (failed(verifySelectWindow(*this)))
    return failure();
  Type scalar = RankedTensorType::get({}, element);
  Type boolean = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  if (failed(verifySignature(*this, 9, "select", getSelect(), {scalar, scalar}, boolean)) ||
      failed(verifyReducer(*this, 10, 12, "scatter", getScatter(), element)))
    return failure();
  return verifyShape(*this, 11, "result", shapeOf(getResult()), shapeOf(getOperand()));
}

//===----------------------------------------------------------------------===//
// sort and map
//===----------------------------------------------------------------------===//

LogicalResult SortOp::verify() {
  if (getInputs().empty())
    return violation(*this, 1) << "there must be at least one input";
  if (!areCompatibleTypes(getInputs().getTypes(), getResultTypes()))
    return violation(*this, 2) << "inputs and results must have the same types, got ("
                               << getInputs().getTypes() << ") and (" << getResultTypes() << ")";
  for (Value input : getInputs())
    if (!sameShape(shapeOf(input), shapeOf(getInputs().front())))
      return violation(*this, 3) << "inputs must have the same shape, got "
                                 << getInputs().front().getType() << " and " << input.getType();
  int64_t rank = rankOf(getInputs().front()), dimension = getDimension();
  // A scalar has one order; tools write dimension -1 or 0 for it.
  int64_t bound = std::max<int64_t>(rank, 1);
  if (dimension < -bound || dimension >= bound)
    return violation(*this, 4) << "dimension must be at least " << -rank << " and less than "
                               << rank << ", got " << dimension;
  SmallVector<Type> arguments;
  for (Value input : getInputs())
    arguments.append(2, RankedTensorType::get({}, elementOf(input)));
  Type boolean = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  return verifySignature(*this, 5, "comparator", getComparator(), arguments, boolean);
}

LogicalResult MapOp::verify() {
  if (getInputs().empty())
    return violation(*this, 2) << "there must be at least one input";
  int64_t rank = rankOf(getInputs().front());
  if (!llvm::equal(getDimensions(), llvm::seq<int64_t>(0, rank)))
    return violation(*this, 3) << "dimensions must be all dimensions in order, 0 to " << rank - 1;
  SmallVector<Type> arguments;
  for (Value input : getInputs()) {
    if (!sameShape(shapeOf(input), shapeOf(getResult())))
      return violation(*this, 1) << "inputs and result must have the same shape, got "
                                 << input.getType() << " and " << getType();
    arguments.push_back(RankedTensorType::get({}, elementOf(input)));
  }
  Type result = RankedTensorType::get({}, elementOf(getResult()));
  return verifySignature(*this, 4, "computation", getComputation(), arguments, result);
}

} // namespace spokeshave::stablehlo
