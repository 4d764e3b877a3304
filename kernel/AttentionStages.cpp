//===- AttentionStages.cpp - a block of rows with a block of keys ----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What UnitAttention's rounds (AttentionUnits.cpp) are made of. For each 8 rows:
//
//   scores    S = f(q k^T) as products are popped; the largest of each lane
//   maxima    m' = max(m, S), within rows; factor = exp(m - m')
//   mix       exp(S - m') is pushed, O = O factor + what is popped, l likewise
//   results   O / l
//
// Sums are those of columns of ones beside the values where a unit has room for them,
// else added up by lanes.
//
//===----------------------------------------------------------------------===//
#include "kernel/UnitAttention.h"

#include "kernel/Math.h"
#include "kernel/Product.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

/// Cycles of a rotation and of what is done with its result.
static constexpr int64_t kRotationCycles = 26;

//===----------------------------------------------------------------------===//
// Small things
//===----------------------------------------------------------------------===//

Num UnitAttention::splat(double value) {
  Attribute one = builder.getF32FloatAttr(float(value));
  return number(
      builder.create<arith::ConstantOp>(loc(), DenseElementsAttr::get(registerType, one)));
}

Value UnitAttention::mask(int64_t columns, int64_t rows) {
  if (columns >= kTileColumns && rows >= kTileRows)
    return {};
  SmallVector<bool> on;
  for (int64_t lane = 0; lane < kTileLanes; ++lane)
    on.push_back(lane % kTileColumns < columns && lane / kTileColumns < rows);
  auto type = VectorType::get({kTileLanes}, builder.getI1Type());
  return builder.create<arith::ConstantOp>(loc(), DenseElementsAttr::get(type, on));
}

Num UnitAttention::load(Value buffer, const Index &at, Value mask) {
  return number(
      builder.create<LoadOp>(loc(), registerType, buffer, ValueRange{space.scalar(at)}, mask, 1));
}

void UnitAttention::store(Num value, Value buffer, const Index &at) {
  builder.create<StoreOp>(loc(), value, buffer, ValueRange{space.scalar(at)}, Value(), 1);
}

static Type elementOf(Value buffer) {
  return cast<MemRefType>(buffer.getType()).getElementType();
}

/// Narrow floats are loaded as their bits.
static VectorType registerOf(Type element) {
  Type bits = element.isF32()
                  ? element
                  : IntegerType::get(element.getContext(), element.getIntOrFloatBitWidth());
  return VectorType::get({kTileLanes}, bits);
}

Value UnitAttention::loadRows(Rows rows, const Index &at, Value mask) {
  return builder.create<LoadRowsOp>(loc(), registerOf(elementOf(rows.buffer)), rows.buffer,
                                    space.scalar(at), mask, rows.stride);
}

void UnitAttention::storeRows(Num value, Rows rows, const Index &at, Value mask) {
  builder.create<StoreRowsOp>(loc(), value, rows.buffer, space.scalar(at), mask, rows.stride);
}

Value UnitAttention::makeMaskBelow(Value count) {
  SmallVector<int32_t> columns;
  for (int64_t lane = 0; lane < kTileLanes; ++lane)
    columns.push_back(lane % kTileColumns);
  auto type = VectorType::get({kTileLanes}, builder.getI32Type());
  Value column =
      builder.create<arith::ConstantOp>(loc(), DenseElementsAttr::get(type, ArrayRef(columns)));
  Value scalar = builder.create<arith::IndexCastOp>(loc(), builder.getI32Type(), count);
  Value end = builder.create<vector::BroadcastOp>(loc(), type, scalar);
  return builder.create<arith::CmpIOp>(loc(), arith::CmpIPredicate::slt, column, end);
}

/// In the type of the values.
Value UnitAttention::pushedOnes() {
  VectorType type = registerOf(elementOf(values.buffer));
  Attribute one = type.getElementType().isF32()
                      ? Attribute(builder.getF32FloatAttr(1))
                      : Attribute(builder.getIntegerAttr(type.getElementType(), 0x3F80));
  return builder.create<arith::ConstantOp>(loc(), DenseElementsAttr::get(type, one));
}

/// Where a group's register is among those of the item's parity.
Index UnitAttention::ofGroup(const Item &item, int64_t group) const {
  return space.add(space.scale(item.parity, groups * kTileLanes), group * kTileLanes);
}

/// The first element of a group's rows in what holds all rows of the task.
Index UnitAttention::ofRows(const Item &item, int64_t group, const Rows &rows) const {
  Index row = space.scale(space.add(item.row, group * kTileRows), rows.stride);
  return space.add(space.scale(item.head, rows.ofHead), row);
}

UnitAttention::Split UnitAttention::splitUnits(int64_t depth, int64_t columns) const {
  Split split;
  int64_t units = lowering.machine.matrixUnits;
  split.depthUnits = std::min<int64_t>(units, llvm::divideCeil(depth, size));
  split.columnUnits = std::min<int64_t>(units / split.depthUnits, llvm::divideCeil(columns, size));
  split.passes = llvm::divideCeil(depth, split.depthUnits * size);
  split.columnSteps = llvm::divideCeil(columns, split.columnUnits * size);
  return split;
}

std::vector<UnitStep>
UnitAttention::stepsOf(const Split &split,
                       llvm::function_ref<UnitStep(int64_t column, int64_t pass)> make) const {
  std::vector<UnitStep> steps;
  for (int64_t column = 0; column < split.columnSteps; ++column)
    for (int64_t pass = 0; pass < split.passes; ++pass)
      steps.push_back(make(column * split.columnUnits * size, pass));
  return steps;
}

UnitStep UnitAttention::makeStep(const Split &split, int64_t column, int64_t pass, Extent extent,
                                 Type element, Latch latch) {
  auto forUnits = [=, this](llvm::function_ref<void(int64_t unit, int64_t k, int64_t n)> body) {
    for (int64_t d = 0; d < split.depthUnits; ++d)
      for (int64_t c = 0; c < split.columnUnits; ++c) {
        int64_t k = (pass * split.depthUnits + d) * size, n = column + c * size;
        if (k < extent.depth && n < extent.columns)
          body(d * split.columnUnits + c, k, n);
      }
  };
  UnitStep step;
  step.slots = groups, step.latches = size / kTileRows;
  step.latch = [=](int64_t i) {
    forUnits([&](int64_t unit, int64_t k, int64_t n) { latch(i * kTileRows, unit, k, n); });
  };
  step.swap = [=, this] {
    forUnits([&](int64_t unit, int64_t, int64_t) { builder.create<MatrixSwapOp>(loc(), unit); });
  };
  step.push = [=, this](int64_t, const UnitStep::Registers &rows) {
    forUnits([&](int64_t unit, int64_t, int64_t) {
      int64_t first = unit / split.columnUnits * halves;
      builder.create<MatrixPushOp>(loc(), rows[first], halves > 1 ? rows[first + 1] : Value(), unit,
                                   element, f32, /*is_unsigned=*/false);
    });
  };
  return step;
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

std::vector<UnitStep> UnitAttention::scoreSteps(const Item &item) {
  return stepsOf(scoreSplit,
                 [&](int64_t column, int64_t pass) { return scoreStep(item, column, pass); });
}

/// Keys are weights as they lie, 8 of them at a time.
UnitStep UnitAttention::scoreStep(const Item &item, int64_t column, int64_t pass) {
  auto latch = [=, this](int64_t row, int64_t unit, int64_t k, int64_t n) {
    int64_t first = n + row, left = blocks.keys - first;
    if (left <= 0)
      return;
    Index at = space.add(space.scale(space.add(item.key, first), keys.stride), k);
    at = space.add(at, space.scale(item.head, keys.ofHead));
    int64_t depth = view.depth - k;
    Value rows = loadRows(keys, at, mask(depth, left)), more;
    if (halves > 1 && depth > kTileColumns)
      more = loadRows(keys, space.add(at, kTileColumns), mask(depth - kTileColumns, left));
    builder.create<MatrixLatchOp>(loc(), rows, more, unit, elementOf(keys.buffer),
                                  /*transposed=*/true, /*is_unsigned=*/false);
  };
  UnitStep step = makeStep(scoreSplit, column, pass, {view.depth, blocks.keys},
                           elementOf(queries.buffer), latch);
  step.prepare = [=, this](int64_t slot) {
    UnitStep::Registers registers;
    for (int64_t h = 0; h < scoreSplit.depthUnits * halves; ++h) {
      int64_t k = pass * scoreSplit.depthUnits * size + h * kTileColumns;
      registers.push_back(k < view.depth
                              ? loadRows(queries, space.add(ofRows(item, slot, queries), k),
                                         mask(view.depth - k, rowsOf(slot)))
                              : Value());
    }
    return registers;
  };
  step.pop = [=, this](int64_t slot) { popScores(item, column, pass, slot); };
  return step;
}

void UnitAttention::popScores(const Item &item, int64_t column, int64_t pass, int64_t slot) {
  const Split split = scoreSplit;
  Num top;
  for (int64_t c = 0; c < split.columnUnits; ++c)
    for (int64_t half = 0; half < halves; ++half) {
      int64_t unitColumn = column + c * size, at = unitColumn + half * kTileColumns;
      Num product;
      for (int64_t d = 0; d < split.depthUnits; ++d) {
        if ((pass * split.depthUnits + d) * size >= view.depth || unitColumn >= blocks.keys)
          continue;
        Num part =
            number(builder.create<MatrixPopOp>(loc(), registerType, d * split.columnUnits + c));
        product = product ? product + part : part;
      }
      if (at >= blocks.keys)
        continue;
      Index place = space.add(ofParity(item, groups * kTileRows * scores.stride),
                              slot * kTileRows * scores.stride + at);
      if (pass > 0)
        product = number(loadRows(scores, place)) + product;
      if (pass + 1 < split.passes) {
        storeRows(product, scores, place);
        continue;
      }
      Num value = score(product, item, slot, at);
      storeRows(value, scores, place);
      top = top ? maximum(top, value) : value;
    }
  if (!top)
    return;
  if (column > 0)
    top = maximum(load(laneMaxima, ofGroup(item, slot)), top);
  store(top, laneMaxima, ofGroup(item, slot));
}

/// Whether a lane sees its key, as a comparison of how far its row sees beyond the
/// item's first key.
void UnitAttention::bindMask(const Item &item, int64_t slot, int64_t column) {
  emitter.bind(view.causal->compare, [this, &item, slot, column](const Position &) {
    auto all = [&](int64_t number) -> Value {
      return builder.create<arith::ConstantOp>(
          loc(), DenseElementsAttr::get(cast<VectorType>(item.reach.getType()), int32_t(number)));
    };
    Value reach = builder.createOrFold<arith::AddIOp>(loc(), item.reach, all(slot * kTileRows));
    Value on = builder.create<arith::CmpIOp>(loc(), arith::CmpIPredicate::sge, reach, all(column));
    return FailureOr<Element>(Element{number(on), {}});
  });
}

/// The scores of a register of products; -inf where there is no key.
Num UnitAttention::score(Num product, const Item &item, int64_t slot, int64_t column) {
  int64_t rows = rowsOf(slot), present = std::min(kTileColumns, blocks.keys - column);
  Value on = mask(present, rows);
  ElementEmitter::Tile tile(emitter, ElementEmitter::Tile::Rows{rows, present}, on);
  hlo::DotGeneralOp products = view.attention.products;
  emitter.bind(products,
               [product](const Position &) -> FailureOr<Element> { return Element{product, {}}; });
  Index lane = space.add(item.key, column), sublane = space.add(item.tensorRow, slot * kTileRows);
  if (masksByRow)
    bindMask(item, slot, column);
  Index beyond = space.subtract(Index(view.keys), lane);
  lane.lane = 1, sublane.sublane = 1;
  // What is computed of products in narrow floats keeps the places of f32.
  bool wide = std::exchange(emitter.context().wide, true);
  FailureOr<Element> value =
      emitter.emit(view.attention.scores, view.scores(item.batch, sublane, lane));
  emitter.context().wide = wide;
  emitter.unbind(products);
  if (masksByRow)
    emitter.unbind(view.causal->compare);
  check(value);
  if (failed(value))
    return product;
  if (paddedKeys > view.keys) {
    Value exist = makeMaskBelow(space.scalar(beyond));
    return select(number(exist), value->re, -kInfinity);
  }
  Value columns = mask(present);
  return columns ? select(number(columns), value->re, -kInfinity) : value->re;
}

//===----------------------------------------------------------------------===//
// Maxima
//===----------------------------------------------------------------------===//

/// Work that reduces the lanes of all groups, some at once, a rotation of each in a
/// piece; pieces come as far apart as a rotation takes. `begin` and `end` are given a
/// group.
void UnitAttention::appendReduction(std::vector<SideWork> &side, Span span,
                                    std::function<Num(int64_t)> begin,
                                    std::function<Num(Num, Num)> combine,
                                    std::function<void(int64_t, Num)> end) {
  // An eighth of the registers hold values whose rotations are under way.
  const int64_t registers = lowering.machine.numVectorRegisters / 8;
  int64_t pieces = combine ? 1 + llvm::Log2_64(kTileColumns) : 1;
  int64_t apart = std::clamp<int64_t>(
      registers * span.slots / (groups * pieces), 2,
      std::max<int64_t>(2, kRotationCycles / lowering.machine.matrixPushCycles));
  int64_t begins = std::max<int64_t>(0, span.first);
  int64_t room = std::max<int64_t>(0, span.slots - pieces * apart - begins);
  int64_t atOnce = combine ? registers : 1;
  for (int64_t first = 0; first < groups; first += atOnce) {
    int64_t last = std::min(groups, first + atOnce);
    int64_t at = std::max(span.first + last - 1, begins + room * first / groups);
    auto values = std::make_shared<SmallVector<Num>>();
    side.push_back({at, [=] {
                      for (int64_t group = first; group < last; ++group)
                        values->push_back(begin(group));
                    }});
    for (int64_t distance = combine ? kTileColumns / 2 : 0; distance; distance /= 2) {
      side.push_back({at, [=] {
                        for (Num &value : *values)
                          value = combine(value, rotateWithinRows(value, distance));
                      }});
      at += apart;
    }
    side.push_back({at, [=] {
                      for (int64_t group = first; group < last; ++group)
                        end(group, (*values)[group - first]);
                    }});
  }
}

void UnitAttention::appendMaxima(const Item &item, Span span, std::vector<SideWork> &side) {
  appendReduction(
      side, span, [=, this](int64_t group) { return load(laneMaxima, ofGroup(item, group)); },
      [](Num a, Num b) { return maximum(a, b); },
      [=, this](int64_t group, Num top) { emitGroupMaxima(item, group, top); });
}

void UnitAttention::emitGroupMaxima(const Item &item, int64_t group, Num top) {
  if (blocks.keyBlocks == 1)
    return store(top, tops, ofGroup(item, group));
  Index at(group * kTileLanes);
  Num before = select(number(item.hasSums), load(maxima, at), -kInfinity);
  Num now = maximum(before, top);
  store(now, maxima, at);
  // Rows without any visible key have no largest one: their weights are 0 so far.
  Num finite = select(eq(now, -kInfinity), 0.0, now);
  store(finite, tops, ofGroup(item, group));
  store(expOfNegative(before - finite), factors, ofGroup(item, group));
}

//===----------------------------------------------------------------------===//
// Mixed values
//===----------------------------------------------------------------------===//

std::vector<UnitStep> UnitAttention::mixSteps(const Item &item) {
  return stepsOf(mixSplit,
                 [&](int64_t column, int64_t pass) { return mixStep(item, column, pass); });
}

UnitStep UnitAttention::mixStep(const Item &item, int64_t column, int64_t pass) {
  auto latch = [=, this](int64_t row, int64_t unit, int64_t k, int64_t n) {
    int64_t first = k + row, left = blocks.keys - first, columns = view.width - n;
    if (left <= 0)
      return;
    Index at = space.add(space.scale(space.add(item.key, first), values.stride), n);
    at = space.add(at, space.scale(item.head, values.ofHead));
    Value rows = loadRows(values, at, mask(columns, left)), more;
    if (sumsInProduct)
      more = pushedOnes();
    else if (halves > 1 && columns > kTileColumns)
      more = loadRows(values, space.add(at, kTileColumns), mask(columns - kTileColumns, left));
    builder.create<MatrixLatchOp>(loc(), rows, more, unit, elementOf(values.buffer),
                                  /*transposed=*/false, /*is_unsigned=*/false);
  };
  UnitStep step = makeStep(mixSplit, column, pass, {blocks.keys, view.width}, f32, latch);
  step.prepare = [=, this](int64_t slot) { return weights(item, column, pass, slot); };
  step.pop = [=, this](int64_t slot) { popMixed(item, column, pass, slot); };
  return step;
}

/// exp(scores - maximum). Scores are -inf up to the end of the last register.
UnitStep::Registers UnitAttention::weights(const Item &item, int64_t column, int64_t pass,
                                           int64_t slot) {
  UnitStep::Registers registers;
  Num top = load(tops, ofGroup(item, slot)), sum;
  for (int64_t h = 0; h < mixSplit.depthUnits * halves; ++h) {
    int64_t k = pass * mixSplit.depthUnits * size + h * kTileColumns;
    if (k >= blocks.keys) {
      registers.push_back({});
      continue;
    }
    Index at = space.add(ofParity(item, groups * kTileRows * scores.stride),
                         slot * kTileRows * scores.stride + k);
    Num weight = expOfNegative(number(loadRows(scores, at)) - top);
    registers.push_back(weight);
    sum = sum ? sum + weight : weight;
  }
  if (!sumsInProduct && column == 0)
    addUp(sum, item, {sums, kTileColumns, sumsOfHead()}, 0, pass, slot);
  return registers;
}

/// Adds to what earlier blocks of keys and passes gave, which the former rescale.
void UnitAttention::addUp(Num value, const Item &item, Rows to, int64_t column, int64_t pass,
                          int64_t slot) {
  Index at = space.add(ofRows(item, slot, to), column);
  bool isFirst = pass == 0, single = blocks.keyBlocks == 1;
  if (!isFirst || !single) {
    Num before = number(loadRows(to, at, isFirst ? item.hasSums : Value()));
    if (isFirst)
      before = before * load(factors, ofGroup(item, slot));
    value = before + value;
  }
  storeRows(value, to, at);
}

void UnitAttention::popMixed(const Item &item, int64_t column, int64_t pass, int64_t slot) {
  const Split split = mixSplit;
  for (int64_t c = 0; c < split.columnUnits; ++c)
    for (int64_t half = 0; half < halves; ++half) {
      int64_t unitColumn = column + c * size, at = unitColumn + half * kTileColumns;
      Num mixed;
      for (int64_t d = 0; d < split.depthUnits; ++d) {
        if ((pass * split.depthUnits + d) * size >= blocks.keys || unitColumn >= view.width)
          continue;
        Num part =
            number(builder.create<MatrixPopOp>(loc(), registerType, d * split.columnUnits + c));
        mixed = mixed ? mixed + part : part;
      }
      if (at < view.width)
        addUp(mixed, item, out, at, pass, slot);
      else if (sumsInProduct && half == 1)
        addUp(mixed, item, {sums, kTileColumns, sumsOfHead()}, 0, pass, slot);
    }
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void UnitAttention::appendResults(const Item &item, Span span, std::vector<SideWork> &side) {
  auto sumOf = [=, this](int64_t group) {
    Rows rows{sums, kTileColumns, sumsOfHead()};
    return number(loadRows(rows, ofRows(item, group, rows)));
  };
  std::function<Num(Num, Num)> combine;
  if (!sumsInProduct)
    combine = [](Num a, Num b) { return a + b; };
  appendReduction(side, span, sumOf, combine, [=, this](int64_t group, Num total) {
    check(emitGroupResult(item, group, total));
  });
}

LogicalResult UnitAttention::emitGroupResult(const Item &item, int64_t group, Num total) {
  hlo::DotGeneralOp mix = view.attention.mix;
  Value output = lowering.fusion.getYield().getValues()[0];
  Type sumType = typeOf(mix).getElementType(), element = typeOf(output).getElementType();
  std::unique_ptr<MatrixProblem> problem = matrixOf(mix);
  if (!view.attention.weightsAreLeft)
    problem = swapped(std::move(problem));
  Num inverse = 1.0 / total;
  int64_t rows = rowsOf(group);
  for (int64_t column = 0; column < view.width; column += kTileColumns) {
    int64_t across = std::min(kTileColumns, view.width - column);
    Value on = mask(across, rows);
    ElementEmitter::Tile tile(emitter, ElementEmitter::Tile::Rows{rows, across}, on);
    Num mixed = number(loadRows(out, space.add(ofRows(item, group, out), column))) * inverse;
    mixed = finishedSum(mixed, sumType);
    if (result) {
      if (element != sumType)
        mixed = finishedSum(mixed, element);
      storeRows(toMemory(mixed, element), *result, space.add(ofRows(item, group, *result), column),
                on);
      continue;
    }
    emitter.bind(view.attention.result,
                 [&](const Position &) -> FailureOr<Element> { return Element{mixed, {}}; });
    Index lane(column), sublane = space.add(item.tensorRow, group * kTileRows);
    lane.lane = 1, sublane.sublane = 1;
    LogicalResult done = emitProductOutputs(lowering, emitter, *problem, item.batch, sublane, lane);
    emitter.unbind(view.attention.result);
    if (failed(done))
      return failure();
  }
  return success();
}
