//===- Coalesce.cpp - nodes that share memory without a copy ---------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Joins source and target of copies, so that nothing is left to copy, and then
// results of kernels with inputs that they may be written over. Two classes join
// where no two of their values are live at once, except in windows where a value
// passes from one to the other. The dearest copies come first: bytes, times the
// loops around.
//
//===----------------------------------------------------------------------===//
#include "schedule/Plan.h"

#include <cmath>

using namespace mlir;
using namespace spokeshave::schedule;

namespace {

struct Candidate {
  NodeId source, target;
  int32_t window;
  double weight;
  bool isCopy;
  size_t number; ///< in program order
};

class Coalescer {
public:
  explicit Coalescer(Plan &plan) : plan(plan) {
    plan.classOf.resize(plan.nodes.size());
    for (NodeId node = 0; node < NodeId(plan.nodes.size()); ++node)
      plan.classOf[node] = node;
  }
  void run();

private:
  NodeId find(NodeId node) {
    while (plan.classOf[node] != node)
      node = plan.classOf[node] = plan.classOf[plan.classOf[node]];
    return node;
  }
  void collect();
  void joinDonations();
  bool mayJoin(NodeId a, NodeId b);
  void join(NodeId a, NodeId b);

  Plan &plan;
  std::vector<Candidate> candidates;
  DenseMap<int32_t, SmallVector<size_t, 2>> byWindow; ///< of candidates
};

void Coalescer::collect() {
  forEachStep(plan.steps, [&](Step &step, int depth) {
    auto add = [&](NodeId source, NodeId target, int32_t window, bool isCopy, int loops) {
      // The weight of a loop, unknown trips being guessed; bounded for deep nests.
      double weight = double(plan.nodes[target].bytes()) * std::pow(16.0, std::min(loops, 8));
      candidates.push_back({source, target, window, weight, isCopy, candidates.size()});
    };
    // An update joins with its operand only if it reads nothing else of it.
    auto mayBecomeOne = [&](const Copy &copy) {
      return step.kind != Step::Kind::Launch || llvm::any_of(step.shares, [&](const Share &share) {
               return share.source == copy.source.node && share.target == copy.target.node;
             });
    };
    for (const Copy &copy : llvm::make_filter_range(step.copies, mayBecomeOne))
      add(copy.source.node, copy.target.node, step.window, true, depth);
    for (const Share &share : step.shares)
      add(share.source, share.target, step.window, false, depth);
  });
  llvm::sort(candidates, [](const Candidate &a, const Candidate &b) {
    return std::make_tuple(!a.isCopy, -a.weight, a.number) <
           std::make_tuple(!b.isCopy, -b.weight, b.number);
  });
  for (auto [index, candidate] : llvm::enumerate(candidates))
    byWindow[candidate.window].push_back(index);
}

/// No two values may be live in one moment. Where one is read for the last time
/// in the window in which the other is written, the step must know of it: a copy,
/// or a kernel that may work in place.
bool Coalescer::mayJoin(NodeId a, NodeId b) {
  const Node &first = plan.nodes[a], &second = plan.nodes[b];
  if (first.readOnly || second.readOnly || first.bytes() != second.bytes())
    return false;
  if (first.home != Home::Arena && second.home != Home::Arena)
    return false;
  auto windows = first.live.handovers(second.live);
  if (!windows)
    return false;
  return llvm::all_of(*windows, [&](int32_t window) {
    return llvm::any_of(byWindow[window], [&](size_t index) {
      NodeId source = find(candidates[index].source), target = find(candidates[index].target);
      return (source == a && target == b) || (source == b && target == a);
    });
  });
}

void Coalescer::join(NodeId a, NodeId b) {
  // The representative is the one with a home; else the one with more intervals,
  // so that the shorter list is added to the longer one.
  bool keepSecond = plan.nodes[a].home == Home::Arena &&
                    (plan.nodes[b].home != Home::Arena ||
                     plan.nodes[b].live.get().size() > plan.nodes[a].live.get().size());
  if (keepSecond)
    std::swap(a, b);
  plan.nodes[a].live.add(plan.nodes[b].live);
  plan.classOf[b] = a;
}

/// A result that takes over a donated argument is the same memory, whatever is
/// live when: where that is too early, the last copies put it right.
void Coalescer::joinDonations() {
  for (auto [result, argument] : llvm::zip_equal(plan.results, plan.aliases))
    if (argument >= 0)
      join(plan.arguments[argument], result);
}

void Coalescer::run() {
  joinDonations();
  collect();
  for (const Candidate &candidate : candidates) {
    NodeId a = find(candidate.source), b = find(candidate.target);
    if (a != b && mayJoin(a, b))
      join(a, b);
  }
  for (NodeId node = 0; node < NodeId(plan.nodes.size()); ++node)
    find(node);
  for (NodeId node = 0; node < NodeId(plan.nodes.size()); ++node)
    plan.classOf[node] = find(node);
}

} // namespace

void spokeshave::schedule::coalesce(Plan &plan) {
  Coalescer(plan).run();
}
