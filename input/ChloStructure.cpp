//===- ChloStructure.cpp - chlo's operations on whole tensors ---------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops, products in groups, sorted beginnings, and arithmetic on bits.
//
//===----------------------------------------------------------------------===//
#include "input/ChloStructure.h"

#include "mlir/IR/IRMapping.h"

#include <numeric>

using namespace mlir;

namespace spokeshave::chlo {

namespace sh = spokeshave::stablehlo;
using Values = SmallVector<Value>;

Value broadcastTo(OpBuilder &builder, Location location, Value value, ArrayRef<int64_t> shape,
                  ArrayRef<int64_t> dims) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == shape)
    return value;
  return builder.create<sh::BroadcastInDimOp>(location,
                                              RankedTensorType::get(shape, type.getElementType()),
                                              value, builder.getDenseI64ArrayAttr(dims));
}

Value splat(OpBuilder &builder, Location location, Type type, int64_t value) {
  auto tensor = cast<RankedTensorType>(type);
  Type element = tensor.getElementType();
  DenseElementsAttr attribute;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    APFloat re(cast<FloatType>(complex.getElementType()).getFloatSemantics(), 0);
    re.convertFromAPInt(APInt(64, value, true), true, APFloat::rmNearestTiesToEven);
    APFloat zero = APFloat::getZero(re.getSemantics());
    attribute = DenseElementsAttr::get(tensor, std::complex<APFloat>(re, zero));
  } else if (auto real = dyn_cast<FloatType>(element)) {
    APFloat number(real.getFloatSemantics(), 0);
    number.convertFromAPInt(APInt(64, value, true), true, APFloat::rmNearestTiesToEven);
    attribute = DenseElementsAttr::get(tensor, number);
  } else {
    attribute = DenseElementsAttr::get(
        tensor, APInt(element.getIntOrFloatBitWidth(), static_cast<uint64_t>(value), true));
  }
  return builder.create<sh::ConstantOp>(location, attribute);
}

static Value iota(OpBuilder &builder, Location location, ArrayRef<int64_t> shape, Type element,
                  int64_t dim) {
  return builder.create<sh::IotaOp>(location, RankedTensorType::get(shape, element), dim);
}

static Value compare(OpBuilder &builder, Location location, Value a, Value b,
                     sh::ComparisonDirection direction) {
  auto type = cast<RankedTensorType>(a.getType());
  return builder.create<sh::CompareOp>(
      location, RankedTensorType::get(type.getShape(), builder.getI1Type()), a, b,
      sh::ComparisonDirectionAttr::get(builder.getContext(), direction), sh::ComparisonTypeAttr());
}

/// The sum of `value` along `dims`.
static Value sum(OpBuilder &builder, Location location, Value value, ArrayRef<int64_t> dims) {
  auto type = cast<RankedTensorType>(value.getType());
  auto scalar = RankedTensorType::get({}, type.getElementType());
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(dims, dim))
      shape.push_back(type.getDimSize(dim));
  Value zero = splat(builder, location, scalar, 0);
  auto reduce = builder.create<sh::ReduceOp>(
      location, TypeRange{RankedTensorType::get(shape, type.getElementType())}, ValueRange{value},
      ValueRange{zero}, builder.getDenseI64ArrayAttr(dims));
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&reduce.getBody(), {}, {scalar, scalar}, {location, location});
  Value total =
      builder.create<sh::AddOp>(location, scalar, body->getArgument(0), body->getArgument(1));
  builder.create<sh::ReturnOp>(location, total);
  return reduce.getResult(0);
}

//===----------------------------------------------------------------------===//
// mulhi
//===----------------------------------------------------------------------===//

/// The high half of a product of 64 bits by products of halves of their factors.
static Value highOfWide(OpBuilder &builder, Location location, Value a, Value b) {
  Type type = a.getType();
  bool isUnsigned = cast<RankedTensorType>(type).getElementType().isUnsignedInteger();
  Value half = splat(builder, location, type, 32),
        mask = splat(builder, location, type, 0xFFFFFFFF);
  auto low = [&](Value x) -> Value { return builder.create<sh::AndOp>(location, type, x, mask); };
  auto logicalHigh = [&](Value x) -> Value {
    return builder.create<sh::ShiftRightLogicalOp>(location, type, x, half);
  };
  // Signed where the factors are: the sign belongs to the high halves.
  auto high = [&](Value x) -> Value {
    if (isUnsigned)
      return logicalHigh(x);
    return builder.create<sh::ShiftRightArithmeticOp>(location, type, x, half);
  };
  auto add = [&](Value x, Value y) -> Value {
    return builder.create<sh::AddOp>(location, type, x, y);
  };
  auto multiply = [&](Value x, Value y) -> Value {
    return builder.create<sh::MulOp>(location, type, x, y);
  };
  Value a0 = low(a), a1 = high(a), b0 = low(b), b1 = high(b);
  Value carry = logicalHigh(multiply(a0, b0));
  Value middle = add(multiply(a1, b0), carry);
  Value other = add(multiply(a0, b1), low(middle));
  return add(add(multiply(a1, b1), high(middle)), high(other));
}

Values expandMulhi(MulhiOp op, OpBuilder &builder) {
  auto type = cast<RankedTensorType>(op.getType());
  auto element = dyn_cast<IntegerType>(type.getElementType());
  if (!element || element.getWidth() == 1 || element.getWidth() > 64) {
    op.emitOpError("takes integers, got ") << type;
    return {};
  }
  Location location = op.getLoc();
  if (element.getWidth() == 64)
    return {highOfWide(builder, location, op.getLhs(), op.getRhs())};
  auto wide = type.clone(IntegerType::get(op.getContext(), 64, element.getSignedness()));
  auto widen = [&](Value x) -> Value { return builder.create<sh::ConvertOp>(location, wide, x); };
  Value lhs = widen(op.getLhs()), rhs = widen(op.getRhs());
  Value product = builder.create<sh::MulOp>(location, wide, lhs, rhs);
  Value high = builder.create<sh::ShiftRightLogicalOp>(
      location, wide, product, splat(builder, location, wide, element.getWidth()));
  return {builder.create<sh::ConvertOp>(location, type, high)};
}

//===----------------------------------------------------------------------===//
// next_after
//===----------------------------------------------------------------------===//

Values expandNextAfter(NextAfterOp op, OpBuilder &builder) {
  auto type = cast<RankedTensorType>(op.getType());
  auto element = dyn_cast<FloatType>(type.getElementType());
  if (!element || element.getWidth() < 16) {
    op.emitOpError("takes floats of 16 bits and more, got ") << type;
    return {};
  }
  Location location = op.getLoc();
  using Direction = sh::ComparisonDirection;
  auto bitsType = type.clone(builder.getIntegerType(element.getWidth()));
  auto number = [&](int64_t value) { return splat(builder, location, bitsType, value); };
  auto bitsOf = [&](Value x) -> Value {
    return builder.create<sh::BitcastConvertOp>(location, bitsType, x);
  };
  auto select = [&](Value condition, Value a, Value b) -> Value {
    return builder.create<sh::SelectOp>(location, a.getType(), condition, a, b);
  };
  Value from = op.getLhs(), to = op.getRhs();
  Value zero = splat(builder, location, type, 0);
  Value bits = bitsOf(from);
  // Codes of one sign count away from zero: a step that makes the magnitude
  // smaller is one towards the other sign or a smaller number of the same.
  Value isZero = compare(builder, location, from, zero, Direction::EQ);
  Value up = compare(builder, location, from, to, Direction::LT);
  Value positive = compare(builder, location, from, zero, Direction::GT);
  Value away = compare(builder, location, up, positive, Direction::EQ);
  Value stepped =
      builder.create<sh::AddOp>(location, bitsType, bits, select(away, number(1), number(-1)));
  int64_t sign = element.getWidth() == 64 ? INT64_MIN : -(int64_t{1} << (element.getWidth() - 1));
  Value smallest = select(up, number(1), number(sign | 1));
  Value moved = select(isZero, smallest, stepped);
  Value result = builder.create<sh::BitcastConvertOp>(location, type, moved);
  result = select(compare(builder, location, from, to, Direction::EQ), to, result);
  // A NaN on either side comes out by the sum.
  Value ordered = builder.create<sh::AddOp>(location, type, from, to);
  Value fromIsNan = compare(builder, location, from, from, Direction::NE);
  Value toIsNan = compare(builder, location, to, to, Direction::NE);
  Value isNan = builder.create<sh::OrOp>(location, fromIsNan.getType(), fromIsNan, toIsNan);
  return {select(isNan, ordered, result)};
}

//===----------------------------------------------------------------------===//
// top_k
//===----------------------------------------------------------------------===//

Values sortedTopK(OpBuilder &builder, Location location, Value operand, TypeRange results) {
  auto type = cast<RankedTensorType>(operand.getType());
  auto values = cast<RankedTensorType>(results[0]), indices = cast<RankedTensorType>(results[1]);
  int64_t last = type.getRank() - 1;
  Value places = iota(builder, location, type.getShape(), indices.getElementType(), last);
  SmallVector<Type> types = {type, places.getType()};
  auto sort =
      builder.create<sh::SortOp>(location, types, ValueRange{operand, places},
                                 builder.getI64IntegerAttr(last), builder.getBoolAttr(true));
  {
    OpBuilder::InsertionGuard guard(builder);
    Type element = RankedTensorType::get({}, type.getElementType());
    Type place = RankedTensorType::get({}, indices.getElementType());
    Block *block = builder.createBlock(&sort.getComparator(), {}, {element, element, place, place},
                                       SmallVector<Location>(4, location));
    bool isFloat = isa<FloatType>(type.getElementType());
    Value greater = builder.create<sh::CompareOp>(
        location, RankedTensorType::get({}, builder.getI1Type()), block->getArgument(0),
        block->getArgument(1),
        sh::ComparisonDirectionAttr::get(builder.getContext(), sh::ComparisonDirection::GT),
        isFloat ? sh::ComparisonTypeAttr::get(builder.getContext(), sh::ComparisonType::TOTALORDER)
                : sh::ComparisonTypeAttr());
    builder.create<sh::ReturnOp>(location, greater);
  }
  Values parts;
  SmallVector<int64_t> zeros(type.getRank(), 0), ones(type.getRank(), 1);
  RankedTensorType wanted[] = {values, indices};
  for (auto [sorted, part] : llvm::zip_equal(sort.getResults(), wanted))
    parts.push_back(builder.create<sh::SliceOp>(
        location, part, sorted, builder.getDenseI64ArrayAttr(zeros),
        builder.getDenseI64ArrayAttr(part.getShape()), builder.getDenseI64ArrayAttr(ones)));
  return parts;
}

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//

namespace {

/// A while loop over (step, inputs, carried, outputs).
class ScanLoop {
public:
  ScanLoop(ScanOp op, OpBuilder &builder) : op(op), builder(builder), location(op.getLoc()) {
    auto first = cast<RankedTensorType>(op.getInputs().front().getType());
    steps = first.getDimSize(op.getDimension());
    counter = RankedTensorType::get({}, builder.getI32Type());
  }

  Values build() {
    Values state = {splat(builder, location, counter, 0)};
    llvm::append_range(state, op.getInputs());
    llvm::append_range(state, op.getInits());
    for (Type type : op.getOutputs().getTypes())
      state.push_back(splat(builder, location, type, 0));
    auto loop = builder.create<sh::WhileOp>(location, TypeRange(ValueRange(state)), state);
    buildCondition(loop);
    buildBody(loop);
    // Outputs stand before the carried values.
    auto results = loop.getResults();
    size_t carried = 1 + op.getInputs().size(), outputs = carried + op.getInits().size();
    Values all(results.begin() + outputs, results.end());
    all.append(results.begin() + carried, results.begin() + outputs);
    return all;
  }

private:
  Block *createBlock(Region &region, sh::WhileOp loop) {
    SmallVector<Location> locations(loop.getNumOperands(), location);
    return builder.createBlock(&region, {}, loop.getOperandTypes(), locations);
  }

  void buildCondition(sh::WhileOp loop) {
    OpBuilder::InsertionGuard guard(builder);
    Block *block = createBlock(loop.getCond(), loop);
    Value end = splat(builder, location, counter, steps);
    Value more =
        compare(builder, location, block->getArgument(0), end, sh::ComparisonDirection::LT);
    builder.create<sh::ReturnOp>(location, more);
  }

  /// One position along the scan's dimension, first ones elsewhere.
  Values starts(Value position, int64_t rank) {
    Values indices(rank, splat(builder, location, counter, 0));
    indices[op.getDimension()] = position;
    return indices;
  }

  Value slice(Value whole, Value position, Type sliceType) {
    auto type = cast<RankedTensorType>(whole.getType());
    SmallVector<int64_t> sizes(type.getShape());
    sizes[op.getDimension()] = 1;
    Value one = builder.create<sh::DynamicSliceOp>(location, type.clone(sizes), whole,
                                                   starts(position, type.getRank()),
                                                   builder.getDenseI64ArrayAttr(sizes));
    return builder.create<sh::ReshapeOp>(location, sliceType, one);
  }

  Value update(Value whole, Value part, Value position) {
    auto type = cast<RankedTensorType>(whole.getType());
    SmallVector<int64_t> sizes(type.getShape());
    sizes[op.getDimension()] = 1;
    Value one = builder.create<sh::ReshapeOp>(location, type.clone(sizes), part);
    return builder.create<sh::DynamicUpdateSliceOp>(location, type, whole, one,
                                                    starts(position, type.getRank()));
  }

  void buildBody(sh::WhileOp loop) {
    OpBuilder::InsertionGuard guard(builder);
    Block *block = createBlock(loop.getBody(), loop);
    Block &body = op.getBody().front();
    Value step = block->getArgument(0), position = step;
    if (op.getIsReverse())
      position = builder.create<sh::SubtractOp>(location, counter,
                                                splat(builder, location, counter, steps - 1), step);
    size_t inputs = op.getInputs().size(), carried = op.getInits().size();
    IRMapping mapping;
    for (auto [i, argument] : llvm::enumerate(body.getArguments())) {
      Value value = block->getArgument(1 + i);
      mapping.map(argument, i < inputs ? slice(value, position, argument.getType()) : value);
    }
    for (Operation &inner : body.without_terminator())
      builder.clone(inner, mapping);
    Values next = {
        builder.create<sh::AddOp>(location, counter, step, splat(builder, location, counter, 1))};
    llvm::append_range(next, block->getArguments().slice(1, inputs));
    Operation *terminator = body.getTerminator();
    size_t outputs = op.getOutputs().size();
    for (size_t i = 0; i < carried; ++i)
      next.push_back(mapping.lookupOrDefault(terminator->getOperand(outputs + i)));
    for (size_t i = 0; i < outputs; ++i)
      next.push_back(update(block->getArgument(1 + inputs + carried + i),
                            mapping.lookupOrDefault(terminator->getOperand(i)), position));
    builder.create<sh::ReturnOp>(location, next);
  }

  ScanOp op;
  OpBuilder &builder;
  Location location;
  int64_t steps = 0;
  RankedTensorType counter;
};

} // namespace

Values expandScan(ScanOp op, OpBuilder &builder) {
  for (Type type : op->getOperandTypes())
    if (!cast<RankedTensorType>(type).hasStaticShape()) {
      op.emitOpError("needs static shapes, got ") << type;
      return {};
    }
  return ScanLoop(op, builder).build();
}

//===----------------------------------------------------------------------===//
// ragged_dot
//===----------------------------------------------------------------------===//

namespace {

/// A dot_general whose lhs has a ragged dimension, cut into groups of sizes known
/// when run. Elements outside of an element's group are replaced by zero on both
/// sides, never multiplied by it: an infinity there must not matter.
class RaggedDot {
public:
  RaggedDot(RaggedDotOp op, OpBuilder &builder) : op(op), builder(builder), location(op.getLoc()) {}

  Values build() {
    if (failed(read()))
      return {};
    if (llvm::is_contained(lhsBatch, ragged))
      return {dot(op.getLhs(), op.getRhs(), lhsBatch, rhsBatch, lhsContract, rhsContract,
                  op.getType())};
    return llvm::is_contained(lhsContract, ragged) ? contracting() : rows();
  }

private:
  LogicalResult read() {
    DictionaryAttr numbers = op.getRaggedDotDimensionNumbers();
    auto list = [&](StringRef name) {
      auto array = numbers.getAs<DenseI64ArrayAttr>(name);
      return array ? SmallVector<int64_t>(array.asArrayRef()) : SmallVector<int64_t>();
    };
    lhsBatch = list("lhs_batching_dimensions");
    rhsBatch = list("rhs_batching_dimensions");
    lhsContract = list("lhs_contracting_dimensions");
    rhsContract = list("rhs_contracting_dimensions");
    SmallVector<int64_t> raggedDims = list("lhs_ragged_dimensions");
    groupDims = list("rhs_group_dimensions");
    lhs = cast<RankedTensorType>(op.getLhs().getType());
    rhs = cast<RankedTensorType>(op.getRhs().getType());
    sizes = cast<RankedTensorType>(op.getGroupSizes().getType());
    auto within = [](ArrayRef<int64_t> dims, RankedTensorType type) {
      return llvm::all_of(dims, [&](int64_t dim) { return dim >= 0 && dim < type.getRank(); });
    };
    if (raggedDims.size() != 1 || !within(raggedDims, lhs) || !within(lhsBatch, lhs) ||
        !within(lhsContract, lhs) || !within(rhsBatch, rhs) || !within(rhsContract, rhs) ||
        !within(groupDims, rhs) || groupDims.size() > 1 || lhsBatch.size() != rhsBatch.size() ||
        lhsContract.size() != rhsContract.size())
      return op.emitOpError("has dimension numbers that do not fit its operands");
    ragged = raggedDims.front();
    bool isRow = !llvm::is_contained(lhsBatch, ragged) && !llvm::is_contained(lhsContract, ragged);
    if (isRow != (groupDims.size() == 1))
      return op.emitOpError("needs a group dimension exactly where lhs is ragged in its rows");
    if (!lhs.hasStaticShape() || !rhs.hasStaticShape() || !sizes.hasStaticShape())
      return op.emitOpError("needs static shapes");
    if (sizes.getRank() != 1 && sizes.getRank() != int64_t(lhsBatch.size()) + 1)
      return op.emitOpError("needs group sizes of rank 1, or one list per batch");
    return success();
  }

  Value dot(Value a, Value b, ArrayRef<int64_t> batchA, ArrayRef<int64_t> batchB,
            ArrayRef<int64_t> contractA, ArrayRef<int64_t> contractB, Type type) {
    auto numbers = sh::DotDimensionNumbersAttr::get(builder.getContext(), batchA, batchB, contractA,
                                                    contractB);
    return builder.create<sh::DotGeneralOp>(location, type, a, b, numbers,
                                            op.getPrecisionConfigAttr(), sh::DotAlgorithmAttr());
  }

  /// Whether a position of the ragged dimension belongs to a group, as booleans of
  /// `shape`, whose dimensions `batch`, `position` and `group` these are.
  Value belongs(ArrayRef<int64_t> shape, ArrayRef<int64_t> batch, int64_t position, int64_t group) {
    Type index = sizes.getElementType();
    // Where each group ends: the sum of sizes up to it.
    SmallVector<int64_t> square(sizes.getShape());
    int64_t groups = square.back(), rank = square.size();
    square.push_back(groups);
    SmallVector<int64_t> summed(rank - 1);
    std::iota(summed.begin(), summed.end(), 0);
    summed.push_back(rank);
    Value spread = broadcastTo(builder, location, op.getGroupSizes(), square, summed);
    Value upTo =
        compare(builder, location, iota(builder, location, square, index, rank),
                iota(builder, location, square, index, rank - 1), sh::ComparisonDirection::LE);
    Value zero = splat(builder, location, spread.getType(), 0);
    Value kept = builder.create<sh::SelectOp>(location, spread.getType(), upTo, spread, zero);
    Value ends = sum(builder, location, kept, {rank});
    Value begins =
        builder.create<sh::SubtractOp>(location, ends.getType(), ends, op.getGroupSizes());

    SmallVector<int64_t> dims;
    if (rank > 1)
      llvm::append_range(dims, batch);
    dims.push_back(group);
    Value where = iota(builder, location, shape, index, position);
    Value after =
        compare(builder, location, where, broadcastTo(builder, location, begins, shape, dims),
                sh::ComparisonDirection::GE);
    Value before =
        compare(builder, location, where, broadcastTo(builder, location, ends, shape, dims),
                sh::ComparisonDirection::LT);
    return builder.create<sh::AndOp>(location, after.getType(), after, before);
  }

  Value keep(Value condition, Value value) {
    Value zero = splat(builder, location, value.getType(), 0);
    return builder.create<sh::SelectOp>(location, value.getType(), condition, value, zero);
  }

  /// Every row times every group's matrix; then its own group's product is kept.
  Values rows() {
    SmallVector<int64_t> shape, batch;
    int64_t position = -1, group = -1;
    for (int64_t dim : lhsBatch) {
      batch.push_back(shape.size());
      shape.push_back(lhs.getDimSize(dim));
    }
    for (int64_t dim = 0; dim < lhs.getRank(); ++dim)
      if (!llvm::is_contained(lhsBatch, dim) && !llvm::is_contained(lhsContract, dim)) {
        position = dim == ragged ? int64_t(shape.size()) : position;
        shape.push_back(lhs.getDimSize(dim));
      }
    for (int64_t dim = 0; dim < rhs.getRank(); ++dim)
      if (!llvm::is_contained(rhsBatch, dim) && !llvm::is_contained(rhsContract, dim)) {
        group = dim == groupDims.front() ? int64_t(shape.size()) : group;
        shape.push_back(rhs.getDimSize(dim));
      }
    auto type = RankedTensorType::get(shape, cast<RankedTensorType>(op.getType()).getElementType());
    Value all = dot(op.getLhs(), op.getRhs(), lhsBatch, rhsBatch, lhsContract, rhsContract, type);
    return {sum(builder, location, keep(belongs(shape, batch, position, group), all), {group})};
  }

  /// `value` repeated per group in a new first dimension, zero outside of it.
  Value perGroup(Value value, ArrayRef<int64_t> batch, int64_t position) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape = {sizes.getShape().back()}, dims(type.getRank()), moved;
    llvm::append_range(shape, type.getShape());
    std::iota(dims.begin(), dims.end(), 1);
    for (int64_t dim : batch)
      moved.push_back(dim + 1);
    Value spread = broadcastTo(builder, location, value, shape, dims);
    return keep(belongs(shape, moved, position + 1, 0), spread);
  }

  /// A product per group over the group's part of the contracted dimension.
  Values contracting() {
    auto found = llvm::find(lhsContract, ragged) - lhsContract.begin();
    Value a = perGroup(op.getLhs(), lhsBatch, ragged);
    Value b = perGroup(op.getRhs(), rhsBatch, rhsContract[found]);
    auto withGroup = [](ArrayRef<int64_t> dims, bool isBatch) {
      SmallVector<int64_t> moved;
      if (isBatch)
        moved.push_back(0);
      for (int64_t dim : dims)
        moved.push_back(dim + 1);
      return moved;
    };
    return {dot(a, b, withGroup(lhsBatch, true), withGroup(rhsBatch, true),
                withGroup(lhsContract, false), withGroup(rhsContract, false), op.getType())};
  }

  RaggedDotOp op;
  OpBuilder &builder;
  Location location;
  SmallVector<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract, groupDims;
  int64_t ragged = 0;
  RankedTensorType lhs, rhs, sizes;
};

} // namespace

Values expandRaggedDot(RaggedDotOp op, OpBuilder &builder) {
  return RaggedDot(op, builder).build();
}

} // namespace spokeshave::chlo
