//===- TurnTiles.cpp - transposed copies through the cross-lane unit -------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile of 128 x 128 is 16 registers of 8 rows of 128. Row 8 i + s of the tile is
// sublane s of register i, column 8 q + t is lane 8 q + t. Four rounds of exchanges
// between pairs of registers swap the bits of i with those of q (a butterfly, as for
// transposing a square of registers); the last one swaps s with t within the
// registers as well.
//
//===----------------------------------------------------------------------===//
#include "kernel/TurnTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

namespace {

constexpr int64_t kTile = 128, kSublanes = 8, kRegisters = kTile / kSublanes,
                  kLanes = kTile * kSublanes;

class TileTurner {
public:
  TileTurner(OpBuilder &builder, Location loc, const NearMatrix &from, const NearMatrix &to)
      : builder(builder), loc(loc), from(from), to(to) {
    Type element = cast<MemRefType>(from.buffer.getType()).getElementType();
    if (!element.isF32())
      element = builder.getIntegerType(element.getIntOrFloatBitWidth());
    type = VectorType::get({kLanes}, element);
  }
  void run();

private:
  Value constant(int64_t i) { return builder.create<arith::ConstantIndexOp>(loc, i); }
  Value scaled(Value value, int64_t by) {
    return builder.createOrFold<arith::MulIOp>(loc, value, constant(by));
  }
  Value sum(Value a, Value b) { return builder.createOrFold<arith::AddIOp>(loc, a, b); }
  Value mask(int64_t rows, int64_t columns);
  void alongTiles(int64_t extent, llvm::function_ref<void(Value first, int64_t count)> body);
  void turn(Value row, int64_t rows, Value column, int64_t columns);
  void exchange(MutableArrayRef<Value> registers, int64_t bit);

  OpBuilder &builder;
  Location loc;
  const NearMatrix &from, &to;
  VectorType type;
};

} // namespace

Value TileTurner::mask(int64_t rows, int64_t columns) {
  if (rows >= kSublanes && columns >= kTile)
    return {};
  SmallVector<bool> on;
  for (int64_t lane = 0; lane < kLanes; ++lane)
    on.push_back(lane / kTile < rows && lane % kTile < columns);
  auto bits = VectorType::get({kLanes}, builder.getI1Type());
  return builder.create<arith::ConstantOp>(loc, DenseElementsAttr::get(bits, on));
}

/// One round: registers that differ in `bit` change places with lanes that do.
void TileTurner::exchange(MutableArrayRef<Value> registers, int64_t bit) {
  int64_t laneBit = kSublanes << bit;
  bool isLast = (int64_t(2) << bit) == kRegisters;
  SmallVector<int64_t> low, high;
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    // Where the element stands before the exchange within the register.
    int64_t sublane = lane / kTile, column = lane % kTile;
    int64_t at =
        isLast ? column % kSublanes * kTile + column / kSublanes * kSublanes + sublane : lane;
    bool upper = at & laneBit;
    low.push_back(upper ? kLanes + (at ^ laneBit) : at);
    high.push_back(upper ? kLanes + at : (at ^ laneBit));
  }
  for (int64_t i = 0; i < kRegisters; ++i) {
    if (i >> bit & 1)
      continue;
    Value a = registers[i], b = registers[i | int64_t(1) << bit];
    registers[i] = builder.create<vector::ShuffleOp>(loc, a, b, low);
    registers[i | int64_t(1) << bit] = builder.create<vector::ShuffleOp>(loc, a, b, high);
  }
}

void TileTurner::turn(Value row, int64_t rows, Value column, int64_t columns) {
  Value source = sum(scaled(row, from.pitch), column);
  SmallVector<Value> registers;
  for (int64_t i = 0; i < kRegisters; ++i) {
    int64_t present = rows - i * kSublanes;
    if (present <= 0) {
      registers.push_back(
          builder.create<arith::ConstantOp>(loc, builder.getZeroAttr(type)).getResult());
      continue;
    }
    Value at = sum(source, constant(i * kSublanes * from.pitch));
    registers.push_back(
        builder.create<LoadRowsOp>(loc, type, from.buffer, at, mask(present, columns), from.pitch));
  }
  for (int64_t bit = 0; (int64_t(1) << bit) < kRegisters; ++bit)
    exchange(registers, bit);
  Value target = sum(scaled(column, to.pitch), row);
  for (int64_t q = 0; q < kRegisters; ++q) {
    Value at = sum(target, constant(q * kSublanes * to.pitch));
    builder.create<StoreRowsOp>(loc, registers[q], to.buffer, at, Value(), to.pitch);
  }
}

void TileTurner::alongTiles(int64_t extent, llvm::function_ref<void(Value, int64_t)> body) {
  int64_t whole = extent / kTile * kTile;
  if (whole) {
    auto loop = builder.create<scf::ForOp>(loc, constant(0), constant(whole), constant(kTile));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar(), kTile);
  }
  if (extent > whole)
    body(constant(whole), extent - whole);
}

void TileTurner::run() {
  alongTiles(from.columns, [&](Value column, int64_t columns) {
    alongTiles(from.rows, [&](Value row, int64_t rows) { turn(row, rows, column, columns); });
  });
}

void kernel::turnTiles(OpBuilder &builder, Location loc, const NearMatrix &from,
                       const NearMatrix &to) {
  TileTurner(builder, loc, from, to).run();
}
