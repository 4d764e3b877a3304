//===- StablehloVerifyElementwise.cpp - verifiers of elementwise operations -===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Most elementwise operations are verified by their traits alone (C1: the types of
// operands and result are the same); here is the rest.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloVerify.h"

using namespace mlir;

namespace spokeshave::stablehlo {

/// The operand's shape, and an element type that follows from its own.
template <typename Op> static LogicalResult verifyUnary(Op op, int shape, int element) {
  Type operand = op->getOperand(0).getType();
  if (failed(verifyCompatibleShape(operand, op.getType())))
    return violation(op, shape) << "operand and result must have the same shape, got " << operand
                                << " and " << op.getType();
  return verifyInferred(op, element);
}

LogicalResult AbsOp::verify() {
  return verifyUnary(*this, 1, 2);
}
LogicalResult ImagOp::verify() {
  return verifyUnary(*this, 1, 2);
}
LogicalResult RealOp::verify() {
  return verifyUnary(*this, 1, 2);
}
LogicalResult IsFiniteOp::verify() {
  return verifyUnary(*this, 1, 1);
}

LogicalResult ConvertOp::verify() {
  if (failed(verifyCompatibleShape(getOperand().getType(), getType())))
    return violation(*this, 1) << "operand and result must have the same shape, got "
                               << getOperand().getType() << " and " << getType();
  return success();
}

LogicalResult ReducePrecisionOp::verify() {
  if (int32_t(getExponentBits()) < 1)
    return violation(*this, 2) << "exponent_bits must be at least 1, got "
                               << int32_t(getExponentBits());
  if (int32_t(getMantissaBits()) < 0)
    return violation(*this, 3) << "mantissa_bits must not be negative, got "
                               << int32_t(getMantissaBits());
  return success();
}

//===----------------------------------------------------------------------===//
// Quantization.
//===----------------------------------------------------------------------===//

static Type expressedType(Type type) {
  Type element = getElementTypeOrSelf(type);
  auto quantized = dyn_cast<quant::QuantizedType>(element);
  return quantized ? quantized.getExpressedType() : element;
}

LogicalResult UniformQuantizeOp::verify() {
  if (failed(verifyCompatibleShape(getOperand().getType(), getType())))
    return violation(*this, 1) << "operand and result must have the same shape";
  if (expressedType(getOperand().getType()) != expressedType(getType()))
    return violation(*this, 2) << "result must express the operand's type, got "
                               << getOperand().getType() << " and " << getType();
  return success();
}

LogicalResult UniformDequantizeOp::verify() {
  if (failed(verifyCompatibleShape(getOperand().getType(), getType())))
    return violation(*this, 1) << "operand and result must have the same shape";
  if (expressedType(getOperand().getType()) != getElementTypeOrSelf(getType()))
    return violation(*this, 2) << "result must have the type that the operand expresses, got "
                               << getOperand().getType() << " and " << getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Two and three operands.
//===----------------------------------------------------------------------===//

LogicalResult ComplexOp::verify() {
  if (!areCompatibleTypes(getLhs().getType(), getRhs().getType()))
    return violation(*this, 1) << "operands must have the same type, got " << getLhs().getType()
                               << " and " << getRhs().getType();
  return verifyUnary(*this, 2, 3);
}

/// The types of comparison that fit an element type, the first being the usual one.
static SmallVector<ComparisonType> comparisonTypes(Type element) {
  if (element.isInteger(1) || element.isUnsignedInteger())
    return {ComparisonType::UNSIGNED};
  if (isa<IntegerType>(element))
    return {ComparisonType::SIGNED};
  if (isa<ComplexType>(element))
    return {ComparisonType::FLOAT};
  return {ComparisonType::FLOAT, ComparisonType::TOTALORDER};
}

LogicalResult CompareOp::verify() {
  if (!areCompatibleElementTypes(getLhs().getType(), getRhs().getType()))
    return violation(*this, 1) << "operands must have the same element type, got "
                               << getLhs().getType() << " and " << getRhs().getType();
  if (!sameShape(shapeOf(getLhs()), shapeOf(getRhs())))
    return violation(*this, 2) << "operands must have the same shape, got " << getLhs().getType()
                               << " and " << getRhs().getType();
  std::optional<ComparisonType> type = getCompareType();
  if (type && *type != ComparisonType::NOTYPE && !isa<quant::QuantizedType>(elementOf(getLhs())) &&
      !llvm::is_contained(comparisonTypes(elementOf(getLhs())), *type))
    return violation(*this, 3) << "comparison " << stringifyComparisonType(*type)
                               << " does not fit element type " << elementOf(getLhs());
  return verifyInferred(*this, 2);
}

/// `value` is a scalar or has the shape of `operand`.
static LogicalResult verifyScalarOrSame(Operation *op, int constraint, StringRef name, Value value,
                                        Value operand) {
  if (rankOf(value) == 0 || sameShape(shapeOf(value), shapeOf(operand)))
    return success();
  return violation(op, constraint) << name << " must be a scalar or have the shape of "
                                   << operand.getType() << ", got " << value.getType();
}

LogicalResult ClampOp::verify() {
  if (failed(verifyScalarOrSame(*this, 1, "min", getMin(), getOperand())) ||
      failed(verifyScalarOrSame(*this, 2, "max", getMax(), getOperand())))
    return failure();
  if (!areCompatibleElementTypes(getMin().getType(), getOperand().getType()) ||
      !areCompatibleElementTypes(getMax().getType(), getOperand().getType()))
    return violation(*this, 3) << "min, operand and max must have the same element type, got "
                               << getOperandTypes();
  return verifyInferred(*this, 4);
}

LogicalResult SelectOp::verify() {
  if (failed(verifyScalarOrSame(*this, 1, "pred", getPred(), getOnTrue())))
    return failure();
  if (!areCompatibleTypes(getOnTrue().getType(), getOnFalse().getType()))
    return violation(*this, 2) << "on_true and on_false must have the same type, got "
                               << getOnTrue().getType() << " and " << getOnFalse().getType();
  return verifyInferred(*this, 2);
}

} // namespace spokeshave::stablehlo
