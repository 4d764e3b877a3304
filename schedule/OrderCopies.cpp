//===- OrderCopies.cpp - copies at once become copies one by one -----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The copies of one window count as if all sources were read first. In sequence
// a copy must come before the one that overwrites its source; where that goes in
// a circle (a loop that swaps its carried values) one source is saved first.
//
//===----------------------------------------------------------------------===//
#include "schedule/Plan.h"

using namespace mlir;
using namespace spokeshave::schedule;

namespace {

class CopyOrder {
public:
  CopyOrder(Plan &plan, Step &step) : plan(plan), step(step) {}
  void run();

private:
  void emit(const Copy &copy);
  void breakCircle();
  int &readersOf(NodeId node) { return readers[plan.classOf[node]]; }

  Plan &plan;
  Step &step;
  SmallVector<Copy> waiting;
  DenseMap<NodeId, int> readers; ///< by class: copies that still read it
};

void CopyOrder::emit(const Copy &copy) {
  step.moves.push_back(copy);
  --readersOf(copy.source.node);
}

/// Every waiting copy's target is read by another one. Saves one such target, and
/// lets its readers read the saved one.
void CopyOrder::breakCircle() {
  const Copy &first = waiting.front();
  NodeId victim = first.target.node;
  NodeId saved = plan.addNode(plan.nodes[victim].type, step.op->getLoc());
  plan.nodes[saved].live.add(2 * step.window, 2 * step.window + 2);
  plan.classOf.push_back(saved);
  NodeId victimClass = plan.classOf[victim];
  MemRefType type = plan.nodes[victim].type;
  step.moves.push_back({{victim, type}, {saved, type}});
  for (Copy &copy : waiting)
    if (plan.classOf[copy.source.node] == victimClass)
      copy.source.node = saved;
  int count = readers.lookup(victimClass);
  readers[victimClass] = 0;
  readers[saved] = count;
}

void CopyOrder::run() {
  for (const Copy &copy : step.copies)
    if (!plan.sameMemory(copy.source.node, copy.target.node)) {
      waiting.push_back(copy);
      ++readersOf(copy.source.node);
    }
  while (!waiting.empty()) {
    SmallVector<Copy> blocked;
    for (const Copy &copy : waiting) {
      if (readersOf(copy.target.node) == 0)
        emit(copy);
      else
        blocked.push_back(copy);
    }
    bool stuck = blocked.size() == waiting.size();
    waiting = std::move(blocked);
    if (stuck)
      breakCircle();
  }
}

} // namespace

void spokeshave::schedule::orderCopies(Plan &plan) {
  forEachStep(plan.steps, [&](Step &step, int) {
    if (!step.copies.empty())
      CopyOrder(plan, step).run();
  });
}
