//===- UnitPlan.cpp - blocks of a product on a machine with matrix units ---===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See UnitPlan.h.
//
//===----------------------------------------------------------------------===//
#include "kernel/UnitPlan.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace spokeshave;
using namespace spokeshave::kernel;

namespace {

constexpr int64_t kSublanes = 8, kLanes = 128, kRegister = 1024;
/// Cycles that a task takes beside its work: filling and draining the units,
/// transfers, addresses.
constexpr double kTaskCycles = 450;
/// Cycles for a register of the epilogue, and of a packed operand.
constexpr double kEpilogueCycles = 1.2, kPackCycles = 4, kTurnCycles = 9;
/// Cycles between two tiles of weights.
constexpr double kStepCycles = 8;
/// Cycles of the rows that share a set of weights, at most.
constexpr double kMostStep = 1024;

class Model {
public:
  Model(const UnitProduct &product, const machine::Machine &machine)
      : product(product), machine(machine) {}
  int64_t nearBytes(const UnitPlan &plan) const;
  double cycles(const UnitPlan &plan) const;

private:
  double moved(int64_t runs, int64_t elements, int64_t bytes, bool whole) const;
  const UnitProduct &product;
  const machine::Machine &machine;
};

int64_t Model::nearBytes(const UnitPlan &plan) const {
  auto copies = [](int64_t windows) { return windows > 1 ? 2 : 1; };
  int64_t leftWindows = product.batch * plan.rowBlocks * plan.depthBlocks;
  int64_t rightWindows = product.batch * plan.columnBlocks * plan.depthBlocks;
  int64_t outWindows = product.batch * plan.rowBlocks * plan.columnBlocks;
  int64_t left = plan.rows * plan.depth, right = plan.depth * plan.columns,
          out = plan.rows * plan.columns, packed = product.ofBytes ? 1 : 4;
  int64_t bytes = left * product.leftBytes * copies(leftWindows) +
                  right * product.rightBytes * copies(rightWindows) +
                  out * (product.outputBytes + product.epilogueBytes) * copies(outWindows);
  if (!product.sumsInOutput)
    bytes += out * 4;
  if (product.packsLeft)
    bytes += left * packed;
  if (product.packsRight)
    bytes += right * packed;
  return bytes;
}

/// Bytes that `runs` runs of `elements` cost: short ones as much as the granule.
double Model::moved(int64_t runs, int64_t elements, int64_t bytes, bool whole) const {
  if (whole || bytes == 0)
    return double(runs * elements * bytes);
  return double(runs * std::max(elements * bytes, machine.farGranule));
}

double Model::cycles(const UnitPlan &plan) const {
  double tile = double(machine.matrixTile),
         units = double(std::max<int64_t>(1, machine.matrixUnits));
  double push =
      double(product.ofBytes && machine.matrixPushCyclesOfBytes ? machine.matrixPushCyclesOfBytes
                                                                : machine.matrixPushCycles);
  double rowBlocks = double(product.batch * plan.rowBlocks),
         columnBlocks = double(plan.columnBlocks);
  // Cores share what lies outermost.
  double share =
      std::ceil(rowBlocks * columnBlocks / double(plan.cores)) / (rowBlocks * columnBlocks);

  // The units, in a task; and what it and the last one of a block do besides.
  double tiles = std::ceil(double(plan.columns) / tile) * std::ceil(double(plan.depth) / tile);
  double pushing = double(plan.rows) / kSublanes * push;
  double perTile = std::max(pushing, double(machine.matrixWeightCycles)) * double(product.passes);
  double packed = (product.packsLeft ? double(plan.rows * plan.depth) : 0.0) *
                      (product.turnsLeft ? kTurnCycles / kPackCycles : 1) +
                  (product.packsRight ? double(plan.depth * plan.columns) : 0.0);
  double steps = tiles / units * std::ceil(pushing / kMostStep) * double(product.passes);
  double work = tiles * perTile / units + steps * kStepCycles + kTaskCycles +
                packed / kRegister * kPackCycles;
  bool isOneTask = rowBlocks * columnBlocks * double(plan.depthBlocks) == 1;
  double half = isOneTask ? machine.halfResultCycles : machine.halfResultCyclesOfTasks;
  double perRegister = kEpilogueCycles + (product.roundsToHalf ? half : 0);
  double epilogue =
      product.sumsInOutput ? 0 : double(plan.rows * plan.columns) / kRegister * perRegister;

  // Transfers. Windows that do not change from task to task are not loaded again.
  double speed = machine.farBytesPerCycle / double(plan.cores);
  bool wholeDepth = plan.depth >= product.k, wholeColumns = plan.columns >= product.n;
  double left = product.leftRun ? moved(plan.rows * plan.depth / product.leftRun, product.leftRun,
                                        product.leftBytes, /*whole=*/false)
                                : moved(plan.rows, plan.depth, product.leftBytes, wholeDepth);
  left /= speed;
  double right = product.rightAlongDepth
                     ? moved(plan.columns, plan.depth, product.rightBytes, wholeDepth) / speed
                     : moved(plan.depth, plan.columns, product.rightBytes, wholeColumns) / speed;
  double out =
      (moved(plan.rows, plan.columns, product.outputBytes, wholeColumns) * machine.farWriteCost +
       moved(plan.rows, plan.columns, product.epilogueBytes, wholeColumns)) /
      speed;
  left *= product.leftIsNear ? 0 : 1, right *= product.rightIsNear ? 0 : 1;
  out *= product.outputIsNear ? 0 : 1;
  double all = 0;
  if (plan.depthBlocks > 1) {
    // A block's result leaves while the next block begins.
    double inner = double(plan.depthBlocks - 2) * std::max(work, left + right);
    all = rowBlocks * columnBlocks *
          (std::max(work, left + right + out) + inner + std::max(work + epilogue, left + right));
  } else {
    double each = columnBlocks > 1 ? right : 0;
    double ofBatch = columnBlocks > 1 || product.batch > 1 ? right : 0;
    double ofRows = rowBlocks > 1 ? left : 0;
    auto task = [&](double arriving) { return std::max(work + epilogue, arriving + out); };
    all = double(product.batch) * task(ofBatch + ofRows) +
          double(product.batch * (plan.rowBlocks - 1)) * task(each + ofRows) +
          rowBlocks * (columnBlocks - 1) * task(each);
  }
  // Nothing hides the first windows and the last result, nor that cores meet: at the end,
  // or, among other kernels, where this one does not cut its values by rows as they do.
  bool meets = plan.cores > 1;
  if (machine.isAmongKernels)
    meets =
        machine.cores > 1 && (plan.cores == 1 || product.batch * plan.rowBlocks % plan.cores != 0);
  double meeting = meets ? double(machine.coreMeeting) : 0;
  return all * share + left + right + out + 2 * double(machine.farLatency) + meeting;
}

} // namespace

/// Numbers of blocks worth a try: powers of two, and three times these.
static llvm::SmallVector<int64_t> countsFor(int64_t extent, int64_t unit) {
  int64_t most = std::max<int64_t>(1, llvm::divideCeil(extent, unit));
  llvm::SmallVector<int64_t> counts;
  for (int64_t count = 1; count < most; count *= 2) {
    counts.push_back(count);
    if (count > 1 && count * 3 / 2 < most)
      counts.push_back(count * 3 / 2);
  }
  counts.push_back(most);
  return counts;
}

UnitPlan kernel::planUnits(const UnitProduct &product, const machine::Machine &machine) {
  Model model(product, machine);
  // The rest is for tables, spills, and buffers that have no windows.
  int64_t budget = machine.l2Bytes * 7 / 10 - product.wholeBytes;
  int64_t columnUnit = product.n > kLanes ? std::max<int64_t>(machine.matrixTile, kLanes) : kLanes;
  int64_t depthUnit = machine.matrixTile * std::max<int64_t>(1, machine.matrixUnits);
  UnitPlan best;
  double least = -1;
  auto consider = [&](UnitPlan plan) {
    // What does not fit is taken if nothing does, the smallest.
    double cost = model.cycles(plan);
    if (int64_t bytes = model.nearBytes(plan); bytes > budget)
      cost = 1e18 + double(bytes);
    if (least < 0 || cost < least)
      least = cost, best = plan;
  };
  for (int64_t rowBlocks : countsFor(product.m, kLanes / 2))
    for (int64_t columnBlocks : countsFor(product.n, columnUnit))
      for (int64_t depthBlocks : countsFor(product.k, machine.matrixTile)) {
        if (depthBlocks > 1 && !product.cutsDepth)
          continue;
        UnitPlan plan;
        plan.rows = llvm::alignTo(llvm::divideCeil(product.m, rowBlocks), kSublanes);
        plan.columns = llvm::alignTo(llvm::divideCeil(product.n, columnBlocks), columnUnit);
        plan.depth = depthBlocks == 1
                         ? product.k
                         : llvm::alignTo(llvm::divideCeil(product.k, depthBlocks),
                                         product.k / depthBlocks < depthUnit ? machine.matrixTile
                                                                             : depthUnit);
        plan.rowBlocks = llvm::divideCeil(product.m, plan.rows);
        plan.columnBlocks = llvm::divideCeil(product.n, plan.columns);
        plan.depthBlocks = llvm::divideCeil(product.k, plan.depth);
        consider(plan);
        plan.cores = machine.cores;
        if (plan.cores > 1 && product.batch * plan.rowBlocks * plan.columnBlocks > 1)
          consider(plan);
      }
  return best;
}
