//===- Body.cpp - computations that operations apply to elements -----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "reference/Body.h"

#include "input/StablehloOps.h"

using namespace mlir;

namespace spokeshave::reference {

/// The element type of a value that is a rank-0 tensor without quantization.
static FailureOr<ElementType> plainScalarType(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getRank() != 0)
    return failure();
  FailureOr<ElementType> element = ElementType::get(type.getElementType());
  if (succeeded(element) && element->isQuantized())
    return failure();
  return element;
}

static ElementType elementTypeOrNone(Value value) {
  auto type = dyn_cast<ShapedType>(value.getType());
  FailureOr<ElementType> element = failure();
  if (type)
    element = ElementType::get(type.getElementType());
  return succeeded(element) ? *element : ElementType();
}

Body::Body(Call &call, Region &region) : call(call), region(region) {
  for (BlockArgument argument : region.getArguments())
    argumentTypes.push_back(elementTypeOrNone(argument));
  for (Value result : region.front().getTerminator()->getOperands()) {
    returnTypes.push_back(elementTypeOrNone(result));
    resultRegisters.push_back(0);
  }
  compiled = compile();
}

LogicalResult Body::expect(unsigned numArguments, unsigned numResults) const {
  if (argumentTypes.size() == numArguments && returnTypes.size() == numResults)
    return success();
  return call.error() << "needs a body with " << numArguments << " arguments and " << numResults
                      << " results, this one has " << argumentTypes.size() << " and "
                      << returnTypes.size();
}

bool Body::addConstant(Value value, const Tensor &tensor,
                       llvm::DenseMap<Value, unsigned> &registerOf) {
  if (!tensor.isTensor() || tensor.rank() != 0)
    return false;
  registerOf[value] = registers.size();
  registers.push_back(tensor.at(0));
  return true;
}

bool Body::compileOp(Operation &op, llvm::DenseMap<Value, unsigned> &registerOf) {
  if (op.getNumResults() != 1)
    return false;
  FailureOr<ElementType> resultType = plainScalarType(op.getResult(0));
  if (failed(resultType))
    return false;
  if (auto constant = dyn_cast<stablehlo::ConstantOp>(op)) {
    FailureOr<Tensor> tensor = Tensor::fromAttribute(constant.getValue());
    return succeeded(tensor) && addConstant(op.getResult(0), *tensor, registerOf);
  }
  if (!isElementwise(&op) || op.getNumOperands() > 3)
    return false;

  Step step;
  step.arity = op.getNumOperands();
  SmallVector<ElementType, 3> types;
  for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
    FailureOr<ElementType> type = plainScalarType(operand);
    if (failed(type))
      return false;
    types.push_back(*type);
    if (!registerOf.contains(operand)) { // a value from outside the body
      const Tensor *outer = call.scope.find(operand);
      if (!outer || !addConstant(operand, *outer, registerOf))
        return false;
    }
    step.operands[i] = registerOf[operand];
  }
  std::optional<Kernel> kernel = elementwiseKernel(&op, types, *resultType);
  if (!kernel)
    return false;
  step.kernel = *kernel;
  step.result = registerOf[op.getResult(0)] = registers.size();
  registers.emplace_back();
  steps.push_back(step);
  return true;
}

bool Body::compile() {
  llvm::DenseMap<Value, unsigned> registerOf;
  for (BlockArgument argument : region.getArguments()) {
    if (failed(plainScalarType(argument)))
      return false;
    registerOf[argument] = registers.size();
    registers.emplace_back();
  }
  for (Operation &op : region.front().without_terminator())
    if (!compileOp(op, registerOf))
      return false;
  for (auto [i, result] : llvm::enumerate(region.front().getTerminator()->getOperands())) {
    if (!registerOf.contains(result)) {
      const Tensor *outer = call.scope.find(result);
      if (!outer || !addConstant(result, *outer, registerOf))
        return false;
    }
    resultRegisters[i] = registerOf[result];
  }
  return true;
}

LogicalResult Body::interpret(ArrayRef<Scalar> arguments, MutableArrayRef<Scalar> results) {
  SmallVector<Tensor> tensors;
  for (auto [i, argument] : llvm::enumerate(arguments))
    tensors.push_back(Tensor::scalar(argumentTypes[i], argument));
  Results returned;
  if (failed(call.evaluator.runRegion(region, tensors, returned, &call.scope)))
    return failure();
  for (auto [i, result] : llvm::enumerate(returned)) {
    if (!result.isTensor() || result.size() != 1)
      return call.error() << "has a body that does not return scalars";
    results[i] = result.at(0);
  }
  return success();
}

LogicalResult Body::operator()(ArrayRef<Scalar> arguments, MutableArrayRef<Scalar> results) {
  if (!compiled)
    return interpret(arguments, results);
  if (call.evaluator.settings().stepLimit && failed(call.evaluator.step(call.op)))
    return failure();
  std::copy(arguments.begin(), arguments.end(), registers.begin());
  for (const Step &step : steps) {
    Scalar operands[3];
    for (unsigned i = 0; i < step.arity; ++i)
      operands[i] = registers[step.operands[i]];
    registers[step.result] = step.kernel(operands);
  }
  for (auto [result, from] : llvm::zip(results, resultRegisters))
    result = registers[from];
  return success();
}

} // namespace spokeshave::reference
