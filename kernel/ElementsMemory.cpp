//===- ElementsMemory.cpp - loads and stores of a fusion's buffers ---------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An element's lanes from its buffer and back: runs, gathers, groups of rows,
// and squares that are turned in registers. See Elements.h.
//
//===----------------------------------------------------------------------===//
#include "kernel/Elements.h"

#include "kernel/LowerFusion.h"
#include "kernel/WithinRows.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

/// The operands of an access to part `part` of each element.
static void accessOperands(IndexSpace &space, const Index &linear, int64_t parts, int64_t part,
                           SmallVectorImpl<Value> &operands, int64_t &stride) {
  Index at = space.add(space.scale(linear, parts), part);
  if (at.hasVectors() || (space.columns && !at.isUniform())) {
    operands.push_back(space.perLane(at));
    stride = 1;
  } else {
    operands.push_back(space.scalar(at));
    stride = at.lane;
  }
}

Element ElementEmitter::load(RankedTensorType type, Value buffer, const Position &position) {
  Type element = type.getElementType();
  int64_t parts = isa<ComplexType>(element) ? 2 : 1;
  Index linear = indices.linearize(position, type.getShape());
  Type loaded = loadType(element);
  if (lanes() > 1)
    loaded = VectorType::get({lanes()}, loaded);
  Type scalar = isa<ComplexType>(element) ? cast<ComplexType>(element).getElementType() : element;
  if (parts == 1 && rowBlock.count && lanes() == rowBlock.count)
    if (Value bits = loadTransposed(buffer, linear, cast<VectorType>(loaded)))
      return {fromMemory({arithmetic, bits}, scalar), {}};
  IndexSpace::Range range = indices.range(linear);
  // A chip with matrix units addresses its own memory, all of which is there.
  bool mayLieOutside = conditional && !arithmetic.machine.matrixTile &&
                       (range.min < 0 || range.max >= type.getNumElements());
  auto part = [&](int64_t i) -> Num {
    if (indices.columns && parts == 1)
      if (Value bits = loadRows(buffer, linear, cast<VectorType>(loaded)))
        return fromMemory({arithmetic, bits}, scalar);
    SmallVector<Value> at;
    int64_t stride = 1;
    accessOperands(indices, linear, parts, i, at, stride);
    if (mayLieOutside && lanes() > 1 && std::abs(stride) == 1 && !linear.hasVectors())
      at.front() = addressWhereRead(at.front(), stride);
    Value bits = builder.create<LoadOp>(loc(), loaded, buffer, at, mask, stride);
    return fromMemory({arithmetic, bits}, scalar);
  };
  Element result{part(0), {}};
  if (parts == 2)
    result.im = part(1);
  return result;
}

//===----------------------------------------------------------------------===//
// Tiles of rows
//===----------------------------------------------------------------------===//

/// What is on of a register with a lane per row.
Value ElementEmitter::rowsMask() {
  return makeMask(builder, loc(), indices.activeRows, kTileRows);
}

Value ElementEmitter::loadRows(Value buffer, const Index &at, VectorType type) {
  if (conditional || at.hasVectors()) // indices of lanes that are off may be anywhere
    return {};
  if (at.lane == 1 && at.sublane >= 0)
    return builder.create<LoadRowsOp>(loc(), type, buffer, indices.scalar(at), mask, at.sublane);
  if (squareGroup >= 0 && at.sublane == 1 && at.lane > 1)
    return loadSquare(buffer, at, type);
  if (at.lane != 0)
    return {};
  // An element per row, spread over its lanes.
  auto narrow = VectorType::get({kTileRows}, type.getElementType());
  Value rows = builder.create<LoadOp>(loc(), narrow, buffer, ValueRange{indices.scalar(at)},
                                      rowsMask(), at.sublane);
  SmallVector<int64_t> order;
  for (int64_t lane = 0; lane < kTileLanes; ++lane)
    order.push_back(lane / kTileColumns);
  return builder.create<vector::ShuffleOp>(loc(), rows, rows, order);
}

/// Row g of the square is what group g of the result's rows reads.
Value ElementEmitter::loadSquare(Value buffer, const Index &at, VectorType type) {
  Index base = indices.add(at, -squareGroup * kTileRows);
  for (TransposedTile &tile : transposed)
    if (tile.buffer == buffer && tile.base == base)
      return tile.rows[squareGroup];
  TransposedTile tile{buffer, base, {}};
  Index first = base;
  first.lane = first.sublane = 0;
  for (int64_t row = 0; row < kTileColumns; row += kTileRows) {
    int64_t active = std::min(indices.activeLanes - row, kTileRows);
    if (active <= 0) { // masked off: nothing there to read
      tile.rows.push_back(builder.create<arith::ConstantOp>(loc(), builder.getZeroAttr(type)));
      continue;
    }
    Value on = active < kTileRows ? makePositionMask(builder, loc(), active, true) : Value();
    Value offset = indices.scalar(indices.add(first, row * at.lane));
    tile.rows.push_back(builder.create<LoadRowsOp>(loc(), type, buffer, offset, on, at.lane));
  }
  transposeTile(builder, loc(), tile.rows);
  transposed.push_back(tile);
  return tile.rows[squareGroup];
}

/// Where lanes of a row stand at the same element, they hold the same value.
LogicalResult ElementEmitter::storeRows(Value value, Value buffer, const Index &at) {
  if (conditional || at.hasVectors())
    return failure();
  if (at.lane == 1 && (at.sublane > 0 || indices.activeRows == 1)) {
    builder.create<StoreRowsOp>(loc(), value, buffer, indices.scalar(at), mask, at.sublane);
    return success();
  }
  if (at.lane != 0 || (at.sublane == 0 && indices.activeRows > 1))
    return failure();
  SmallVector<int64_t> order;
  for (int64_t row = 0; row < kTileRows; ++row)
    order.push_back(row * kTileColumns);
  Value rows = builder.create<vector::ShuffleOp>(loc(), value, value, order);
  builder.create<StoreOp>(loc(), rows, buffer, ValueRange{indices.scalar(at)}, rowsMask(),
                          at.sublane);
  return success();
}

/// Where no lane is on, the place of a contiguous load is moved into its buffer. A
/// masked load reads nothing there, but processors find that out by a trap into
/// microcode, a hundred nanoseconds, if the address is on a page that is not mapped.
Value ElementEmitter::addressWhereRead(Value at, int64_t stride) {
  Value first = builder.create<arith::ConstantIndexOp>(loc(), stride < 0 ? lanes() - 1 : 0);
  return builder.create<arith::SelectOp>(loc(), anyLane({arithmetic, mask}), at, first);
}

/// Swaps rows and lanes of a square of registers: in step s, lanes that differ in
/// bit s change places between registers that differ in bit s.
static void transposeSquare(OpBuilder &builder, Location loc, MutableArrayRef<Value> rows) {
  int64_t count = rows.size();
  for (int64_t step = 1; step < count; step *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < count; ++lane) {
      bool upper = lane & step;
      low.push_back(upper ? count + (lane ^ step) : lane);
      high.push_back(upper ? count + lane : (lane ^ step));
    }
    for (int64_t i = 0; i < count; ++i) {
      if (i & step)
        continue;
      Value a = rows[i], b = rows[i + step];
      rows[i] = builder.create<vector::ShuffleOp>(loc, a, b, low);
      rows[i + step] = builder.create<vector::ShuffleOp>(loc, a, b, high);
    }
  }
}

Value ElementEmitter::loadTransposed(Value buffer, const Index &linear, VectorType type) {
  if (conditional || linear.hasVectors() || linear.lane == 0 || linear.lane == 1 ||
      linear.lane == -1)
    return {};
  bool contiguous = llvm::any_of(linear.terms, [&](const Index::Term &term) {
    return term.value == rowBlock.row && term.coefficient == 1;
  });
  if (!contiguous)
    return {};
  Index base = indices.add(linear, -rowBlock.current);
  for (TransposedTile &tile : transposed)
    if (tile.buffer == buffer && tile.base == base)
      return tile.rows[rowBlock.current];
  TransposedTile tile{buffer, base, {}};
  for (int64_t lane = 0; lane < rowBlock.count; ++lane) {
    if (lane >= indices.activeLanes) { // masked off: nothing there to read
      tile.rows.push_back(builder.create<arith::ConstantOp>(loc(), builder.getZeroAttr(type)));
      continue;
    }
    Index at = indices.add(base, lane * base.lane);
    tile.rows.push_back(builder.create<LoadOp>(loc(), type, buffer, ValueRange{indices.scalar(at)},
                                               Value(), /*lane_stride=*/1));
  }
  transposeSquare(builder, loc(), tile.rows);
  transposed.push_back(tile);
  return tile.rows[rowBlock.current];
}

LogicalResult ElementEmitter::store(Element element, RankedTensorType type, Value buffer,
                                    const Position &position) {
  Type elementType = type.getElementType();
  int64_t parts = element.isComplex() ? 2 : 1;
  Index linear = indices.linearize(position, type.getShape());
  for (int64_t i = 0; i < parts; ++i) {
    SmallVector<Value> at;
    int64_t stride = 1;
    accessOperands(indices, linear, parts, i, at, stride);
    Num value = i == 0 ? element.re : element.im;
    if (parts == 1)
      value = toMemory(value, elementType);
    if (indices.columns && parts == 1 && succeeded(storeRows(value, buffer, linear)))
      continue;
    builder.create<StoreOp>(loc(), value, buffer, at, mask, stride);
  }
  return success();
}
