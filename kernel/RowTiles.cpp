//===- RowTiles.cpp - loops over tiles of 8 rows by 128 columns ------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See RowTiles.h.
//
//===----------------------------------------------------------------------===//
#include "kernel/RowTiles.h"

#include "kernel/WithinRows.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

bool RowTiles::fits(int64_t extent, int64_t rowBytes, const machine::Machine &machine) {
  return kTileRows * rowBytes <= machine.l2Bytes / 8;
}

RowTiles RowTiles::plan(int64_t rows, int64_t extent, int64_t rowBytes, int64_t operations,
                        const machine::Machine &machine, bool reduces) {
  // Instructions of a trip, about: loops are pipelined, so that a trip need not be
  // long, and what is in flight must have registers.
  constexpr int64_t kInstructions = 128, kRegisters = 32, kBatch = 4;
  // What is reduced within rows waits seven times for the cross-lane unit: many groups
  // wait together, more where rows have little else to do.
  constexpr int64_t kReducedGroups = 8, kShortGroups = 16, kShortColumns = 2;
  RowTiles tiles;
  tiles.rows = rows, tiles.extent = extent;
  int64_t columns = llvm::divideCeil(extent, kTileColumns);
  tiles.registers = std::clamp<int64_t>(kInstructions / operations, 1, kRegisters);
  int64_t most = !reduces                   ? std::min(kBatch, tiles.registers)
                 : columns <= kShortColumns ? kShortGroups
                                            : kReducedGroups;
  most = std::min<int64_t>({most, int64_t(llvm::divideCeil(rows, kTileRows)),
                            2 * machine.taskBytes / std::max<int64_t>(1, kTileRows * rowBytes)});
  while (2 * tiles.groups <= most)
    tiles.groups *= 2;
  tiles.batch = columns <= kShortColumns ? tiles.groups : std::min(tiles.groups, kBatch);
  tiles.rowBytes = rowBytes, tiles.taskBytes = machine.taskBytes;
  tiles.divide();
  return tiles;
}

void RowTiles::useGroups(int64_t count, int64_t columnsAtOnce) {
  groups = batch = count;
  registers = count * columnsAtOnce;
  divide();
}

int64_t RowTiles::unrollOf(int64_t groupsHere) const {
  int64_t columns = llvm::divideCeil(extent, kTileColumns);
  int64_t wanted = std::max<int64_t>(1, registers / groupsHere);
  return std::clamp<int64_t>(llvm::bit_floor(uint64_t(wanted)), 1, columns);
}

void RowTiles::divide() {
  constexpr int64_t kFewestTasks = 16; // so that transfers overlap
  int64_t step = groups * kTileRows;
  int64_t wanted = std::min<int64_t>(taskBytes / std::max<int64_t>(1, rowBytes),
                                     llvm::divideCeil(rows, kFewestTasks));
  rowsPerTask = std::max<int64_t>(step, llvm::alignDown(wanted, step));
  tasks = llvm::divideCeil(rows, rowsPerTask);
}

static Value both(FusionLowering &lowering, Value a, Value b) {
  return a ? Value(lowering.builder.create<arith::AndIOp>(lowering.loc(), a, b)) : b;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

LogicalResult kernel::forRowGroups(FusionLowering &lowering, ElementEmitter &emitter,
                                   const RowTiles &tiles,
                                   llvm::function_ref<LogicalResult(const RowGroup &)> body) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  IndexSpace &space = emitter.space();
  Value first = lowering.multiply(lowering.kernel.getTask(), tiles.rowsPerTask);
  Value last = lowering.add(first, lowering.constant(tiles.rowsPerTask));
  bool evenly = tiles.rows % tiles.rowsPerTask == 0; // then trip counts are constants
  if (!evenly)
    last = lowering.minimum(last, tiles.rows);
  auto groupAt = [&](const Index &row, int64_t groups, int64_t active) {
    RowGroup group{{}, Value(), active};
    for (int64_t g = 0; g < groups; ++g) {
      Index at = space.add(row, g * kTileRows);
      at.sublane = 1;
      group.rows.push_back(at);
    }
    return group;
  };
  // [begin, end) of all rows, as far as they are the task's.
  auto loopOver = [&](int64_t begin, int64_t end, int64_t groups) -> LogicalResult {
    if (begin == end)
      return success();
    int64_t step = groups * kTileRows;
    Value lower = begin == 0
                      ? first
                      : builder.createOrFold<arith::MaxSIOp>(loc, first, lowering.constant(begin));
    Value upper = evenly && end == tiles.rows ? last : lowering.minimum(last, end);
    auto loop = builder.create<scf::ForOp>(loc, lower, upper, lowering.constant(step));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    ElementEmitter::Level level(emitter, loop);
    Index row = space.variable(loop.getInductionVar(), begin, end - step, step);
    return body(groupAt(row, groups, kTileRows));
  };
  int64_t single = llvm::alignDown(tiles.rows, kTileRows), done = 0;
  for (int64_t groups : {tiles.groups, std::min<int64_t>(tiles.groups, 4), int64_t(1)}) {
    int64_t end = llvm::alignDown(tiles.rows, groups * kTileRows);
    if (failed(loopOver(done, end, groups)))
      return failure();
    done = end;
  }
  if (single == tiles.rows)
    return success();
  Value here = builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sgt, last,
                                                   lowering.constant(single));
  auto branch = builder.create<scf::IfOp>(loc, here, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  ElementEmitter::Level level(emitter, branch);
  RowGroup group = groupAt(Index(single), 1, tiles.rows - single);
  group.mask = makePositionMask(builder, loc, group.active, /*ofRows=*/true);
  return body(group);
}

FailureOr<Carried> kernel::forColumns(FusionLowering &lowering, ElementEmitter &emitter,
                                      const RowTiles &tiles, const RowGroup &group, ValueRange init,
                                      ColumnBody body) {
  OpBuilder &builder = lowering.builder;
  IndexSpace &space = emitter.space();
  int64_t whole = tiles.extent / kTileColumns, rest = tiles.extent % kTileColumns;
  auto column = [](Index index) {
    index.lane = 1;
    return index;
  };
  Carried carried(init);
  auto several = [&](const Index &from, int64_t count, ValueRange begin) -> FailureOr<Carried> {
    if (!count)
      return Carried(begin);
    ElementEmitter::Tile tile(emitter, {group.active, kTileColumns}, group.mask);
    Carried now(begin);
    for (int64_t k = 0; k < count; ++k) {
      FailureOr<Carried> next = body(column(space.add(from, k * kTileColumns)), k, now);
      if (failed(next))
        return failure();
      now = *next;
    }
    return now;
  };
  int64_t unroll = std::min(whole, tiles.unrollOf(group.rows.size()));
  int64_t looped = whole > unroll && unroll ? whole / unroll * unroll : 0;
  if (looped) {
    int64_t step = unroll * kTileColumns, end = looped * kTileColumns;
    auto loop =
        builder.create<scf::ForOp>(lowering.loc(), lowering.constant(0), lowering.constant(end),
                                   lowering.constant(step), carried);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    ElementEmitter::Level level(emitter, loop);
    Index from = space.variable(loop.getInductionVar(), 0, end - step, step);
    FailureOr<Carried> next = several(from, unroll, loop.getRegionIterArgs());
    if (failed(next))
      return failure();
    if (!carried.empty())
      builder.create<scf::YieldOp>(lowering.loc(), *next);
    carried.assign(loop.getResults().begin(), loop.getResults().end());
  }
  // A level of its own, although it is no loop: registers are not kept from one pass
  // over the columns to the next.
  ElementEmitter::Level level(emitter, lowering.constant(0).getDefiningOp());
  FailureOr<Carried> left = several(Index(looped * kTileColumns), whole - looped, carried);
  if (failed(left) || !rest)
    return left;
  Value mask =
      both(lowering, group.mask, makePositionMask(builder, lowering.loc(), rest, /*ofRows=*/false));
  ElementEmitter::Tile tile(emitter, {group.active, rest}, mask);
  return body(column(Index(whole * kTileColumns)), 0, *left);
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

int64_t kernel::streamedBytes(graph::FusionOp fusion, int64_t elements, int64_t rows) {
  int64_t bytes = 0;
  auto consider = [&](Type type) {
    auto tensor = cast<RankedTensorType>(type);
    if (tensor.getNumElements() < elements)
      return;
    Type element = tensor.getElementType();
    int64_t bits = isa<ComplexType>(element)
                       ? 2 * cast<ComplexType>(element).getElementType().getIntOrFloatBitWidth()
                       : element.getIntOrFloatBitWidth();
    bytes += tensor.getNumElements() / rows * std::max<int64_t>(1, bits / 8);
  };
  for (Value input : fusion.getInputs())
    consider(input.getType());
  for (Type type : fusion.getResultTypes())
    consider(type);
  return bytes;
}

int64_t kernel::operationsPerElement(graph::FusionOp fusion) {
  int64_t operations = 2;
  for (Operation &op : fusion.getBlock()) {
    bool isLong = isa<hlo::ExpOp, hlo::LogOp, hlo::TanhOp, hlo::LogisticOp, hlo::SineOp,
                      hlo::CosineOp, hlo::Expm1Op, hlo::Log1pOp, hlo::CompositeOp, hlo::PowOp,
                      hlo::RemOp, hlo::Atan2Op, hlo::TanOp, hlo::CbrtOp>(op);
    bool rounds = op.getNumResults() == 1 && isSmallFloat(typeOf(op.getResult(0)).getElementType());
    operations += isLong ? 16 : rounds ? 4 : 2;
  }
  return operations;
}
