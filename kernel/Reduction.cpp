//===- Reduction.cpp - reductions that share one loop ----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Reduction.h.
//
//===----------------------------------------------------------------------===//
#include "kernel/Reduction.h"

#include "kernel/WithinRows.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;
using Elements = SmallVector<Element>;

//===----------------------------------------------------------------------===//
// What a reducer does
//===----------------------------------------------------------------------===//

/// One known operation per operand: out[i] = op(a[i], b[i]).
static bool isSimple(hlo::ReduceOp op) {
  Block &body = op.getBody().front();
  size_t count = op.getInputs().size();
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    Operation *combine = value.getDefiningOp();
    if (!isa_and_nonnull<hlo::AddOp, hlo::MulOp, hlo::MaxOp, hlo::MinOp, hlo::AndOp, hlo::OrOp,
                         hlo::XorOp>(combine))
      return false;
    Value a = body.getArgument(i), b = body.getArgument(count + i);
    Value x = combine->getOperand(0), y = combine->getOperand(1);
    if (!((x == a && y == b) || (x == b && y == a)))
      return false;
  }
  return true;
}

/// Matches compare(direction, a, b).
static hlo::CompareOp matchCompare(Value value, Value a, Value b) {
  auto compare = value.getDefiningOp<hlo::CompareOp>();
  return compare && compare.getLhs() == a && compare.getRhs() == b ? compare : hlo::CompareOp();
}

/// JAX's argmin (LT) or argmax (GT): of (x, i) and (y, j) it takes x if it compares
/// so or is NaN, and of equal ones the smaller index.
static std::optional<hlo::ComparisonDirection> matchArg(hlo::ReduceOp op) {
  using Direction = hlo::ComparisonDirection;
  if (op.getInputs().size() != 2)
    return std::nullopt;
  Block &body = op.getBody().front();
  Value x = body.getArgument(0), i = body.getArgument(1), y = body.getArgument(2),
        j = body.getArgument(3);
  auto values = body.getTerminator()->getOperand(0).getDefiningOp<hlo::SelectOp>();
  auto numbers = body.getTerminator()->getOperand(1).getDefiningOp<hlo::SelectOp>();
  if (!values || !numbers || values.getOnTrue() != x || values.getOnFalse() != y ||
      numbers.getOnTrue() != i || numbers.getOnFalse() != j)
    return std::nullopt;
  Value better = values.getPred();
  auto either = numbers.getPred().getDefiningOp<hlo::OrOp>();
  if (!either || either.getLhs() != better)
    return std::nullopt;
  auto tie = either.getRhs().getDefiningOp<hlo::AndOp>();
  auto same = tie ? matchCompare(tie.getLhs(), x, y) : hlo::CompareOp();
  auto first = tie ? matchCompare(tie.getRhs(), i, j) : hlo::CompareOp();
  if (!same || !first || same.getComparisonDirection() != Direction::EQ ||
      first.getComparisonDirection() != Direction::LT)
    return std::nullopt;
  if (auto orNan = better.getDefiningOp<hlo::OrOp>()) {
    auto nan = matchCompare(orNan.getRhs(), x, x);
    if (!nan || nan.getComparisonDirection() != Direction::NE)
      return std::nullopt;
    better = orNan.getLhs();
  }
  auto compare = matchCompare(better, x, y);
  if (!compare || (compare.getComparisonDirection() != Direction::LT &&
                   compare.getComparisonDirection() != Direction::GT))
    return std::nullopt;
  return compare.getComparisonDirection();
}

bool kernel::isOrderFree(hlo::ReduceOp op) {
  return isSimple(op) || matchArg(op).has_value();
}

/// The same, such that the order does not matter: of several NaN the first.
static Elements combineArg(hlo::ReduceOp op, hlo::ComparisonDirection direction,
                           ArrayRef<Element> a, ArrayRef<Element> b) {
  Num x = a[0].re, i = a[1].re, y = b[0].re, j = b[1].re;
  bool isUnsignedType = isUnsigned(typeOf(op.getInputs()[0]).getElementType());
  bool greater = direction == hlo::ComparisonDirection::GT;
  Num better = isUnsignedType ? (greater ? ugt(x, y) : ult(x, y)) : (greater ? gt(x, y) : lt(x, y));
  Num same = eq(x, y);
  if (x.isFloat()) {
    better = better | (isNan(x) & ~isNan(y));
    same = same | (isNan(x) & isNan(y));
    // A number is not better than a NaN; comparisons with NaN are false already.
  }
  Num first = better | (same & lt(i, j));
  return {{select(better, x, y), {}}, {select(first, i, j), {}}};
}

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

FailureOr<Elements> Reduction::initial() {
  Elements all;
  for (hlo::ReduceOp op : ops)
    for (Value init : op.getInitValues()) {
      FailureOr<Element> element = emitter.emit(init, {});
      if (failed(element))
        return failure();
      all.push_back(*element);
    }
  return all;
}

FailureOr<Elements> Reduction::combine(ArrayRef<Element> a, ArrayRef<Element> b) {
  Elements all;
  ArithContext &context = emitter.context();
  bool wide = std::exchange(context.wide, true);
  size_t next = 0;
  LogicalResult result = success();
  for (hlo::ReduceOp op : ops) {
    size_t count = op.getInputs().size();
    Elements arguments(a.slice(next, count));
    llvm::append_range(arguments, b.slice(next, count));
    if (auto direction = matchArg(op)) {
      llvm::append_range(all, combineArg(op, *direction, a.slice(next, 2), b.slice(next, 2)));
      next += count;
      continue;
    }
    next += count;
    FailureOr<Elements> combined = emitRegion(
        context, op.getBody(), arguments, [&](Value outside) { return emitter.emit(outside, {}); });
    if (failed(combined)) {
      result = failure();
      break;
    }
    llvm::append_range(all, *combined);
  }
  context.wide = wide;
  if (failed(result))
    return failure();
  return all;
}

FailureOr<Elements> Reduction::accumulate(ArrayRef<Element> accumulators, Value mask,
                                          llvm::function_ref<Position(hlo::ReduceOp)> positionOf) {
  Elements values;
  for (hlo::ReduceOp op : ops) {
    FailureOr<Elements> inputs = emitter.emitAll(op.getInputs(), positionOf(op));
    if (failed(inputs))
      return failure();
    llvm::append_range(values, *inputs);
  }
  if (mask) {
    FailureOr<Elements> neutral = initial();
    if (failed(neutral))
      return failure();
    Num on(emitter.context(), mask);
    for (auto [value, none] : llvm::zip_equal(values, *neutral)) {
      value.re = select(on, value.re, none.re);
      if (value.isComplex())
        value.im = select(on, value.im, none.im);
    }
  }
  return combine(accumulators, values);
}

FailureOr<Elements> Reduction::acrossLanes(ArrayRef<Element> accumulators) {
  Elements current(accumulators);
  OpBuilder &builder = emitter.getBuilder();
  Location loc = emitter.loc();
  auto vector = dyn_cast<VectorType>(current.front().re.type());
  if (!vector)
    return current;
  auto part = [&](Num value, int64_t begin, int64_t count) -> Num {
    if (!value)
      return {};
    SmallVector<int64_t> lanes;
    for (int64_t i = 0; i < count; ++i)
      lanes.push_back(begin + i);
    return {emitter.context(),
            builder.create<vector::ShuffleOp>(loc, Value(value), Value(value), lanes)};
  };
  for (int64_t lanes = vector.getNumElements(); lanes > 1; lanes /= 2) {
    Elements low, high;
    for (const Element &element : current) {
      low.push_back({part(element.re, 0, lanes / 2), part(element.im, 0, lanes / 2)});
      high.push_back(
          {part(element.re, lanes / 2, lanes / 2), part(element.im, lanes / 2, lanes / 2)});
    }
    ElementEmitter::Tile tile(emitter, lanes / 2);
    FailureOr<Elements> combined = combine(low, high);
    if (failed(combined))
      return failure();
    current = *combined;
  }
  auto scalar = [&](Num value) -> Num {
    if (!value || !isa<VectorType>(value.type()))
      return value;
    return {emitter.context(),
            builder.create<vector::ExtractOp>(loc, Value(value), ArrayRef<int64_t>{0})};
  };
  for (Element &element : current)
    element = {scalar(element.re), scalar(element.im)};
  return current;
}

LogicalResult Reduction::withinRows(MutableArrayRef<Elements> accumulators) {
  auto rotated = [](Num value, int64_t by) { return value ? rotateWithinRows(value, by) : value; };
  for (int64_t distance = kTileColumns / 2; distance; distance /= 2) {
    std::vector<Elements> moved;
    for (const Elements &tile : accumulators) {
      Elements &here = moved.emplace_back();
      for (const Element &element : tile)
        here.push_back({rotated(element.re, distance), rotated(element.im, distance)});
    }
    for (auto [tile, other] : llvm::zip_equal(accumulators, moved)) {
      FailureOr<Elements> combined = combine(tile, other);
      if (failed(combined))
        return failure();
      tile = *combined;
    }
  }
  return success();
}

void Reduction::finish(MutableArrayRef<Element> accumulators) {
  for (auto [i, element] : llvm::enumerate(accumulators)) {
    Type type = typeOf(resultOf(i)).getElementType();
    if (isSmallFloat(type))
      element.re = roundTo(element.re, type);
  }
}

Carried Reduction::flatten(ArrayRef<Element> elements) {
  Carried values;
  for (const Element &element : elements) {
    values.push_back(element.re);
    if (element.isComplex())
      values.push_back(element.im);
  }
  return values;
}

Elements Reduction::unflatten(ValueRange values, ArrayRef<Element> like) {
  Elements elements;
  size_t next = 0;
  for (const Element &each : like) {
    Element element{{emitter.context(), values[next++]}, {}};
    if (each.isComplex())
      element.im = {emitter.context(), values[next++]};
    elements.push_back(element);
  }
  return elements;
}

Value Reduction::resultOf(size_t i) const {
  for (hlo::ReduceOp op : ops) {
    if (i < op->getNumResults())
      return op->getResult(i);
    i -= op->getNumResults();
  }
  return {};
}

Position kernel::reducedPosition(IndexSpace &space, hlo::ReduceOp op, const Index &kept,
                                 const Index &reduced) {
  RankedTensorType type = typeOf(op.getInputs().front());
  SmallVector<int64_t> keptShape, reducedShape;
  auto isReduced = [&](int64_t d) { return llvm::is_contained(op.getDimensions(), d); };
  for (int64_t d = 0; d < type.getRank(); ++d)
    (isReduced(d) ? reducedShape : keptShape).push_back(type.getDimSize(d));
  Position keptPosition = space.delinearize(kept, keptShape);
  Position reducedOnes = space.delinearize(reduced, reducedShape);
  Position position;
  size_t nextKept = 0, nextReduced = 0;
  for (int64_t d = 0; d < type.getRank(); ++d)
    position.push_back(isReduced(d) ? reducedOnes[nextReduced++] : keptPosition[nextKept++]);
  return position;
}

int64_t kernel::reducedExtent(hlo::ReduceOp op) {
  int64_t extent = 1;
  for (int64_t d : op.getDimensions())
    extent *= typeOf(op.getInputs().front()).getDimSize(d);
  return extent;
}
