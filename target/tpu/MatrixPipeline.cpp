//===- MatrixPipeline.cpp - a product as a pipeline through the matrix units ===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step is what one set of weights in all units does: some rows times a tile of
// weights for each unit. Steps follow each other without a gap:
//
//   latch the weights of step 0; swap
//   push the first rows of step 0
//   for each step but the last:
//     push its other rows                  | latch the weights of the next one
//     swap, push the next step's first rows | latch the weights of the one after
//     ... and at the same pace pop the products of all its rows, add them to c
//   push the last step's other rows, pop all
//
// so that pops lag behind pushes by the units' latency. Rows are unrolled within a
// step. Sizes that are no multiples of a step's are regions of their own.
//
// Bytes go through units that do not know them as floats, where they are exact; so is
// the product of one unit, and products are added as integers.
//
// The order of a sum: within a tile that of the unit, then units in pairs, then the
// steps in the order of k. Factors in parts (FactorParts.h) are a product after the
// other, all of k in each.
//
//===----------------------------------------------------------------------===//
#include "target/tpu/MatrixPipeline.h"

#include "target/tpu/FactorParts.h"
#include "target/tpu/UnitSplit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::tpu;
using namespace spokeshave::kernel;

/// Cycles of a step that its code is unrolled for: what begins and ends a block of
/// code should be little beside it.
constexpr int64_t kStepCycles = 1024;
/// The same of several short steps in a row.
constexpr int64_t kTripCycles = 2048;
/// Cycles from a pop to the end of its sum's store, about.
constexpr int64_t kTailCycles = 16;

namespace {

/// The part of a product that one pipeline does: `count` from `begin` of each.
struct Part {
  int64_t begin = 0, count = 0;
};

class Pipeline {
public:
  Pipeline(TileDotOp op, const Timing &timing);
  void run();

private:
  static Type elementOf(Value buffer) {
    return cast<MemRefType>(buffer.getType()).getElementType();
  }
  Value constant(int64_t i) { return builder.create<arith::ConstantIndexOp>(loc, i); }
  Value add(Value a, int64_t b) {
    return b ? builder.createOrFold<arith::AddIOp>(loc, a, constant(b)) : a;
  }
  Value scaled(Value a, int64_t b) {
    return builder.createOrFold<arith::MulIOp>(loc, a, constant(b));
  }
  VectorType rowsOf(Type element) {
    Type bits = element.isF32()
                    ? element
                    : IntegerType::get(op.getContext(), element.getIntOrFloatBitWidth());
    return VectorType::get({kRegisterLanes}, bits);
  }
  Value mask(int64_t rows, int64_t columns);

  void multiplyParts(bool adds);
  void splitColumns(Part rows, Part depth, bool adds);
  void splitRows(Part columns, Part depth, bool adds);
  void region(Part rows, Part columns, Part depth, bool adds);

  /// The digits of a step's number, rows outermost, and what follows from them.
  struct Digits {
    Value chunk, group, pass;
  };
  struct Step {
    Value a, b, c;  ///< offsets of the step's first elements
    Value addsMask; ///< of the load of c: off where nothing is there yet; null: always on
  };
  Digits after(const Digits &digits);
  Step stepAt(const Digits &digits);
  Value addsMaskOf(Value pass);

  /// A factor as it is pushed or latched, and a product as it is added.
  Value factor(Value rows, bool isUnsigned, int64_t part);
  Value popped(int64_t unit);
  Type pushedType(Type element) { return bytesAsFloats ? builder.getF32Type() : element; }
  bool isActive(int64_t depthUnit, int64_t columnUnit) const {
    return depthUnit * size < partDepth.count && columnUnit * size < partColumns.count;
  }
  int64_t unitOf(int64_t depthUnit, int64_t columnUnit, int64_t rowUnit) const {
    return (depthUnit * split.columnUnits + columnUnit) * split.rowUnits + rowUnit;
  }
  void forUnits(llvm::function_ref<void(int64_t depthUnit, int64_t columnUnit)> body);
  void latch(const Step &step, int64_t slot);
  void latchAll(const Step &step);
  void latchGroup(const Step &step, int64_t number);
  void swap();
  void push(const Step &step, int64_t slot);
  void pop(const Step &step, int64_t slot);
  void popAhead(const Step &step);
  SmallVector<Value> advance(ValueRange in);
  SmallVector<Value> advanceAll(SmallVector<Value> state, int64_t steps);

  TileDotOp op;
  const Timing &timing;
  OpBuilder builder;
  Location loc;
  Type aElement, bElement, sum;
  int64_t size, halves, depth;
  PushCost pushCost;
  PartPair parts;
  bool transposed, bytesAsFloats;
  UnitSplit split;

  // Of the present region.
  Part partRows, partColumns, partDepth;
  int64_t slots = 1, lag = 1, lead = 0;       ///< of a step; pushes ahead of pops
  int64_t chunks = 1, groups = 1, passes = 1; ///< steps
  bool adds = false;
};

Pipeline::Pipeline(TileDotOp op, const Timing &timing)
    : op(op), timing(timing), builder(op), loc(op.getLoc()), aElement(elementOf(op.getA())),
      bElement(elementOf(op.getB())), sum(elementOf(op.getC())), size(timing.matrixSize),
      halves(size / kLanes) {
  depth = op.getDepth().getDefiningOp<arith::ConstantIndexOp>().value();
  transposed = op.getBColumnStride() != 1;
  bytesAsFloats = sum.isInteger(32) && timing.matrixRowsOfBytes == 0;
  bool isF8 = isa<Float8E4M3FNType, Float8E5M2Type>(aElement);
  pushCost.cycles = timing.pushCycles(aElement.isInteger(8) && !bytesAsFloats ? ElementType::I8
                                      : isF8                                  ? ElementType::F8E5M2
                                                                              : ElementType::BF16);
}

/// Lanes of the first `rows` and `columns`; null if that is all.
Value Pipeline::mask(int64_t rows, int64_t columns) {
  if (rows >= kSublanes && columns >= kLanes)
    return {};
  SmallVector<bool> on;
  for (int64_t lane = 0; lane < kRegisterLanes; ++lane)
    on.push_back(lane / kLanes < rows && lane % kLanes < columns);
  auto type = VectorType::get({kRegisterLanes}, builder.getI1Type());
  return builder.create<arith::ConstantOp>(loc, DenseElementsAttr::get(type, on));
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

void Pipeline::run() {
  bool adds = op.getAccumulate();
  for (const PartPair &pair : partPairsOf(op)) {
    parts = pair;
    multiplyParts(adds);
    adds = true;
  }
}

void Pipeline::multiplyParts(bool adds) {
  pushCost.operations = partCost(parts.a, parts);
  split = chooseSplit(timing, pushCost, op.getRows(), op.getColumns(), depth);
  int64_t step = split.depthUnits * size, whole = depth / step * step;
  Part rows{0, int64_t(op.getRows())};
  if (whole)
    splitColumns(rows, {0, whole}, adds);
  if (depth > whole)
    splitColumns(rows, {whole, depth - whole}, adds || whole);
}

void Pipeline::splitColumns(Part rows, Part depthPart, bool addsHere) {
  int64_t columns = op.getColumns(), step = split.columnUnits * size;
  int64_t whole = columns / step * step;
  if (whole)
    splitRows({0, whole}, depthPart, addsHere);
  if (columns > whole)
    splitRows({whole, columns - whole}, depthPart, addsHere);
}

void Pipeline::splitRows(Part columns, Part depthPart, bool addsHere) {
  int64_t rows = op.getRows(), registers = llvm::divideCeil(rows, kSublanes);
  int64_t mostSlots = std::max<int64_t>(1, kStepCycles / slotCycles(timing, pushCost, split));
  int64_t wanted = llvm::divideCeil(registers, mostSlots * split.rowUnits);
  int64_t perChunk = llvm::divideCeil(llvm::divideCeil(registers, wanted), split.rowUnits);
  int64_t chunkRows = perChunk * split.rowUnits * kSublanes;
  int64_t whole = rows / chunkRows * chunkRows;
  auto part = [&](Part here, int64_t slotsHere, int64_t chunksHere) {
    slots = slotsHere, chunks = chunksHere;
    region(here, columns, depthPart, addsHere);
  };
  if (whole)
    part({0, whole}, perChunk, whole / chunkRows);
  if (int64_t rest = rows - whole)
    part({whole, rest}, llvm::divideCeil(llvm::divideCeil(rest, kSublanes), split.rowUnits), 1);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// The next step's digits; those of the first one after the last.
Pipeline::Digits Pipeline::after(const Digits &digits) {
  Value carry; // whether the digit moves; null: it does
  auto advance = [&](Value digit, int64_t extent) -> Value {
    if (extent == 1)
      return digit;
    Value next = add(digit, 1);
    Value ends =
        builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, next, constant(extent));
    Value wrapped = builder.create<arith::SelectOp>(loc, ends, constant(0), next);
    if (carry) {
      wrapped = builder.create<arith::SelectOp>(loc, carry, wrapped, digit);
      ends = builder.create<arith::AndIOp>(loc, carry, ends);
    }
    carry = ends;
    return wrapped;
  };
  Digits next;
  next.pass = advance(digits.pass, passes);
  next.group = advance(digits.group, groups);
  next.chunk = advance(digits.chunk, chunks);
  return next;
}

Value Pipeline::addsMaskOf(Value pass) {
  if (adds || passes == 1)
    return {};
  Value later = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sgt, pass, constant(0));
  auto type = VectorType::get({kRegisterLanes}, builder.getI1Type());
  return builder.create<vector::BroadcastOp>(loc, type, later);
}

Pipeline::Step Pipeline::stepAt(const Digits &digits) {
  int64_t chunkRows = slots * split.rowUnits * kSublanes;
  int64_t aStride = op.getARowStride(), bDepth = op.getBDepthStride(),
          bColumn = op.getBColumnStride(), cStride = op.getCRowStride();
  auto sum = [&](Value base, int64_t fixed,
                 std::initializer_list<std::pair<Value, int64_t>> terms) {
    Value all = add(base, fixed);
    for (auto [digit, factor] : terms)
      all = builder.createOrFold<arith::AddIOp>(loc, all, scaled(digit, factor));
    return all;
  };
  int64_t depthStep = split.depthUnits * size, columnStep = split.columnUnits * size;
  Step step;
  step.a = sum(op.getAOffset(), partRows.begin * aStride + partDepth.begin,
               {{digits.chunk, chunkRows * aStride}, {digits.pass, depthStep}});
  step.b = sum(op.getBOffset(), partDepth.begin * bDepth + partColumns.begin * bColumn,
               {{digits.pass, depthStep * bDepth}, {digits.group, columnStep * bColumn}});
  step.c = sum(op.getCOffset(), partRows.begin * cStride + partColumns.begin,
               {{digits.chunk, chunkRows * cStride}, {digits.group, columnStep}});
  return step;
}

Value Pipeline::factor(Value rows, bool isUnsigned, int64_t part) {
  if (!bytesAsFloats)
    return partOf(builder, loc, rows, part, parts);
  auto wide = VectorType::get({kRegisterLanes}, builder.getI32Type());
  Value integers = isUnsigned ? builder.create<arith::ExtUIOp>(loc, wide, rows).getResult()
                              : builder.create<arith::ExtSIOp>(loc, wide, rows).getResult();
  return builder.create<arith::SIToFPOp>(loc, rowsOf(builder.getF32Type()), integers);
}

/// A unit's sum over its 256 steps of k is below 2^24; sums of several may not be.
Value Pipeline::popped(int64_t unit) {
  Value rows = builder.create<MatrixPopOp>(loc, rowsOf(pushedType(sum)), unit);
  return bytesAsFloats ? builder.create<arith::FPToSIOp>(loc, rowsOf(sum), rows).getResult() : rows;
}

void Pipeline::forUnits(llvm::function_ref<void(int64_t, int64_t)> body) {
  for (int64_t d = 0; d < split.depthUnits; ++d)
    for (int64_t c = 0; c < split.columnUnits; ++c)
      if (isActive(d, c))
        body(d, c);
}

/// The share of the weights of `step` that is latched while a slot is pushed.
void Pipeline::latch(const Step &step, int64_t slot) {
  int64_t latches = size / kSublanes;
  for (int64_t i = slot * latches / slots; i < (slot + 1) * latches / slots; ++i)
    latchGroup(step, i);
}

void Pipeline::latchAll(const Step &step) {
  for (int64_t i = 0; i < size / kSublanes; ++i)
    latchGroup(step, i);
}

/// 8 rows of the weights of each unit, or 8 columns.
void Pipeline::latchGroup(const Step &step, int64_t number) {
  int64_t first = number * kSublanes, bDepth = op.getBDepthStride(),
          bColumn = op.getBColumnStride();
  forUnits([&](int64_t depthUnit, int64_t columnUnit) {
    int64_t k = depthUnit * size, n = columnUnit * size;
    (transposed ? n : k) += first;
    int64_t depthLeft = partDepth.count - k, columnsLeft = partColumns.count - n;
    int64_t sublanes = transposed ? columnsLeft : depthLeft;
    int64_t lanes = transposed ? depthLeft : columnsLeft;
    if (sublanes <= 0)
      return;
    auto load = [&](int64_t more) -> Value {
      Value at = add(step.b, k * bDepth + n * bColumn + more);
      Value rows =
          builder.create<LoadRowsOp>(loc, rowsOf(bElement), op.getB(), at,
                                     mask(sublanes, lanes - more), transposed ? bColumn : bDepth);
      return factor(rows, op.getBUnsigned(), parts.b);
    };
    Value rows = load(0), more = halves > 1 && lanes > kLanes ? load(kLanes) : Value();
    for (int64_t r = 0; r < split.rowUnits; ++r)
      builder.create<MatrixLatchOp>(loc, rows, more, unitOf(depthUnit, columnUnit, r),
                                    pushedType(bElement), transposed,
                                    op.getBUnsigned() && !bytesAsFloats);
  });
}

void Pipeline::swap() {
  forUnits([&](int64_t depthUnit, int64_t columnUnit) {
    for (int64_t r = 0; r < split.rowUnits; ++r)
      builder.create<MatrixSwapOp>(loc, unitOf(depthUnit, columnUnit, r));
  });
}

void Pipeline::push(const Step &step, int64_t slot) {
  for (int64_t r = 0; r < split.rowUnits; ++r) {
    int64_t row = (slot * split.rowUnits + r) * kSublanes, rowsLeft = partRows.count - row;
    if (chunks == 1 && rowsLeft <= 0)
      return;
    for (int64_t d = 0; d < split.depthUnits; ++d) {
      int64_t depthLeft = partDepth.count - d * size;
      if (depthLeft <= 0)
        break;
      auto load = [&](int64_t more) -> Value {
        Value at = add(step.a, row * op.getARowStride() + d * size + more);
        Value rows =
            builder.create<LoadRowsOp>(loc, rowsOf(aElement), op.getA(), at,
                                       mask(rowsLeft, depthLeft - more), op.getARowStride());
        return factor(rows, op.getAUnsigned(), parts.a);
      };
      Value rows = load(0), more = halves > 1 && depthLeft > kLanes ? load(kLanes) : Value();
      for (int64_t c = 0; c < split.columnUnits; ++c)
        if (isActive(d, c))
          builder.create<MatrixPushOp>(loc, rows, more, unitOf(d, c, r), pushedType(aElement),
                                       pushedType(sum), op.getAUnsigned() && !bytesAsFloats);
    }
  }
}

void Pipeline::popAhead(const Step &step) {
  for (int64_t i = 0; i < lead; ++i)
    pop(step, i);
}

void Pipeline::pop(const Step &step, int64_t slot) {
  if (slot >= slots)
    return;
  auto plus = [&](Value a, Value b) -> Value {
    if (sum.isF32())
      return builder.create<arith::AddFOp>(loc, a, b);
    return builder.create<arith::AddIOp>(loc, a, b);
  };
  VectorType type = rowsOf(sum);
  for (int64_t r = 0; r < split.rowUnits; ++r) {
    int64_t row = (slot * split.rowUnits + r) * kSublanes;
    if (chunks == 1 && row >= partRows.count)
      return;
    for (int64_t c = 0; c < split.columnUnits; ++c)
      for (int64_t half = 0; half < halves; ++half) {
        SmallVector<Value> parts;
        for (int64_t d = 0; d < split.depthUnits; ++d)
          if (isActive(d, c))
            parts.push_back(popped(unitOf(d, c, r)));
        int64_t column = c * size + half * kLanes;
        if (parts.empty() || column >= partColumns.count)
          continue;
        while (parts.size() > 1) {
          SmallVector<Value> pairs;
          for (size_t i = 0; i < parts.size(); i += 2)
            pairs.push_back(i + 1 < parts.size() ? plus(parts[i], parts[i + 1]) : parts[i]);
          parts = pairs;
        }
        // c is padded to whole registers, so all of them may be written.
        Value at = add(step.c, row * op.getCRowStride() + column), total = parts[0];
        if (adds || passes > 1)
          total = plus(builder.create<LoadRowsOp>(loc, type, op.getC(), at, step.addsMask,
                                                  op.getCRowStride()),
                       total);
        builder.create<StoreRowsOp>(loc, total, op.getC(), at, Value(), op.getCRowStride());
      }
  }
}

/// Pushes what is left of a step and the first rows of the next one, and pops all of
/// the step. `in`: places of the step's a and c, its pass, of the next step's a, b and
/// c, and the next step's digits. Returns the same for the next step.
SmallVector<Value> Pipeline::advance(ValueRange in) {
  Step here{in[0], {}, in[1], addsMaskOf(in[2])}, follows{in[3], in[4], in[5], {}};
  Digits two = after({in[8], in[7], in[6]});
  Step afterNext = stepAt(two);
  for (int64_t i = 0; i < slots; ++i) {
    int64_t slot = lag + i;
    if (i == 0)
      popAhead(here);
    if (slot == slots)
      swap();
    push(slot < slots ? here : follows, slot % slots);
    latch(slot < slots ? follows : afterNext, slot % slots);
    pop(here, i + lead);
  }
  return {in[3],       in[5],    in[6],     afterNext.a, afterNext.b,
          afterNext.c, two.pass, two.group, two.chunk};
}

/// Several steps are one trip of the loop, where they are short.
SmallVector<Value> Pipeline::advanceAll(SmallVector<Value> state, int64_t steps) {
  int64_t cycles = slots * slotCycles(timing, pushCost, split);
  int64_t perTrip = std::clamp<int64_t>(kTripCycles / cycles, 1, steps);
  auto loop =
      builder.create<scf::ForOp>(loc, constant(0), constant(steps / perTrip), constant(1), state);
  auto repeat = [&](SmallVector<Value> from, int64_t times) {
    for (int64_t i = 0; i < times; ++i)
      from = advance(from);
    return from;
  };
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    builder.create<scf::YieldOp>(loc,
                                 repeat(SmallVector<Value>(loop.getRegionIterArgs()), perTrip));
  }
  return repeat(SmallVector<Value>(loop.getResults()), steps % perTrip);
}

void Pipeline::region(Part rows, Part columns, Part depthPart, bool addsHere) {
  partRows = rows, partColumns = columns, partDepth = depthPart, adds = addsHere;
  groups = llvm::divideCeil(columns.count, split.columnUnits * size);
  passes = llvm::divideCeil(depthPart.count, split.depthUnits * size);
  // Pops lag behind pushes by the units' latency. In a long step they begin some slots
  // before the pushes do and end as many before them, so that the sums' additions and
  // stores do not prolong it.
  int64_t pace = slotCycles(timing, pushCost, split), latency = (timing.matrix + 8) / pace + 2;
  lead = llvm::divideCeil(kTailCycles, pace);
  if (slots <= latency + lead || latency + lead > timing.resultTiles)
    lead = 0;
  lag = std::min({slots, timing.resultTiles, latency + lead});
  int64_t steps = chunks * groups * passes;

  Digits zero{constant(0), constant(0), constant(0)};
  Step current = stepAt(zero);
  latchAll(current);
  swap();
  Digits digits = steps > 1 ? after(zero) : zero;
  Step next = steps > 1 ? stepAt(digits) : Step();
  for (int64_t i = 0; i < lag; ++i) {
    push(current, i);
    if (steps > 1)
      latch(next, i);
  }
  Value pass = zero.pass;
  if (steps > 1) {
    SmallVector<Value> carried{current.a, current.c,   pass,         next.a,      next.b,
                               next.c,    digits.pass, digits.group, digits.chunk};
    SmallVector<Value> last = advanceAll(carried, steps - 1);
    current = {last[0], {}, last[1], {}};
    pass = last[2];
  }
  current.addsMask = addsMaskOf(pass);
  popAhead(current);
  for (int64_t i = 0; i < slots; ++i) {
    if (lag + i < slots)
      push(current, lag + i);
    pop(current, i + lead);
  }
  if (steps > 1) // drops what was latched of a step that does not come
    swap();
}

} // namespace

void tpu::writeMatrixPipeline(TileDotOp dot, const Timing &timing) {
  Pipeline(dot, timing).run();
}
