//===- LowerAttention.cpp - softmax(q k^T) v in one pass over the keys -----===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A task is a block of rows (queries) of one batch. Per task:
//
//   pack the queries
//   for each block of keys that the rows may see:
//     pack its keys and values
//     S = q k^T                            by tile_dot, into scratch
//     for each row: m' = max(m, max S)     and S = exp(S - m')
//                   l = l exp(m - m') + sum S,  O = O exp(m - m')
//     O += S v                             by tile_dot
//   result = O / l
//
// The running maximum and sum are those of Milakov and Gimelshein, Online
// normalizer calculation for softmax, 2018; with the products, Dao et al.,
// FlashAttention, 2022. Where the keys are one block, nothing is rescaled. Blocks
// of keys follow from the shape alone, so the order of sums does, too. A block of
// keys that a causal mask hides from all rows is not read.
//
//===----------------------------------------------------------------------===//
#include "kernel/Attention.h"

#include "kernel/Math.h"
#include "kernel/Product.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

namespace {

/// Rows of a task, and keys of a block: S and the packed keys and values stay in the
/// L2 cache together.
constexpr int64_t kRows = 128, kKeys = 256;

class AttentionLowering {
public:
  AttentionLowering(FusionLowering &lowering, AttentionView &view, ElementEmitter &emitter)
      : lowering(lowering), view(view), emitter(emitter), space(emitter.space()),
        builder(lowering.builder), f32(builder.getF32Type()) {}
  LogicalResult run();

private:
  void plan();
  Value scratch(int64_t elements);
  Value index(int64_t i) { return lowering.constant(i); }
  Num number(Value value) { return {emitter.context(), value}; }
  VectorType vector(int64_t count) { return VectorType::get({count}, f32); }
  Num load(Value buffer, const Index &at, int64_t count, int64_t stride = 1);
  void store(Num value, Value buffer, const Index &at);
  Num spread(Num scalar, int64_t count);
  Num splat(double value, int64_t count);
  Num acrossLanes(Num value, llvm::function_ref<Num(Num, Num)> combine);

  LogicalResult emitBlock(int64_t rows);
  LogicalResult packQueries(int64_t rows);
  LogicalResult packKeys(const Index &key, int64_t keys);
  LogicalResult packValues(const Index &key, int64_t keys);
  LogicalResult emitKeys(const Index &key, int64_t keys, int64_t rows);
  LogicalResult emitSoftmax(const Index &key, int64_t keys, const Index &row);
  void multiply(Value a, int64_t aStride, Value b, Value c, int64_t cStride, int64_t rows,
                int64_t depth, int64_t columns, bool accumulate);
  LogicalResult emitResult(const Index &row);
  LogicalResult forStrips(int64_t rows, llvm::function_ref<LogicalResult(const Index &, int64_t)>);

  FusionLowering &lowering;
  AttentionView &view;
  ElementEmitter &emitter;
  IndexSpace &space;
  OpBuilder &builder;
  Type f32;

  AttentionBlocks blocks;
  AttentionTask task;
  int64_t lanes = 1, panel = 1, strip = 1; ///< a register, columns and rows of a tile
  int64_t queryStride = 0, scoreStride = 0, outStride = 0;
  Value queries, keys, values, scores, out, maxima, sums;
  int64_t scratchBytes = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Small things
//===----------------------------------------------------------------------===//

Value AttentionLowering::scratch(int64_t elements) {
  int64_t offset = scratchBytes;
  scratchBytes += llvm::alignTo(elements * 4, 64) + 64;
  return builder.create<ScratchOp>(lowering.loc(), MemRefType::get({elements}, f32), offset);
}

Num AttentionLowering::load(Value buffer, const Index &at, int64_t count, int64_t stride) {
  Type type = count > 1 ? Type(vector(count)) : f32;
  return number(builder.create<LoadOp>(lowering.loc(), type, buffer, ValueRange{space.scalar(at)},
                                       Value(), stride));
}

void AttentionLowering::store(Num value, Value buffer, const Index &at) {
  builder.create<StoreOp>(lowering.loc(), value, buffer, ValueRange{space.scalar(at)}, Value(), 1);
}

Num AttentionLowering::spread(Num scalar, int64_t count) {
  if (count == 1)
    return scalar;
  return number(builder.create<vector::BroadcastOp>(lowering.loc(), vector(count), scalar));
}

Num AttentionLowering::splat(double value, int64_t count) {
  Attribute one = builder.getF32FloatAttr(float(value));
  if (count == 1)
    return number(builder.create<arith::ConstantOp>(lowering.loc(), cast<TypedAttr>(one)));
  return number(builder.create<arith::ConstantOp>(lowering.loc(),
                                                  DenseElementsAttr::get(vector(count), one)));
}

/// Halves are combined with halves.
Num AttentionLowering::acrossLanes(Num value, llvm::function_ref<Num(Num, Num)> combine) {
  auto type = dyn_cast<VectorType>(value.type());
  if (!type)
    return value;
  for (int64_t half = type.getNumElements() / 2; half; half /= 2) {
    auto part = [&](int64_t begin) {
      SmallVector<int64_t> order;
      for (int64_t i = 0; i < half; ++i)
        order.push_back(begin + i);
      return number(
          builder.create<vector::ShuffleOp>(lowering.loc(), Value(value), Value(value), order));
    };
    value = combine(part(0), part(half));
  }
  return number(
      builder.create<vector::ExtractOp>(lowering.loc(), Value(value), ArrayRef<int64_t>{0}));
}

void AttentionLowering::plan() {
  const machine::Machine &machine = lowering.machine;
  lanes = machine.lanes(32);
  int64_t registers = 2, most = (machine.numVectorRegisters - registers - 1) / registers;
  panel = registers * lanes;
  if (view.run == view.rows) {
    blocks.rows = evenBlock(view.run, kRows, 1);
  } else {
    // Blocks end with the run, which may have any number of rows.
    blocks.rows = 1;
    for (int64_t size = 1; size <= std::min(kRows, view.run); ++size)
      if (view.run % size == 0)
        blocks.rows = size;
  }
  blocks.rowBlocks = llvm::divideCeil(view.run, blocks.rows);
  blocks.keys =
      std::min(evenBlock(view.keys, kKeys, panel), int64_t(llvm::alignTo(view.keys, panel)));
  blocks.keyBlocks = llvm::divideCeil(view.keys, blocks.keys);
  strip = llvm::divideCeil(blocks.rows, llvm::divideCeil(blocks.rows, most));
  // A cache line more than a power of two, so that rows do not meet in one set.
  queryStride = view.depth + 16;
  scoreStride = blocks.keys + 16;
  outStride = llvm::alignTo(view.width, panel) + 16;
}

LogicalResult
AttentionLowering::forStrips(int64_t rows,
                             llvm::function_ref<LogicalResult(const Index &, int64_t)> body) {
  int64_t whole = rows / strip;
  if (whole && failed(forRange(emitter, index(0), index(whole), whole,
                               [&](const Index &i) { return body(space.scale(i, strip), strip); })))
    return failure();
  return rows % strip ? body(Index(whole * strip), rows % strip) : success();
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

LogicalResult AttentionLowering::packQueries(int64_t rows) {
  return forRange(emitter, index(0), index(rows), rows, [&](const Index &i) {
    return forLanes(emitter, index(0), index(view.depth), view.depth, lanes, [&](const Index &k) {
      FailureOr<Element> element =
          emitter.emit(view.queries(), view.query(task.batch, space.add(task.row, i), k));
      if (failed(element))
        return failure();
      Index at = space.add(space.scale(i, queryStride), k);
      at.lane = 0;
      // Whole registers: a row has room for them, and the next one is written later.
      store(element->re, queries, at);
      return success();
    });
  });
}

/// As panels [panel][depth][lanes of a panel]; keys beyond the last are zeros. Keys
/// lie along the depth: squares of registers are transposed.
LogicalResult AttentionLowering::packKeys(const Index &key, int64_t count) {
  int64_t squares = view.depth / lanes * lanes;
  auto element = [&](const Index &lane, const Index &k) {
    return emitter.emit(view.keysTensor(), view.key(task.batch, task.row, lane, k));
  };
  for (int64_t column = 0; column < count; column += lanes) {
    int64_t present = std::min(lanes, count - column);
    Value mask = makeMask(builder, lowering.loc(), present, lanes);
    Index lane = space.add(key, column);
    lane.lane = lanes > 1 ? 1 : 0;
    int64_t origin = column / panel * panel * view.depth + column % panel;
    auto place = [&](const Index &k) { return space.add(space.scale(k, panel), origin); };
    if (squares) {
      auto loop =
          builder.create<scf::ForOp>(lowering.loc(), index(0), index(squares), index(lanes));
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      ElementEmitter::Level level(emitter, loop);
      Index k = space.variable(loop.getInductionVar(), 0, squares - lanes, lanes);
      ElementEmitter::Tile tile(emitter, lanes, mask, present);
      for (int64_t i = 0; i < lanes; ++i) {
        if (!k.isConstant())
          emitter.rowBlock = {loop.getInductionVar(), lanes, i};
        FailureOr<Element> loaded = element(lane, space.add(k, i));
        emitter.rowBlock = {};
        if (failed(loaded))
          return failure();
        store(loaded->re, keys, place(space.add(k, i)));
      }
    }
    for (int64_t k = squares; k < view.depth; ++k) {
      ElementEmitter::Tile tile(emitter, lanes, mask, present);
      FailureOr<Element> loaded = element(lane, Index(k));
      if (failed(loaded))
        return failure();
      store(loaded->re, keys, place(Index(k)));
    }
  }
  return success();
}

/// As panels [panel][key][lanes of a panel].
LogicalResult AttentionLowering::packValues(const Index &key, int64_t count) {
  return forRange(emitter, index(0), index(count), count, [&](const Index &k) {
    for (int64_t column = 0; column < view.width; column += lanes) {
      int64_t present = std::min(lanes, view.width - column);
      Value mask = makeMask(builder, lowering.loc(), present, lanes);
      ElementEmitter::Tile tile(emitter, lanes, mask, present);
      Index lane(column);
      lane.lane = lanes > 1 ? 1 : 0;
      FailureOr<Element> loaded =
          emitter.emit(view.values(), view.value(task.batch, space.add(key, k), lane));
      if (failed(loaded))
        return failure();
      store(
          loaded->re, values,
          space.add(space.scale(k, panel), column / panel * panel * blocks.keys + column % panel));
    }
    return success();
  });
}

//===----------------------------------------------------------------------===//
// A block of keys
//===----------------------------------------------------------------------===//

/// c (+)= a b for the rows of a block and all panels of b, [panel][depth][columns].
void AttentionLowering::multiply(Value a, int64_t aStride, Value b, Value c, int64_t cStride,
                                 int64_t rows, int64_t depth, int64_t columns, bool accumulate) {
  int64_t panels = llvm::divideCeil(columns, panel);
  int64_t panelElements = b == values ? blocks.keys * panel : view.depth * panel;
  (void)forStrips(rows, [&](const Index &row, int64_t count) {
    return forRange(emitter, index(0), index(panels), panels, [&](const Index &p) {
      Index at = space.add(space.scale(row, cStride), space.scale(p, panel));
      builder.create<TileDotOp>(lowering.loc(), a, space.scalar(space.scale(row, aStride)), b,
                                space.scalar(space.scale(p, panelElements)), c, space.scalar(at),
                                index(depth), count, panel, aStride, 1, panel, cStride, accumulate);
      return success();
    });
  });
}

/// One row: scores become weights, the row's maximum and sum, and what is already
/// mixed, are brought up to date.
LogicalResult AttentionLowering::emitSoftmax(const Index &key, int64_t count, const Index &row) {
  Index begin = space.scale(row, scoreStride);
  Index globalRow = space.add(task.row, row);
  hlo::DotGeneralOp products = view.attention.products;
  bool single = blocks.keyBlocks == 1;
  auto max = [](Num a, Num b) { return maximum(a, b); };
  auto sum = [](Num a, Num b) { return a + b; };
  Carried none{splat(-kInfinity, panel)};
  FailureOr<Carried> highest =
      forLanesCarrying(emitter, index(0), index(count), count, panel, none,
                       [&](const Index &lane, ValueRange carried) -> FailureOr<Carried> {
                         Index local = lane;
                         local.lane = 0;
                         Index at = space.add(begin, local);
                         emitter.bind(products, [&](const Position &) -> FailureOr<Element> {
                           return Element{load(scores, at, panel), {}};
                         });
                         // What is computed of products in narrow floats keeps the places of f32.
                         bool wide = std::exchange(emitter.context().wide, true);
                         FailureOr<Element> score =
                             emitter.emit(view.attention.scores,
                                          view.scores(task.batch, globalRow, space.add(key, lane)));
                         emitter.context().wide = wide;
                         emitter.unbind(products);
                         if (failed(score))
                           return failure();
                         Num value = score->re;
                         if (Value mask = emitter.currentMask())
                           value = select(number(mask), value, -kInfinity);
                         store(value, scores, at);
                         return Carried{max(number(carried[0]), value)};
                       });
  if (failed(highest))
    return failure();
  Num top = acrossLanes(number((*highest)[0]), max), scale;
  if (!single) {
    Num before = load(maxima, row, 1);
    top = max(before, top);
    store(top, maxima, row);
    // Rows without any visible key have no largest one: their weights are 0 so far.
    top = select(eq(top, -kInfinity), 0.0, top);
    scale = expOfNegative(before - top);
  }
  Num all = spread(top, panel);
  int64_t padded = llvm::alignTo(count, panel);
  FailureOr<Carried> total =
      forLanesCarrying(emitter, index(0), index(padded), padded, panel, Carried{splat(0, panel)},
                       [&](const Index &lane, ValueRange carried) -> FailureOr<Carried> {
                         Index local = lane;
                         local.lane = 0;
                         Index at = space.add(begin, local);
                         Num weight = expOfNegative(load(scores, at, panel) - all);
                         store(weight, scores, at);
                         return Carried{sum(number(carried[0]), weight)};
                       });
  if (failed(total))
    return failure();
  Num added = acrossLanes(number((*total)[0]), sum);
  if (single) {
    store(added, sums, row);
    return success();
  }
  store(fma(load(sums, row, 1), scale, added), sums, row);
  Num factor = spread(scale, panel);
  for (int64_t column = 0; column < view.width; column += panel) {
    Index at = space.add(space.scale(row, outStride), column);
    store(load(out, at, panel) * factor, out, at);
  }
  return success();
}

LogicalResult AttentionLowering::emitKeys(const Index &key, int64_t count, int64_t rows) {
  if (failed(packKeys(key, count)) || failed(packValues(key, count)))
    return failure();
  multiply(queries, queryStride, keys, scores, scoreStride, rows, view.depth, count,
           /*accumulate=*/false);
  if (failed(forRange(emitter, index(0), index(rows), rows,
                      [&](const Index &row) { return emitSoftmax(key, count, row); })))
    return failure();
  multiply(scores, scoreStride, values, out, outStride, rows, count, view.width,
           blocks.keyBlocks > 1);
  return success();
}

//===----------------------------------------------------------------------===//
// A block of rows
//===----------------------------------------------------------------------===//

LogicalResult AttentionLowering::emitResult(const Index &row) {
  hlo::DotGeneralOp mix = view.attention.mix;
  std::unique_ptr<MatrixProblem> problem = matrixOf(mix);
  if (!view.attention.weightsAreLeft)
    problem = swapped(std::move(problem));
  Num total = load(sums, row, 1);
  return forLanes(
      emitter, index(0), index(view.width), view.width, lanes, [&](const Index &column) {
        Index local = column;
        local.lane = 0;
        Index at = space.add(space.scale(row, outStride), local);
        int64_t count = emitter.lanes();
        Num value = load(out, at, count) / spread(total, count);
        emitter.bind(view.attention.result, [&](const Position &) -> FailureOr<Element> {
          return Element{finishedSum(value, typeOf(mix).getElementType()), {}};
        });
        LogicalResult done = emitProductOutputs(lowering, emitter, *problem, task.batch,
                                                space.add(task.row, row), column);
        emitter.unbind(view.attention.result);
        return done;
      });
}

LogicalResult AttentionLowering::emitBlock(int64_t rows) {
  if (failed(packQueries(rows)))
    return failure();
  if (blocks.keyBlocks == 1) {
    if (failed(emitKeys(Index(0), view.keys, rows)))
      return failure();
  } else {
    // Nothing is seen yet.
    if (failed(forRange(emitter, index(0), index(rows), rows, [&](const Index &row) {
          store(splat(-kInfinity, 1), maxima, row);
          store(splat(0, 1), sums, row);
          for (int64_t column = 0; column < view.width; column += panel)
            store(splat(0, panel), out, space.add(space.scale(row, outStride), column));
          return success();
        })))
      return failure();
    Value visible = visibleKeys(lowering, emitter, view, task, rows);
    auto body = [&](const Index &first, int64_t count) { return emitKeys(first, count, rows); };
    if (failed(forKeyBlocks(lowering, emitter, view.keys, blocks.keys, visible, body)))
      return failure();
  }
  return forRange(emitter, index(0), index(rows), rows,
                  [&](const Index &row) { return emitResult(row); });
}

LogicalResult AttentionLowering::run() {
  plan();
  FuncOp kernel = lowering.kernel;
  kernel.setTasks(view.batch * (view.rows / view.run) * blocks.rowBlocks);
  int64_t flops = 2 * blocks.rows * view.keys * (view.depth + view.width);
  kernel.setTaskCostNs(flops / 50 + blocks.rows * view.keys / 4);
  task = splitAttentionTask(lowering, emitter, view, blocks);
  queries = scratch(blocks.rows * queryStride + lanes);
  keys = scratch(llvm::alignTo(blocks.keys, panel) * view.depth);
  values = scratch(llvm::alignTo(view.width, panel) * blocks.keys);
  scores = scratch(blocks.rows * scoreStride);
  out = scratch(blocks.rows * outStride);
  maxima = scratch(blocks.rows);
  sums = scratch(blocks.rows);
  kernel.setScratchBytes(scratchBytes);

  int64_t last = view.run - (blocks.rowBlocks - 1) * blocks.rows;
  if (last == blocks.rows)
    return emitBlock(blocks.rows);
  if (blocks.rowBlocks == 1)
    return emitBlock(last);
  Value isLast = builder.create<arith::CmpIOp>(lowering.loc(), arith::CmpIPredicate::eq, task.block,
                                               index(blocks.rowBlocks - 1));
  auto branch = builder.create<scf::IfOp>(lowering.loc(), isLast, /*withElseRegion=*/true);
  for (bool isShort : {true, false}) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(isShort ? branch.thenBlock() : branch.elseBlock());
    ElementEmitter::Level level(emitter, branch);
    if (failed(emitBlock(isShort ? last : blocks.rows)))
      return failure();
  }
  return success();
}

LogicalResult kernel::lowerAttention(FusionLowering &lowering) {
  ElementEmitter emitter(lowering.builder, lowering.machine, lowering.fusion,
                         lowering.kernel.getBuffers());
  // The last product that ends an attention: the values may be made by others.
  std::optional<graph::Attention> attention;
  for (auto dot : lowering.fusion.getBlock().getOps<hlo::DotGeneralOp>())
    if (std::optional<graph::Attention> found = graph::matchAttention(dot))
      attention = std::move(found);
  if (!attention)
    return lowering.fusion.emitOpError("of kind attention holds none");
  AttentionView view(std::move(*attention), emitter.space());
  if (view.batch * view.rows * view.width * view.keys == 0) {
    lowering.kernel.setTasks(0);
    return success();
  }
  if (lowering.machine.matrixTile)
    return lowerUnitAttention(lowering, view, emitter);
  return AttentionLowering(lowering, view, emitter).run();
}
