//===- StablehloVerifyQuantized.cpp - checks of quantized types -------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the specification asks more of quantized types than of others.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloVerify.h"

using namespace mlir;
using mlir::quant::QuantizedType;
using mlir::quant::UniformQuantizedPerAxisType;
using mlir::quant::UniformQuantizedType;

namespace spokeshave::stablehlo {

LogicalResult verifySameElement(Operation *op, int constraint, Type operand, Type result,
                                bool sameScales) {
  Type from = getElementTypeOrSelf(operand), to = getElementTypeOrSelf(result);
  if (from == to)
    return success();
  auto a = dyn_cast<UniformQuantizedPerAxisType>(from),
       b = dyn_cast<UniformQuantizedPerAxisType>(to);
  bool same =
      a && b && a.getStorageType() == b.getStorageType() &&
      a.getExpressedType() == b.getExpressedType() &&
      (!sameScales || (a.getScales() == b.getScales() && a.getZeroPoints() == b.getZeroPoints()));
  if (!same)
    return violation(op, constraint) << "operand and result must have the same element type, got "
                                     << operand << " and " << result;
  return success();
}

static LogicalResult verifyHybridProduct(Operation *op, int hybrid, Type lhs, QuantizedType rhs,
                                         Type result) {
  if (lhs != rhs.getExpressedType() || lhs != result)
    return violation(op, hybrid) << "lhs and result must have the type that rhs expresses, got "
                                 << lhs << ", " << rhs << " and " << result;
  return success();
}

LogicalResult verifyQuantizedProduct(Operation *op, int first, int storage, int hybrid, Type lhs,
                                     Type rhs, Type result) {
  auto x = dyn_cast<QuantizedType>(lhs), y = dyn_cast<QuantizedType>(rhs),
       z = dyn_cast<QuantizedType>(result);
  if (!y || bool(x) != bool(z))
    return violation(op, first) << "rhs must be quantized, and the result if lhs is, got " << lhs
                                << ", " << rhs << " and " << result;
  if (!x)
    return verifyHybridProduct(op, hybrid, lhs, y, result);
  if (x.getStorageType() != y.getStorageType())
    return violation(op, storage) << "operands must have the same storage type, got " << lhs
                                  << " and " << rhs;
  if (x.getExpressedType() != y.getExpressedType() || x.getExpressedType() != z.getExpressedType())
    return violation(op, storage + 1) << "operands and result must express the same type, got "
                                      << lhs << ", " << rhs << " and " << result;
  if (isa<UniformQuantizedType>(rhs) && !isa<UniformQuantizedType>(result))
    return violation(op, storage + 2)
           << "the result must have one scale as rhs has, got " << result;
  return success();
}

//===----------------------------------------------------------------------===//
// add, the one elementwise operation that takes per-axis quantized tensors.
//===----------------------------------------------------------------------===//

LogicalResult AddOp::verify() {
  Type lhs = elementOf(getLhs()), rhs = elementOf(getRhs()), result = elementOf(getResult());
  auto x = dyn_cast<QuantizedType>(lhs), y = dyn_cast<QuantizedType>(rhs),
       z = dyn_cast<QuantizedType>(result);
  if (!x && !y && !z)
    return success();
  if (!x || !y || !z)
    return violation(*this, 2) << "operands and result must all be quantized or none, got " << lhs
                               << ", " << rhs << " and " << result;
  if (x.getStorageType() != y.getStorageType() || x.getStorageType() != z.getStorageType())
    return violation(*this, 3) << "operands and result must have the same storage type, got " << lhs
                               << ", " << rhs << " and " << result;
  if (x.getExpressedType() != y.getExpressedType() || x.getExpressedType() != z.getExpressedType())
    return violation(*this, 4) << "operands and result must express the same type, got " << lhs
                               << ", " << rhs << " and " << result;
  auto axisOf = [](Type type) -> std::optional<int64_t> {
    auto perAxis = dyn_cast<UniformQuantizedPerAxisType>(type);
    return perAxis ? std::optional<int64_t>(perAxis.getQuantizedDimension()) : std::nullopt;
  };
  std::optional<int64_t> axis = axisOf(result);
  if ((axisOf(lhs) || axisOf(rhs)) != axis.has_value())
    return violation(*this, 5) << "the result must be quantized per axis if an operand is, got "
                               << lhs << ", " << rhs << " and " << result;
  if (axisOf(lhs) && axisOf(lhs) != axis)
    return violation(*this, 6) << "lhs and result must have the same quantized dimension, got "
                               << *axisOf(lhs) << " and " << *axis;
  if (axisOf(rhs) && axisOf(rhs) != axis)
    return violation(*this, 7) << "rhs and result must have the same quantized dimension, got "
                               << *axisOf(rhs) << " and " << *axis;
  return success();
}

} // namespace spokeshave::stablehlo
