//===- LowerWhile.cpp - loops whose state stays in registers ---------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One kernel with the loop inside. Of a batch of states each task takes as many
// members as there are lanes and runs their whole loop; no task waits for
// another. Members do not meet, so tasks may overlap: the last one of a row ends
// with the row, and what it computes again has the same bits.
//
//===----------------------------------------------------------------------===//
#include "kernel/RegisterLoopEmitter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <numeric>

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

namespace {

/// Loops worth less than so many instructions do not look at the cancel word.
constexpr int64_t kUnpolledInstructions = 1 << 22;
/// Trips of a loop that is not counted, for its price.
constexpr int64_t kGuessedTrips = 256;

std::optional<int64_t> tripsOf(hlo::WhileOp loop) {
  if (auto trips = loop->getAttrOfType<IntegerAttr>("graph.trip_count"))
    return trips.getInt();
  return std::nullopt;
}

} // namespace

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

/// Branches `first` and later: one if `index` says so, else those behind it.
LogicalResult RegisterLoopEmitter::visitBranches(Operation *op, Value index, unsigned first,
                                                 SmallVectorImpl<Value> &results) {
  auto writeBranch = [&](unsigned number) -> FailureOr<Carried> {
    Block &block = op->getRegion(number).front();
    if (failed(visitBlock(block)))
      return failure();
    return readAll(block.getTerminator()->getOperands());
  };
  if (first + 1 == op->getNumRegions()) {
    FailureOr<Carried> values = writeBranch(first);
    if (failed(values))
      return failure();
    results.assign(values->begin(), values->end());
    return success();
  }
  SmallVector<Type> types;
  for (Value result : op->getResults())
    llvm::append_range(types, typesOf(result));
  Num here(emitter.context(), index);
  if (isa<hlo::CaseOp>(op))
    here = eq(here, int64_t(first));
  auto branch = builder().create<scf::IfOp>(loc(), types, here, /*withElseRegion=*/true);
  for (bool taken : {true, false}) {
    OpBuilder::InsertionGuard guard(builder());
    builder().setInsertionPointToStart(taken ? branch.thenBlock() : branch.elseBlock());
    ElementEmitter::Level level(emitter, branch);
    SmallVector<Value> values;
    if (taken) {
      FailureOr<Carried> own = writeBranch(first);
      if (failed(own))
        return failure();
      values.assign(own->begin(), own->end());
    } else if (failed(visitBranches(op, index, first + 1, values))) {
      return failure();
    }
    if (!types.empty())
      builder().create<scf::YieldOp>(loc(), values);
  }
  results.assign(branch.result_begin(), branch.result_end());
  return success();
}

LogicalResult RegisterLoopEmitter::visitIf(Operation *op) {
  FailureOr<Elements> index = read(op->getOperand(0));
  if (failed(index))
    return failure();
  // A branch's values hold in it alone, but their names are its own too.
  SmallVector<Value> results;
  if (failed(visitBranches(op, index->front().re, 0, results)))
    return failure();
  defineAll(op->getResults(), results);
  return success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Those of `carried`, values of the loop in order, that are not in memory.
SmallVector<Value> RegisterLoopEmitter::inRegisters(hlo::WhileOp loop, ValueRange carried) {
  SmallVector<Value> values;
  for (auto [i, value] : llvm::enumerate(carried))
    if (loop != plan.loop || !plan.inMemory.test(i))
      values.push_back(value);
  return values;
}

/// Whether a trip follows, of the condition's arguments as they are bound.
FailureOr<Value> RegisterLoopEmitter::writeCondition(hlo::WhileOp loop) {
  Block &block = loop.getCond().front();
  if (failed(visitBlock(block)))
    return failure();
  if (loop != plan.loop || !plan.wants) {
    FailureOr<Elements> holds = read(block.getTerminator()->getOperand(0));
    if (failed(holds))
      return failure();
    return Value(holds->front().re);
  }
  FailureOr<Elements> wants = read(plan.wants);
  if (failed(wants))
    return failure();
  Num want = wants->front().re;
  if (Value mask = emitter.currentMask())
    want = want & Num(emitter.context(), mask);
  return anyLane(want);
}

/// One trip, from the registers at its begin to those at its end.
FailureOr<Carried> RegisterLoopEmitter::writeBody(hlo::WhileOp loop, ValueRange flat) {
  Block &block = loop.getBody().front();
  defineAll(inRegisters(loop, block.getArguments()), flat);
  if (loop == plan.loop)
    for (unsigned i : plan.inMemory.set_bits()) {
      Value array = block.getArgument(i), buffer = bufferOf(i);
      emitter.bind(array, [this, array, buffer](const Position &at) -> FailureOr<Element> {
        return emitter.load(typeOf(array), buffer, at);
      });
    }
  if (failed(visitBlock(block)))
    return failure();
  FailureOr<Carried> next = readAll(inRegisters(loop, block.getTerminator()->getOperands()));
  // Last: the trip reads the arrays as they were at its begin.
  if (failed(next) || (loop == plan.loop && failed(storeUpdates(loop))))
    return failure();
  return next;
}

FailureOr<Carried> RegisterLoopEmitter::writeCounted(hlo::WhileOp loop, int64_t trips,
                                                     ValueRange initial) {
  auto counted = builder().create<scf::ForOp>(loc(), lowering.constant(0), lowering.constant(trips),
                                              lowering.constant(1), initial);
  OpBuilder::InsertionGuard guard(builder());
  builder().setInsertionPointToStart(counted.getBody());
  ElementEmitter::Level level(emitter, counted);
  FailureOr<Carried> next = writeBody(loop, counted.getRegionIterArgs());
  if (failed(next))
    return failure();
  if (!initial.empty()) // else the loop has its terminator already
    builder().create<scf::YieldOp>(loc(), *next);
  return Carried(counted.getResults());
}

/// With a condition, or counted, and ending early where the execution is cancelled.
FailureOr<Carried> RegisterLoopEmitter::writeWhile(hlo::WhileOp loop, std::optional<int64_t> trips,
                                                   ValueRange initial) {
  lowering.kernel.setPollsCancel(true);
  Carried first(initial);
  if (trips)
    first.push_back(lowering.constant(0));
  SmallVector<Location> locations(first.size(), loc());
  auto op = builder().create<scf::WhileOp>(loc(), ValueRange(first).getTypes(), first);
  OpBuilder::InsertionGuard guard(builder());
  TypeRange types = ValueRange(first).getTypes();
  {
    Block *before = builder().createBlock(&op.getBefore(), {}, types, locations);
    ElementEmitter::Level level(emitter, op);
    Value holds;
    if (trips) {
      holds =
          builder().create<arith::CmpIOp>(loc(), arith::CmpIPredicate::slt,
                                          before->getArguments().back(), lowering.constant(*trips));
    } else {
      defineAll(inRegisters(loop, loop.getCond().front().getArguments()), before->getArguments());
      FailureOr<Value> condition = writeCondition(loop);
      if (failed(condition))
        return failure();
      holds = *condition;
    }
    Num stops(emitter.context(), builder().create<CancelledOp>(loc(), builder().getI1Type()));
    builder().create<scf::ConditionOp>(loc(), Num(emitter.context(), holds) & ~stops,
                                       before->getArguments());
  }
  Block *after = builder().createBlock(&op.getAfter(), {}, types, locations);
  ElementEmitter::Level level(emitter, op);
  ValueRange flat = after->getArguments();
  FailureOr<Carried> next = writeBody(loop, flat.take_front(initial.size()));
  if (failed(next))
    return failure();
  if (trips)
    next->push_back(lowering.add(flat.back(), lowering.constant(1)));
  builder().create<scf::YieldOp>(loc(), *next);
  return Carried(op.getResults().take_front(initial.size()));
}

LogicalResult RegisterLoopEmitter::visitLoop(hlo::WhileOp loop) {
  FailureOr<Carried> initial = readAll(inRegisters(loop, loop->getOperands()));
  if (failed(initial))
    return failure();
  std::optional<int64_t> trips = tripsOf(loop);
  bool isShort = trips && *trips * std::max<int64_t>(plan.instructions, 1) < kUnpolledInstructions;
  FailureOr<Carried> results =
      isShort ? writeCounted(loop, *trips, *initial) : writeWhile(loop, trips, *initial);
  if (failed(results))
    return failure();
  defineAll(inRegisters(loop, loop->getResults()), *results);
  return success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The buffer of an array that the loop updates: the result's, which holds the
/// array already.
Value RegisterLoopEmitter::bufferOf(unsigned carried) {
  for (unsigned i = 0; i < lowering.fusion.getNumResults(); ++i)
    if (graph::carriedNumber(lowering.fusion, i) == carried)
      return emitter.outputBuffer(i);
  return {};
}

/// Writes the slices of this trip; all of them are read before.
LogicalResult RegisterLoopEmitter::storeUpdates(hlo::WhileOp loop) {
  struct Part {
    hlo::DynamicUpdateSliceOp op;
    Value buffer;
    Position start;
    Elements elements;
  };
  SmallVector<Part, 2> parts;
  for (unsigned i : plan.inMemory.set_bits())
    for (hlo::DynamicUpdateSliceOp op : graph::updatesInPlace(loop, i)) {
      Part part{op, bufferOf(i), {}, {}};
      for (auto [d, start] : llvm::enumerate(op.getStartIndices())) {
        int64_t limit = typeOf(op).getDimSize(d) - typeOf(op.getUpdate()).getDimSize(d);
        FailureOr<Index> clamped = emitter.clampedStart(start, limit);
        if (failed(clamped))
          return failure();
        part.start.push_back(*clamped);
      }
      FailureOr<Elements> elements = read(op.getUpdate());
      if (failed(elements))
        return failure();
      part.elements = std::move(*elements);
      parts.push_back(std::move(part));
    }
  for (Part &part : parts)
    for (auto [i, element] : llvm::enumerate(part.elements)) {
      Position position = positionOf(part.op.getUpdate(), i);
      for (auto [index, offset] : llvm::zip_equal(position, part.start))
        index = emitter.space().add(index, offset);
      if (failed(emitter.store(element, typeOf(part.op), part.buffer, position)))
        return failure();
    }
  return success();
}

/// Stores what the loop leaves in registers. What all members share is stored by
/// the first task.
LogicalResult RegisterLoopEmitter::storeResults() {
  OpBuilder::InsertionGuard guard(builder());
  for (unsigned i = 0; i < lowering.fusion.getNumResults(); ++i) {
    unsigned carried = graph::carriedNumber(lowering.fusion, i);
    if (plan.inMemory.test(carried))
      continue;
    Value value = plan.loop->getResult(carried);
    Elements elements = registers.lookup(value);
    auto store = [&]() -> LogicalResult {
      for (auto [number, element] : llvm::enumerate(elements))
        if (failed(emitter.store(element, typeOf(value), emitter.outputBuffer(i),
                                 positionOf(value, number))))
          return failure();
      return success();
    };
    if (isBatched(value) || plan.batch.empty()) {
      if (failed(store()))
        return failure();
      continue;
    }
    OpBuilder::InsertionGuard inner(builder());
    Value isFirst = builder().create<arith::CmpIOp>(
        loc(), arith::CmpIPredicate::eq, lowering.kernel.getTask(), lowering.constant(0));
    auto branch = builder().create<scf::IfOp>(loc(), isFirst, /*withElseRegion=*/false);
    builder().setInsertionPointToStart(branch.thenBlock());
    ElementEmitter::Level level(emitter, branch);
    ElementEmitter::Tile tile(emitter, 1);
    if (failed(store()))
      return failure();
  }
  return success();
}

LogicalResult RegisterLoopEmitter::run() {
  for (Value value : plan.changing)
    emitter.depend(value);
  if (failed(hoistTiles()) || failed(visitLoop(plan.loop)))
    return failure();
  return storeResults();
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

namespace {

/// How the members are divided.
struct Tiles {
  int64_t lanes = 1, extent = 1, rows = 1, perRow = 1;
};

/// Bits of the registers that most work is done in.
int64_t prevailingBits(const graph::RegisterLoop &plan) {
  int64_t doubles = 0, operations = 0;
  plan.loop->walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      Type element = registerType(getElementTypeOrSelf(type));
      doubles += element.isIntOrFloat() && element.getIntOrFloatBitWidth() == 64;
      ++operations;
    }
  });
  return 2 * doubles > operations ? 64 : 32;
}

/// Whether an array that is updated in place is read too: then a member's update
/// must be made once.
bool readsUpdated(const graph::RegisterLoop &plan) {
  Block &body = hlo::WhileOp(plan.loop).getBody().front();
  return llvm::any_of(plan.inMemory.set_bits(),
                      [&](unsigned i) { return !body.getArgument(i).hasOneUse(); });
}

Tiles makeTiles(const graph::RegisterLoop &plan, const machine::Machine &machine) {
  Tiles tiles;
  if (plan.batch.empty())
    return tiles;
  tiles.extent = plan.extents.back();
  for (int64_t extent : ArrayRef(plan.extents).drop_back())
    tiles.rows *= extent;
  int64_t lanes = machine.lanes(prevailingBits(plan));
  // A trip waits for the one before: with several registers for each value it waits
  // for several at once. Half of the register file is for what the trip makes.
  int64_t held = 1, registers = machine.vectorBits == 512 ? 16 : 8;
  for (auto [i, value] : llvm::enumerate(hlo::WhileOp(plan.loop).getBody().getArguments()))
    if (!plan.inMemory.test(i) && plan.elementsPerMember(value) < typeOf(value).getNumElements())
      held += plan.elementsPerMember(value);
  int64_t wide = lanes;
  while (wide < 4 * lanes && 2 * wide * held <= registers * lanes && 2 * wide <= tiles.extent &&
         tiles.rows * tiles.extent >= 4 * wide * machine.threads)
    wide *= 2;
  lanes = wide;
  lanes = std::min<int64_t>(lanes, 64);
  if (readsUpdated(plan))
    lanes = std::gcd(lanes, tiles.extent);
  tiles.lanes = std::min<int64_t>(lanes, llvm::PowerOf2Ceil(tiles.extent));
  tiles.perRow = llvm::divideCeil(tiles.extent, tiles.lanes);
  return tiles;
}

} // namespace

LogicalResult kernel::lowerWhile(FusionLowering &lowering) {
  hlo::WhileOp loop = graph::loopOf(lowering.fusion);
  std::optional<graph::RegisterLoop> plan =
      loop ? graph::planRegisterLoop(loop) : std::optional<graph::RegisterLoop>();
  if (!plan)
    return lowering.fusion.emitOpError("has no loop whose state fits into registers");
  FuncOp kernel = lowering.kernel;
  ElementEmitter emitter(lowering.builder, lowering.machine, lowering.fusion, kernel.getBuffers());
  Tiles tiles = makeTiles(*plan, lowering.machine);
  int64_t trips = tripsOf(loop).value_or(kGuessedTrips);
  kernel.setTasks(tiles.rows * tiles.perRow);
  kernel.setTaskCostNs(std::min<int64_t>(trips * plan->instructions / 3 + 1, 1'000'000'000));

  // Rows count through all classes but the last, tiles through the last one.
  OpBuilder &builder = lowering.builder;
  IndexSpace &space = emitter.space();
  Position members;
  Value piece = kernel.getTask();
  if (tiles.rows > 1) {
    Value count = lowering.constant(tiles.perRow);
    Value row = builder.createOrFold<arith::DivUIOp>(lowering.loc(), piece, count);
    piece = builder.createOrFold<arith::RemUIOp>(lowering.loc(), piece, count);
    members = space.delinearize(space.variable(row, 0, tiles.rows - 1),
                                ArrayRef(plan->extents).drop_back());
  } else if (!plan->batch.empty()) {
    members.resize(plan->batch.size() - 1);
  }
  if (!plan->batch.empty()) {
    // The last tile ends with the row.
    int64_t last = std::max<int64_t>(tiles.extent - tiles.lanes, 0);
    Value start = lowering.minimum(lowering.multiply(piece, tiles.lanes), last);
    Index lane = space.variable(start, 0, last, std::gcd(tiles.lanes, std::max<int64_t>(last, 1)));
    lane.lane = tiles.lanes > 1 ? 1 : 0;
    members.push_back(lane);
  }
  Value mask = makeMask(builder, lowering.loc(), std::min(tiles.extent, tiles.lanes), tiles.lanes);
  ElementEmitter::Tile tile(emitter, tiles.lanes, mask, std::min(tiles.extent, tiles.lanes));
  return RegisterLoopEmitter(lowering, emitter, *plan, members).run();
}
