//===- AttentionPlan.cpp - blocks and tasks of attention on matrix units ---===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "kernel/UnitAttention.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

/// Rows of a block, keys of a block, and of one where a diagonal crosses few of them.
static constexpr int64_t kRows = 512, kKeys = 1024, kKeysOfMasked = 512, kFewestKeys = 256;
/// A run without a divisor that suits is one block up to this.
static constexpr int64_t kMostRows = 2048, kFewestRows = 32;
/// Items of a task: beginning and ending should be little beside them.
static constexpr int64_t kItems = 16;
/// Tasks, if there is work for so many: the first one waits for its boxes.
static constexpr int64_t kFewestTasks = 8;
/// Cycles from a result to its pop, at most.
static constexpr int64_t kPopCycles = 8;
/// Cycles from a score in near memory to the push of its weight, about.
static constexpr int64_t kWeightCycles = 16;

/// The greatest divisor up to `most`, multiples of `step` first.
static int64_t divisorOf(int64_t extent, int64_t most, int64_t step) {
  int64_t best = 1;
  for (int64_t size = 1; size <= std::min(most, extent); ++size)
    if (extent % size == 0 && (size % step == 0 || best % step != 0))
      best = size;
  return best;
}

void UnitAttention::plan() {
  const machine::Machine &machine = lowering.machine;
  size = machine.matrixTile, halves = size / kTileColumns;
  blocks.rows = divisorOf(view.run, kRows, kTileRows);
  if (blocks.rows < kFewestRows && view.run <= kMostRows)
    blocks.rows = view.run;
  groups = llvm::divideCeil(blocks.rows, kTileRows);
  int64_t most = masksByRow && view.keys < 2 * kKeys ? kKeysOfMasked : kKeys;
  blocks.keys = view.keys;
  if (view.keys > most) {
    blocks.keys = divisorOf(view.keys, most, kTileColumns);
    if (blocks.keys < kFewestKeys || blocks.keys % kTileColumns)
      blocks.keys = evenBlock(view.keys, kKeysOfMasked, kTileColumns);
  }
  blocks.keyBlocks = llvm::divideCeil(view.keys, blocks.keys);
  paddedKeys = blocks.keys * blocks.keyBlocks;
  if (paddedKeys > view.keys)
    boxes.keys = boxes.values = std::nullopt;
  scoreSplit = splitUnits(view.depth, blocks.keys);
  mixSplit = splitUnits(blocks.keys, view.width);
  sumsInProduct = halves > 1 && view.width <= kTileColumns;

  blocks.rowBlocks = view.run / blocks.rows;
  while (blocks.rowBlocks > 1 && !fits())
    blocks.rowBlocks = divisorOf(blocks.rowBlocks, blocks.rowBlocks - 1, 1);
  rowTasks = view.run / blocks.rows / blocks.rowBlocks;
  chooseHeads();
  resultsAtEnd = !boxes.result;

  int64_t pace = machine.matrixPushCycles;
  int64_t slots = groups * std::min(scoreSplit.passes * scoreSplit.columnSteps,
                                    mixSplit.passes * mixSplit.columnSteps);
  stream.lag = std::min(slots, (machine.matrixLatency + kPopCycles) / pace + 2);
  stream.ahead = llvm::divideCeil(kWeightCycles, pace) + 1;
}

/// Whether the boxes of a task, which are there twice, and what it keeps fit near memory.
bool UnitAttention::fits() const {
  int64_t rows = blocks.rowBlocks * groups * kTileRows;
  int64_t width = llvm::alignTo(view.width, kTileColumns);
  int64_t boxed =
      heads * (rows * (view.depth + view.width) + paddedKeys * (view.depth + view.width));
  int64_t kept = 2 * groups * kTileRows * llvm::alignTo(blocks.keys, kTileColumns) +
                 heads * rows * (width + kTileColumns);
  return boxed * 4 * 2 + kept * 4 <= lowering.machine.l2Bytes * 3 / 4;
}

/// Several heads where their boxes lie at equal distances.
void UnitAttention::chooseHeads() {
  if (boxes.radices.empty() || !boxes.queries || !boxes.keys || !boxes.values || !boxes.result)
    return;
  int64_t runs = view.rows / view.run, radix = boxes.radices.back();
  if (runs > 1)
    radix = std::gcd(radix, runs);
  int64_t tasks = view.batch * runs * rowTasks, items = blocks.rowBlocks * blocks.keyBlocks;
  for (int64_t more = 2; more <= radix; ++more) {
    if (radix % more || more * items > kItems || tasks / more < kFewestTasks)
      continue;
    int64_t before = std::exchange(heads, more);
    if (!fits())
      heads = before;
  }
}

void UnitAttention::splitTask() {
  int64_t runs = view.rows / view.run, runTasks = runs > 1 ? runs / heads : 1;
  int64_t batchTasks = runs > 1 ? view.batch : view.batch / heads;
  Value rest = lowering.kernel.getTask();
  auto split = [&](int64_t count) {
    Value divisor = index(count);
    Value digit = builder.createOrFold<arith::RemUIOp>(loc(), rest, divisor);
    rest = builder.createOrFold<arith::DivUIOp>(loc(), rest, divisor);
    return count == 1 ? Index(0) : space.variable(digit, 0, count - 1);
  };
  Index chunk = split(rowTasks), run = split(runTasks), batch = split(batchTasks);
  int64_t headsOfRun = runs > 1 ? heads : 1, headsOfBatch = runs > 1 ? 1 : heads;
  task.row = space.add(space.scale(run, headsOfRun * view.run),
                       space.scale(chunk, blocks.rowBlocks * blocks.rows));
  task.batch = space.scale(batch, headsOfBatch);
}
