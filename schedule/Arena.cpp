//===- Arena.cpp - offsets of temporaries in the arena ---------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interval colouring: temporaries get their place in the order in which they
// come to life, the best fitting hole that the dead have left, or the end.
// Holes are kept by size and by address, so the time is n log n.
//
//===----------------------------------------------------------------------===//
#include "schedule/Plan.h"

#include "llvm/Support/MathExtras.h"

#include <map>
#include <queue>
#include <set>

using namespace mlir;
using namespace spokeshave::schedule;

namespace {

constexpr int64_t kAlignment = 64;

/// The arena at one moment of the program.
class FreeList {
public:
  int64_t allocate(int64_t bytes) {
    auto hole = bySize.lower_bound({bytes, 0});
    if (hole == bySize.end())
      return grow(bytes);
    auto [size, offset] = *hole;
    take(offset, size);
    if (size > bytes)
      put(offset + bytes, size - bytes);
    return offset;
  }

  void release(int64_t offset, int64_t bytes) {
    auto after = byOffset.lower_bound(offset);
    if (after != byOffset.end() && after->first == offset + bytes) {
      bytes += after->second;
      take(after->first, after->second);
      after = byOffset.lower_bound(offset);
    }
    if (after != byOffset.begin()) {
      auto before = std::prev(after);
      if (before->first + before->second == offset) {
        offset = before->first;
        bytes += before->second;
        take(before->first, before->second);
      }
    }
    put(offset, bytes);
  }

  int64_t size() const { return end; }

private:
  /// At the end, beginning in the last hole if that reaches there.
  int64_t grow(int64_t bytes) {
    int64_t offset = end;
    if (!byOffset.empty()) {
      auto last = std::prev(byOffset.end());
      if (last->first + last->second == end) {
        offset = last->first;
        take(last->first, last->second);
      }
    }
    end = offset + bytes;
    return offset;
  }
  void put(int64_t offset, int64_t bytes) {
    byOffset[offset] = bytes;
    bySize.insert({bytes, offset});
  }
  void take(int64_t offset, int64_t bytes) {
    bySize.erase({bytes, offset});
    byOffset.erase(offset);
  }

  std::map<int64_t, int64_t> byOffset;
  std::set<std::pair<int64_t, int64_t>> bySize;
  int64_t end = 0;
};

} // namespace

void spokeshave::schedule::assignArena(Plan &plan) {
  plan.offsetOf.assign(plan.nodes.size(), -1);
  SmallVector<NodeId> order;
  for (NodeId node = 0; node < NodeId(plan.nodes.size()); ++node)
    if (plan.classOf[node] == node && plan.nodes[node].home == Home::Arena &&
        !plan.nodes[node].live.empty())
      order.push_back(node);
  auto key = [&](NodeId node) {
    // Of those that begin together the larger first: fewer odd holes.
    return std::make_tuple(plan.nodes[node].live.firstWindow(), -plan.nodes[node].bytes(), node);
  };
  llvm::sort(order, [&](NodeId a, NodeId b) { return key(a) < key(b); });

  FreeList free;
  using Death = std::pair<int32_t, NodeId>;
  std::priority_queue<Death, std::vector<Death>, std::greater<>> deaths;
  auto sizeOf = [&](NodeId node) {
    // Nothing has no size of its own, so that each buffer has an address.
    return std::max<int64_t>(kAlignment, llvm::alignTo(plan.nodes[node].bytes(), kAlignment));
  };
  for (NodeId node : order) {
    const LiveSet &live = plan.nodes[node].live;
    for (; !deaths.empty() && deaths.top().first <= live.firstWindow(); deaths.pop()) {
      NodeId dead = deaths.top().second;
      free.release(plan.offsetOf[dead], sizeOf(dead));
    }
    plan.offsetOf[node] = free.allocate(sizeOf(node));
    deaths.push({live.endWindow(), node});
  }
  plan.arenaBytes = free.size();
}
