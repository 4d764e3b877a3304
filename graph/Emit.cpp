//===- Emit.cpp - writing StableHLO with few words -------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "graph/Emit.h"

using namespace mlir;
namespace sh = spokeshave::stablehlo;

namespace spokeshave::graph {

Value Emit::splat(RankedTensorType type, double value) {
  Type element = type.getElementType();
  Attribute attribute =
      isa<FloatType>(element)
          ? Attribute(builder.getFloatAttr(element, value))
          : Attribute(builder.getIntegerAttr(element, static_cast<int64_t>(value)));
  return builder.create<sh::ConstantOp>(
      loc, cast<ElementsAttr>(DenseElementsAttr::get(type, attribute)));
}

Value Emit::integer(RankedTensorType type, uint64_t value) {
  APInt number(type.getElementTypeBitWidth(), value);
  auto attribute = IntegerAttr::get(type.getElementType(), number);
  return builder.create<sh::ConstantOp>(
      loc, cast<ElementsAttr>(DenseElementsAttr::get(type, Attribute(attribute))));
}

Value Emit::less(Value a, Value b) {
  return builder.create<sh::CompareOp>(loc, a, b, sh::ComparisonDirection::LT);
}

Value Emit::convert(Value value, Type element) {
  auto type = RankedTensorType::get(shapeOf(value), element);
  return type == value.getType() ? value : builder.create<sh::ConvertOp>(loc, type, value);
}

Value Emit::bitcast(Value value, RankedTensorType type) {
  return type == value.getType() ? value : builder.create<sh::BitcastConvertOp>(loc, type, value);
}

Value Emit::reshape(Value value, ArrayRef<int64_t> shape) {
  return shapeOf(value) == shape
             ? value
             : builder.create<sh::ReshapeOp>(loc, typeOf(value).clone(shape), value);
}

Value Emit::broadcast(Value value, ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  return builder.create<sh::BroadcastInDimOp>(loc, typeOf(value).clone(shape), value,
                                              builder.getDenseI64ArrayAttr(dims));
}

Value Emit::concatenate(ArrayRef<Value> values, int64_t dim) {
  SmallVector<int64_t> shape(shapeOf(values.front()));
  shape[dim] = 0;
  for (Value value : values)
    shape[dim] += shapeOf(value)[dim];
  return builder.create<sh::ConcatenateOp>(loc, typeOf(values.front()).clone(shape), values, dim);
}

Value Emit::slice(Value value, ArrayRef<int64_t> starts, ArrayRef<int64_t> limits) {
  SmallVector<int64_t> shape;
  for (auto [start, limit] : llvm::zip_equal(starts, limits))
    shape.push_back(limit - start);
  if (ArrayRef<int64_t>(shape) == shapeOf(value))
    return value;
  return builder.create<sh::SliceOp>(
      loc, typeOf(value).clone(shape), value, builder.getDenseI64ArrayAttr(starts),
      builder.getDenseI64ArrayAttr(limits),
      builder.getDenseI64ArrayAttr(SmallVector<int64_t>(starts.size(), 1)));
}

Value Emit::iota(RankedTensorType type, int64_t dim) {
  return builder.create<sh::IotaOp>(loc, type, builder.getI64IntegerAttr(dim));
}

Value Emit::sum(Value value, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(shapeOf(value)))
    if (!llvm::is_contained(dims, static_cast<int64_t>(dim)))
      shape.push_back(size);
  auto scalar = typeOf(value).clone(ArrayRef<int64_t>{});
  Value zero = splat(scalar, 0.0);
  auto reduce = builder.create<sh::ReduceOp>(loc, TypeRange{typeOf(value).clone(shape)},
                                             ValueRange{value}, ValueRange{zero}, dims);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&reduce.getBody(), {}, {scalar, scalar}, {loc, loc});
  Value result = add(block->getArgument(0), block->getArgument(1));
  builder.create<sh::ReturnOp>(loc, result);
  return reduce.getResult(0);
}

} // namespace spokeshave::graph
