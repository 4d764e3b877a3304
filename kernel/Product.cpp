//===- Product.cpp - what the lowerings of matrix products share -----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Product.h.
//
//===----------------------------------------------------------------------===//
#include "kernel/Product.h"

#include "graph/Precision.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

Type kernel::accumulatorType(Operation *product) {
  Type element = typeOf(product->getResult(0)).getElementType();
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  if (element.isF64() || element.isF32())
    return element;
  MLIRContext *context = product->getContext();
  if (isa<FloatType>(element))
    return Float32Type::get(context);
  return IntegerType::get(context, element.getIntOrFloatBitWidth() > 32 ? 64 : 32);
}

Num kernel::widened(Num value, Type accumulator, bool isUnsigned) {
  if (isa<FloatType>(accumulator) && !value.isFloat())
    return isUnsigned ? value.toUnsignedFloat(accumulator) : value.toFloat(accumulator);
  if (auto integer = dyn_cast<IntegerType>(accumulator);
      integer && value.bits() < integer.getWidth())
    return isUnsigned ? value.zeroExtended(integer.getWidth())
                      : value.signExtended(integer.getWidth());
  if (accumulator.isF64() && !value.element().isF64())
    return value.extended(accumulator);
  return value;
}

Num kernel::finishedSum(Num sum, Type element) {
  if (isSmallFloat(element))
    return roundTo(sum, element);
  if (element.isInteger(1))
    return ne(sum, 0);
  if (auto integer = dyn_cast<IntegerType>(element); integer && integer.getWidth() < sum.bits())
    return sum.lowBits(integer.getWidth());
  return sum;
}

int64_t ProductParts::passes() const {
  int64_t count = 0;
  for (int64_t a = 0; a < left; ++a)
    count += std::clamp<int64_t>(order - a + 1, 0, right);
  return count;
}

void ProductParts::set(TileDotOp dot) const {
  dot.setOrder(order);
  dot.setAParts(left);
  dot.setBParts(right);
}

/// The parts that `factor` has, which may come from a narrower type.
static int64_t partsOfFactor(Value factor) {
  int64_t least = graph::partsOf(typeOf(factor).getElementType());
  while (auto *op = factor.getDefiningOp()) {
    if (!isa<hlo::ReshapeOp, hlo::TransposeOp, hlo::ConvertOp>(op) ||
        !isa<FloatType>(typeOf(op->getOperand(0)).getElementType()))
      break;
    factor = op->getOperand(0);
    least = std::min(least, graph::partsOf(typeOf(factor).getElementType()));
  }
  return least;
}

ProductParts kernel::partsOf(const MatrixProblem &problem, const machine::Machine &machine) {
  if (!machine.matrixTile || !accumulatorType(problem.op).isF32())
    return {};
  int64_t order = graph::productOrder(problem.op);
  return {std::min(partsOfFactor(problem.left), order + 1),
          std::min(partsOfFactor(problem.right), order + 1), order};
}

std::optional<Position> kernel::followProduct(IndexSpace &space, Value from, Value to,
                                              Position position) {
  SmallVector<Operation *> path; // from `to` up to something of the product's shape
  while (to != from) {
    Operation *op = to.getDefiningOp();
    if (!op)
      return std::nullopt;
    if (isa<hlo::ReshapeOp, hlo::TransposeOp>(op))
      path.push_back(op);
    // Elementwise: the operand that descends from the product has the same shape.
    Value next;
    for (Value operand : op->getOperands()) {
      Value root = operand;
      SmallVector<Value> work{root};
      llvm::DenseSet<Value> seen;
      while (!work.empty() && !next) {
        Value value = work.pop_back_val();
        if (value == from)
          next = operand;
        else if (Operation *definition = value.getDefiningOp();
                 definition && seen.insert(value).second)
          llvm::append_range(work, definition->getOperands());
      }
    }
    if (!next)
      return std::nullopt;
    to = next;
  }
  for (Operation *op : llvm::reverse(path)) {
    if (auto reshape = dyn_cast<hlo::ReshapeOp>(op)) {
      Index linear = space.linearize(position, typeOf(reshape.getOperand()).getShape());
      position = space.delinearize(linear, typeOf(reshape).getShape());
    } else {
      Position moved;
      for (int64_t dim : cast<hlo::TransposeOp>(op).getPermutation())
        moved.push_back(position[dim]);
      position = moved;
    }
  }
  return position;
}

LogicalResult kernel::emitProductOutputs(FusionLowering &lowering, ElementEmitter &emitter,
                                         MatrixProblem &problem, const Index &batch,
                                         const Index &row, const Index &column) {
  IndexSpace &space = emitter.space();
  graph::FusionOp fusion = lowering.fusion;
  Value product = problem.op->getResult(0);
  SmallVector<std::pair<Element, Position>, 2> results;
  for (Value output : fusion.getYield().getValues()) {
    std::optional<Position> at =
        followProduct(space, product, output, problem.result(space, batch, row, column));
    if (!at)
      return fusion.emitOpError("has a result that does not come from its product");
    FailureOr<Element> element = emitter.emit(output, *at);
    if (failed(element))
      return failure();
    results.push_back({*element, *at});
  }
  // Loads stand before stores: a result may take the place of an input.
  for (auto [i, output] : llvm::enumerate(fusion.getYield().getValues()))
    if (failed(emitter.store(results[i].first, typeOf(output), emitter.outputBuffer(i),
                             results[i].second)))
      return failure();
  return success();
}
