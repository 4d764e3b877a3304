//===- ElementsMove.cpp - data movement as arithmetic on positions ---------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operations that only say where an element comes from. Each turns the
// position in its result into one in its operand.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "kernel/Elements.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;
using Result = FailureOr<Element>;

Result ElementEmitter::emitMove(Operation *op, const Position &p) {
  return TypeSwitch<Operation *, Result>(op)
      .Case([&](hlo::ConstantOp) { return emitConstant(op, p); })
      .Case([&](hlo::IotaOp) { return emitIota(op, p); })
      .Case([&](hlo::PadOp) { return emitPad(op, p); })
      .Case([&](hlo::ConcatenateOp) { return emitConcatenate(op, p); })
      .Case([&](hlo::DynamicUpdateSliceOp) { return emitDynamicUpdate(op, p); })
      .Case([&](hlo::GatherOp) { return emitGather(op, p); })
      .Case([&](hlo::BitcastConvertOp) { return emitWideBitcast(op, p); })
      .Case([&](hlo::BroadcastInDimOp broadcast) {
        RankedTensorType from = typeOf(broadcast.getOperand());
        Position q;
        for (auto [d, dim] : llvm::enumerate(broadcast.getBroadcastDimensions()))
          q.push_back(from.getDimSize(d) == 1 ? Index() : p[dim]);
        return emit(broadcast.getOperand(), q);
      })
      .Case([&](hlo::ReshapeOp reshape) {
        Index linear = indices.linearize(p, typeOf(reshape).getShape());
        RankedTensorType from = typeOf(reshape.getOperand());
        return emit(reshape.getOperand(), indices.delinearize(linear, from.getShape()));
      })
      .Case([&](hlo::TransposeOp transpose) {
        Position q(p.size());
        for (auto [d, dim] : llvm::enumerate(transpose.getPermutation()))
          q[dim] = p[d];
        return emit(transpose.getOperand(), q);
      })
      .Case([&](hlo::SliceOp slice) {
        Position q;
        for (auto [index, start, stride] :
             llvm::zip_equal(p, slice.getStartIndices(), slice.getStrides()))
          q.push_back(indices.add(indices.scale(index, stride), start));
        return emit(slice.getOperand(), q);
      })
      .Case([&](hlo::ReverseOp reverse) {
        Position q = p;
        for (int64_t dim : reverse.getDimensions())
          q[dim] = indices.subtract(typeOf(reverse).getDimSize(dim) - 1, p[dim]);
        return emit(reverse.getOperand(), q);
      })
      .Case([&](hlo::DynamicSliceOp slice) -> Result {
        RankedTensorType from = typeOf(slice.getOperand());
        Position q;
        for (auto [d, start] : llvm::enumerate(slice.getStartIndices())) {
          FailureOr<Index> clamped =
              clampedStart(start, from.getDimSize(d) - slice.getSliceSizes()[d]);
          if (failed(clamped))
            return failure();
          q.push_back(indices.add(*clamped, p[d]));
        }
        return emit(slice.getOperand(), q);
      })
      .Default([](Operation *op) -> Result {
        return op->emitOpError("cannot be computed element by element in a kernel");
      });
}

Result ElementEmitter::emitConstant(Operation *op, const Position &p) {
  auto elements = dyn_cast<DenseElementsAttr>(cast<hlo::ConstantOp>(op).getValue());
  if (!elements)
    return op->emitOpError("is too large to live in a kernel");
  RankedTensorType type = typeOf(op->getResult(0));
  if (elements.isSplat())
    return constantElement(arithmetic, elements.getSplatValue<Attribute>(), type.getElementType(),
                           lanes());
  if (isa<ComplexType>(type.getElementType()))
    return op->emitOpError("of complex numbers is not supported in a kernel");
  // A table beside the code, made at the kernel's entry.
  Value &table = tables[op];
  if (!table) {
    OpBuilder::InsertionGuard guard(builder);
    Operation *kernel = builder.getInsertionBlock()->getParentOp();
    if (!isa<FuncOp>(kernel))
      kernel = kernel->getParentOfType<FuncOp>();
    builder.setInsertionPointToStart(&cast<FuncOp>(kernel).getBlock());
    SmallVector<Attribute> values(elements.getValues<Attribute>());
    Type memory = memoryType(type.getElementType());
    for (Attribute &value : values)
      if (auto integer = dyn_cast<IntegerAttr>(value)) {
        unsigned width = memory.getIntOrFloatBitWidth();
        APInt bits = isUnsigned(type.getElementType()) ? integer.getValue().zextOrTrunc(width)
                                                       : integer.getValue().sextOrTrunc(width);
        value = IntegerAttr::get(memory, bits);
      }
    auto data = DenseElementsAttr::get(RankedTensorType::get(type.getShape(), memory), values);
    table = builder.create<TableOp>(loc(), bufferType(type), cast<ElementsAttr>(Attribute(data)));
  }
  return load(type, table, p);
}

Result ElementEmitter::emitIota(Operation *op, const Position &p) {
  auto iota = cast<hlo::IotaOp>(op);
  Type element = typeOf(iota).getElementType();
  Num number(arithmetic, indices.perLane(p[iota.getIotaDimension()], 64));
  Type i64 = builder.getI64Type();
  if (isa<FloatType>(element) || isa<ComplexType>(element)) {
    // Counts are far below 2^31: the conversion from i32 is one instruction.
    if (typeOf(iota).getDimSize(iota.getIotaDimension()) < INT32_MAX)
      number = {arithmetic, indices.perLane(p[iota.getIotaDimension()], 32)},
      i64 = builder.getI32Type();
  }
  return convertElement({number, {}}, i64, element);
}

//===----------------------------------------------------------------------===//
// Conditions on positions
//===----------------------------------------------------------------------===//

Num ElementEmitter::less(const Index &index, int64_t bound) {
  IndexSpace::Range range = indices.range(index);
  if (range.max < bound)
    return {};
  Num at(arithmetic, indices.perLane(index));
  return lt(at, bound);
}

Result ElementEmitter::emitPad(Operation *op, const Position &p) {
  auto pad = cast<hlo::PadOp>(op);
  RankedTensorType from = typeOf(pad.getOperand());
  Position q;
  Num inside;
  auto require = [&](Num condition) {
    if (condition)
      inside = inside ? inside & condition : condition;
  };
  for (auto [d, index] : llvm::enumerate(p)) {
    int64_t spacing = pad.getInteriorPadding()[d] + 1, extent = from.getDimSize(d);
    Index at = indices.add(index, -pad.getEdgePaddingLow()[d]);
    IndexSpace::Range range = indices.range(at);
    if (extent == 0 || range.max < 0 || range.min > (extent - 1) * spacing)
      return emit(pad.getPaddingValue(), {}); // padding only
    if (range.min < 0)
      require(ge(Num(arithmetic, indices.perLane(at)), 0));
    require(less(at, (extent - 1) * spacing + 1));
    if (spacing > 1) {
      // Lanes before the edge divide to anything: they are masked off. Adding a
      // multiple of the spacing keeps numbers positive.
      int64_t shift = range.min < 0 ? llvm::divideCeil(-range.min, spacing) : 0;
      auto [quotient, rest] = indices.divide(indices.add(at, shift * spacing), spacing);
      if (!(rest == Index(0)))
        require(eq(Num(arithmetic, indices.perLane(rest)), 0));
      at = indices.add(quotient, -shift);
    }
    q.push_back(at);
  }
  if (!inside)
    return emit(pad.getOperand(), q);
  Result padding = emit(pad.getPaddingValue(), {});
  Condition condition(*this, inside);
  Result element = emit(pad.getOperand(), q);
  if (failed(padding) || failed(element))
    return failure();
  return selectElement(inside, *element, *padding);
}

/// Of a concatenation of slices of one tensor, which is what jnp.roll makes: the
/// position in that tensor, chosen by comparing one integer, where all lanes have the
/// same index along the dimension. Instead of a load under a mask for each part. Not
/// where windows are to be found from the positions.
std::optional<Position> ElementEmitter::rotated(Operation *op, const Position &p, Value &source) {
  auto concatenate = cast<hlo::ConcatenateOp>(op);
  int64_t dim = concatenate.getDimension(), begin = 0;
  if (!p[dim].isUniform() || arithmetic.machine.matrixTile)
    return std::nullopt;
  auto first = concatenate.getInputs()[0].getDefiningOp<hlo::SliceOp>();
  IndexSpace::Range range{INT64_MAX, 0};
  Value at;
  for (Value input : concatenate.getInputs()) {
    auto slice = input.getDefiningOp<hlo::SliceOp>();
    if (!slice || slice.getOperand() != first.getOperand() || bindings.count(slice) ||
        slice.getStrides() != first.getStrides())
      return std::nullopt;
    for (int64_t d = 0; d < int64_t(p.size()); ++d)
      if (d != dim && slice.getStartIndices()[d] != first.getStartIndices()[d])
        return std::nullopt;
    int64_t extent = typeOf(input).getDimSize(dim), stride = slice.getStrides()[dim];
    if (extent == 0)
      return std::nullopt;
    int64_t start = slice.getStartIndices()[dim];
    range.min = std::min(range.min, start);
    range.max = std::max(range.max, start + (extent - 1) * stride);
    Index here = indices.add(indices.scale(indices.add(p[dim], -begin), stride), start);
    if (!at) {
      at = indices.scalar(here);
    } else {
      Value beyond =
          builder.create<arith::CmpIOp>(loc(), arith::CmpIPredicate::sge, indices.scalar(p[dim]),
                                        builder.create<arith::ConstantIndexOp>(loc(), begin));
      at = builder.create<arith::SelectOp>(loc(), beyond, indices.scalar(here), at);
    }
    begin += extent;
  }
  source = first.getOperand();
  Position q = p;
  for (auto [d, start, stride] : llvm::enumerate(first.getStartIndices(), first.getStrides()))
    q[d] = int64_t(d) == dim ? indices.variable(at, range.min, range.max)
                             : indices.add(indices.scale(p[d], stride), start);
  return q;
}

Result ElementEmitter::emitConcatenate(Operation *op, const Position &p) {
  auto concatenate = cast<hlo::ConcatenateOp>(op);
  int64_t dim = concatenate.getDimension(), begin = 0;
  IndexSpace::Range range = indices.range(p[dim]);
  // From the last operand to the first, each chosen where the index is below
  // its end.
  SmallVector<std::pair<int64_t, Value>> parts; // begin, operand
  for (Value input : concatenate.getInputs()) {
    int64_t extent = typeOf(input).getDimSize(dim);
    if (extent > 0 && range.min < begin + extent && range.max >= begin)
      parts.push_back({begin, input});
    begin += extent;
  }
  Value source;
  if (parts.size() > 1)
    if (std::optional<Position> q = rotated(op, p, source))
      return emit(source, *q);
  Element result;
  for (auto [begin, input] : llvm::reverse(parts)) {
    int64_t end = begin + typeOf(input).getDimSize(dim);
    Num below = result.re ? less(p[dim], end) : Num();
    Num here = below;
    if (range.min < begin) {
      Num above = ge(Num(arithmetic, indices.perLane(p[dim])), begin);
      here = here ? here & above : above;
    }
    Position q = p;
    q[dim] = indices.add(p[dim], -begin);
    Condition condition(*this, here);
    Result element = emit(input, q);
    if (failed(element))
      return failure();
    result = result.re && below ? selectElement(below, *element, result) : *element;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Positions known when run
//===----------------------------------------------------------------------===//

Index ElementEmitter::clampedIndex(Num start, Type element, int64_t limit) {
  if (limit <= 0)
    return Index(0);
  // Compare in the start's own type where the limit fits it.
  bool isUnsignedType = isUnsigned(element);
  unsigned width = std::max(start.bits(), 32u);
  start = isUnsignedType ? start.zeroExtended(width) : start.signExtended(width);
  if (width == 32 && limit > INT32_MAX) {
    start = isUnsignedType ? start.zeroExtended(64) : start.signExtended(64);
    isUnsignedType = false;
  }
  Num clamped = isUnsignedType ? start.binary<arith::MinUIOp>(start.constant(limit))
                               : start.binary<arith::MinSIOp>(start.constant(limit))
                                     .binary<arith::MaxSIOp>(start.constant(0));
  if (!isa<VectorType>(clamped.type())) {
    Value index = builder.createOrFold<arith::IndexCastOp>(loc(), builder.getIndexType(), clamped);
    return indices.variable(index, 0, limit);
  }
  if (clamped.bits() > indices.vectorBits)
    clamped = clamped.lowBits(indices.vectorBits);
  return indices.variable(clamped, 0, limit);
}

/// Written right after the integer it is made of, and once: so equal positions
/// compare equal, and the index is known wherever the integer is.
Index ElementEmitter::indexOf(Num start, Type element, int64_t limit, unsigned level) {
  auto [entry, isNew] = starts.try_emplace({Value(start), limit});
  if (isNew) {
    OpBuilder::InsertionGuard guard(builder);
    if (Operation *op = Value(start).getDefiningOp())
      builder.setInsertionPointAfter(op);
    else // carried by a loop
      builder.setInsertionPointToStart(Value(start).getParentBlock());
    std::swap(indices.level, level);
    entry->second = clampedIndex(start, element, limit);
    std::swap(indices.level, level);
  }
  return entry->second;
}

FailureOr<Index> ElementEmitter::clampedStart(Value start, int64_t limit) {
  if (limit <= 0)
    return Index(0);
  Tile tile(*this, 1);
  FailureOr<Element> element = emit(start, {});
  if (failed(element))
    return failure();
  return indexOf(element->re, getElementTypeOrSelf(start.getType()), limit,
                 dependents.contains(start) ? indices.level : 0);
}

Result ElementEmitter::emitDynamicUpdate(Operation *op, const Position &p) {
  auto update = cast<hlo::DynamicUpdateSliceOp>(op);
  RankedTensorType type = typeOf(update), part = typeOf(update.getUpdate());
  Position q;
  Num inside;
  auto require = [&](Num condition) {
    if (condition)
      inside = inside ? inside & condition : condition;
  };
  if (part.getNumElements() == 0)
    return emit(update.getOperand(), p);
  for (auto [d, start] : llvm::enumerate(update.getStartIndices())) {
    FailureOr<Index> clamped = clampedStart(start, type.getDimSize(d) - part.getDimSize(d));
    if (failed(clamped))
      return failure();
    Index at = indices.subtract(p[d], *clamped);
    if (indices.range(at).min < 0)
      require(ge(Num(arithmetic, indices.perLane(at)), 0));
    require(less(at, part.getDimSize(d)));
    q.push_back(at);
  }
  if (!inside)
    return emit(update.getUpdate(), q);
  Result old = emit(update.getOperand(), p);
  Condition condition(*this, inside);
  Result fresh = emit(update.getUpdate(), q);
  if (failed(old) || failed(fresh))
    return failure();
  return selectElement(inside, *fresh, *old);
}

Result ElementEmitter::emitGather(Operation *op, const Position &p) {
  auto gather = cast<hlo::GatherOp>(op);
  auto numbers = gather.getDimensionNumbers();
  RankedTensorType from = typeOf(gather.getOperand()), starts = typeOf(gather.getStartIndices());
  ArrayRef<int64_t> offsetDims = numbers.getOffsetDims();
  ArrayRef<int64_t> collapsed = numbers.getCollapsedSliceDims();
  ArrayRef<int64_t> batching = numbers.getOperandBatchingDims();
  int64_t vectorDim = numbers.getIndexVectorDim();
  // Dimensions of the result that are not offsets count through the starts.
  Position batch;
  for (auto [d, index] : llvm::enumerate(p))
    if (!llvm::is_contained(offsetDims, int64_t(d)))
      batch.push_back(index);
  Position q(from.getRank());
  for (auto [k, dim] : llvm::enumerate(numbers.getStartIndexMap())) {
    Position at = batch;
    if (vectorDim < starts.getRank())
      at.insert(at.begin() + vectorDim, Index(k));
    Result start = emit(gather.getStartIndices(), at);
    if (failed(start))
      return failure();
    int64_t limit = from.getDimSize(dim) - gather.getSliceSizes()[dim];
    q[dim] = indexOf(start->re, starts.getElementType(), limit, indices.level);
  }
  for (auto [k, dim] : llvm::enumerate(batching)) {
    int64_t inStarts = numbers.getStartIndicesBatchingDims()[k];
    q[dim] = batch[inStarts - (inStarts > vectorDim ? 1 : 0)];
  }
  unsigned next = 0;
  for (int64_t dim = 0; dim < from.getRank(); ++dim)
    if (!llvm::is_contained(collapsed, dim) && !llvm::is_contained(batching, dim))
      q[dim] = indices.add(q[dim], p[offsetDims[next++]]);
  return emit(gather.getOperand(), q);
}

/// bitcast_convert between widths: the trailing dimension holds the parts of a
/// wide element, least significant first.
Result ElementEmitter::emitWideBitcast(Operation *op, const Position &p) {
  auto cast = llvm::cast<hlo::BitcastConvertOp>(op);
  RankedTensorType from = typeOf(cast.getOperand()), to = typeOf(cast);
  Type fromType = from.getElementType(), toType = to.getElementType();
  if (isa<ComplexType>(fromType) || isa<ComplexType>(toType))
    return op->emitOpError("of complex numbers is not supported in a kernel");
  auto bitsOf = [](Num value, Type type) {
    return isSmallFloat(type) ? packFloat(value, type)
                              : (isa<FloatType>(type) ? value.asBits() : value);
  };
  auto valueOf = [](Num bits, Type type) {
    return isSmallFloat(type) ? unpackFloat(bits, type)
                              : (isa<FloatType>(type) ? bits.asFloat() : bits);
  };
  unsigned fromWidth = fromType.getIntOrFloatBitWidth(), toWidth = toType.getIntOrFloatBitWidth();
  if (fromWidth > toWidth) {
    Position q(p.begin(), p.end() - 1);
    Result wide = emit(cast.getOperand(), q);
    if (failed(wide))
      return failure();
    Num bits = bitsOf(wide->re, fromType);
    Num part = Num(arithmetic, indices.perLane(p.back(), 64));
    Num amount = part * int64_t(toWidth);
    amount = fromWidth < 64 ? amount.lowBits(fromWidth) : amount;
    return Element{valueOf(shiftRight(bits, amount).lowBits(toWidth), toType), {}};
  }
  Num bits;
  for (int64_t k = 0; k < int64_t(toWidth / fromWidth); ++k) {
    Position q = p;
    q.push_back(Index(k));
    Result part = emit(cast.getOperand(), q);
    if (failed(part))
      return failure();
    Num wide = bitsOf(part->re, fromType).zeroExtended(toWidth);
    if (k)
      wide = wide << int64_t(k * fromWidth);
    bits = bits ? bits | wide : wide;
  }
  return Element{valueOf(bits, toType), {}};
}
