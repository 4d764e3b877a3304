//===- LowerReduce.cpp - reductions ----------------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the minor dimension is reduced, each row is reduced along the lanes: that
// is a special case of LowerRows. Where it is kept, lanes are results, and the
// loop over what is reduced runs inside, with several registers of accumulators.
//
//===----------------------------------------------------------------------===//
#include "kernel/Dimensions.h"
#include "kernel/Reduction.h"
#include "kernel/RowTiles.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

namespace {

/// Long sums are cut into blocks, so that an accumulator sees at most so many
/// elements one after another: error grows with the root of the length at most.
constexpr int64_t kBlock = 512;

/// Whether the last dimension that is not 1 is reduced; reductions to one element
/// count as such.
bool reducesMinor(hlo::ReduceOp op) {
  RankedTensorType type = typeOf(op.getInputs().front());
  for (int64_t d = type.getRank() - 1; d >= 0; --d)
    if (type.getDimSize(d) != 1)
      return llvm::is_contained(op.getDimensions(), d);
  return true;
}

class ColumnLowering {
public:
  ColumnLowering(FusionLowering &lowering, ArrayRef<hlo::ReduceOp> reduces)
      : lowering(lowering), fusion(lowering.fusion), reduces(reduces),
        emitter(lowering.builder, lowering.machine, fusion, lowering.kernel.getBuffers()) {}
  LogicalResult run();

private:
  void plan();
  int64_t streamTarget() const;
  FailureOr<Elements> reduceColumn(Reduction &reduction, const Index &result);
  FailureOr<Carried> reduceUnrolled(Reduction &reduction, ArrayRef<Element> neutral,
                                    const Index &result);
  LogicalResult emitTile(const Index &result);

  FusionLowering &lowering;
  graph::FusionOp fusion;
  SmallVector<hlo::ReduceOp> reduces;
  ElementEmitter emitter;
  int64_t rows = 1, extent = 1, lanes = 1; ///< results: rows of `extent`
  int64_t reduced = 1;                     ///< elements per result
  int64_t rowsPerTask = 1, chunk = 0;
};

/// Results of a task that streams. What is reduced to whole rows of results is
/// contiguous; rows that are too long are cut, and come in boxes.
int64_t ColumnLowering::streamTarget() const {
  constexpr int64_t kFewestTasks = 16;
  int64_t taskBytes = lowering.machine.taskBytes;
  int64_t results = rows * extent;
  int64_t bytes = std::max<int64_t>(1, streamedBytes(fusion, results * reduced, results));
  if (extent * bytes > 4 * taskBytes)
    return std::max<int64_t>(lanes, llvm::alignDown(taskBytes / bytes, lanes));
  return std::max(extent, std::min(taskBytes / bytes, results / kFewestTasks));
}

void ColumnLowering::plan() {
  hlo::ReduceOp first = reduces.front();
  reduced = reducedExtent(first);
  SmallVector<Value> operands;
  for (hlo::ReduceOp op : reduces)
    llvm::append_range(operands, op.getInputs());
  auto isReduced = [&](int64_t d) { return llvm::is_contained(first.getDimensions(), d); };
  auto groups = collapsedGroups(fusion, operands,
                                [&](int64_t a, int64_t b) { return isReduced(a) || isReduced(b); });
  rows = typeOf(first->getResult(0)).getNumElements();
  // Results along the lanes: the innermost kept loop.
  for (const DimensionGroup &group : groups)
    if (!isReduced(group.dims.front()))
      extent = group.extent;
  rows /= extent;
  int64_t width = chooseLanes(fusion, lowering.machine);
  // Short rows of results run together, each lane with an address of its own; where
  // indexed loads are slow, only very short ones do.
  int64_t shortest = lowering.machine.taskBytes ? width / 16 : width / 2;
  if (extent <= shortest && rows > 1) {
    extent *= rows;
    rows = 1;
  }
  // Several registers side by side hide the latency of additions.
  lanes = std::min<int64_t>(
      {4 * width, mostLanes(lowering.machine), int64_t(llvm::PowerOf2Ceil(extent))});
  int64_t price = picosecondsPerElement(fusion, std::min(lanes, width)) * reduced;
  int64_t target = std::max<int64_t>(1, 20'000'000 / std::max<int64_t>(1, price));
  int64_t taskBytes = lowering.machine.taskBytes;
  if (taskBytes)
    target = streamTarget();
  if (extent > target || (!taskBytes && extent > 4 * lanes)) {
    chunk = std::max<int64_t>(lanes, llvm::alignDown(std::min(target, extent), lanes));
    lowering.kernel.setTasks(rows * llvm::divideCeil(extent, chunk));
    lowering.kernel.setTaskCostNs(chunk * price / 1000);
    return;
  }
  chunk = llvm::alignTo(extent, lanes);
  rowsPerTask = std::clamp<int64_t>(target / extent, 1, rows);
  lowering.kernel.setTasks(llvm::divideCeil(rows, rowsPerTask));
  lowering.kernel.setTaskCostNs(rowsPerTask * extent * price / 1000);
}

/// Several elements in a trip, for two accumulators in turn where the order is free.
FailureOr<Carried> ColumnLowering::reduceUnrolled(Reduction &reduction, ArrayRef<Element> neutral,
                                                  const Index &result) {
  constexpr int64_t kUnroll = 8;
  IndexSpace &space = emitter.space();
  OpBuilder &builder = lowering.builder;
  Carried one = Reduction::flatten(neutral), now = one;
  int64_t chains = llvm::all_of(reduces, isOrderFree) ? 2 : 1;
  if (chains == 2)
    llvm::append_range(now, one);
  auto part = [&](ArrayRef<Value> carried, int64_t chain) {
    return reduction.unflatten(carried.slice(chain * one.size(), one.size()), neutral);
  };
  auto several = [&](const Index &from, int64_t count) -> LogicalResult {
    for (int64_t k = 0; k < count; ++k) {
      int64_t chain = k % chains;
      FailureOr<Elements> next =
          reduction.accumulate(part(now, chain), Value(), [&](hlo::ReduceOp op) {
            return reducedPosition(space, op, result, space.add(from, k));
          });
      if (failed(next))
        return failure();
      llvm::copy(Reduction::flatten(*next), now.begin() + chain * one.size());
    }
    return success();
  };
  int64_t whole = llvm::alignDown(reduced, kUnroll);
  if (whole) {
    auto loop =
        builder.create<scf::ForOp>(lowering.loc(), lowering.constant(0), lowering.constant(whole),
                                   lowering.constant(kUnroll), now);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    ElementEmitter::Level level(emitter, loop);
    now.assign(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
    Index from = space.variable(loop.getInductionVar(), 0, whole - kUnroll, kUnroll);
    if (failed(several(from, kUnroll)))
      return failure();
    builder.create<scf::YieldOp>(lowering.loc(), now);
    now.assign(loop.getResults().begin(), loop.getResults().end());
  }
  if (failed(several(Index(whole), reduced - whole)))
    return failure();
  if (chains == 1)
    return now;
  FailureOr<Elements> sum = reduction.combine(part(now, 0), part(now, 1));
  if (failed(sum))
    return failure();
  return Reduction::flatten(*sum);
}

/// Accumulates over everything that is reduced to the results of one tile.
FailureOr<Elements> ColumnLowering::reduceColumn(Reduction &reduction, const Index &result) {
  FailureOr<Elements> neutral = reduction.initial();
  if (failed(neutral))
    return failure();
  // Accumulators are for all lanes: spread what is uniform.
  IndexSpace &space = emitter.space();
  auto step = [&](const Index &index, ValueRange carried) -> FailureOr<Carried> {
    FailureOr<Elements> next = reduction.accumulate(
        reduction.unflatten(carried, *neutral), Value(),
        [&](hlo::ReduceOp op) { return reducedPosition(space, op, result, index); });
    if (failed(next))
      return failure();
    return Reduction::flatten(*next);
  };
  Carried init = Reduction::flatten(*neutral);
  Value zero = lowering.constant(0);
  FailureOr<Carried> total;
  if (reduced <= 2 * kBlock && lowering.machine.taskBytes && lanes > 1) {
    total = reduceUnrolled(reduction, *neutral, result);
  } else if (reduced <= 2 * kBlock) {
    total = forRangeCarrying(emitter, zero, lowering.constant(reduced), reduced, init, step);
  } else {
    int64_t blocks = llvm::divideCeil(reduced, kBlock);
    total = forRangeCarrying(
        emitter, zero, lowering.constant(blocks), blocks, init,
        [&](const Index &block, ValueRange outer) -> FailureOr<Carried> {
          Value lower = space.scalar(space.scale(block, kBlock));
          Value upper = lowering.minimum(lowering.add(lower, lowering.constant(kBlock)), reduced);
          FailureOr<Carried> inner = forRangeCarrying(emitter, lower, upper, reduced, init, step);
          if (failed(inner))
            return failure();
          FailureOr<Elements> sum = reduction.combine(reduction.unflatten(outer, *neutral),
                                                      reduction.unflatten(*inner, *neutral));
          if (failed(sum))
            return failure();
          return Reduction::flatten(*sum);
        });
  }
  if (failed(total))
    return failure();
  Elements sums = reduction.unflatten(*total, *neutral);
  reduction.finish(sums);
  return sums;
}

LogicalResult ColumnLowering::emitTile(const Index &result) {
  Reduction reduction(emitter, reduces);
  FailureOr<Elements> sums = reduceColumn(reduction, result);
  if (failed(sums))
    return failure();
  for (auto [i, sum] : llvm::enumerate(*sums)) {
    Element element = sum;
    emitter.bind(reduction.resultOf(i), [element](const Position &) { return element; });
  }
  std::vector<std::pair<Element, Position>> results;
  for (Value root : fusion.getYield().getValues()) {
    Position position = emitter.space().delinearize(result, typeOf(root).getShape());
    FailureOr<Element> element = emitter.emit(root, position);
    if (failed(element))
      return failure();
    results.push_back({*element, position});
  }
  for (auto [i, result] : llvm::enumerate(results))
    if (failed(emitter.store(result.first, typeOf(fusion.getYield().getValues()[i]),
                             emitter.outputBuffer(i), result.second)))
      return failure();
  for (size_t i = 0; i < sums->size(); ++i)
    emitter.unbind(reduction.resultOf(i));
  return success();
}

LogicalResult ColumnLowering::run() {
  plan();
  IndexSpace &space = emitter.space();
  OpBuilder &builder = lowering.builder;
  Value task = lowering.kernel.getTask();
  auto overLanes = [&](Value lower, Value upper, const Index &row) {
    return forLanes(emitter, lower, upper, extent, lanes, [&](const Index &lane) {
      return emitTile(space.add(space.scale(row, extent), lane));
    });
  };
  if (chunk < extent) {
    int64_t chunks = llvm::divideCeil(extent, chunk);
    Value count = lowering.constant(chunks);
    Index row =
        space.variable(builder.create<arith::DivUIOp>(lowering.loc(), task, count), 0, rows - 1);
    Value piece = builder.create<arith::RemUIOp>(lowering.loc(), task, count);
    Value lower = lowering.multiply(piece, chunk);
    Value upper = lowering.minimum(lowering.add(lower, lowering.constant(chunk)), extent);
    return overLanes(lower, upper, row);
  }
  Value first = lowering.multiply(task, rowsPerTask);
  Value last = lowering.minimum(lowering.add(first, lowering.constant(rowsPerTask)), rows);
  return forRange(emitter, first, last, rows, [&](const Index &row) {
    return overLanes(lowering.constant(0), lowering.constant(extent), row);
  });
}

} // namespace

LogicalResult kernel::lowerReduce(FusionLowering &lowering) {
  SmallVector<hlo::ReduceOp> reduces(lowering.fusion.getBlock().getOps<hlo::ReduceOp>());
  if (reduces.empty())
    return lowering.fusion.emitOpError("of kind reduce has no reduction");
  hlo::ReduceOp first = reduces.front();
  int64_t results = typeOf(first->getResult(0)).getNumElements();
  for (Value root : lowering.fusion.getYield().getValues())
    if (typeOf(root).getNumElements() != results)
      return lowerRows(lowering);
  for (hlo::ReduceOp op : reduces) {
    if (op.getDimensions() != first.getDimensions() ||
        typeOf(op.getInputs().front()).getShape() != typeOf(first.getInputs().front()).getShape())
      return lowerRows(lowering);
    for (Value input : op.getInputs()) // a reduction of a reduction
      if (auto inner = input.getDefiningOp<hlo::ReduceOp>())
        return lowerRows(lowering);
  }
  // Very short rows: a result per lane, although loads are far apart.
  int64_t extent = reducedExtent(first);
  bool tiny = extent <= 8 && results >= 4 * extent;
  // Columns are combined in order, rows are not.
  bool ordered = !llvm::all_of(reduces, isOrderFree);
  if (extent == 0 || results == 0 || !reducesMinor(first) || tiny || ordered) {
    if (results == 0) {
      lowering.kernel.setTasks(0);
      return success();
    }
    return ColumnLowering(lowering, reduces).run();
  }
  return lowerRows(lowering);
}
