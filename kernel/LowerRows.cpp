//===- LowerRows.cpp - work on rows: softmax, layer norm, row sums ---------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A row is what one result of the reductions is made of. Rows are worked on one
// after another, each in several passes while it is in the cache: the reductions
// that depend on nothing reduced, those that depend on them, and so on; last the
// results. What an early pass computes at a price and a later one needs is kept
// in scratch. Results are stored in the last pass only.
//
//===----------------------------------------------------------------------===//
#include "kernel/RowPasses.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

namespace {

constexpr int64_t kBlock = 256;             ///< tiles per block of a long sum
constexpr int64_t kMostScratch = 256 << 10; ///< bytes of kept rows

class RowsLowering {
public:
  RowsLowering(FusionLowering &lowering)
      : lowering(lowering), fusion(lowering.fusion),
        emitter(lowering.builder, lowering.machine, fusion, lowering.kernel.getBuffers()) {}
  LogicalResult run();

private:
  void chooseLoops();
  void chooseKept();
  void chooseGroup();
  bool isElement(Value value) const { return rowPasses.isElement(value); }
  LogicalResult emitRow(const Index &row);
  LogicalResult emitGroup(const Index &first);
  LogicalResult emitRows(Value first, Value last);
  LogicalResult emitReductions(unsigned pass, const Index &row);
  FailureOr<Carried> reduceSegment(Reduction &reduction, ArrayRef<Element> neutral, unsigned pass,
                                   const Index &row, const Index &segment);
  LogicalResult emitRowValues(unsigned pass, const Index &row);
  LogicalResult emitResults(const Index &row);
  LogicalResult storeKept(unsigned pass, const Index &row, const Index &element);
  Position elementPosition(Value value, const Index &row, const Index &element);

  FusionLowering &lowering;
  graph::FusionOp fusion;
  ElementEmitter emitter;
  RowPasses rowPasses;
  SmallVector<hlo::ReduceOp> reduces;
  llvm::DenseMap<Value, unsigned> passOf;
  unsigned passes = 0;
  int64_t rows = 1, extent = 1;
  int64_t segments = 1, inner = 1; ///< a row as segments of contiguous elements
  int64_t lanes = 1, width = 1;
  int64_t group = 1; ///< rows that are reduced at once
  struct Kept {
    Value value;
    unsigned pass;
    Value scratch;
  };
  SmallVector<Kept> kept;
};

/// The innermost loop of a row, and lanes for it.
void RowsLowering::chooseLoops() {
  inner = contiguousExtent(fusion, rowPasses);
  width = chooseLanes(fusion, lowering.machine);
  if (2 * inner <= width)
    inner = extent;
  segments = extent / inner;
  // Several registers side by side hide latencies, where that wastes no lanes.
  int64_t best = INT64_MAX;
  for (int64_t factor : {4, 2, 1}) {
    int64_t padded = llvm::alignTo(inner, width * factor);
    if (padded < best)
      best = padded, lanes = width * factor;
  }
  lanes =
      std::min<int64_t>({lanes, mostLanes(lowering.machine), int64_t(llvm::PowerOf2Ceil(inner))});
  if (!llvm::all_of(reduces, isOrderFree)) // one element after another
    lanes = width = 1;
}

void RowsLowering::chooseKept() {
  auto bytesOf = [&](Type type) {
    return int64_t(llvm::alignTo(extent * llvm::divideCeil(type.getIntOrFloatBitWidth(), 8), 64));
  };
  int64_t bytes = 0;
  for (const RowPasses::Kept &each : rowPasses.chooseKept(fusion, bytesOf, kMostScratch)) {
    auto memref = MemRefType::get({extent}, each.element);
    Value scratch = lowering.builder.create<ScratchOp>(lowering.loc(), memref, each.offset);
    kept.push_back({each.value, each.pass, scratch});
    bytes = each.offset + bytesOf(each.element);
  }
  lowering.kernel.setScratchBytes(bytes);
}

/// Several rows at once where they are read once and little is done with them:
/// memory gives several streams faster than one. Each row has one register of
/// accumulators then, alone or in a group: the same order.
void RowsLowering::chooseGroup() {
  constexpr int64_t kMostOperations = 8, kAccumulators = 8;
  OperandRange roots = fusion.getYield().getValues();
  int64_t accumulators = 0;
  for (hlo::ReduceOp op : reduces)
    accumulators += op.getInputs().size();
  if (passes != 1 || segments != 1 || accumulators > 2 || !kept.empty() || width == 1 ||
      lanes < width || inner < 4 * width || inner > 2 * kBlock * width ||
      rows < 4 * kAccumulators || int64_t(llvm::range_size(fusion.getBlock())) > kMostOperations ||
      llvm::any_of(roots, [&](Value root) { return isElement(root); }))
    return;
  group = kAccumulators / accumulators;
  lanes = width;
}

Position RowsLowering::elementPosition(Value value, const Index &row, const Index &element) {
  IndexSpace &space = emitter.space();
  Index linear = space.add(space.scale(row, extent), element);
  return space.delinearize(linear, typeOf(value).getShape());
}

LogicalResult RowsLowering::storeKept(unsigned pass, const Index &row, const Index &element) {
  for (Kept &each : kept) {
    if (each.pass != pass)
      continue;
    FailureOr<Element> value = emitter.emit(each.value, elementPosition(each.value, row, element));
    if (failed(value))
      return failure();
    auto type =
        RankedTensorType::get({extent}, cast<MemRefType>(each.scratch.getType()).getElementType());
    if (failed(emitter.store(*value, type, each.scratch, {element})))
      return failure();
  }
  return success();
}

/// Reduces `inner` contiguous elements of a row, to one accumulator per lane.
FailureOr<Carried> RowsLowering::reduceSegment(Reduction &reduction, ArrayRef<Element> neutral,
                                               unsigned pass, const Index &row,
                                               const Index &segment) {
  IndexSpace &space = emitter.space();
  Carried init = Reduction::flatten(neutral);
  auto step = [&](const Index &lane, ValueRange carried) -> FailureOr<Carried> {
    Index element = space.add(space.scale(segment, inner), lane);
    FailureOr<Elements> next = reduction.accumulate(
        reduction.unflatten(carried, neutral), emitter.currentMask(),
        [&](hlo::ReduceOp op) { return reducedPosition(space, op, row, element); });
    if (failed(next) || failed(storeKept(pass, row, element)))
      return failure();
    return Reduction::flatten(*next);
  };
  int64_t blockSize = kBlock * lanes;
  if (inner <= 2 * blockSize)
    return forLanesCarrying(emitter, lowering.constant(0), lowering.constant(inner), inner, lanes,
                            init, step);
  int64_t blocks = llvm::divideCeil(inner, blockSize);
  return forRangeCarrying(
      emitter, lowering.constant(0), lowering.constant(blocks), blocks, init,
      [&](const Index &block, ValueRange outer) -> FailureOr<Carried> {
        Value lower = space.scalar(space.scale(block, blockSize));
        Value upper = lowering.minimum(lowering.add(lower, lowering.constant(blockSize)), inner);
        FailureOr<Carried> part = forLanesCarrying(emitter, lower, upper, inner, lanes, init, step);
        if (failed(part))
          return failure();
        FailureOr<Elements> sum = reduction.combine(reduction.unflatten(outer, neutral),
                                                    reduction.unflatten(*part, neutral));
        if (failed(sum))
          return failure();
        return Reduction::flatten(*sum);
      });
}

LogicalResult RowsLowering::emitReductions(unsigned pass, const Index &row) {
  SmallVector<hlo::ReduceOp> here = rowPasses.reducesOf(pass);
  if (here.empty())
    return success();
  Reduction reduction(emitter, here);
  FailureOr<Elements> neutral = failure(), sums = failure();
  {
    ElementEmitter::Tile tile(emitter, lanes);
    neutral = reduction.initial();
    if (failed(neutral))
      return failure();
    FailureOr<Carried> total = forRangeCarrying(
        emitter, lowering.constant(0), lowering.constant(segments), segments,
        Reduction::flatten(*neutral),
        [&](const Index &segment, ValueRange outer) -> FailureOr<Carried> {
          FailureOr<Carried> part = reduceSegment(reduction, *neutral, pass, row, segment);
          if (failed(part) || segments == 1)
            return part;
          FailureOr<Elements> sum = reduction.combine(reduction.unflatten(outer, *neutral),
                                                      reduction.unflatten(*part, *neutral));
          if (failed(sum))
            return failure();
          return Reduction::flatten(*sum);
        });
    if (failed(total))
      return failure();
    sums = reduction.acrossLanes(reduction.unflatten(*total, *neutral));
    if (failed(sums))
      return failure();
  }
  reduction.finish(*sums);
  for (auto [i, sum] : llvm::enumerate(*sums)) {
    Element element = sum;
    emitter.bind(reduction.resultOf(i),
                 [this, element](const Position &) { return emitter.spread(element); });
  }
  for (Kept &each : kept) {
    if (each.pass != pass)
      continue;
    Kept copy = each;
    emitter.bind(each.value, [this, copy, row](const Position &position) -> FailureOr<Element> {
      IndexSpace &space = emitter.space();
      Index linear = space.linearize(position, typeOf(copy.value).getShape());
      Index element = space.subtract(linear, space.scale(row, extent));
      auto type = RankedTensorType::get({extent},
                                        cast<MemRefType>(copy.scratch.getType()).getElementType());
      return emitter.load(type, copy.scratch, {element});
    });
  }
  return success();
}

/// What is the same for the whole row is computed before the loop along it.
LogicalResult RowsLowering::emitRowValues(unsigned pass, const Index &row) {
  for (Operation &op : fusion.getBlock()) {
    if (op.getNumResults() != 1 || isa<hlo::ReduceOp>(op))
      continue;
    Value value = op.getResult(0);
    bool isRow = typeOf(value).getNumElements() == rows && extent > 1;
    bool spread = llvm::any_of(value.getUsers(),
                               [](Operation *user) { return isa<hlo::BroadcastInDimOp>(user); });
    if (!isRow || !spread || passOf.lookup(value) != pass || pass == 0)
      continue;
    Position position = emitter.space().delinearize(row, typeOf(value).getShape());
    if (failed(emitter.emit(value, position)))
      return failure();
  }
  return success();
}

LogicalResult RowsLowering::emitResults(const Index &row) {
  IndexSpace &space = emitter.space();
  OperandRange roots = fusion.getYield().getValues();
  bool anyElement = llvm::any_of(roots, [&](Value root) { return isElement(root); });
  // Loads stand before stores: a result may take the place of an input.
  std::vector<std::pair<Element, unsigned>> ofRow;
  for (auto [i, root] : llvm::enumerate(roots)) {
    if (isElement(root))
      continue;
    FailureOr<Element> value = emitter.emit(root, space.delinearize(row, typeOf(root).getShape()));
    if (failed(value))
      return failure();
    ofRow.push_back({*value, i});
  }
  for (auto &[value, i] : ofRow)
    if (failed(emitter.store(value, typeOf(roots[i]), emitter.outputBuffer(i),
                             space.delinearize(row, typeOf(roots[i]).getShape()))))
      return failure();
  if (!anyElement)
    return success();
  return forRange(
      emitter, lowering.constant(0), lowering.constant(segments), segments,
      [&](const Index &segment) {
        return forLanes(
            emitter, lowering.constant(0), lowering.constant(inner), inner, lanes,
            [&](const Index &lane) -> LogicalResult {
              Index element = space.add(space.scale(segment, inner), lane);
              std::vector<std::pair<Element, unsigned>> results;
              for (auto [i, root] : llvm::enumerate(roots)) {
                if (!isElement(root))
                  continue;
                FailureOr<Element> value = emitter.emit(root, elementPosition(root, row, element));
                if (failed(value))
                  return failure();
                results.push_back({*value, i});
              }
              for (auto &[value, i] : results)
                if (failed(emitter.store(value, typeOf(roots[i]), emitter.outputBuffer(i),
                                         elementPosition(roots[i], row, element))))
                  return failure();
              return success();
            });
      });
}

LogicalResult RowsLowering::emitRow(const Index &row) {
  for (unsigned pass = 0; pass < passes; ++pass) {
    if (failed(emitRowValues(pass, row)) || failed(emitReductions(pass, row)))
      return failure();
  }
  if (failed(emitRowValues(passes, row)))
    return failure();
  return emitResults(row);
}

/// The rows from `first` on, side by side in one loop.
LogicalResult RowsLowering::emitGroup(const Index &first) {
  IndexSpace &space = emitter.space();
  Reduction reduction(emitter, reduces);
  std::vector<Elements> sums;
  {
    ElementEmitter::Tile tile(emitter, lanes);
    FailureOr<Elements> neutral = reduction.initial();
    if (failed(neutral))
      return failure();
    Carried one = Reduction::flatten(*neutral), all;
    for (int64_t i = 0; i < group; ++i)
      llvm::append_range(all, one);
    auto part = [&](ValueRange carried, int64_t i) {
      return reduction.unflatten(carried.slice(i * one.size(), one.size()), *neutral);
    };
    auto step = [&](const Index &lane, ValueRange carried) -> FailureOr<Carried> {
      Carried next;
      for (int64_t i = 0; i < group; ++i) {
        FailureOr<Elements> sum =
            reduction.accumulate(part(carried, i), emitter.currentMask(), [&](hlo::ReduceOp op) {
              return reducedPosition(space, op, space.add(first, i), lane);
            });
        if (failed(sum))
          return failure();
        llvm::append_range(next, Reduction::flatten(*sum));
      }
      return next;
    };
    FailureOr<Carried> total = forLanesCarrying(emitter, lowering.constant(0),
                                                lowering.constant(inner), inner, lanes, all, step);
    if (failed(total))
      return failure();
    for (int64_t i = 0; i < group; ++i) {
      FailureOr<Elements> sum = reduction.acrossLanes(part(*total, i));
      if (failed(sum))
        return failure();
      reduction.finish(*sum);
      sums.push_back(*sum);
    }
  }
  for (int64_t i = 0; i < group; ++i) {
    for (auto [j, sum] : llvm::enumerate(sums[i])) {
      Element element = sum;
      emitter.bind(reduction.resultOf(j),
                   [this, element](const Position &) { return emitter.spread(element); });
    }
    if (failed(emitResults(space.add(first, i))))
      return failure();
  }
  return success();
}

/// The task's rows: groups, then what is left of all rows.
LogicalResult RowsLowering::emitRows(Value first, Value last) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  auto one = [&](const Index &row) { return emitRow(row); };
  if (group == 1)
    return forRange(emitter, first, last, rows, one);
  int64_t whole = rows / group * group;
  {
    Value end = lowering.minimum(last, whole);
    auto loop = builder.create<scf::ForOp>(loc, first, end, lowering.constant(group));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    ElementEmitter::Level level(emitter, loop);
    Index row = emitter.space().variable(loop.getInductionVar(), 0, whole - group, group);
    if (failed(emitGroup(row)))
      return failure();
  }
  if (whole == rows)
    return success();
  Value begin = builder.createOrFold<arith::MaxSIOp>(loc, first, lowering.constant(whole));
  return forRange(emitter, begin, last, rows, one);
}

LogicalResult RowsLowering::run() {
  if (failed(rowPasses.analyze(fusion)))
    return failure();
  reduces = rowPasses.reduces;
  passOf = rowPasses.passOf;
  passes = rowPasses.passes;
  rows = rowPasses.rows;
  extent = rowPasses.extent;
  FuncOp kernel = lowering.kernel;
  if (rows == 0 || (extent == 0 && isElement(fusion.getYield().getValues().front()))) {
    kernel.setTasks(0);
    return success();
  }
  if (std::optional<LogicalResult> tiled = lowerRowTiles(lowering, rowPasses))
    return *tiled;
  chooseLoops();
  chooseKept();
  chooseGroup();
  int64_t price = picosecondsPerElement(fusion, std::min(width, lanes)) * (int64_t(passes) + 1) / 2;
  int64_t rowPrice = std::max<int64_t>(1, price) * extent + 20'000;
  int64_t rowsPerTask = std::clamp<int64_t>(20'000'000 / rowPrice, 1, rows);
  rowsPerTask = llvm::alignTo(rowsPerTask, group);
  kernel.setTasks(llvm::divideCeil(rows, rowsPerTask));
  kernel.setTaskCostNs(rowsPerTask * rowPrice / 1000);
  Value first = lowering.multiply(kernel.getTask(), rowsPerTask);
  Value last = lowering.minimum(lowering.add(first, lowering.constant(rowsPerTask)), rows);
  return emitRows(first, last);
}

} // namespace

LogicalResult kernel::lowerRows(FusionLowering &lowering) {
  return RowsLowering(lowering).run();
}
