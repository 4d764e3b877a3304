//===- FusionMerge.cpp - clusters side by side become one ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two clusters over the same elements that read a common value read it once when
// they are one, and a value computed for both need not be stored.
//
//===----------------------------------------------------------------------===//
#include "graph/Fusion.h"

using namespace mlir;

namespace spokeshave::graph {

static constexpr size_t kMostMerged = 96;     ///< members of both
static constexpr size_t kMostResults = 8;     ///< outputs of both
static constexpr size_t kMostNeighbours = 16; ///< readers of a value that are looked at

int BlockFuser::find(int cluster) {
  while (clusters[cluster].parent >= 0) {
    int parent = clusters[cluster].parent;
    if (clusters[parent].parent >= 0)
      clusters[cluster].parent = clusters[parent].parent;
    cluster = parent;
  }
  return cluster;
}

bool BlockFuser::areMergeable(const Cluster &a, const Cluster &b) const {
  if (a.members.size() + b.members.size() > kMostMerged ||
      a.outputs.size() + b.outputs.size() > kMostResults || a.elements != b.elements ||
      a.transcendental + b.transcendental > kMostTranscendental)
    return false;
  if (a.rowSize && b.rowSize && a.rowSize != b.rowSize)
    return false;
  auto overElements = [](const Cluster &c) {
    return c.kind == FusionKind::Loop || (c.isRows() && !c.isReduction());
  };
  if (overElements(a) && overElements(b))
    return true;
  return a.kind == FusionKind::Reduce && b.kind == FusionKind::Reduce &&
         isSameReduction(a.hero, b.hero);
}

/// The position of the first reader of the cluster's outputs outside of it and
/// of `except`; -1 if `except` reads one in a way that a merge cannot keep.
int64_t BlockFuser::firstReaderOf(int id, int except) {
  int64_t first = std::numeric_limits<int64_t>::max();
  for (Value output : clusters[id].outputs)
    for (const Use &use : uses[output]) {
      int reader = use.cluster < 0 ? -1 : find(use.cluster);
      if (reader == id)
        continue;
      if (reader == except) {
        if (use.map != kIdentity)
          return -1;
        continue;
      }
      first = std::min(first, reader < 0 ? use.position : clusters[reader].position);
    }
  return first;
}

int64_t BlockFuser::madeAt(Value value) {
  if (auto output = outputOf.find(value); output != outputOf.end())
    return clusters[find(output->second)].position;
  Operation *def = value.getDefiningOp();
  auto found = positions.find(def);
  return found == positions.end() ? -1 : found->second;
}

int64_t BlockFuser::lastInputOf(int id) {
  const Cluster &cluster = clusters[id];
  int64_t last = -1;
  for (const auto &[op, atMaps] : cluster.members)
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Value value = resolveViews(operand);
        Operation *def = value.getDefiningOp();
        if (!def || !cluster.members.contains(def))
          last = std::max(last, madeAt(value));
      }
    });
  return last;
}

bool BlockFuser::tryMerge(int a, int b) {
  if (clusters[a].position > clusters[b].position)
    std::swap(a, b);
  Cluster &early = clusters[a], &late = clusters[b];
  if (!areMergeable(early, late))
    return false;
  int64_t position;
  if (firstReaderOf(a, b) > late.position)
    position = late.position;
  else if (lastInputOf(b) < early.position)
    position = early.position;
  else
    return false;
  for (auto &[op, atMaps] : late.members)
    for (MapId map : atMaps)
      if (SmallVector<MapId, 1> &present = early.members[op]; !llvm::is_contained(present, map))
        present.push_back(map);
  early.outputs.append(late.outputs);
  early.transcendental += late.transcendental;
  early.readBack.insert(late.readBack.begin(), late.readBack.end());
  early.position = position;
  if (late.isRows())
    early.kind = FusionKind::Rows;
  if (!early.hero)
    early.hero = late.hero;
  if (!early.rowSize)
    early.rowSize = late.rowSize;
  late.parent = a;
  return true;
}

bool BlockFuser::mergeSiblings(ArrayRef<ClusterUse> users) {
  bool merged = false;
  int base = -1;
  if (users.size() > kMostNeighbours)
    return false;
  for (const ClusterUse &use : users) {
    int id = find(use.cluster);
    if (use.maps.size() != 1 || use.maps.front() != clusters[id].elementMap() || id == base)
      continue;
    if (base >= 0 && tryMerge(base, id))
      merged = true;
    base = find(base >= 0 ? base : id);
  }
  return merged;
}

void BlockFuser::mergeReadersOfInputs() {
  for (auto &[value, list] : uses) {
    Operation *def = value.getDefiningOp();
    bool isInput = !def || !positions.contains(def) || outputOf.contains(value) ||
                   classify(def) == OpClass::TopLevel;
    if (!isInput || list.size() > 4 * kMostNeighbours)
      continue;
    SmallVector<int> readers;
    for (const Use &use : list)
      if (use.cluster >= 0 && use.map == clusters[find(use.cluster)].elementMap() &&
          !llvm::is_contained(readers, find(use.cluster)))
        readers.push_back(find(use.cluster));
    llvm::sort(readers, [&](int a, int b) { return clusters[a].position < clusters[b].position; });
    for (size_t i = 1; i < readers.size(); ++i)
      if (int left = find(readers[i - 1]), right = find(readers[i]); left != right)
        tryMerge(left, right);
  }
}

} // namespace spokeshave::graph
