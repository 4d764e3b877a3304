//===- LowerRowTiles.cpp - work on rows, eight at a time -------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// As LowerRows.cpp, for machines whose registers are 8 rows of 128 columns: softmax,
// layer norm, reductions of the last dimension. Partial results accumulate lane by
// lane along the columns; then the 128 lanes of each row are reduced, eight rows at
// once, and the result is in every lane of its row: whatever a row shares is a
// register, and no broadcast is needed.
//
//===----------------------------------------------------------------------===//
#include "kernel/RowPasses.h"
#include "kernel/RowTiles.h"
#include "kernel/WithinRows.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

namespace {

/// Accumulators of a group beside each other, where few groups leave latency.
constexpr int64_t kChains = 8;

/// Operations that turn f16 into f32 where registers are rows: a sequence.
constexpr int64_t kHalfOperations = 8;

class RowTilesLowering {
public:
  explicit RowTilesLowering(FusionLowering &lowering)
      : lowering(lowering), fusion(lowering.fusion),
        emitter(lowering.builder, lowering.machine, fusion, lowering.kernel.getBuffers()) {}
  LogicalResult run(RowPasses found);

private:
  LogicalResult emitGroup(const RowGroup &group);
  LogicalResult emitReductions(unsigned pass, const RowGroup &group);
  LogicalResult storeKept(unsigned pass, const RowGroup &group, size_t number, const Index &column);
  LogicalResult emitRowValues(unsigned pass, const RowGroup &group);
  LogicalResult emitResults(const RowGroup &group);
  void bindGroup(const RowGroup &group, size_t number, unsigned pass);
  Position elementPosition(Value value, const Index &row, const Index &column);
  Position keptPosition(size_t number, const Index &column);

  FusionLowering &lowering;
  graph::FusionOp fusion;
  ElementEmitter emitter;
  RowPasses rows;
  RowTiles tiles;
  SmallVector<RowPasses::Kept> kept;
  SmallVector<Value> scratch;                    ///< of each that is kept
  RankedTensorType keptType;                     ///< all groups' rows, padded
  std::vector<DenseMap<Value, Element>> reduced; ///< by group: results of reductions
};

Position RowTilesLowering::elementPosition(Value value, const Index &row, const Index &column) {
  IndexSpace &space = emitter.space();
  return space.delinearize(space.add(space.scale(row, rows.extent), column),
                           typeOf(value).getShape());
}

Position RowTilesLowering::keptPosition(size_t number, const Index &column) {
  Index row(int64_t(number) * kTileRows);
  row.sublane = 1;
  return {row, column};
}

LogicalResult RowTilesLowering::storeKept(unsigned pass, const RowGroup &group, size_t number,
                                          const Index &column) {
  for (auto [i, each] : llvm::enumerate(kept)) {
    if (each.pass != pass)
      continue;
    FailureOr<Element> value =
        emitter.emit(each.value, elementPosition(each.value, group.rows[number], column));
    if (failed(value) ||
        failed(emitter.store(*value, RankedTensorType::get(keptType.getShape(), each.element),
                             scratch[i], keptPosition(number, column))))
      return failure();
  }
  return success();
}

/// From now on the group's rows are meant: what was reduced of them, and kept in
/// passes before `pass`.
void RowTilesLowering::bindGroup(const RowGroup &group, size_t number, unsigned pass) {
  for (auto &[value, element] : reduced[number]) {
    Element copy = element;
    emitter.bind(value, [copy](const Position &) { return copy; });
  }
  for (auto [i, each] : llvm::enumerate(kept)) {
    if (each.pass >= pass)
      continue;
    auto type = RankedTensorType::get(keptType.getShape(), each.element);
    Value buffer = scratch[i], value = each.value;
    Index row = group.rows[number];
    emitter.bind(value, [=, this](const Position &position) -> FailureOr<Element> {
      IndexSpace &space = emitter.space();
      Index linear = space.linearize(position, typeOf(value).getShape());
      Index column = space.subtract(linear, space.scale(row, rows.extent));
      return emitter.load(type, buffer, keptPosition(number, column));
    });
  }
}

LogicalResult RowTilesLowering::emitReductions(unsigned pass, const RowGroup &group) {
  Reduction reduction(emitter, rows.reducesOf(pass));
  IndexSpace &space = emitter.space();
  ElementEmitter::Tile tile(emitter, {group.active, kTileColumns}, group.mask);
  FailureOr<Elements> neutral = reduction.initial();
  if (failed(neutral))
    return failure();
  Carried one = Reduction::flatten(*neutral), all;
  int64_t groups = group.rows.size(), batch = std::min(tiles.batch, groups);
  int64_t chains = std::max<int64_t>(1, std::min(tiles.unrollOf(batch), kChains / batch));
  for (int64_t i = 0; i < batch * chains; ++i)
    llvm::append_range(all, one);
  auto part = [&](ValueRange carried, int64_t i) {
    return reduction.unflatten(carried.slice(i * one.size(), one.size()), *neutral);
  };
  int64_t first = 0; // of the present batch
  auto step = [&](const Index &column, int64_t number, ValueRange carried) -> FailureOr<Carried> {
    Carried next(carried);
    for (int64_t g = first; g < first + batch; ++g) {
      bindGroup(group, g, pass);
      int64_t at = (g - first) * chains + number % chains;
      FailureOr<Elements> sum =
          reduction.accumulate(part(carried, at), emitter.currentMask(), [&](hlo::ReduceOp op) {
            return reducedPosition(space, op, group.rows[g], column);
          });
      if (failed(sum) || failed(storeKept(pass, group, g, column)))
        return failure();
      llvm::copy(Reduction::flatten(*sum), next.begin() + at * one.size());
    }
    return next;
  };
  std::vector<Elements> sums;
  for (; first < groups; first += batch) {
    FailureOr<Carried> total =
        forColumns(lowering, emitter, tiles, group.slice(first, batch), all, step);
    if (failed(total))
      return failure();
    for (int64_t g = 0; g < batch; ++g) {
      Elements sum = part(*total, g * chains);
      for (int64_t chain = 1; chain < chains; ++chain) {
        FailureOr<Elements> both = reduction.combine(sum, part(*total, g * chains + chain));
        if (failed(both))
          return failure();
        sum = *both;
      }
      sums.push_back(sum);
    }
  }
  if (failed(reduction.withinRows(sums)))
    return failure();
  for (int64_t g = 0; g < groups; ++g) {
    reduction.finish(sums[g]);
    for (auto [i, element] : llvm::enumerate(sums[g]))
      reduced[g][reduction.resultOf(i)] = element;
  }
  return success();
}

/// What is the same for the whole row is computed before the loop along it.
LogicalResult RowTilesLowering::emitRowValues(unsigned pass, const RowGroup &group) {
  ElementEmitter::Tile tile(emitter, {group.active, kTileColumns}, group.mask);
  for (auto [g, row] : llvm::enumerate(group.rows)) {
    bindGroup(group, g, pass);
    for (auto op : fusion.getBlock().getOps<hlo::BroadcastInDimOp>()) {
      Value value = op.getOperand();
      if (typeOf(value).getNumElements() != rows.rows || rows.extent == 1 ||
          rows.passOf.lookup(value) > pass)
        continue;
      if (failed(emitter.emit(value, emitter.space().delinearize(row, typeOf(value).getShape()))))
        return failure();
    }
  }
  return success();
}

LogicalResult RowTilesLowering::emitResults(const RowGroup &group) {
  IndexSpace &space = emitter.space();
  OperandRange roots = fusion.getYield().getValues();
  struct Result {
    Element value;
    unsigned root;
    Position at;
  };
  // Loads stand before stores: a result may take the place of an input.
  auto emitAll = [&](int64_t first, int64_t count, bool elements,
                     llvm::function_ref<Position(Value, const Index &)> positionOf) {
    std::vector<Result> results;
    for (int64_t g = first; g < first + count; ++g) {
      bindGroup(group, g, rows.passes);
      for (auto [i, root] : llvm::enumerate(roots)) {
        if (rows.isElement(root) != elements)
          continue;
        Position at = positionOf(root, group.rows[g]);
        FailureOr<Element> value = emitter.emit(root, at);
        if (failed(value))
          return failure();
        results.push_back({*value, unsigned(i), at});
      }
    }
    for (Result &result : results)
      if (failed(emitter.store(result.value, typeOf(roots[result.root]),
                               emitter.outputBuffer(result.root), result.at)))
        return failure();
    return success();
  };
  int64_t groups = group.rows.size(), batch = std::min(tiles.batch, groups);
  {
    ElementEmitter::Tile tile(emitter, {group.active, kTileColumns}, group.mask);
    if (failed(emitAll(0, groups, false, [&](Value root, const Index &row) {
          return space.delinearize(row, typeOf(root).getShape());
        })))
      return failure();
  }
  if (llvm::none_of(roots, [&](Value root) { return rows.isElement(root); }))
    return success();
  for (int64_t first = 0; first < groups; first += batch) {
    auto step = [&](const Index &column, int64_t, ValueRange) -> FailureOr<Carried> {
      if (failed(emitAll(first, batch, true, [&](Value root, const Index &row) {
            return elementPosition(root, row, column);
          })))
        return failure();
      return Carried();
    };
    if (failed(forColumns(lowering, emitter, tiles, group.slice(first, batch), ValueRange(), step)))
      return failure();
  }
  return success();
}

LogicalResult RowTilesLowering::emitGroup(const RowGroup &group) {
  reduced = std::vector<DenseMap<Value, Element>>(group.rows.size());
  for (unsigned pass = 0; pass < rows.passes; ++pass)
    if (failed(emitRowValues(pass, group)) || failed(emitReductions(pass, group)))
      return failure();
  if (failed(emitRowValues(rows.passes, group)) || failed(emitResults(group)))
    return failure();
  // What comes next has other rows, and nothing of them yet.
  for (hlo::ReduceOp op : rows.reduces)
    for (Value result : op->getResults())
      emitter.unbind(result);
  for (RowPasses::Kept &each : kept)
    emitter.unbind(each.value);
  return success();
}

LogicalResult RowTilesLowering::run(RowPasses found) {
  rows = std::move(found);
  FuncOp kernel = lowering.kernel;
  int64_t rowBytes = streamedBytes(fusion, rows.rows * rows.extent, rows.rows);
  tiles = RowTiles::plan(rows.rows, rows.extent, rowBytes, operationsPerElement(fusion),
                         lowering.machine, /*reduces=*/true);
  int64_t padded = llvm::alignTo(rows.extent, kTileColumns);
  keptType =
      RankedTensorType::get({tiles.groups * kTileRows, padded}, lowering.builder.getF32Type());
  auto bytesOf = [&](Type type) {
    return keptType.getNumElements() * int64_t(llvm::divideCeil(type.getIntOrFloatBitWidth(), 8));
  };
  kept = rows.chooseKept(fusion, bytesOf, lowering.machine.l2Bytes / 8, kHalfOperations);
  int64_t bytes = 0;
  for (RowPasses::Kept &each : kept) {
    auto type = MemRefType::get({keptType.getNumElements()}, each.element);
    scratch.push_back(lowering.builder.create<ScratchOp>(lowering.loc(), type, each.offset));
    bytes = each.offset + bytesOf(each.element);
  }
  kernel.setScratchBytes(bytes);
  kernel.setTasks(tiles.tasks);
  kernel.setTaskCostNs(tiles.rowsPerTask * rows.extent * picosecondsPerElement(fusion, kTileLanes) /
                       1000);
  return forRowGroups(lowering, emitter, tiles,
                      [&](const RowGroup &group) { return emitGroup(group); });
}

} // namespace

std::optional<LogicalResult> kernel::lowerRowTiles(FusionLowering &lowering,
                                                   const RowPasses &rows) {
  const machine::Machine &machine = lowering.machine;
  int64_t rowBytes = streamedBytes(lowering.fusion, rows.rows * rows.extent, rows.rows);
  bool applies = machine.rowLanes == kTileColumns && rows.rows > 1 && rows.extent > 0 &&
                 (rows.rows >= kTileRows || rows.extent <= kTileLanes) &&
                 chooseLanes(lowering.fusion, machine) == kTileLanes &&
                 contiguousExtent(lowering.fusion, rows) == rows.extent &&
                 llvm::all_of(rows.reduces, isOrderFree) &&
                 RowTiles::fits(rows.extent, rowBytes, machine);
  if (!applies)
    return std::nullopt;
  return RowTilesLowering(lowering).run(rows);
}
