//===- StablehloTraits.cpp - traits and type predicates of StableHLO --------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When two types count as the same, and the checks that follow from it.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloTraits.h"

#include "input/NarrowFloats.h"
#include "input/StablehloOps.h"
#include "input/StablehloVerify.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace spokeshave::stablehlo {

bool isFloatElement(Type type) {
  if (narrow::isNarrowFloat(type))
    return true;
  auto floatType = dyn_cast<FloatType>(type);
  return floatType && !floatType.isTF32() && floatType.getWidth() <= 64;
}

bool hasSingleBoundedDimension(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return false;
  auto extensions = dyn_cast_or_null<TypeExtensionsAttr>(tensor.getEncoding());
  if (!extensions || extensions.getBounds().size() != size_t(tensor.getRank()))
    return false;
  int64_t dynamic = 0;
  for (auto [size, bound] : llvm::zip(tensor.getShape(), extensions.getBounds())) {
    dynamic += ShapedType::isDynamic(size);
    if (ShapedType::isDynamic(size) && ShapedType::isDynamic(bound))
      return false;
  }
  return dynamic == 1;
}

static bool fits(quant::QuantizedType type, double scale, int64_t zeroPoint) {
  if (zeroPoint < type.getStorageTypeMin() || zeroPoint > type.getStorageTypeMax())
    return false;
  auto expressed = dyn_cast<FloatType>(type.getExpressedType());
  if (!expressed)
    return false;
  // The scale itself must be a normal number of the expressed type.
  bool losesInfo = false;
  APFloat rounded(scale);
  rounded.convert(expressed.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return scale > 0 && rounded.isNormal();
}

bool isValidQuantizedElement(Type type) {
  auto quantized = dyn_cast<quant::QuantizedType>(type);
  auto storage = quantized ? dyn_cast<IntegerType>(quantized.getStorageType()) : IntegerType();
  if (!storage || storage.isSigned())
    return false;
  if (auto uniform = dyn_cast<quant::UniformQuantizedType>(type))
    return fits(uniform, uniform.getScale(), uniform.getZeroPoint());
  auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(type);
  return perAxis &&
         llvm::all_of(llvm::zip(perAxis.getScales(), perAxis.getZeroPoints()), [&](auto pair) {
           return fits(perAxis, std::get<0>(pair), std::get<1>(pair));
         });
}

bool hasValidQuantizedDimension(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return true;
  auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(tensor.getElementType());
  if (!perAxis)
    return true;
  int64_t dim = perAxis.getQuantizedDimension();
  return dim >= 0 && dim < tensor.getRank() &&
         sameSize(tensor.getDimSize(dim), perAxis.getScales().size());
}

bool areCompatibleElementTypes(Type a, Type b) {
  a = getElementTypeOrSelf(a);
  b = getElementTypeOrSelf(b);
  auto quantizedA = dyn_cast<quant::QuantizedType>(a),
       quantizedB = dyn_cast<quant::QuantizedType>(b);
  // A float and a quantized type that expresses it do not match: the
  // specification asks for conversions by uniform_quantize.
  if (!quantizedA || !quantizedB)
    return a == b;
  return quantizedA.getExpressedType() == quantizedB.getExpressedType() &&
         quantizedA.getStorageType() == quantizedB.getStorageType();
}

/// No static size of `type` is beyond the bound that `other` has for it.
static bool withinBounds(ShapedType type, ShapedType other) {
  auto tensor = dyn_cast<RankedTensorType>(other);
  auto extensions =
      tensor ? dyn_cast_or_null<TypeExtensionsAttr>(tensor.getEncoding()) : TypeExtensionsAttr();
  if (!extensions || !type.hasRank() || type.getRank() != int64_t(extensions.getBounds().size()))
    return true;
  return llvm::all_of(llvm::zip(type.getShape(), extensions.getBounds()), [](auto pair) {
    auto [size, bound] = pair;
    return ShapedType::isDynamic(size) || ShapedType::isDynamic(bound) || size <= bound;
  });
}

bool areCompatibleTypes(Type a, Type b) {
  if (a == b)
    return true;
  if (auto tupleA = dyn_cast<TupleType>(a)) {
    auto tupleB = dyn_cast<TupleType>(b);
    return tupleB && areCompatibleTypes(tupleA.getTypes(), tupleB.getTypes());
  }
  auto shapedA = dyn_cast<ShapedType>(a);
  auto shapedB = dyn_cast<ShapedType>(b);
  if (!shapedA || !shapedB || isa<TensorType>(a) != isa<TensorType>(b))
    return false;
  return succeeded(verifyCompatibleShape(a, b)) && areCompatibleElementTypes(a, b) &&
         withinBounds(shapedA, shapedB) && withinBounds(shapedB, shapedA);
}

bool areCompatibleTypes(TypeRange a, TypeRange b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
           return areCompatibleTypes(std::get<0>(pair), std::get<1>(pair));
         });
}

namespace detail {

/// The number of the specification's constraint that a trait stands for.
static int constraintOf(Operation *op) {
  if (isa<ClampOp, WhileOp>(op))
    return 3;
  if (isa<BatchNormGradOp, BatchNormInferenceOp, BatchNormTrainingOp>(op))
    return 2;
  if (isa<CollectivePermuteOp>(op))
    return 5;
  if (isa<AllGatherOp>(op))
    return 6;
  return isa<AllToAllOp>(op) ? 9 : 1;
}

SmallVector<Type> operandsAndResults(Operation *op) {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  return types;
}

LogicalResult verifyElementTypes(Operation *op, TypeRange types) {
  for (Type type : types)
    if (!areCompatibleElementTypes(type, types.front()))
      return violation(op, constraintOf(op))
             << "requires compatible element types for all operands and results, got "
             << types.front() << " and " << type;
  return success();
}

LogicalResult verifySameShape(Operation *op) {
  SmallVector<Type> types = operandsAndResults(op);
  // Both number the constraint on element types first.
  int constraint = isa<CompareOp, ComplexOp>(op) ? 2 : 1;
  for (Type type : types)
    if (failed(verifyCompatibleShape(type, types.front())))
      return violation(op, constraint) << "requires the same shape for all operands and results, "
                                          "got "
                                       << types.front() << " and " << type;
  return success();
}

LogicalResult verifySameTypes(Operation *op, TypeRange types) {
  // add may mix quantized types, which its verifier looks at.
  auto isQuantized = [](Type type) {
    return isa<quant::QuantizedType>(getElementTypeOrSelf(type));
  };
  if (isa<AddOp>(op) && llvm::any_of(types, isQuantized))
    return verifySameShape(op);
  for (Type type : types)
    if (!areCompatibleTypes(type, types.front()))
      return violation(op, constraintOf(op))
             << "requires compatible types for all operands and results, got " << types.front()
             << " and " << type;
  return success();
}

LogicalResult verifyPairwise(Operation *op, bool elementsOnly) {
  if (op->getNumOperands() != op->getNumResults())
    return violation(op, constraintOf(op))
           << "requires as many results as operands, got " << op->getNumOperands()
           << " operands and " << op->getNumResults() << " results";
  for (auto [index, operand, result] :
       llvm::enumerate(op->getOperandTypes(), op->getResultTypes())) {
    bool same = elementsOnly ? areCompatibleElementTypes(operand, result)
                             : areCompatibleTypes(operand, result);
    if (!same)
      return violation(op, constraintOf(op))
             << "requires the same " << (elementsOnly ? "element type" : "type")
             << " for operand and result " << index << ", got " << operand << " and " << result;
  }
  return success();
}

} // namespace detail
} // namespace spokeshave::stablehlo
