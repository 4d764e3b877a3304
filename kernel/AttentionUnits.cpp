//===- AttentionUnits.cpp - attention on matrix units ----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For machines whose registers are 8 rows of 128 columns. A task is some heads; its
// items are the pairs of a block of rows and a block of keys, a head's rows after
// each other, and of each all blocks of keys that it may see. Queries, keys, values
// and the result are boxes in near memory; where they do not lie as boxes they are
// packed, and a task is one head. AttentionPlan.cpp chooses blocks and tasks.
//
// Both products of all items are one sequence through the matrix units. So that these
// never wait for a softmax, round i has
//
//   on the matrix units     the mix of item i, then the scores of item i + 2
//   beside them             the maxima of item i + 1, the results of item i - 1
//
// and scores and statistics are there twice.
//
//===----------------------------------------------------------------------===//
#include "kernel/UnitAttention.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

UnitAttention::UnitAttention(FusionLowering &lowering, AttentionView &view, ElementEmitter &emitter)
    : lowering(lowering), view(view), emitter(emitter), space(emitter.space()),
      builder(lowering.builder), f32(builder.getF32Type()),
      registerType(VectorType::get({kTileLanes}, f32)) {}

Value UnitAttention::scratch(int64_t elements) {
  int64_t offset = scratchBytes;
  scratchBytes += llvm::alignTo(elements * 4, 4096);
  return builder.create<ScratchOp>(loc(), MemRefType::get({elements}, f32), offset);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Declares what a task uses of an operand: of each head `rows` rows, of which the
/// task's number says which ones if they move with it.
UnitAttention::Rows UnitAttention::window(const AttentionBox &box, int64_t rows, int64_t limit,
                                          int64_t columns, bool moves) {
  SmallVector<int64_t> radices(boxes.radices), sizes, strides, limits, digits, steps;
  int64_t last = int64_t(radices.size()) - 1;
  if (heads > 1)
    radices[last] /= heads;
  radices.push_back(rowTasks);
  auto add = [&](int64_t size, int64_t stride, int64_t most, int64_t digit, int64_t step) {
    sizes.push_back(size), strides.push_back(stride), limits.push_back(most);
    digits.push_back(digit), steps.push_back(step);
  };
  for (auto [digit, stride] : llvm::enumerate(box.outer)) {
    int64_t count = int64_t(digit) == last ? heads : 1;
    if (stride)
      add(count, stride, radices[digit] * count, digit, count);
  }
  add(rows, box.rowStride, limit, moves ? int64_t(radices.size()) - 1 : -1, moves ? rows : 0);
  add(columns, 1, columns, -1, 0);
  int64_t count = heads > 1 && box.outer[last] ? heads : 1;
  Type element = cast<MemRefType>(box.buffer.getType()).getElementType();
  Value view = builder.create<WindowOp>(loc(), MemRefType::get({count * rows * columns}, element),
                                        box.buffer, box.base, radices, sizes, strides, limits,
                                        digits, steps);
  return {view, columns, count > 1 ? rows * columns : 0};
}

/// Writes rows to near memory; of those up to `padded` zeros.
LogicalResult UnitAttention::pack(Rows to, int64_t rows, int64_t padded, int64_t columns,
                                  EmitElement element) {
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
      Num kept = on ? select(number(on), value->re, 0.0) : value->re;
      storeRows(kept, to, space.add(space.scale(row, to.stride), column));
    }
    return success();
  };
  int64_t whole = rows / kTileRows;
  if (whole && failed(forRange(emitter, index(0), index(whole), whole, [&](const Index &i) {
        return group(space.scale(i, kTileRows), kTileRows);
      })))
    return failure();
  if (rows % kTileRows && failed(group(Index(whole * kTileRows), rows % kTileRows)))
    return failure();
  for (int64_t row = llvm::alignTo(rows, kTileRows); row < padded; row += kTileRows)
    for (int64_t column = 0; column < columns; column += kTileColumns)
      storeRows(splat(0), to, Index(row * to.stride + column));
  return success();
}

LogicalResult UnitAttention::bringOperands() {
  int64_t taskRows = blocks.rowBlocks * blocks.rows;
  auto packed = [&](int64_t rows, int64_t columns) {
    int64_t stride = llvm::alignTo(columns, kTileColumns);
    return Rows{scratch(llvm::alignTo(rows, kTileRows) * stride), stride};
  };
  if (boxes.result)
    result = window(*boxes.result, taskRows, view.run, view.width, /*moves=*/true);
  if (boxes.queries) {
    queries = window(*boxes.queries, taskRows, view.run, view.depth, /*moves=*/true);
  } else {
    queries = packed(taskRows, view.depth);
    auto element = [&](const Index &row, const Index &k) {
      return emitter.emit(view.queries(), view.query(task.batch, space.add(task.row, row), k));
    };
    if (failed(pack(queries, taskRows, taskRows, view.depth, element)))
      return failure();
  }
  if (boxes.keys) {
    keys = window(*boxes.keys, view.keys, view.keys, view.depth, /*moves=*/false);
  } else {
    keys = packed(paddedKeys, view.depth);
    auto element = [&](const Index &key, const Index &k) {
      return emitter.emit(view.keysTensor(), view.key(task.batch, task.row, key, k));
    };
    if (failed(pack(keys, view.keys, paddedKeys, view.depth, element)))
      return failure();
  }
  if (boxes.values) {
    values = window(*boxes.values, view.keys, view.keys, view.width, /*moves=*/false);
    return success();
  }
  values = packed(paddedKeys, view.width);
  return pack(values, view.keys, paddedKeys, view.width,
              [&](const Index &key, const Index &column) {
                return emitter.emit(view.values(), view.value(task.batch, key, column));
              });
}

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

/// Blocks of keys that a block of rows may see, at least one.
Value UnitAttention::visibleBlocks(Value head, Value rows) {
  Item item = itemAt({head, rows, index(0)}, index(0));
  int64_t fewest = heads * blocks.rowBlocks == 1 ? 2 : 1; // a task has two items
  Index end = space.add(*item.maskRow, blocks.rows + view.causal->offset + blocks.keys - 1);
  Value most = lowering.minimum(space.scalar(end), paddedKeys);
  most = builder.create<arith::MaxSIOp>(loc(), most, index(fewest * blocks.keys));
  return builder.createOrFold<arith::DivUIOp>(loc(), most, index(blocks.keys));
}

/// Items of a task.
Value UnitAttention::countItems() {
  if (!masksByRow || blocks.keyBlocks == 1)
    return index(heads * blocks.rowBlocks * blocks.keyBlocks);
  Value count = index(0);
  for (int64_t block = 0; block < blocks.rowBlocks; ++block)
    count =
        builder.createOrFold<arith::AddIOp>(loc(), count, visibleBlocks(index(0), index(block)));
  return builder.createOrFold<arith::MulIOp>(loc(), count, index(heads));
}

/// Where all blocks of keys are seen.
UnitAttention::Place UnitAttention::placeOf(Value number) {
  auto digit = [&](int64_t count) {
    Value divisor = index(count);
    Value digit = builder.createOrFold<arith::RemUIOp>(loc(), number, divisor);
    number = builder.createOrFold<arith::DivUIOp>(loc(), number, divisor);
    return count == 1 ? index(0) : digit;
  };
  Value keys = digit(blocks.keyBlocks), rows = digit(blocks.rowBlocks);
  return {heads == 1 ? index(0) : number, rows, keys};
}

/// The place behind: blocks of keys as far as the rows see them.
UnitAttention::Place UnitAttention::following(const Place &place) {
  auto advance = [&](Value digit, Value extent, Value carry) -> std::pair<Value, Value> {
    Value next = builder.createOrFold<arith::AddIOp>(loc(), digit, index(1));
    Value ends = builder.create<arith::CmpIOp>(loc(), arith::CmpIPredicate::sge, next, extent);
    Value wrapped = builder.create<arith::SelectOp>(loc(), ends, index(0), next);
    if (!carry)
      return {wrapped, ends};
    return {builder.create<arith::SelectOp>(loc(), carry, wrapped, digit),
            builder.create<arith::AndIOp>(loc(), carry, ends)};
  };
  auto [keys, rowsMove] = advance(place.keys, visibleBlocks(place.head, place.rows), {});
  auto [rows, headMoves] = advance(place.rows, index(blocks.rowBlocks), rowsMove);
  auto [head, _] = advance(place.head, index(heads), headMoves);
  return {head, rows, keys};
}

Value UnitAttention::reachOf(const Item &item) {
  SmallVector<int32_t> lanes;
  for (int64_t lane = 0; lane < kTileLanes; ++lane)
    lanes.push_back(lane / kTileColumns - lane % kTileColumns);
  auto type = VectorType::get({kTileLanes}, builder.getI32Type());
  Value ofLane =
      builder.create<arith::ConstantOp>(loc(), DenseElementsAttr::get(type, ArrayRef(lanes)));
  Index first = space.add(space.subtract(*item.maskRow, item.key), view.causal->offset);
  Value scalar =
      builder.create<arith::IndexCastOp>(loc(), builder.getI32Type(), space.scalar(first));
  Value all = builder.create<vector::BroadcastOp>(loc(), type, scalar);
  return builder.create<arith::AddIOp>(loc(), all, ofLane);
}

UnitAttention::Item UnitAttention::itemAt(const Place &place, Value number) {
  auto variable = [&](Value value, int64_t count) {
    return count == 1 ? Index(0) : space.variable(value, 0, count - 1);
  };
  Item item;
  item.head = variable(place.head, heads);
  item.row = space.scale(variable(place.rows, blocks.rowBlocks), blocks.rows);
  item.key = space.scale(variable(place.keys, blocks.keyBlocks), blocks.keys);
  bool ofRun = view.rows > view.run;
  item.batch = ofRun ? task.batch : space.add(task.batch, item.head);
  item.tensorRow = space.add(task.row, item.row);
  if (ofRun)
    item.tensorRow = space.add(item.tensorRow, space.scale(item.head, view.run));
  item.parity = space.variable(builder.createOrFold<arith::RemUIOp>(loc(), number, index(2)), 0, 1);
  if (masksByRow) {
    item.maskRow = view.scores(item.batch, item.tensorRow, Index(0))[view.causal->rowDim];
    item.reach = reachOf(item);
  }
  if (blocks.keyBlocks > 1) {
    Value later =
        builder.create<arith::CmpIOp>(loc(), arith::CmpIPredicate::ne, place.keys, index(0));
    item.hasSums = builder.create<vector::BroadcastOp>(
        loc(), VectorType::get({kTileLanes}, builder.getI1Type()), later);
  }
  return item;
}

//===----------------------------------------------------------------------===//
// Rounds
//===----------------------------------------------------------------------===//

/// A task of one item: nothing runs beside anything.
void UnitAttention::emitSingle() {
  Item item = itemAt({index(0), index(0), index(0)}, index(0));
  std::vector<UnitStep> scoring = scoreSteps(item), mixing = mixSteps(item);
  std::vector<SideWork> maxima, results;
  appendMaxima(item, {}, maxima);
  appendResults(item, {}, results);
  latchAll(scoring.front());
  stream.write({}, scoring, &mixing.front(), {}, /*drains=*/true);
  stream.write({}, {}, nullptr, maxima, /*drains=*/false);
  stream.write({}, mixing, nullptr, {}, /*drains=*/true);
  if (!resultsAtEnd)
    stream.write({}, {}, nullptr, results, /*drains=*/false);
}

/// The mix of an item, and the scores of the one after next.
void UnitAttention::emitRound(const Item &before, const Item &now, const Item &next,
                              const Item &afterNext) {
  std::vector<UnitStep> pushed = scoreSteps(next), steps = mixSteps(now);
  llvm::append_range(steps, scoreSteps(afterNext));
  std::vector<UnitStep> following = mixSteps(next);
  std::vector<SideWork> side;
  int64_t slots = steps.size() * groups;
  appendMaxima(next, {stream.lag - groups, slots}, side);
  if (!resultsAtEnd)
    appendResults(before, {-groups, slots}, side);
  stream.write(pushed, steps, &following.front(), side, /*drains=*/false);
}

/// The last two items' mix.
void UnitAttention::emitLastRounds(const Item &before, const Item &now, const Item &last) {
  std::vector<UnitStep> pushed = scoreSteps(last), mixing = mixSteps(now), ending = mixSteps(last);
  std::vector<SideWork> beside, behind, results;
  int64_t slots = mixing.size() * groups;
  appendMaxima(last, {stream.lag - groups, slots}, beside);
  if (!resultsAtEnd) {
    appendResults(before, {-groups, slots}, beside);
    appendResults(now, {stream.lag - groups, slots}, behind);
    appendResults(last, {}, results);
  }
  stream.write(pushed, mixing, &ending.front(), beside, /*drains=*/false);
  stream.write(mixing, ending, nullptr, behind, /*drains=*/true);
  stream.write({}, {}, nullptr, results, /*drains=*/false);
}

/// Places as the values of a loop, of four items in a row.
void UnitAttention::emitRounds(Value count) {
  bool walks = masksByRow && blocks.keyBlocks > 1;
  auto flat = [&](ArrayRef<Place> places) {
    SmallVector<Value> values;
    for (const Place &place : places)
      values.append({place.head, place.rows, place.keys});
    return values;
  };
  auto placesOf = [](ValueRange values) {
    SmallVector<Place> places;
    for (size_t i = 0; i < values.size(); i += 3)
      places.push_back({values[i], values[i + 1], values[i + 2]});
    return places;
  };
  // Where the places of those items are: walked to, or computed.
  auto placesAt = [&](ArrayRef<Value> numbers, ValueRange walked) {
    return walks ? placesOf(walked)
                 : llvm::map_to_vector(numbers, [&](Value number) { return placeOf(number); });
  };
  auto itemsAt = [&](ArrayRef<Place> places, ArrayRef<Value> numbers) {
    SmallVector<Item, 4> items;
    for (auto [place, number] : llvm::zip_equal(places, numbers))
      items.push_back(itemAt(place, number));
    return items;
  };
  auto plus = [&](Value value, int64_t more) {
    return builder.createOrFold<arith::AddIOp>(loc(), value, index(more));
  };
  auto minus = [&](Value value, int64_t less) {
    return builder.createOrFold<arith::SubIOp>(loc(), value, index(less));
  };
  Place first{index(0), index(0), index(0)};
  Place second = walks ? following(first) : placeOf(index(1));
  {
    Item one = itemAt(first, index(0)), two = itemAt(second, index(1));
    std::vector<UnitStep> steps = scoreSteps(one), mixing = mixSteps(one);
    llvm::append_range(steps, scoreSteps(two));
    std::vector<SideWork> side;
    int64_t slots = steps.size() * groups;
    appendMaxima(one, {slots / 2 - groups + stream.lag, slots}, side);
    latchAll(steps.front());
    stream.write({}, steps, &mixing.front(), side, /*drains=*/false);
  }
  Value rounds = minus(count, 2);
  SmallVector<Value> init;
  if (walks)
    init = flat({first, first, second, following(second)});
  auto loop = builder.create<scf::ForOp>(loc(), index(0), rounds, index(1), init);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    ElementEmitter::Level level(emitter, loop);
    Value round = loop.getInductionVar();
    Value former = builder.create<arith::MaxSIOp>(loc(), minus(round, 1), index(0));
    std::array<Value, 4> numbers{former, round, plus(round, 1), plus(round, 2)};
    SmallVector<Place> places = placesAt(numbers, loop.getRegionIterArgs());
    SmallVector<Item, 4> items = itemsAt(places, numbers);
    emitRound(items[0], items[1], items[2], items[3]);
    if (walks)
      builder.create<scf::YieldOp>(loc(),
                                   flat({places[1], places[2], places[3], following(places[3])}));
  }
  Value former = builder.create<arith::MaxSIOp>(loc(), minus(count, 3), index(0));
  std::array<Value, 3> numbers{former, minus(count, 2), minus(count, 1)};
  ValueRange walked = loop.getResults();
  SmallVector<Place> places = placesAt(numbers, walks ? walked.take_front(9) : walked);
  SmallVector<Item, 4> items = itemsAt(places, numbers);
  emitLastRounds(items[0], items[1], items[2]);
}

/// Where results may not be written before they are the last ones.
LogicalResult UnitAttention::emitResultsAtEnd() {
  int64_t count = heads * blocks.rowBlocks;
  return forRange(emitter, index(0), index(count), count, [&](const Index &i) {
    Value number = space.scalar(i), rowBlocks = index(blocks.rowBlocks);
    Item item = itemAt({builder.createOrFold<arith::DivUIOp>(loc(), number, rowBlocks),
                        builder.createOrFold<arith::RemUIOp>(loc(), number, rowBlocks), index(0)},
                       index(0));
    std::vector<SideWork> results;
    appendResults(item, {}, results);
    stream.write({}, {}, nullptr, results, /*drains=*/false);
    return success();
  });
}

//===----------------------------------------------------------------------===//
// A task
//===----------------------------------------------------------------------===//

LogicalResult UnitAttention::run() {
  boxes = findAttentionBoxes(view, emitter);
  task.row = task.batch = Index(0);
  masksByRow = maskRow(lowering, emitter, view, task, view.run).has_value();
  plan();
  FuncOp kernel = lowering.kernel;
  int64_t tasks = view.batch * (view.rows / view.run) / heads * rowTasks;
  kernel.setTasks(tasks);
  int64_t flops =
      2 * heads * blocks.rowBlocks * blocks.rows * view.keys * (view.depth + view.width);
  kernel.setTaskCostNs(flops / 50);
  splitTask();
  int64_t scoreStride = llvm::alignTo(blocks.keys, kTileColumns);
  int64_t outStride = llvm::alignTo(view.width, kTileColumns), ofGroups = groups * kTileLanes;
  int64_t taskRows = blocks.rowBlocks * groups * kTileRows;
  scores = {scratch(2 * groups * kTileRows * scoreStride), scoreStride};
  out = {scratch(heads * taskRows * outStride), outStride, taskRows * outStride};
  laneMaxima = scratch(2 * ofGroups), tops = scratch(2 * ofGroups);
  factors = scratch(2 * ofGroups), maxima = scratch(ofGroups);
  sums = scratch(heads * blocks.rowBlocks * ofGroups);
  if (failed(bringOperands()))
    return failure();
  kernel.setScratchBytes(scratchBytes);

  if (heads * blocks.rowBlocks * blocks.keyBlocks == 1)
    emitSingle();
  else
    emitRounds(countItems());
  if (resultsAtEnd && failed(emitResultsAtEnd()))
    return failure();
  return success(good);
}

LogicalResult kernel::lowerUnitAttention(FusionLowering &lowering, AttentionView &view,
                                         ElementEmitter &emitter) {
  return UnitAttention(lowering, view, emitter).run();
}
