//===- AttentionUnits.cpp - attention on matrix units
//----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps of LowerAttention.cpp for machines whose registers are 8 rows of
// 128 columns. Queries, keys and values come to near memory as boxes, a block
// of rows and all keys of a batch; nothing is packed where they lie as boxes.
// Both products of a block of keys go through the matrix units as a whole.
// Between them:
//
//   for some groups of 8 rows:  m' = max(m, max of the group's scores),
//                               factor = exp(m - m')
//   for some groups of 8 rows:  weights = exp(scores - m'), l = l factor +
//   weights,
//                               O = O factor
//
// Maxima are reduced within rows, many groups at once, since a rotation takes
// long; sums stay apart by columns until the end. Scores are computed from the
// products in both loops: that costs less than storing them.
//
//===----------------------------------------------------------------------===//
#include "kernel/Attention.h"

#include "kernel/AttentionBoxes.h"
#include "kernel/Math.h"
#include "kernel/Product.h"
#include "kernel/WithinRows.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

namespace {

constexpr int64_t kRows = 512, kKeys = 512;
/// A run without a divisor that suits is one block up to this.
constexpr int64_t kMostRows = 2048, kFewestRows = 32;
/// Registers of scores that are worked on at once, for maxima and for weights.
constexpr int64_t kForMaxima = 128, kForWeights = 32;
/// Groups of a result.
constexpr int64_t kForResults = 32;

/// Rows in near memory.
struct Rows {
  Value buffer;
  int64_t stride = 0;
};

class UnitAttention {
public:
  UnitAttention(FusionLowering &lowering, AttentionView &view, ElementEmitter &emitter)
      : lowering(lowering), view(view), emitter(emitter), space(emitter.space()),
        builder(lowering.builder), f32(builder.getF32Type()),
        registerType(VectorType::get({kTileLanes}, f32)) {}
  LogicalResult run();

private:
  void plan();
  Value scratch(int64_t elements);
  Value index(int64_t i) { return lowering.constant(i); }
  Num number(Value value) { return {emitter.context(), value}; }
  Num splat(double value);
  Value mask(int64_t columns, int64_t rows = kTileRows);
  Num load(Value buffer, const Index &at);
  void store(Num value, Value buffer, const Index &at);
  Num loadRows(Rows rows, const Index &at);
  void storeRows(Num value, Rows rows, const Index &at, Value mask = {});
  int64_t rowsOf(const Index &group, int64_t ahead) const;

  Rows window(const AttentionBox &box, int64_t rows, int64_t limit, int64_t columns, bool moves);
  LogicalResult bringOperands();
  LogicalResult pack(Rows to, int64_t rows, int64_t columns,
                     llvm::function_ref<FailureOr<Element>(const Index &, const Index &)> element);
  using Groups = llvm::function_ref<LogicalResult(const Index &first, int64_t count)>;
  LogicalResult forGroups(int64_t atOnce, Groups body);

  LogicalResult emitKeys(const Index &key, int64_t count);
  LogicalResult emitSoftmax(const Index &key, int64_t count, bool hides);
  FailureOr<Num> score(const Index &row, int64_t rows, const Index &key, int64_t column,
                       int64_t count, bool hides);
  void bindMask(const Index &row, const Index &key, bool hides);
  LogicalResult emitMaxima(const Index &key, int64_t count, bool hides);
  LogicalResult emitWeights(const Index &key, int64_t count, bool hides);
  LogicalResult emitResult(const Index &first, int64_t groups);

  FusionLowering &lowering;
  AttentionView &view;
  ElementEmitter &emitter;
  IndexSpace &space;
  OpBuilder &builder;
  Type f32;
  VectorType registerType;

  AttentionBlocks blocks;
  AttentionBoxes boxes;
  AttentionTask task;
  std::optional<Index> firstMaskRow;
  int64_t groups = 1; ///< of 8 rows
  Rows queries, keys, values, scores, out;
  Value maxima, sums, factors; ///< a register for each group
  std::optional<Rows> result;
  int64_t scratchBytes = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Small things
//===----------------------------------------------------------------------===//

Value UnitAttention::scratch(int64_t elements) {
  int64_t offset = scratchBytes;
  scratchBytes += llvm::alignTo(elements * 4, 4096);
  return builder.create<ScratchOp>(lowering.loc(), MemRefType::get({elements}, f32), offset);
}

Num UnitAttention::splat(double value) {
  Attribute one = builder.getF32FloatAttr(float(value));
  return number(
      builder.create<arith::ConstantOp>(lowering.loc(), DenseElementsAttr::get(registerType, one)));
}

/// Lanes within the first `columns` and `rows`; null if that is all.
Value UnitAttention::mask(int64_t columns, int64_t rows) {
  if (columns >= kTileColumns && rows >= kTileRows)
    return {};
  SmallVector<bool> on;
  for (int64_t lane = 0; lane < kTileLanes; ++lane)
    on.push_back(lane % kTileColumns < columns && lane / kTileColumns < rows);
  auto type = VectorType::get({kTileLanes}, builder.getI1Type());
  return builder.create<arith::ConstantOp>(lowering.loc(), DenseElementsAttr::get(type, on));
}

Num UnitAttention::load(Value buffer, const Index &at) {
  return number(builder.create<LoadOp>(lowering.loc(), registerType, buffer,
                                       ValueRange{space.scalar(at)}, Value(), 1));
}

void UnitAttention::store(Num value, Value buffer, const Index &at) {
  builder.create<StoreOp>(lowering.loc(), value, buffer, ValueRange{space.scalar(at)}, Value(), 1);
}

Num UnitAttention::loadRows(Rows rows, const Index &at) {
  return number(builder.create<LoadRowsOp>(lowering.loc(), registerType, rows.buffer,
                                           space.scalar(at), Value(), rows.stride));
}

void UnitAttention::storeRows(Num value, Rows rows, const Index &at, Value mask) {
  builder.create<StoreRowsOp>(lowering.loc(), value, rows.buffer, space.scalar(at), mask,
                              rows.stride);
}

void UnitAttention::plan() {
  int64_t best = 1;
  for (int64_t size = 1; size <= std::min(kRows, view.run); ++size)
    if (view.run % size == 0 && (size % kTileRows == 0 || best % kTileRows != 0))
      best = size;
  if (best < kFewestRows && view.run <= kMostRows)
    best = view.run;
  blocks.rows = best;
  blocks.rowBlocks = view.run / best;
  groups = llvm::divideCeil(best, kTileRows);
  blocks.keys = evenBlock(view.keys, kKeys, kTileColumns);
  blocks.keyBlocks = llvm::divideCeil(view.keys, blocks.keys);
}

/// Rows of a group that exist: the last one may have fewer than 8.
int64_t UnitAttention::rowsOf(const Index &group, int64_t ahead) const {
  return group.isConstant()
             ? std::min(kTileRows, blocks.rows - kTileRows * (group.constant + ahead))
             : kTileRows;
}

/// Loops over the groups, `atOnce` in each step; the last ones, if they are
/// fewer or not whole, on their own.
LogicalResult UnitAttention::forGroups(int64_t atOnce, Groups body) {
  int64_t whole = blocks.rows / kTileRows / atOnce;
  if (whole && failed(forRange(emitter, index(0), index(whole), whole, [&](const Index &i) {
        return body(space.scale(i, atOnce), atOnce);
      })))
    return failure();
  int64_t done = whole * atOnce;
  return done < groups ? body(Index(done), groups - done) : success();
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Declares what a task uses of an operand: `rows` rows, of which the task's
/// block says which ones if they move with it.
Rows UnitAttention::window(const AttentionBox &box, int64_t rows, int64_t limit, int64_t columns,
                           bool moves) {
  SmallVector<int64_t> radices(boxes.radices), sizes, strides, limits, digits, steps;
  radices.push_back(blocks.rowBlocks);
  auto add = [&](int64_t size, int64_t stride, int64_t most, int64_t digit, int64_t step) {
    sizes.push_back(size), strides.push_back(stride), limits.push_back(most);
    digits.push_back(digit), steps.push_back(step);
  };
  for (auto [digit, stride] : llvm::enumerate(box.outer))
    if (stride)
      add(1, stride, radices[digit], digit, 1);
  add(rows, box.rowStride, limit, moves ? int64_t(radices.size()) - 1 : -1, moves ? rows : 0);
  add(columns, 1, columns, -1, 0);
  Type element = cast<MemRefType>(box.buffer.getType()).getElementType();
  Value view = builder.create<WindowOp>(lowering.loc(), MemRefType::get({rows * columns}, element),
                                        box.buffer, box.base, radices, sizes, strides, limits,
                                        digits, steps);
  return {view, columns};
}

LogicalResult
UnitAttention::pack(Rows to, int64_t rows, int64_t columns,
                    llvm::function_ref<FailureOr<Element>(const Index &, const Index &)> element) {
  auto group = [&](const Index &row, int64_t present) {
    for (int64_t column = 0; column < columns; column += kTileColumns) {
      int64_t across = std::min(kTileColumns, columns - column);
      Value on = mask(across, present);
      ElementEmitter::Tile tile(emitter, ElementEmitter::Tile::Rows{present, across}, on);
      Index lane(column), sublane = row;
      lane.lane = 1, sublane.sublane = 1;
      FailureOr<Element> value = element(sublane, lane);
      if (failed(value))
        return failure();
      storeRows(value->re, to, space.add(space.scale(row, to.stride), column));
    }
    return success();
  };
  int64_t whole = rows / kTileRows;
  if (whole && failed(forRange(emitter, index(0), index(whole), whole, [&](const Index &i) {
        return group(space.scale(i, kTileRows), kTileRows);
      })))
    return failure();
  return rows % kTileRows ? group(Index(whole * kTileRows), rows % kTileRows) : success();
}

LogicalResult UnitAttention::bringOperands() {
  auto packed = [&](int64_t rows, int64_t columns) {
    int64_t stride = llvm::alignTo(columns, kTileColumns);
    return Rows{scratch(llvm::alignTo(rows, kTileRows) * stride), stride};
  };
  if (boxes.queries) {
    queries = window(*boxes.queries, blocks.rows, view.run, view.depth,
                     /*moves=*/true);
  } else {
    queries = packed(blocks.rows, view.depth);
    auto element = [&](const Index &row, const Index &k) {
      return emitter.emit(view.queries(), view.query(task.batch, space.add(task.row, row), k));
    };
    if (failed(pack(queries, blocks.rows, view.depth, element)))
      return failure();
  }
  if (boxes.keys) {
    keys = window(*boxes.keys, view.keys, view.keys, view.depth, /*moves=*/false);
  } else {
    keys = packed(view.keys, view.depth);
    auto element = [&](const Index &key, const Index &k) {
      return emitter.emit(view.keysTensor(), view.key(task.batch, task.row, key, k));
    };
    if (failed(pack(keys, view.keys, view.depth, element)))
      return failure();
  }
  if (boxes.values) {
    values = window(*boxes.values, view.keys, view.keys, view.width,
                    /*moves=*/false);
    return success();
  }
  values = packed(view.keys, view.width);
  return pack(values, view.keys, view.width, [&](const Index &key, const Index &column) {
    return emitter.emit(view.values(), view.value(task.batch, key, column));
  });
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// The mask as one comparison of lanes with a number: lane (r, c) of a register
/// sees its key if c - r <= row + offset - key. Where none of a block is hidden
/// the scores are what is selected.
void UnitAttention::bindMask(const Index &row, const Index &key, bool hides) {
  if (!firstMaskRow)
    return;
  if (!hides) {
    auto select = view.causal->select.getDefiningOp<hlo::SelectOp>();
    if (view.causal->isAlone)
      return emitter.bind(view.causal->select, [this, select](const Position &at) mutable {
        return emitter.emit(select.getOnTrue(), at);
      });
  }
  emitter.bind(view.causal->compare, [this, row, key](const Position &) -> FailureOr<Element> {
    SmallVector<int32_t> ahead;
    for (int64_t lane = 0; lane < kTileLanes; ++lane)
      ahead.push_back(lane % kTileColumns - lane / kTileColumns);
    auto type = VectorType::get({kTileLanes}, builder.getI32Type());
    Value distance = builder.create<arith::ConstantOp>(
        lowering.loc(), DenseElementsAttr::get(type, ArrayRef(ahead)));
    Index limit = space.subtract(space.add(*firstMaskRow, row), key);
    limit.constant += view.causal->offset;
    Value scalar = builder.create<arith::IndexCastOp>(lowering.loc(), builder.getI32Type(),
                                                      space.scalar(limit));
    Value most = builder.create<vector::BroadcastOp>(lowering.loc(), type, scalar);
    Value on =
        builder.create<arith::CmpIOp>(lowering.loc(), arith::CmpIPredicate::sle, distance, most);
    return Element{number(on), {}};
  });
}

/// The scores of a register: `row` counts within the block, `key` is the
/// block's first, `column` the register's first of its `count`.
FailureOr<Num> UnitAttention::score(const Index &row, int64_t rows, const Index &key,
                                    int64_t column, int64_t count, bool hides) {
  int64_t present = std::min(kTileColumns, count - column);
  Value on = mask(present, rows);
  ElementEmitter::Tile tile(emitter, ElementEmitter::Tile::Rows{rows, present}, on);
  hlo::DotGeneralOp products = view.attention.products;
  emitter.bind(products, [&](const Position &) -> FailureOr<Element> {
    return Element{loadRows(scores, space.add(space.scale(row, scores.stride), column)), {}};
  });
  Index lane = space.add(key, column), sublane = space.add(task.row, row);
  bindMask(row, lane, hides);
  lane.lane = 1, sublane.sublane = 1;
  // What is computed of products in narrow floats keeps the places of f32.
  bool wide = std::exchange(emitter.context().wide, true);
  FailureOr<Element> value =
      emitter.emit(view.attention.scores, view.scores(task.batch, sublane, lane));
  emitter.context().wide = wide;
  emitter.unbind(products);
  if (firstMaskRow) {
    emitter.unbind(view.causal->compare);
    emitter.unbind(view.causal->select);
  }
  if (failed(value))
    return failure();
  Value columns = mask(present);
  return columns ? select(number(columns), value->re, -kInfinity) : value->re;
}

LogicalResult UnitAttention::emitMaxima(const Index &key, int64_t count, bool hides) {
  int64_t registers = llvm::divideCeil(count, kTileColumns);
  return forGroups(
      std::max<int64_t>(1, kForMaxima / registers), [&](const Index &first, int64_t atOnce) {
        SmallVector<Num> top;
        for (int64_t g = 0; g < atOnce; ++g) {
          Index row = space.scale(space.add(first, g), kTileRows);
          for (int64_t column = 0; column < count; column += kTileColumns) {
            FailureOr<Num> value = score(row, rowsOf(first, g), key, column, count, hides);
            if (failed(value))
              return failure();
            column ? (void)(top.back() = maximum(top.back(), *value)) : top.push_back(*value);
          }
        }
        // Breadth first: a rotation of one group waits while those of others
        // run.
        for (int64_t distance = kTileColumns / 2; distance; distance /= 2) {
          SmallVector<Num> rotated;
          for (Num value : top)
            rotated.push_back(rotateWithinRows(value, distance));
          for (auto [value, other] : llvm::zip_equal(top, rotated))
            value = maximum(value, other);
        }
        for (int64_t g = 0; g < atOnce; ++g) {
          Index at = space.scale(space.add(first, g), kTileLanes);
          if (blocks.keyBlocks == 1) {
            store(top[g], maxima, at);
            continue;
          }
          Num before = load(maxima, at), now = maximum(before, top[g]);
          store(now, maxima, at);
          // Rows without any visible key have no largest one: their weights are
          // 0 so far.
          Num finite = select(eq(now, -kInfinity), 0.0, now);
          store(expOfNegative(before - finite), factors, at);
        }
        return success();
      });
}

LogicalResult UnitAttention::emitWeights(const Index &key, int64_t count, bool hides) {
  int64_t registers = llvm::divideCeil(count, kTileColumns);
  bool single = blocks.keyBlocks == 1;
  return forGroups(
      std::max<int64_t>(1, kForWeights / registers), [&](const Index &first, int64_t atOnce) {
        for (int64_t g = 0; g < atOnce; ++g) {
          Index row = space.scale(space.add(first, g), kTileRows);
          Index at = space.scale(space.add(first, g), kTileLanes);
          Num top = load(maxima, at), sum;
          if (!single)
            top = select(eq(top, -kInfinity), 0.0, top);
          for (int64_t column = 0; column < count; column += kTileColumns) {
            FailureOr<Num> value = score(row, rowsOf(first, g), key, column, count, hides);
            if (failed(value))
              return failure();
            Num weight = expOfNegative(*value - top);
            storeRows(weight, scores, space.add(space.scale(row, scores.stride), column));
            sum = column ? sum + weight : weight;
          }
          if (single) {
            store(sum, sums, at);
            continue;
          }
          Num factor = load(factors, at);
          store(load(sums, at) * factor + sum, sums, at);
          for (int64_t column = 0; column < view.width; column += kTileColumns) {
            Index place = space.add(space.scale(row, out.stride), column);
            storeRows(loadRows(out, place) * factor, out, place);
          }
        }
        return success();
      });
}

LogicalResult UnitAttention::emitSoftmax(const Index &key, int64_t count, bool hides) {
  if (failed(emitMaxima(key, count, hides)))
    return failure();
  return emitWeights(key, count, hides);
}

LogicalResult UnitAttention::emitKeys(const Index &key, int64_t count) {
  Location loc = lowering.loc();
  builder.create<TileDotOp>(loc, queries.buffer, index(0), keys.buffer,
                            space.scalar(space.scale(key, keys.stride)), scores.buffer, index(0),
                            index(view.depth), blocks.rows, count, queries.stride, 1, 1,
                            scores.stride, /*accumulate=*/false, /*depth_pack=*/1,
                            /*unit_rows=*/0, /*a_excess=*/0, /*a_unsigned=*/false,
                            /*b_unsigned=*/false, /*b_column_stride=*/keys.stride);
  if (firstMaskRow && view.causal->isAlone) {
    // Only blocks that the diagonal crosses are masked.
    Index seen = space.subtract(*firstMaskRow, key);
    seen.constant += view.causal->offset - (count - 1);
    Value hides =
        builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, space.scalar(seen), index(0));
    auto branch = builder.create<scf::IfOp>(loc, hides, /*withElseRegion=*/true);
    for (bool crossed : {true, false}) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(crossed ? branch.thenBlock() : branch.elseBlock());
      ElementEmitter::Level level(emitter, branch);
      if (failed(emitSoftmax(key, count, crossed)))
        return failure();
    }
  } else if (failed(emitSoftmax(key, count, /*hides=*/true))) {
    return failure();
  }
  builder.create<TileDotOp>(loc, scores.buffer, index(0), values.buffer,
                            space.scalar(space.scale(key, values.stride)), out.buffer, index(0),
                            index(count), blocks.rows, view.width, scores.stride, 1, values.stride,
                            out.stride, /*accumulate=*/blocks.keyBlocks > 1);
  return success();
}

//===----------------------------------------------------------------------===//
// A task
//===----------------------------------------------------------------------===//

LogicalResult UnitAttention::emitResult(const Index &first, int64_t count) {
  hlo::DotGeneralOp mix = view.attention.mix;
  Value output = lowering.fusion.getYield().getValues()[0];
  Type sumType = typeOf(mix).getElementType(), element = typeOf(output).getElementType();
  std::unique_ptr<MatrixProblem> problem = matrixOf(mix);
  if (!view.attention.weightsAreLeft)
    problem = swapped(std::move(problem));
  SmallVector<Num> totals;
  for (int64_t g = 0; g < count; ++g)
    totals.push_back(load(sums, space.scale(space.add(first, g), kTileLanes)));
  for (int64_t distance = kTileColumns / 2; distance; distance /= 2) {
    SmallVector<Num> rotated;
    for (Num value : totals)
      rotated.push_back(rotateWithinRows(value, distance));
    for (auto [value, other] : llvm::zip_equal(totals, rotated))
      value = value + other;
  }
  for (Num &total : totals)
    total = 1.0 / total;
  for (int64_t g = 0; g < count; ++g) {
    Index row = space.scale(space.add(first, g), kTileRows);
    int64_t rows = rowsOf(first, g);
    for (int64_t column = 0; column < view.width; column += kTileColumns) {
      int64_t across = std::min(kTileColumns, view.width - column);
      Value on = mask(across, rows);
      ElementEmitter::Tile tile(emitter, ElementEmitter::Tile::Rows{rows, across}, on);
      Num mixed = loadRows(out, space.add(space.scale(row, out.stride), column)) * totals[g];
      mixed = finishedSum(mixed, sumType);
      if (result) {
        if (element != sumType)
          mixed = finishedSum(mixed, element);
        storeRows(toMemory(mixed, element), *result,
                  space.add(space.scale(row, result->stride), column), on);
        continue;
      }
      emitter.bind(view.attention.result,
                   [&](const Position &) -> FailureOr<Element> { return Element{mixed, {}}; });
      Index lane(column), sublane = space.add(task.row, row);
      lane.lane = 1, sublane.sublane = 1;
      LogicalResult done =
          emitProductOutputs(lowering, emitter, *problem, task.batch, sublane, lane);
      emitter.unbind(view.attention.result);
      if (failed(done))
        return failure();
    }
  }
  return success();
}

LogicalResult UnitAttention::run() {
  plan();
  FuncOp kernel = lowering.kernel;
  kernel.setTasks(view.batch * (view.rows / view.run) * blocks.rowBlocks);
  int64_t flops = 2 * blocks.rows * view.keys * (view.depth + view.width);
  kernel.setTaskCostNs(flops / 50);
  boxes = findAttentionBoxes(view, emitter);
  task = splitAttentionTask(lowering, emitter, view, blocks);
  firstMaskRow = maskRow(lowering, emitter, view, task, blocks.rows);
  Value visible = visibleKeys(lowering, emitter, view, task, blocks.rows);
  int64_t padded = groups * kTileRows, stride = llvm::alignTo(view.width, kTileColumns);
  scores = {scratch(padded * blocks.keys), blocks.keys};
  out = {scratch(padded * stride), stride};
  maxima = scratch(groups * kTileLanes);
  sums = scratch(groups * kTileLanes);
  factors = scratch(groups * kTileLanes);
  if (boxes.result)
    result = window(*boxes.result, blocks.rows, view.run, view.width,
                    /*moves=*/true);
  if (failed(bringOperands()))
    return failure();
  kernel.setScratchBytes(scratchBytes);

  if (blocks.keyBlocks > 1) {
    LogicalResult done = forGroups(1, [&](const Index &group, int64_t) {
      Index at = space.scale(group, kTileLanes);
      store(splat(-kInfinity), maxima, at);
      store(splat(0), sums, at);
      for (int64_t column = 0; column < view.width; column += kTileColumns)
        storeRows(splat(0), out, space.add(space.scale(group, kTileRows * out.stride), column));
      return success();
    });
    if (failed(done))
      return failure();
  }
  auto keys = [&](const Index &first, int64_t count) { return emitKeys(first, count); };
  if (failed(forKeyBlocks(lowering, emitter, view.keys, blocks.keys, visible, keys)))
    return failure();
  return forGroups(kForResults,
                   [&](const Index &first, int64_t count) { return emitResult(first, count); });
}

LogicalResult kernel::lowerUnitAttention(FusionLowering &lowering, AttentionView &view,
                                         ElementEmitter &emitter) {
  return UnitAttention(lowering, view, emitter).run();
}
