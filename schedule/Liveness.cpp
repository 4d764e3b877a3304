//===- Liveness.cpp - when each node holds a value -------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A node is live from the window in which its value arrives to the window of
// its last read. Around loops: a value from outside that a loop reads is live to
// the loop's exit. In a case each branch counts for itself: a branch that does
// not read a value which nothing reads afterwards may overwrite it.
//
//===----------------------------------------------------------------------===//
#include "schedule/Plan.h"

using namespace mlir;
using namespace spokeshave::schedule;

namespace {

class Liveness {
public:
  explicit Liveness(Plan &plan) : plan(plan) {}
  void run();

private:
  /// Makes `live` from moment `from` in `block` to the last of `reads`, windows
  /// that all lie in `block` or blocks inside.
  void extend(LiveSet &live, int32_t block, int32_t from, ArrayRef<int32_t> reads);
  /// The node's reads with first <= window <= last.
  ArrayRef<int32_t> readsWithin(NodeId node, int32_t first, int32_t last) const;
  void visitLoopValue(const LoopValue &value);
  void visitCaseValue(const CaseValue &value);
  void visitHomes();

  Plan &plan;
};

ArrayRef<int32_t> Liveness::readsWithin(NodeId node, int32_t first, int32_t last) const {
  ArrayRef<int32_t> reads = plan.nodes[node].reads;
  auto *begin = llvm::lower_bound(reads, first);
  auto *end = llvm::upper_bound(reads, last);
  return ArrayRef<int32_t>(begin, end);
}

void Liveness::extend(LiveSet &live, int32_t block, int32_t from, ArrayRef<int32_t> reads) {
  if (reads.empty())
    return;
  int32_t last = reads.back();
  int32_t inner = plan.windowBlock[last];
  if (inner == block) {
    live.add(from, 2 * last + 1);
    return;
  }
  while (plan.blocks[inner].parent != block)
    inner = plan.blocks[inner].parent;
  const BlockInfo &info = plan.blocks[inner];
  live.add(from, 2 * info.stepFirst + 2);
  if (info.inLoop) {
    live.add(from, 2 * info.stepLast + 2);
    return;
  }
  for (int32_t sibling : info.siblings) {
    const BlockInfo &branch = plan.blocks[sibling];
    auto *begin = llvm::lower_bound(reads, branch.first);
    auto *end = llvm::upper_bound(reads, branch.last);
    extend(live, sibling, 2 * branch.first, ArrayRef<int32_t>(begin, end));
  }
}

/// The old value is live from the entry or the latch, through the condition, to
/// its last use in the body; after the exit as long as the result is read.
void Liveness::visitLoopValue(const LoopValue &value) {
  LiveSet &live = plan.nodes[value.node].live;
  live.add(2 * value.entry + 1, 2 * value.bodyFirst);
  extend(live, value.body, 2 * value.bodyFirst,
         readsWithin(value.node, value.bodyFirst, value.latch));
  live.add(2 * value.latch + 1, 2 * value.latch + 2);
  live.add(2 * value.exit, 2 * value.exit + 2);
  extend(live, value.parent, 2 * value.exit, readsWithin(value.node, value.exit, INT32_MAX));
}

void Liveness::visitCaseValue(const CaseValue &value) {
  LiveSet &live = plan.nodes[value.node].live;
  for (int32_t arrival : value.arrivals)
    live.add(2 * arrival + 1, 2 * arrival + 2);
  live.add(2 * value.exit, 2 * value.exit + 2);
  extend(live, value.parent, 2 * value.exit, readsWithin(value.node, value.exit, INT32_MAX));
}

/// Arguments are there from the start. What may not be written is live always.
void Liveness::visitHomes() {
  int32_t end = 2 * plan.windowBlock.size();
  for (auto [id, node] : llvm::enumerate(plan.nodes)) {
    if (node.readOnly) {
      node.live.add(0, end);
    } else if (node.home == Home::Argument) {
      node.live.add(0, 2);
      extend(node.live, 0, 0, node.reads);
    }
  }
}

void Liveness::run() {
  for (Node &node : plan.nodes)
    llvm::sort(node.reads);
  visitHomes();
  for (const PlainValue &value : plan.plainValues) {
    LiveSet &live = plan.nodes[value.node].live;
    live.add(2 * value.window + 1, 2 * value.window + 2);
    extend(live, value.block, 2 * value.window + 1, plan.nodes[value.node].reads);
  }
  for (const LoopValue &value : plan.loopValues)
    visitLoopValue(value);
  for (const CaseValue &value : plan.caseValues)
    visitCaseValue(value);
}

} // namespace

void spokeshave::schedule::computeLiveness(Plan &plan) {
  Liveness(plan).run();
}
