//===- StablehloOps.cpp - builders, folders, effects ------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What operations need in C++ besides text form, type inference and verifiers.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace spokeshave::stablehlo {

//===----------------------------------------------------------------------===//
// Constants.
//===----------------------------------------------------------------------===//

void ConstantOp::build(OpBuilder &builder, OperationState &state, Attribute value) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements) {
    // A number becomes a scalar tensor.
    auto type = RankedTensorType::get({}, cast<TypedAttr>(value).getType());
    elements = DenseElementsAttr::get(type, value);
  }
  build(builder, state, elements.getType(), elements);
}

OpFoldResult ConstantOp::fold(FoldAdaptor) {
  return getValue();
}

bool ConstantOp::isCompatibleReturnTypes(TypeRange a, TypeRange b) {
  if (a.size() != 1 || b.size() != 1)
    return false;
  auto x = dyn_cast<RankedTensorType>(a[0]), y = dyn_cast<RankedTensorType>(b[0]);
  if (!x || !y || x.getShape() != y.getShape())
    return false;
  // A constant of quantized type holds the stored integers.
  auto stored = [](RankedTensorType type) {
    auto quantized = dyn_cast<quant::QuantizedType>(type.getElementType());
    return quantized ? quantized.getStorageType() : type.getElementType();
  };
  return stored(x) == stored(y);
}

void ConstantOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  bool integers = isa<IntegerType>(getElementTypeOrSelf(getType()));
  setName(getResult(), integers ? "c" : "cst");
}

//===----------------------------------------------------------------------===//
// Builders.
//===----------------------------------------------------------------------===//

void ConvertOp::build(OpBuilder &builder, OperationState &state, Value operand, Type elementType) {
  build(builder, state, cast<ShapedType>(operand.getType()).clone(elementType), operand);
}

void CompareOp::build(OpBuilder &builder, OperationState &state, Value lhs, Value rhs,
                      ComparisonDirection direction, ComparisonType type) {
  ComparisonTypeAttr typeAttr;
  if (type != ComparisonType::NOTYPE)
    typeAttr = ComparisonTypeAttr::get(builder.getContext(), type);
  build(builder, state, lhs, rhs, ComparisonDirectionAttr::get(builder.getContext(), direction),
        typeAttr);
}

void ReduceOp::build(OpBuilder &builder, OperationState &state, ValueRange inputs,
                     ValueRange initValues, DenseI64ArrayAttr dimensions, TypeRange elementTypes) {
  SmallVector<Type> types;
  for (auto [input, elementType] : llvm::zip(inputs, elementTypes)) {
    auto type = cast<RankedTensorType>(input.getType());
    SmallVector<int64_t> shape;
    for (auto [dim, size] : llvm::enumerate(type.getShape()))
      if (!llvm::is_contained(dimensions.asArrayRef(), int64_t(dim)))
        shape.push_back(size);
    types.push_back(RankedTensorType::get(shape, getElementTypeOrSelf(elementType)));
  }
  build(builder, state, types, inputs, initValues, dimensions);
}

void SortOp::build(OpBuilder &builder, OperationState &state, ValueRange inputs, int64_t dimension,
                   bool isStable) {
  build(builder, state, inputs.getTypes(), inputs, builder.getI64IntegerAttr(dimension),
        builder.getBoolAttr(isStable));
}

//===----------------------------------------------------------------------===//
// Calls.
//===----------------------------------------------------------------------===//

void CustomCallOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  // Without the mark, a call may be dropped, merged or repeated.
  if (!getHasSideEffect())
    return;
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

LogicalResult CompositeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto function = symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, getDecompositionAttr());
  if (!function)
    return emitOpError("composite_c2: there is no function '") << getDecomposition() << "'";
  FunctionType type = function.getFunctionType();
  if (!areCompatibleTypes(type.getInputs(), getInputs().getTypes()))
    return emitOpError("composite_c3: has operands of types ")
           << getInputs().getTypes() << ", but its decomposition takes " << type.getInputs();
  if (!areCompatibleTypes(type.getResults(), getResultTypes()))
    return emitOpError("composite_c4: has results of types ")
           << getResultTypes() << ", but its decomposition gives " << type.getResults();
  return success();
}

} // namespace spokeshave::stablehlo
