//===- Bundle.cpp - instructions into bundles ------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// List scheduling within a block. Of the instructions whose operands are ready,
// the one with the longest path to the end of the block goes first. Accesses to
// VMEM keep their order where they may overlap; transfers and waits are fences;
// matrix units keep the order of their instructions.
//
//===----------------------------------------------------------------------===//
#include "target/tpu/Backend.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <map>
#include <queue>

namespace spokeshave::tpu {

namespace {

class BlockScheduler {
public:
  BlockScheduler(Block &block, const Timing &timing)
      : block(block), timing(timing), nodes(block.instructions.size()) {}
  void run();

private:
  struct Edge {
    uint32_t to;
    int64_t distance;
  };
  struct Node {
    std::vector<Edge> users;
    uint32_t waitsFor = 0;
    int64_t height = 0, ready = 0, cycle = -1;
  };

  void addEdge(uint32_t from, uint32_t to, int64_t distance) {
    if (from == to)
      return;
    nodes[from].users.push_back({to, std::max<int64_t>(0, distance)});
    ++nodes[to].waitsFor;
  }
  void addRegisterEdges();
  void addMemoryEdges();
  void addOrderEdges();
  void findHeights();
  void place();
  bool fits(uint32_t number, int64_t cycle);
  void take(uint32_t number, int64_t cycle);
  void write();

  const Instruction &instruction(uint32_t number) const { return block.instructions[number]; }

  Block &block;
  const Timing &timing;
  std::vector<Node> nodes;
  /// Slots taken, by unit and cycle; immediates by cycle.
  std::map<std::pair<Unit, int64_t>, unsigned> taken;
  llvm::DenseMap<int64_t, unsigned> immediates;
  /// Until when each matrix unit takes rows.
  llvm::DenseMap<int64_t, int64_t> matrixBusy;
};

uint64_t keyOf(Reg reg) {
  return uint64_t(reg.file) << 32 | reg.number;
}

void BlockScheduler::addRegisterEdges() {
  llvm::DenseMap<uint64_t, uint32_t> writer;
  llvm::DenseMap<uint64_t, std::vector<uint32_t>> readers;
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    const Instruction &here = instruction(i);
    for (Reg source : here.sources()) {
      if (!source)
        continue;
      if (auto found = writer.find(keyOf(source)); found != writer.end())
        addEdge(found->second, i, timing.latency(instruction(found->second)));
      readers[keyOf(source)].push_back(i);
    }
    if (!here.dst)
      continue;
    uint64_t key = keyOf(here.dst);
    // Registers are read at issue and written at the end of the latency.
    for (uint32_t reader : readers[key])
      addEdge(reader, i, 0);
    readers[key].clear();
    if (auto found = writer.find(key); found != writer.end())
      addEdge(found->second, i,
              timing.latency(instruction(found->second)) - timing.latency(here) + 1);
    writer[key] = i;
  }
}

/// Whether two accesses with the same base, of whole rows or of contiguous lanes,
/// touch different bytes.
static bool areDisjoint(const Instruction &a, const Instruction &b) {
  if (a.base != b.base || a.op == Opcode::Gather || a.op == Opcode::Scatter ||
      b.op == Opcode::Gather || b.op == Opcode::Scatter)
    return false;
  auto isRows = [](const Instruction &i) {
    return i.op == Opcode::LoadRows || i.op == Opcode::StoreRows;
  };
  auto width = [&](const Instruction &i) { // of a run
    int64_t bytes = std::max<int64_t>(1, bitsOf(i.type) / 8);
    return isRows(i) ? kLanes * bytes : (i.lanes - 1) * std::abs(i.stride) + bytes;
  };
  auto reach = [&](const Instruction &i) {
    return isRows(i) ? (kSublanes - 1) * i.stride + width(i) : width(i);
  };
  const Instruction &low = a.imm <= b.imm ? a : b, &high = a.imm <= b.imm ? b : a;
  if (low.stride < 0 || high.stride < 0)
    return false;
  int64_t distance = high.imm - low.imm;
  if (distance >= reach(low))
    return true;
  // Side by side within rows of one stride.
  if (!isRows(a) || !isRows(b) || a.stride != b.stride || a.stride == 0)
    return false;
  int64_t within = distance % a.stride;
  return within >= width(low) && within + width(high) <= a.stride;
}

void BlockScheduler::addMemoryEdges() {
  struct Access {
    uint32_t number;
    uint16_t object;
    bool writes;
  };
  std::vector<Access> accesses;
  std::vector<uint32_t> sinceFence;
  int64_t fence = -1;
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    const Instruction &here = instruction(i);
    Unit unit = unitOf(here);
    bool isFence = here.op == Opcode::DmaStart || here.op == Opcode::DmaWait;
    bool isAccess = unit == Unit::VectorLoad || unit == Unit::VectorStore;
    if (isFence) {
      for (uint32_t number : sinceFence)
        addEdge(number, i, timing.latency(instruction(number)));
      if (fence >= 0)
        addEdge(fence, i, 1);
      fence = i;
      accesses.clear();
      sinceFence.clear();
      continue;
    }
    if (!isAccess)
      continue;
    if (fence >= 0)
      addEdge(fence, i, 1);
    bool writes = unit == Unit::VectorStore;
    for (const Access &old : accesses)
      if ((writes || old.writes) &&
          (old.object == here.object || old.object == 0 || here.object == 0) &&
          !areDisjoint(instruction(old.number), here))
        addEdge(old.number, i,
                old.writes ? timing.occupancy(instruction(old.number))
                           : timing.occupancy(instruction(old.number)) - 1);
    accesses.push_back({i, here.object, writes});
    sinceFence.push_back(i);
  }
}

/// Queues of the matrix units, counts before the transfer, the end of the block.
void BlockScheduler::addOrderEdges() {
  // A unit takes pushes and weights in their order, and pops in theirs; a pop waits
  // for the pushes before it, not these for pops.
  llvm::DenseMap<int64_t, uint32_t> lastPush, lastPop;
  int64_t lastMisc = -1;
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    const Instruction &here = instruction(i);
    Unit unit = unitOf(here);
    if (unit == Unit::MatrixPush || unit == Unit::MatrixPop) {
      bool pops = unit == Unit::MatrixPop;
      if (auto push = lastPush.find(here.imm); push != lastPush.end())
        addEdge(push->second, i, pops ? 0 : 1); // the queues wait by themselves
      if (auto pop = lastPop.find(here.imm); pops && pop != lastPop.end())
        addEdge(pop->second, i, 1);
      (pops ? lastPop : lastPush)[here.imm] = i;
    }
    if (unit == Unit::Misc) {
      if (lastMisc >= 0)
        addEdge(lastMisc, i, 1);
      lastMisc = i;
    }
    if (isTerminator(here.op))
      for (uint32_t j = 0; j < i; ++j)
        addEdge(j, i, isTerminator(instruction(j).op) ? 1 : 0);
  }
}

void BlockScheduler::findHeights() {
  for (uint32_t i = nodes.size(); i-- > 0;) {
    nodes[i].height = timing.latency(instruction(i));
    for (const Edge &edge : nodes[i].users)
      nodes[i].height = std::max(nodes[i].height, edge.distance + nodes[edge.to].height);
  }
}

bool BlockScheduler::fits(uint32_t number, int64_t cycle) {
  const Instruction &here = instruction(number);
  Unit unit = unitOf(here);
  if (here.op == Opcode::MatrixPush) {
    auto busy = matrixBusy.find(here.imm);
    if (busy != matrixBusy.end() && busy->second > cycle)
      return false;
    return taken[{unit, cycle}] < timing.slots[unsigned(unit)];
  }
  if (here.immediate && immediates[cycle] >= timing.immediates)
    return false;
  for (int64_t i = 0; i < timing.occupancy(here); ++i)
    if (taken[{unit, cycle + i}] >= timing.slots[unsigned(unit)])
      return false;
  return true;
}

void BlockScheduler::take(uint32_t number, int64_t cycle) {
  const Instruction &here = instruction(number);
  Unit unit = unitOf(here);
  nodes[number].cycle = cycle;
  if (here.op == Opcode::MatrixPush) {
    matrixBusy[here.imm] = cycle + timing.occupancy(here);
    ++taken[{unit, cycle}];
    return;
  }
  if (here.immediate)
    ++immediates[cycle];
  for (int64_t i = 0; i < timing.occupancy(here); ++i)
    ++taken[{unit, cycle + i}];
}

void BlockScheduler::place() {
  std::vector<uint32_t> ready;
  for (uint32_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].waitsFor == 0)
      ready.push_back(i);
  auto before = [&](uint32_t a, uint32_t b) {
    return nodes[a].height != nodes[b].height ? nodes[a].height > nodes[b].height : a < b;
  };
  int64_t cycle = 0;
  for (size_t left = nodes.size(); left;) {
    llvm::sort(ready, before);
    std::vector<uint32_t> later;
    bool placed = false;
    for (size_t r = 0; r < ready.size(); ++r) {
      uint32_t number = ready[r];
      if (nodes[number].ready > cycle || !fits(number, cycle)) {
        later.push_back(number);
        continue;
      }
      take(number, cycle);
      placed = true;
      --left;
      for (const Edge &edge : nodes[number].users) {
        Node &user = nodes[edge.to];
        user.ready = std::max(user.ready, cycle + edge.distance);
        if (--user.waitsFor == 0)
          later.push_back(edge.to);
      }
    }
    ready = std::move(later);
    // What became ready in this cycle may still join its bundle.
    bool again = placed && llvm::any_of(ready, [&](uint32_t n) { return nodes[n].ready <= cycle; });
    if (again &&
        llvm::any_of(ready, [&](uint32_t n) { return nodes[n].ready <= cycle && fits(n, cycle); }))
      continue;
    int64_t nextReady = INT64_MAX;
    for (uint32_t number : ready)
      nextReady = std::min(nextReady, std::max(cycle + 1, nodes[number].ready));
    cycle = nextReady;
  }
}

void BlockScheduler::write() {
  std::vector<uint32_t> order(nodes.size());
  for (uint32_t i = 0; i < order.size(); ++i)
    order[i] = i;
  llvm::sort(order, [&](uint32_t a, uint32_t b) {
    return std::pair(nodes[a].cycle, a) < std::pair(nodes[b].cycle, b);
  });
  std::vector<Instruction> code;
  int64_t end = 0, last = -1;
  block.bundles.clear();
  for (uint32_t number : order) {
    int64_t cycle = nodes[number].cycle;
    if (cycle != last) {
      if (!block.bundles.empty())
        block.bundles.back().idle = cycle - last - 1;
      block.bundles.push_back({uint32_t(code.size()), 0, 0});
      last = cycle;
    }
    ++block.bundles.back().count;
    code.push_back(instruction(number));
    // Results of matrix units wait in their queue, others must have arrived.
    end = std::max(end, cycle + timing.latency(instruction(number)));
  }
  if (!block.bundles.empty())
    block.bundles.back().idle = std::max<int64_t>(0, end - last - 1);
  block.instructions = std::move(code);
}

void BlockScheduler::run() {
  addRegisterEdges();
  addMemoryEdges();
  addOrderEdges();
  findHeights();
  place();
  write();
}

} // namespace

void formBundles(Kernel &kernel, const Timing &timing) {
  for (Block &block : kernel.blocks)
    BlockScheduler(block, timing).run();
}

} // namespace spokeshave::tpu
