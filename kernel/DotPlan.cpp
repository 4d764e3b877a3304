//===- DotPlan.cpp - blocks and tiles of a matrix product ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registers bound a tile: rows of lhs times a panel of columns, whose
// accumulators stay in them over all of k. The caches bound a block, the threads the
// number of blocks. See LowerDot.cpp.
//
//===----------------------------------------------------------------------===//
#include "kernel/DotPlan.h"

#include "kernel/MatrixPlan.h"

#include <numeric>

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

namespace {

/// For a machine with matrix units: strips and panels that keep the units' weights
/// for many rows, in windows that fit the near memory twice over.
DotPlan makeUnitPlan(const MatrixProblem &view, int64_t bits, const machine::Machine &machine) {
  DotPlan plan;
  // Narrow results leave lanes of the epilogue idle rather than pad the panels.
  plan.lanes =
      std::min<int64_t>(machine.lanes(bits), llvm::alignTo(llvm::PowerOf2Ceil(view.n), 128));
  plan.registers = 1;
  plan.panel = plan.lanes;
  int64_t rows = llvm::alignTo(std::min<int64_t>(view.m, 512), 8);
  auto bytes = [&] {
    return 2 * (rows + plan.panel) * view.k * bits / 8 + rows * plan.panel * bits / 8 * 3;
  };
  while (rows > 64 && bytes() > machine.l2Bytes * 3 / 4)
    rows = llvm::alignTo(rows / 2, 8);
  plan.rows = std::min(rows, view.m);
  plan.blockRows = plan.rows;
  plan.rowBlocks = llvm::divideCeil(view.m, plan.blockRows);
  plan.blockColumns = plan.panel;
  plan.columnBlocks = llvm::divideCeil(view.n, plan.panel);
  return plan;
}

/// Cuts the result into blocks. Each column of blocks reads (and mostly packs) all of
/// lhs anew, each row of them packs all of rhs: of the grids with enough tasks, the
/// one that moves least.
void divideIntoTasks(const MatrixProblem &view, int64_t bytes, const machine::Machine &machine,
                     DotPlan &plan) {
  int64_t panels = llvm::divideCeil(view.n, plan.panel);
  int64_t strips = llvm::divideCeil(view.m, plan.rows);
  // The packed block stays in half of the L2 cache while strips pass over it.
  int64_t panelBytes = std::max<int64_t>(1, view.k * plan.panel * bytes);
  int64_t fit = std::max<int64_t>(1, machine.l2Bytes / 2 / panelBytes);
  // Enough tasks for all threads to end at about the same time, none shorter
  // than some ten microseconds.
  int64_t flops = 2 * view.m * view.n * view.k;
  int64_t wanted = std::min<int64_t>(8 * machine.threads, flops / 1'000'000 + 1);
  wanted = llvm::divideCeil(wanted, view.batch);
  int64_t least = INT64_MAX;
  for (int64_t perBlock = std::min(panels, fit);; perBlock = llvm::divideCeil(perBlock, 2)) {
    int64_t columnBlocks = llvm::divideCeil(panels, perBlock);
    int64_t stripsPerBlock = llvm::divideCeil(
        strips, std::clamp<int64_t>(llvm::divideCeil(wanted, columnBlocks), 1, strips));
    int64_t rowBlocks = llvm::divideCeil(strips, stripsPerBlock);
    int64_t moved = columnBlocks * view.m + rowBlocks * view.n;
    bool enough = columnBlocks * rowBlocks >= wanted || perBlock == 1;
    if (enough && moved < least) {
      least = moved;
      plan.blockColumns = perBlock * plan.panel;
      plan.columnBlocks = columnBlocks;
      plan.blockRows = stripsPerBlock * plan.rows;
      plan.rowBlocks = rowBlocks;
    }
    if (perBlock == 1)
      return;
  }
}

/// How many rows of lhs can be read side by side where they lie, each step of k a few
/// bytes further: rows a multiple of a kilobyte apart meet in a few sets of the L1
/// cache. A way of it is a page, as in all caches that are looked up by addresses within
/// the page, so a set has as many lines as the cache has pages. Zero: too few, they are
/// better copied.
int64_t rowsSideBySide(MatrixProblem &view, ElementEmitter &emitter,
                       const machine::Machine &machine) {
  constexpr int64_t kPage = 4096, kFewestWays = 12;
  std::optional<DirectRead> left =
      view.k > 0 ? view.directLhs(emitter, Index(0)) : std::optional<DirectRead>();
  if (!left || left->firstStride % 256 != 0 || left->firstStride == 0)
    return INT64_MAX;
  Type element = cast<MemRefType>(left->buffer.getType()).getElementType();
  if (!element.isIntOrFloat())
    return INT64_MAX;
  if (left->secondStride != 1)
    return 0;
  int64_t ways = machine.l1Bytes / kPage;
  int64_t apart = std::abs(left->firstStride) * element.getIntOrFloatBitWidth() / 8;
  return ways < kFewestWays ? 0 : ways * (kPage / std::gcd(apart, kPage));
}

} // namespace

DotPlan kernel::planDot(MatrixProblem &view, int64_t bits, const machine::Machine &machine,
                        ElementEmitter &emitter) {
  if (machine.matrixTile)
    return makeUnitPlan(view, bits, machine);
  int64_t sideBySide = rowsSideBySide(view, emitter, machine);
  DotPlan plan;
  plan.rowsCollide = sideBySide == 0;
  plan.lanes = machine.lanes(bits);
  // Two registers hold the row of rhs, one a broadcast; the rest accumulate.
  int64_t columnRegisters = llvm::divideCeil(view.n, plan.lanes);
  plan.registers = std::min<int64_t>(view.m == 1 ? 8 : view.m <= 4 ? 4 : 2, columnRegisters);
  if (machine.numVectorRegisters <= 16)
    plan.registers = std::min<int64_t>(plan.registers, view.m <= 2 ? 4 : 2);
  int64_t mostRows = (machine.numVectorRegisters - plan.registers - 1) / plan.registers;
  if (!plan.rowsCollide)
    mostRows = std::min(mostRows, sideBySide);
  plan.rows = llvm::divideCeil(view.m, llvm::divideCeil(view.m, mostRows));
  plan.panel = plan.lanes * plan.registers;

  divideIntoTasks(view, bits / 8, machine, plan);
  return plan;
}
