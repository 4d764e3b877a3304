//===- UnitSplit.cpp - how a product is spread over the matrix units -------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "target/tpu/MatrixPipeline.h"

using namespace spokeshave;
using namespace spokeshave::tpu;

/// Cycles to fill and drain a pipeline, about.
constexpr int64_t kDrainCycles = 400;

int64_t tpu::slotCycles(const Timing &timing, int64_t pushCycles, const UnitSplit &split) {
  int64_t halves = timing.matrixSize / kLanes;
  int64_t units = split.depthUnits * split.columnUnits * split.rowUnits;
  int64_t sums = split.columnUnits * split.rowUnits * halves;
  int64_t loads = split.depthUnits * split.rowUnits * halves + sums;
  auto cycles = [&](Unit unit, int64_t count) {
    return int64_t(llvm::divideCeil(count, timing.slots[unsigned(unit)]));
  };
  return std::max({pushCycles, cycles(Unit::VectorStore, sums), cycles(Unit::VectorLoad, loads),
                   cycles(Unit::MatrixPop, units * halves), cycles(Unit::MatrixPush, units),
                   cycles(Unit::VectorAlu, units * halves)});
}

UnitSplit tpu::chooseSplit(const Timing &timing, int64_t pushCycles, int64_t rows, int64_t columns,
                           int64_t depth) {
  UnitSplit best;
  int64_t least = INT64_MAX, size = timing.matrixSize, units = timing.matrixUnits;
  for (int64_t depthUnits = units; depthUnits >= 1; --depthUnits)
    for (int64_t columnUnits = units / depthUnits; columnUnits >= 1; --columnUnits) {
      UnitSplit split{depthUnits, columnUnits, units / (depthUnits * columnUnits)};
      int64_t passes = llvm::divideCeil(depth, size * depthUnits);
      int64_t groups = llvm::divideCeil(columns, size * columnUnits);
      int64_t slots = llvm::divideCeil(llvm::divideCeil(rows, kSublanes), split.rowUnits);
      int64_t step = std::max(slots * slotCycles(timing, pushCycles, split),
                              size / kSublanes * timing.matrixLatch);
      int64_t regions = (depth > size * depthUnits && depth % (size * depthUnits) != 0) +
                        (columns > size * columnUnits && columns % (size * columnUnits) != 0);
      int64_t cycles = passes * groups * step + regions * kDrainCycles;
      if (cycles < least)
        least = cycles, best = split;
    }
  return best;
}
