//===- LowerLoop.cpp - elementwise fusions ---------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every result element is a function of its position. Dimensions that the body
// treats alike become one loop; the innermost runs along the lanes. Tasks are
// runs of whole rows, or pieces of a row where rows are long; their size depends
// on the shape alone. Fusions with transposes work on square blocks instead.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "kernel/Dimensions.h"
#include "kernel/LowerBlocks.h"
#include "kernel/RowTiles.h"
#include "kernel/WithinRows.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

namespace {

/// How the results' elements are divided.
struct Plan {
  SmallVector<int64_t> outer; ///< extents of the loops around a row
  int64_t rows = 1;           ///< their product
  int64_t extent = 1;         ///< of a row
  int64_t lanes = 1;
  int64_t rowsPerTask = 1;
  int64_t chunk = 0; ///< elements of a row per task, where a row has several
  int64_t tasks = 1;
  int64_t unroll = 1; ///< tiles of lanes in one trip
};

/// Elements of a task that streams `machine.taskBytes`, of so many bytes for an
/// element; less where transfers would not overlap otherwise.
int64_t streamTarget(graph::FusionOp fusion, int64_t elements, const machine::Machine &machine) {
  constexpr int64_t kFewestTasks = 16;
  int64_t bytes = std::max<int64_t>(1, streamedBytes(fusion, elements, elements));
  int64_t target = std::min(machine.taskBytes / bytes, elements / kFewestTasks);
  return std::max<int64_t>(llvm::bit_floor(uint64_t(target)), 16 << 10);
}

/// `byRows`: for tiles of rows, which may be short.
Plan makePlan(graph::FusionOp fusion, ArrayRef<Value> roots, const machine::Machine &machine,
              int64_t heroCost, int64_t &cost, bool byRows = false) {
  Plan plan;
  bool sameShape = llvm::all_of(
      roots, [&](Value root) { return typeOf(root).getShape() == typeOf(roots[0]).getShape(); });
  SmallVector<int64_t> extents;
  if (sameShape)
    extents = collapsedDimensions(fusion, roots);
  else
    extents.push_back(typeOf(roots[0]).getNumElements());
  if (extents.empty())
    extents.push_back(1);
  int64_t lanes = chooseLanes(fusion, machine);
  // A short row would leave most lanes idle: run across rows instead, with
  // positions worked out lane by lane.
  while (!byRows && extents.size() > 1 && 2 * extents.back() <= lanes) {
    int64_t last = extents.pop_back_val();
    extents.back() *= last;
  }
  plan.extent = extents.pop_back_val();
  plan.outer = extents;
  for (int64_t extent : extents)
    plan.rows *= extent;
  plan.lanes = std::min<int64_t>(lanes, llvm::PowerOf2Ceil(plan.extent));

  // Tasks of roughly 20 microseconds, at least some thousand elements.
  int64_t price =
      std::max<int64_t>(1, picosecondsPerElement(fusion, plan.lanes) + heroCost / plan.lanes);
  int64_t target =
      std::clamp<int64_t>(llvm::bit_floor(uint64_t(20'000'000 / price)), 2048, 1 << 18);
  if (machine.taskBytes) {
    target = streamTarget(fusion, plan.rows * plan.extent, machine);
    // A trip has a latency, during which nothing else begins.
    int64_t most = std::max<int64_t>(1, plan.extent / plan.lanes);
    plan.unroll = llvm::bit_floor(
        uint64_t(std::min(most, std::clamp<int64_t>(128 / operationsPerElement(fusion), 1, 16))));
  }
  if (plan.extent >= 2 * target) {
    plan.chunk = target;
    plan.tasks = plan.rows * llvm::divideCeil(plan.extent, target);
    cost = target * price / 1000;
  } else {
    plan.rowsPerTask = std::clamp<int64_t>(target / plan.extent, 1, plan.rows);
    plan.tasks = llvm::divideCeil(plan.rows, plan.rowsPerTask);
    cost = plan.rowsPerTask * plan.extent * price / 1000;
  }
  return plan;
}

/// Writes all results at row `row` (counted over the outer loops) and `lane`.
LogicalResult emitResults(ElementEmitter &emitter, ArrayRef<Value> roots, const Plan &plan,
                          const Index &row, const Index &lane) {
  IndexSpace &space = emitter.space();
  Index linear = space.add(space.scale(row, plan.extent), lane);
  std::vector<std::pair<Element, Position>> results;
  for (Value root : roots) {
    Position position = space.delinearize(linear, typeOf(root).getShape());
    FailureOr<Element> element = emitter.emit(root, position);
    if (failed(element))
      return failure();
    results.push_back({*element, position});
  }
  // Loads stand before stores: a result may take the place of an input.
  for (auto [i, result] : llvm::enumerate(results))
    if (failed(
            emitter.store(result.first, typeOf(roots[i]), emitter.outputBuffer(i), result.second)))
      return failure();
  return success();
}

/// Square blocks for fusions that read along another dimension than they write.
constexpr int64_t kBlockRows = 64, kBlockLanes = 256;

bool movesMinor(graph::FusionOp fusion) {
  for (auto op : fusion.getBlock().getOps<stablehlo::TransposeOp>()) {
    RankedTensorType from = typeOf(op.getOperand());
    int64_t minorFrom = -1, minorTo = -1;
    for (int64_t d = 0; d < from.getRank(); ++d) {
      if (from.getDimSize(d) != 1)
        minorFrom = d;
      if (from.getDimSize(op.getPermutation()[d]) != 1)
        minorTo = op.getPermutation()[d];
    }
    if (minorFrom != minorTo)
      return true;
  }
  return false;
}

/// Writes the results block by block: `height` rows at once, as many as lanes.
class BlockedLoop {
public:
  BlockedLoop(FusionLowering &lowering, ElementEmitter &emitter, ArrayRef<Value> roots, Plan plan)
      : lowering(lowering), emitter(emitter), roots(roots), plan(std::move(plan)) {}
  static bool applies(const Plan &plan, graph::FusionOp fusion) {
    // Every operation is written once per row of the square.
    return movesMinor(fusion) && !plan.outer.empty() && llvm::range_size(fusion.getBlock()) <= 16 &&
           plan.outer.back() >= std::min<int64_t>(plan.lanes, 16) && plan.extent >= 4;
  }
  LogicalResult run(int64_t price);

private:
  LogicalResult emitRows(const Index &outer, Value lower, Value upper, Value left, Value right);

  FusionLowering &lowering;
  ElementEmitter &emitter;
  ArrayRef<Value> roots;
  Plan plan;
  int64_t height = 1, depth = 1; ///< rows of a square; extent of the dimension it runs along
};

LogicalResult BlockedLoop::run(int64_t price) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  plan.lanes = height = std::min<int64_t>(plan.lanes, 16);
  depth = plan.outer.back();
  int64_t outer = plan.rows / depth;
  int64_t across = llvm::divideCeil(plan.extent, kBlockLanes);
  int64_t down = llvm::divideCeil(depth, kBlockRows);
  lowering.kernel.setTasks(outer * down * across);
  lowering.kernel.setTaskCostNs(std::min(depth, kBlockRows) * std::min(plan.extent, kBlockLanes) *
                                price / 1000);
  Value task = lowering.kernel.getTask();
  auto divide = [&](Value value, int64_t by) -> std::pair<Value, Value> {
    Value count = lowering.constant(by);
    return {builder.createOrFold<arith::DivUIOp>(loc, value, count),
            builder.createOrFold<arith::RemUIOp>(loc, value, count)};
  };
  auto [above, pieceAcross] = divide(task, across);
  auto [outerTask, pieceDown] = divide(above, down);
  Index outerIndex = emitter.space().variable(outerTask, 0, outer - 1);
  auto bounds = [&](Value piece, int64_t block, int64_t extent) -> std::pair<Value, Value> {
    Value begin = lowering.multiply(piece, block);
    return {begin, lowering.minimum(lowering.add(begin, lowering.constant(block)), extent)};
  };
  auto [lower, upper] = bounds(pieceDown, kBlockRows, depth);
  auto [left, right] = bounds(pieceAcross, kBlockLanes, plan.extent);
  return emitRows(outerIndex, lower, upper, left, right);
}

LogicalResult BlockedLoop::emitRows(const Index &outer, Value lower, Value upper, Value left,
                                    Value right) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  IndexSpace &space = emitter.space();
  Index first = space.scale(outer, depth);
  int64_t whole = depth / height * height;
  {
    Value end = lowering.minimum(upper, whole);
    auto loop = builder.create<scf::ForOp>(loc, lower, end, lowering.constant(height));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    ElementEmitter::Level level(emitter, loop);
    Index row = space.variable(loop.getInductionVar(), 0, whole - height, height);
    auto rows = [&](const Index &lane) -> LogicalResult {
      for (int64_t i = 0; i < height; ++i) {
        emitter.rowBlock = {loop.getInductionVar(), row.isConstant() ? 0 : height, i};
        Index at = space.add(space.add(first, row), i);
        if (failed(emitResults(emitter, roots, plan, at, lane)))
          return failure();
      }
      emitter.rowBlock = {};
      return success();
    };
    if (failed(forLanes(emitter, left, right, plan.extent, plan.lanes, rows)))
      return failure();
  }
  if (whole == depth)
    return success();
  Value begin = builder.createOrFold<arith::MaxSIOp>(loc, lower, lowering.constant(whole));
  return forRange(emitter, begin, upper, depth, [&](const Index &row) {
    return forLanes(emitter, left, right, plan.extent, plan.lanes, [&](const Index &lane) {
      return emitResults(emitter, roots, plan, space.add(first, row), lane);
    });
  });
}

/// Rows that do not run together, eight at a time (RowTiles.h).
bool suitsRowTiles(const Plan &plan, graph::FusionOp fusion, const machine::Machine &machine) {
  int64_t rowBytes = streamedBytes(fusion, plan.rows * plan.extent, plan.rows);
  return machine.rowLanes == kTileColumns && plan.rows >= kTileRows &&
         chooseLanes(fusion, machine) == kTileLanes &&
         RowTiles::fits(plan.extent, rowBytes, machine);
}

LogicalResult lowerLoopTiles(FusionLowering &lowering, ElementEmitter &emitter,
                             ArrayRef<Value> roots, const Plan &plan) {
  graph::FusionOp fusion = lowering.fusion;
  int64_t rowBytes = streamedBytes(fusion, plan.rows * plan.extent, plan.rows);
  RowTiles tiles = RowTiles::plan(plan.rows, plan.extent, rowBytes, operationsPerElement(fusion),
                                  lowering.machine, /*reduces=*/false);
  // What is read along the rows goes through squares, which 16 groups share.
  bool squares = movesMinor(fusion) && plan.rows >= kTileColumns;
  if (squares)
    tiles.useGroups(kTileColumns / kTileRows, /*columnsAtOnce=*/2);
  lowering.kernel.setTasks(tiles.tasks);
  return forRowGroups(lowering, emitter, tiles, [&](const RowGroup &group) -> LogicalResult {
    auto body = [&](const Index &column, int64_t, ValueRange) -> FailureOr<Carried> {
      for (auto [number, row] : llvm::enumerate(group.rows)) {
        emitter.squareGroup = squares && group.rows.size() > 1 ? int64_t(number) : -1;
        if (failed(emitResults(emitter, roots, plan, row, column)))
          return failure();
      }
      emitter.squareGroup = -1;
      return Carried();
    };
    return forColumns(lowering, emitter, tiles, group, ValueRange(), body);
  });
}

} // namespace

void kernel::bindAll(ElementEmitter &emitter, Operation *hero,
                     std::function<FailureOr<Elements>(const Position &)> evaluate) {
  struct Last {
    Position position;
    Block *block = nullptr;
    int64_t lanes = 0;
    Elements elements;
  };
  auto last = std::make_shared<Last>();
  for (OpResult result : hero->getResults())
    emitter.bind(result, [=, &emitter](const Position &at) -> FailureOr<Element> {
      Block *block = emitter.getBuilder().getInsertionBlock();
      if (hero->getNumResults() == 1 || last->block != block || last->lanes != emitter.lanes() ||
          !(last->position == at)) {
        FailureOr<Elements> elements = evaluate(at);
        if (failed(elements))
          return failure();
        *last = {at, block, emitter.lanes(), *elements};
      }
      return last->elements[result.getResultNumber()];
    });
}

LogicalResult kernel::lowerLoop(FusionLowering &lowering,
                                llvm::function_ref<void(ElementEmitter &)> bindHero,
                                int64_t heroCost) {
  graph::FusionOp fusion = lowering.fusion;
  SmallVector<Value> roots(fusion.getYield().getValues());
  int64_t elements = typeOf(roots[0]).getNumElements();
  for (Value root : roots)
    if (typeOf(root).getNumElements() != elements)
      return fusion.emitOpError("has results of different sizes");
  FuncOp kernel = lowering.kernel;
  if (elements == 0) {
    kernel.setTasks(0);
    return success();
  }
  int64_t cost = 0;
  ElementEmitter emitter(lowering.builder, lowering.machine, fusion, kernel.getBuffers());
  if (lowering.machine.rowLanes && !bindHero) {
    Plan rows = makePlan(fusion, roots, lowering.machine, heroCost, cost, /*byRows=*/true);
    kernel.setTaskCostNs(cost);
    SmallVector<int64_t> extents(rows.outer);
    extents.push_back(rows.extent);
    if (std::optional<LogicalResult> blocks = lowerBlocks(lowering, roots, extents))
      return *blocks;
    if (suitsRowTiles(rows, fusion, lowering.machine))
      return lowerLoopTiles(lowering, emitter, roots, rows);
  }
  Plan plan = makePlan(fusion, roots, lowering.machine, heroCost, cost);
  kernel.setTasks(plan.tasks);
  kernel.setTaskCostNs(cost);
  if (bindHero)
    bindHero(emitter);
  else if (BlockedLoop::applies(plan, fusion))
    return BlockedLoop(lowering, emitter, roots, plan)
        .run(picosecondsPerElement(fusion, plan.lanes));
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  Value task = kernel.getTask();
  auto lanesFrom = [&](Value lower, Value upper, const Index &row) {
    return forLanes(
        emitter, lower, upper, plan.extent, plan.lanes,
        [&](const Index &lane) { return emitResults(emitter, roots, plan, row, lane); },
        plan.unroll);
  };
  if (plan.chunk) {
    int64_t chunks = llvm::divideCeil(plan.extent, plan.chunk);
    Value piece = task;
    Index row(0);
    if (plan.rows > 1) {
      Value count = lowering.constant(chunks);
      row = emitter.space().variable(builder.create<arith::DivUIOp>(loc, task, count), 0,
                                     plan.rows - 1);
      piece = builder.create<arith::RemUIOp>(loc, task, count);
    }
    Value lower = lowering.multiply(piece, plan.chunk);
    Value upper = lowering.add(lower, lowering.constant(plan.chunk));
    if (plan.extent % plan.chunk != 0)
      upper = lowering.minimum(upper, plan.extent);
    return lanesFrom(lower, upper, row);
  }
  Value first = lowering.multiply(task, plan.rowsPerTask);
  Value last =
      lowering.minimum(lowering.add(first, lowering.constant(plan.rowsPerTask)), plan.rows);
  return forRange(emitter, first, last, plan.rows, [&](const Index &row) {
    return lanesFrom(lowering.constant(0), lowering.constant(plan.extent), row);
  });
}
