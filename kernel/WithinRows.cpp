//===- WithinRows.cpp - across the 128 lanes of each row of a register -----===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "kernel/WithinRows.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace spokeshave::kernel;

Num spokeshave::kernel::rotateWithinRows(Num value, int64_t by) {
  SmallVector<int64_t> lanes;
  for (int64_t lane = 0; lane < kTileLanes; ++lane)
    lanes.push_back(lane / kTileColumns * kTileColumns + (lane + by) % kTileColumns);
  ArithContext &in = value.in();
  return {in, in.builder.create<vector::ShuffleOp>(in.loc, Value(value), Value(value), lanes)};
}

Num spokeshave::kernel::reduceWithinRows(Num value, llvm::function_ref<Num(Num, Num)> combine) {
  for (int64_t distance = kTileColumns / 2; distance; distance /= 2)
    value = combine(value, rotateWithinRows(value, distance));
  return value;
}

Value spokeshave::kernel::makePositionMask(OpBuilder &builder, Location loc, int64_t count,
                                           bool ofRows) {
  auto type = VectorType::get({kTileLanes}, builder.getI32Type());
  SmallVector<int32_t> numbers;
  for (int64_t lane = 0; lane < kTileLanes; ++lane)
    numbers.push_back(lane);
  auto splat = [&](int32_t value) -> Value {
    return builder.create<arith::ConstantOp>(loc, DenseElementsAttr::get(type, value));
  };
  Value lane =
      builder.create<arith::ConstantOp>(loc, DenseElementsAttr::get(type, ArrayRef(numbers)));
  Value at;
  if (ofRows)
    at = builder.create<arith::ShRUIOp>(loc, lane, splat(llvm::Log2_64(kTileColumns)));
  else
    at = builder.create<arith::AndIOp>(loc, lane, splat(kTileColumns - 1));
  return builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, at, splat(count));
}

/// Register j, sublane s, lane l hold row 8 j + s, column l. First the bits of j and
/// the four high bits of l change places, one after another, as in a butterfly; then,
/// within each register, s and the three low bits of l. The last step is folded into
/// the one before.
void spokeshave::kernel::transposeTile(OpBuilder &builder, Location loc,
                                       MutableArrayRef<Value> registers) {
  for (int64_t bit = 0; bit < 4; ++bit) {
    int64_t step = 1 << bit, ofLane = kTileRows << bit;
    // Where lane `lane` comes from: of the register with the bit off, or (+ 1024) on.
    auto source = [&](int64_t lane, bool upper) {
      bool on = lane & ofLane;
      return (upper ? lane | ofLane : lane & ~ofLane) + (on ? kTileLanes : 0);
    };
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < kTileLanes; ++lane) {
      int64_t from = lane;
      if (bit == 3) { // sublane t, lane m takes sublane m mod 8, lane 8 (m / 8) + t
        int64_t t = lane / kTileColumns, m = lane % kTileColumns;
        from = m % kTileRows * kTileColumns + m / kTileRows * kTileRows + t;
      }
      low.push_back(source(from, false));
      high.push_back(source(from, true));
    }
    for (int64_t j = 0; j < int64_t(registers.size()); ++j) {
      if (j & step)
        continue;
      Value a = registers[j], b = registers[j + step];
      registers[j] = builder.create<vector::ShuffleOp>(loc, a, b, low);
      registers[j + step] = builder.create<vector::ShuffleOp>(loc, a, b, high);
    }
  }
}
