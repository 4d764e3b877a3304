//===- ExpandBitcast.cpp - the bits of complex numbers ---------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A complex number's bits are those of its real part, then of its imaginary one:
// a bitcast of it is one of an array of pairs.
//
//===----------------------------------------------------------------------===//
#include "graph/Expand.h"

#include "graph/Emit.h"

using namespace mlir;
namespace sh = spokeshave::stablehlo;

namespace spokeshave::graph {

/// A tensor of complex numbers as the real numbers that it consists of.
static RankedTensorType asPairs(RankedTensorType type) {
  auto complex = dyn_cast<ComplexType>(type.getElementType());
  if (!complex)
    return type;
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(2);
  return RankedTensorType::get(shape, complex.getElementType());
}

/// The parts of `value` beside each other in a new last dimension.
static Value pairsOf(OpBuilder &builder, Emit &emit, Value value) {
  RankedTensorType type = emit.typeOf(value), pairs = asPairs(type);
  if (pairs == type)
    return value;
  Type part = pairs.getElementType();
  SmallVector<int64_t> single(pairs.getShape());
  single.back() = 1;
  Value re = builder.create<sh::RealOp>(value.getLoc(), type.clone(part), value);
  Value im = builder.create<sh::ImagOp>(value.getLoc(), type.clone(part), value);
  return emit.concatenate({emit.reshape(re, single), emit.reshape(im, single)}, type.getRank());
}

/// The complex numbers of `type` whose parts are `pairs`.
static Value fromPairs(OpBuilder &builder, Emit &emit, Value pairs, RankedTensorType type) {
  if (!isa<ComplexType>(type.getElementType()))
    return pairs;
  auto part = [&](int64_t index) {
    SmallVector<int64_t> starts(type.getRank() + 1, 0), limits(emit.shapeOf(pairs));
    starts.back() = index;
    limits.back() = index + 1;
    return emit.reshape(emit.slice(pairs, starts, limits), type.getShape());
  };
  Value re = part(0), im = part(1);
  return builder.create<sh::ComplexOp>(pairs.getLoc(), type, re, im);
}

LogicalResult expandComplexBitcast(OpBuilder &builder, sh::BitcastConvertOp op) {
  auto from = cast<RankedTensorType>(op.getOperand().getType());
  auto to = cast<RankedTensorType>(op.getType());
  if (from == to ||
      (!isa<ComplexType>(from.getElementType()) && !isa<ComplexType>(to.getElementType())))
    return success();
  Emit emit(builder, op.getLoc());
  RankedTensorType source = asPairs(from), target = asPairs(to);
  Value bits = pairsOf(builder, emit, op.getOperand());
  int64_t sourceWidth = source.getElementTypeBitWidth();
  int64_t targetWidth = target.getElementTypeBitWidth();
  // Parts are split into a new last dimension, or such a one is joined.
  SmallVector<int64_t> shape(sourceWidth > targetWidth ? source.getShape() : target.getShape());
  if (sourceWidth != targetWidth)
    shape.push_back(std::max(sourceWidth, targetWidth) / std::min(sourceWidth, targetWidth));
  if (sourceWidth > targetWidth) {
    bits = emit.bitcast(bits, RankedTensorType::get(shape, target.getElementType()));
    bits = emit.reshape(bits, target.getShape());
  } else {
    bits = emit.reshape(bits, shape);
    bits = emit.bitcast(bits, target);
  }
  op->replaceAllUsesWith(ValueRange{fromPairs(builder, emit, bits, to)});
  op.erase();
  return success();
}

} // namespace spokeshave::graph
