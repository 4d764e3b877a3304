//===- StablehloInfer.cpp - result types and builders -----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a result's type follows from the operands, builders need not be told it
// and the verifier compares it. Operands may be wrong here: a builder or a parser
// may call before any verifier ran, so nothing is assumed of them.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"

#include "mlir/IR/TypeUtilities.h"

#include <utility>

using namespace mlir;

namespace spokeshave::stablehlo {
namespace {

RankedTensorType tensorAt(ValueRange operands, size_t index) {
  return index < operands.size() ? dyn_cast<RankedTensorType>(operands[index].getType())
                                 : RankedTensorType();
}

LogicalResult wrongOperands(std::optional<Location> loc) {
  return emitOptionalError(loc, "requires ranked tensors as operands to infer result types");
}

/// The type of the operand, with another element type.
LogicalResult inferElementwise(std::optional<Location> loc, ValueRange operands,
                               function_ref<Type(Type)> element, SmallVectorImpl<Type> &types) {
  RankedTensorType operand = tensorAt(operands, 0);
  if (!operand)
    return wrongOperands(loc);
  types.push_back(operand.clone(element(operand.getElementType())));
  return success();
}

Type realOf(Type type) {
  auto complex = dyn_cast<ComplexType>(type);
  return complex ? complex.getElementType() : type;
}

/// Each dimension from the first type that knows its size.
RankedTensorType mostSpecific(RankedTensorType a, RankedTensorType b) {
  if (a.getRank() != b.getRank())
    return a;
  SmallVector<int64_t> shape(a.getShape());
  for (auto [size, other] : llvm::zip(shape, b.getShape()))
    if (ShapedType::isDynamic(size))
      size = other;
  return RankedTensorType::get(shape, a.getElementType(), a.getEncoding());
}

/// MLIR's isPermutationVector only looks for repetitions.
bool isPermutation(ArrayRef<int64_t> values) {
  SmallVector<bool> seen(values.size());
  for (int64_t value : values)
    if (value < 0 || value >= int64_t(values.size()) || std::exchange(seen[value], true))
      return false;
  return true;
}

} // namespace

#define INFER(OP)                                                                                  \
  LogicalResult OP::inferReturnTypes(MLIRContext *context, std::optional<Location> loc,            \
                                     ValueRange operands, DictionaryAttr attributes,               \
                                     OpaqueProperties properties, RegionRange regions,             \
                                     SmallVectorImpl<Type> &types)

//===----------------------------------------------------------------------===//
// Elementwise.
//===----------------------------------------------------------------------===//

INFER(AbsOp) {
  return inferElementwise(loc, operands, realOf, types);
}
INFER(RealOp) {
  return inferElementwise(loc, operands, realOf, types);
}
INFER(ImagOp) {
  return inferElementwise(loc, operands, realOf, types);
}

INFER(IsFiniteOp) {
  return inferElementwise(loc, operands, [&](Type) { return IntegerType::get(context, 1); }, types);
}

INFER(CompareOp) {
  return inferElementwise(loc, operands, [&](Type) { return IntegerType::get(context, 1); }, types);
}

INFER(ComplexOp) {
  RankedTensorType operand = tensorAt(operands, 0);
  if (!operand || !(operand.getElementType().isF32() || operand.getElementType().isF64()))
    return emitOptionalError(loc, "requires tensors of f32 or f64 to infer result types");
  types.push_back(operand.clone(ComplexType::get(operand.getElementType())));
  return success();
}

INFER(ClampOp) {
  RankedTensorType operand = tensorAt(operands, 1);
  if (!operand)
    return wrongOperands(loc);
  types.push_back(operand);
  return success();
}

INFER(SelectOp) {
  RankedTensorType onTrue = tensorAt(operands, 1), onFalse = tensorAt(operands, 2);
  if (!onTrue || !onFalse)
    return wrongOperands(loc);
  types.push_back(mostSpecific(onTrue, onFalse));
  return success();
}

//===----------------------------------------------------------------------===//
// Constants and data movement.
//===----------------------------------------------------------------------===//

INFER(ConstantOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  ElementsAttr value = adaptor.getValue();
  if (!value)
    return emitOptionalError(loc, "requires a value to infer result types");
  types.push_back(value.getType());
  return success();
}

INFER(TransposeOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  RankedTensorType operand = tensorAt(operands, 0);
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  if (!operand || !isPermutation(permutation) || int64_t(permutation.size()) != operand.getRank())
    return emitOptionalError(loc, "transpose_c2: permutation must be a permutation of the "
                                  "dimensions of the operand");
  SmallVector<int64_t> shape, bounds;
  auto extensions = dyn_cast_or_null<TypeExtensionsAttr>(operand.getEncoding());
  for (int64_t dim : permutation) {
    shape.push_back(operand.getDimSize(dim));
    if (extensions && size_t(dim) < extensions.getBounds().size())
      bounds.push_back(extensions.getBounds()[dim]);
  }
  Attribute encoding = extensions ? TypeExtensionsAttr::get(context, bounds) : Attribute();
  types.push_back(RankedTensorType::get(shape, operand.getElementType(), encoding));
  return success();
}

INFER(SliceOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  RankedTensorType operand = tensorAt(operands, 0);
  if (!operand)
    return wrongOperands(loc);
  ArrayRef<int64_t> starts = adaptor.getStartIndices(), limits = adaptor.getLimitIndices(),
                    strides = adaptor.getStrides();
  size_t rank = operand.getRank();
  if (starts.size() != rank || limits.size() != rank || strides.size() != rank)
    return emitOptionalError(loc, "slice_c2: start_indices, limit_indices and strides must have "
                                  "as many elements as the operand has dimensions");
  SmallVector<int64_t> shape;
  for (auto [dim, start, limit, stride] : llvm::enumerate(starts, limits, strides)) {
    int64_t size = operand.getDimSize(dim);
    if (start < 0 || start > limit || (!ShapedType::isDynamic(size) && limit > size))
      return emitOptionalError(loc, "slice_c3: requires 0 <= start <= limit <= size in dimension ",
                               dim, ", got start ", start, " and limit ", limit);
    if (stride <= 0)
      return emitOptionalError(loc, "slice_c4: stride must be positive in dimension ", dim,
                               ", got ", stride);
    shape.push_back((limit - start) / stride + ((limit - start) % stride != 0));
  }
  types.push_back(RankedTensorType::get(shape, operand.getElementType()));
  return success();
}

INFER(DynamicSliceOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  RankedTensorType operand = tensorAt(operands, 0);
  if (!operand)
    return wrongOperands(loc);
  if (llvm::any_of(adaptor.getSliceSizes(), [](int64_t size) { return size < 0; }))
    return emitOptionalError(loc, "dynamic_slice_c4: slice sizes must not be negative");
  types.push_back(RankedTensorType::get(adaptor.getSliceSizes(), operand.getElementType()));
  return success();
}

INFER(DynamicUpdateSliceOp) {
  RankedTensorType operand = tensorAt(operands, 0);
  if (!operand)
    return wrongOperands(loc);
  types.push_back(operand);
  return success();
}

INFER(ConcatenateOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  RankedTensorType first = tensorAt(operands, 0);
  if (!first)
    return emitOptionalError(loc, "concatenate_c3: requires at least one tensor");
  int64_t dimension = adaptor.getDimension();
  if (dimension < 0 || dimension >= first.getRank())
    return emitOptionalError(loc, "concatenate_c4: dimension ", dimension,
                             " is out of range for rank ", first.getRank());
  RankedTensorType joined = first;
  int64_t sum = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    RankedTensorType operand = tensorAt(operands, i);
    if (!operand || operand.getRank() != first.getRank())
      return emitOptionalError(loc, "concatenate_c2: requires operands of the same rank");
    joined = mostSpecific(joined, operand);
    int64_t size = operand.getDimSize(dimension);
    bool known = !ShapedType::isDynamic(size) && !ShapedType::isDynamic(sum);
    if (known && llvm::AddOverflow(sum, size, sum))
      return emitOptionalError(loc, "concatenate_c6: dimension ", dimension, " becomes too large");
    if (!known)
      sum = ShapedType::kDynamic;
  }
  SmallVector<int64_t> shape(joined.getShape());
  shape[dimension] = sum;
  types.push_back(RankedTensorType::get(shape, first.getElementType()));
  return success();
}

INFER(PadOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  RankedTensorType operand = tensorAt(operands, 0);
  if (!operand)
    return wrongOperands(loc);
  ArrayRef<int64_t> low = adaptor.getEdgePaddingLow(), high = adaptor.getEdgePaddingHigh(),
                    interior = adaptor.getInteriorPadding();
  size_t rank = operand.getRank();
  if (low.size() != rank || high.size() != rank || interior.size() != rank)
    return emitOptionalError(loc, "pad_c2: edge_padding_low, edge_padding_high and "
                                  "interior_padding must have as many elements as the operand "
                                  "has dimensions");
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(operand.getShape())) {
    if (interior[dim] < 0)
      return emitOptionalError(loc, "pad_c3: interior padding must not be negative in dimension ",
                               dim, ", got ", interior[dim]);
    if (ShapedType::isDynamic(size)) {
      shape.push_back(size);
      continue;
    }
    // Padding may be any number: 128 bits hold the sum.
    __int128 result =
        __int128(std::max<int64_t>(size - 1, 0)) * interior[dim] + size + low[dim] + high[dim];
    if (result < 0 || result > std::numeric_limits<int64_t>::max())
      return emitOptionalError(loc, "pad_c4: padding makes dimension ", dim,
                               result < 0 ? " negative" : " too large");
    shape.push_back(result);
  }
  types.push_back(RankedTensorType::get(shape, operand.getElementType()));
  return success();
}

//===----------------------------------------------------------------------===//
// Tokens, tuples, devices.
//===----------------------------------------------------------------------===//

INFER(CreateTokenOp) {
  types.push_back(TokenType::get(context));
  return success();
}

INFER(AfterAllOp) {
  types.push_back(TokenType::get(context));
  return success();
}

INFER(TupleOp) {
  types.push_back(TupleType::get(context, TypeRange(operands)));
  return success();
}

INFER(GetTupleElementOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto tuple = operands.empty() ? TupleType() : dyn_cast<TupleType>(operands[0].getType());
  if (!tuple)
    return emitOptionalError(loc, "requires a tuple");
  int32_t index = adaptor.getIndex();
  if (index < 0 || size_t(index) >= tuple.size())
    return emitOptionalError(loc, "get_tuple_element_c1: index ", index,
                             " is out of range for a tuple of ", tuple.size());
  types.push_back(tuple.getType(index));
  return success();
}

INFER(ReplicaIdOp) {
  types.push_back(RankedTensorType::get({}, IntegerType::get(context, 32, IntegerType::Unsigned)));
  return success();
}

INFER(PartitionIdOp) {
  types.push_back(RankedTensorType::get({}, IntegerType::get(context, 32, IntegerType::Unsigned)));
  return success();
}

#undef INFER

} // namespace spokeshave::stablehlo
