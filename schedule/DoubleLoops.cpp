//===- DoubleLoops.cpp - loops that need two trips to come round -----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel that reads around the place that it writes (a stencil) cannot work in
// place: a loop of it has two buffers, and one trip leaves the carried value in the
// wrong one. Two trips leave it where it was. So do they in a loop that swaps its
// carried values. The kernels are the same, so that the second trip costs code in
// the driver alone.
//
//===----------------------------------------------------------------------===//
#include "schedule/Plan.h"

using namespace mlir;
using namespace spokeshave::schedule;

namespace {

/// Each step of a body costs its entries in the driver's tables once more: worth it if
/// a trip copies so many bytes for each.
constexpr int64_t kBytesWorthAStep = 128;

/// Of the steps of a loop's body, without those of loops inside.
struct BodyCost {
  int64_t copied = 0; ///< bytes
  int64_t steps = 0;
  int64_t visits = 0; ///< how often the loop stands in the plan
};
using BodyCosts = llvm::DenseMap<Operation *, BodyCost>;

void addCosts(Plan &plan, Sequence &steps, Operation *loop, BodyCosts &costs) {
  for (Step &step : steps) {
    BodyCost &cost = costs[loop];
    ++cost.steps;
    for (const Copy &copy : step.copies)
      if (!plan.sameMemory(copy.source.node, copy.target.node))
        cost.copied += plan.nodes[copy.target.node].bytes();
    bool isLoop = step.kind == Step::Kind::While;
    if (isLoop) // what is copied on entry counts for the loop around
      ++costs[step.op].visits;
    for (Sequence &block : step.blocks)
      addCosts(plan, block, isLoop ? step.op : loop, costs);
  }
}

BodyCosts countCosts(Plan &plan) {
  BodyCosts costs;
  addCosts(plan, plan.steps, nullptr, costs);
  return costs;
}

} // namespace

LoopSet spokeshave::schedule::loopsThatCopy(Plan &plan) {
  BodyCosts costs = countCosts(plan);
  LoopSet found;
  forEachStep(plan.steps, [&](Step &step, int) {
    if (step.kind != Step::Kind::While || !step.trips || *step.trips < 2)
      return;
    const BodyCost &cost = costs[step.op];
    if (cost.copied >= kBytesWorthAStep * cost.steps)
      found.insert(step.op);
  });
  return found;
}

LoopSet spokeshave::schedule::loopsThatGained(const LoopSet &doubled, Plan &before, Plan &plan) {
  BodyCosts old = countCosts(before), now = countCosts(plan);
  LoopSet gained;
  for (Operation *loop : doubled) {
    // At least half of what a trip copied must be gone; a visit is now two trips.
    if (now[loop].copied * old[loop].visits <= old[loop].copied * now[loop].visits)
      gained.insert(loop);
  }
  return gained;
}
