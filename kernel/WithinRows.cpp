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
