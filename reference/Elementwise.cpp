//===- Elementwise.cpp - elementwise operations on whole tensors -----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "reference/Evaluator.h"
#include "reference/Kernel.h"

using namespace mlir;

namespace spokeshave::reference {

bool isElementwise(Operation *op) {
  using namespace stablehlo;
  return isa<AbsOp, AddOp, AndOp, Atan2Op, CbrtOp, CeilOp, ClampOp, ClzOp, CompareOp, ComplexOp,
             ConvertOp, CosineOp, DivOp, ExpOp, Expm1Op, FloorOp, ImagOp, IsFiniteOp, Log1pOp,
             LogOp, LogisticOp, MaxOp, MinOp, MulOp, NegOp, NotOp, OrOp, PopulationCountOp, PowOp,
             RealOp, ReducePrecisionOp, RemOp, RoundNearestEvenOp, RoundOp, RsqrtOp, SelectOp,
             ShiftLeftOp, ShiftRightArithmeticOp, ShiftRightLogicalOp, SignOp, SineOp, SqrtOp,
             SubtractOp, TanOp, TanhOp, XorOp>(op);
}

std::optional<Kernel> elementwiseKernel(Operation *op, ArrayRef<ElementType> operandTypes,
                                        ElementType resultType) {
  if (operandTypes.empty())
    return std::nullopt;
  Kernel kernel;
  kernel.in = operandTypes.front();
  kernel.out = resultType;
  for (auto theme : {arithmeticKernel, transcendentalKernel, logicKernel, conversionKernel}) {
    theme(op, kernel);
    if (kernel.function)
      return kernel;
  }
  return std::nullopt;
}

/// All operands have one shape, except that select's predicate and clamp's
/// bounds may be scalars. Returns the operand that has that shape, or -1.
static int shapeGivingOperand(Operation *op, ArrayRef<Tensor> operands) {
  unsigned giver = isa<stablehlo::SelectOp, stablehlo::ClampOp>(op) ? 1 : 0;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    bool mayBeScalar =
        (isa<stablehlo::SelectOp>(op) && i == 0) || (isa<stablehlo::ClampOp>(op) && i != 1);
    if (operand.shape() != operands[giver].shape() && !(mayBeScalar && operand.rank() == 0))
      return -1;
  }
  return giver;
}

LogicalResult runElementwise(Call &call) {
  SmallVector<ElementType, 3> types;
  for (const Tensor &operand : call.operands)
    types.push_back(operand.elementType());
  std::optional<Kernel> kernel = elementwiseKernel(call.op, types, call.resultType());
  if (!kernel)
    return call.error() << "is not defined on elements of type " << types.front().type();
  int giver = shapeGivingOperand(call.op, call.operands);
  if (giver < 0)
    return call.error() << "has operands of different shapes";

  Tensor result(call.resultType(), call.operands[giver].shape());
  char *to = result.mutableData();
  unsigned step = result.elementType().bytes(), arity = call.operands.size();
  const char *from[3] = {};
  unsigned steps[3] = {};
  for (unsigned k = 0; k < arity; ++k) {
    from[k] = call.operands[k].data();
    bool broadcast = call.operands[k].rank() == 0 && result.rank() != 0;
    steps[k] = broadcast ? 0 : types[k].bytes();
  }
  for (int64_t i = 0, e = result.size(); i < e; ++i, to += step) {
    Scalar operands[3];
    for (unsigned k = 0; k < arity; ++k, from[k - 1] += steps[k - 1])
      operands[k] = types[k].load(from[k]);
    result.elementType().store(to, kernel->function(*kernel, operands));
  }
  return call.give(std::move(result));
}

} // namespace spokeshave::reference
