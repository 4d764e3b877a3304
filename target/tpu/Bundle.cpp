//===- Bundle.cpp - instructions into bundles ------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// List scheduling within a block. Of the instructions whose operands are ready,
// the one with the longest path to the end of the block goes first. Accesses to
// VMEM keep their order where they may overlap; transfers and waits are fences;
// matrix units keep the order of what they take in and give out.
//
// A block need not wait for its last results: what is still under way at its end
// is known where its successors are scheduled, as blocks come in the order of the
// flow. Only at the back edge of a loop it waits, for more than the loop's first
// block was told.
//
//===----------------------------------------------------------------------===//
#include "target/tpu/Backend.h"
#include "target/tpu/Dependences.h"
#include "target/tpu/SlotTable.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <queue>

namespace spokeshave::tpu {

namespace {

/// What is under way at a block's start: cycles until it has arrived.
struct Pending {
  llvm::DenseMap<uint64_t, int64_t> registers;
  int64_t memory = 0; ///< until transfers may touch what loads read
  int64_t busy = 0;   ///< until units are free that work for several cycles

  int64_t of(Reg reg) const { return registers.lookup(keyOf(reg)); }
  /// What it is at the end of an edge that takes `delay` cycles.
  void merge(const Pending &other, int64_t delay) {
    for (auto [reg, cycles] : other.registers)
      if (cycles > delay)
        registers[reg] = std::max(registers.lookup(reg), cycles - delay);
    memory = std::max(memory, other.memory - delay);
    busy = std::max(busy, other.busy - delay);
  }
};

/// At the end of a block that lasts `end` cycles.
Pending pendingAfter(const Block &block, const Timing &timing, const Pending &before, int64_t end) {
  Pending after;
  after.merge(before, end);
  int64_t cycle = 0;
  for (const Bundle &bundle : block.bundles) {
    for (unsigned i = 0; i < bundle.count; ++i) {
      const Instruction &here = block.instructions[bundle.begin + i];
      int64_t left = cycle + timing.latency(here) - end;
      Unit unit = unitOf(here);
      if (here.dst)
        after.registers[keyOf(here.dst)] = std::max<int64_t>(0, left);
      if (unit == Unit::VectorLoad || unit == Unit::VectorStore)
        after.memory = std::max(after.memory, left);
      if (timing.occupancy(here) > 1)
        after.busy = std::max(after.busy, cycle + timing.occupancy(here) - end);
    }
    cycle += 1 + bundle.idle;
  }
  return after;
}

class BlockScheduler {
public:
  BlockScheduler(Block &block, const Timing &timing, const Pending &pending)
      : block(block), timing(timing), pending(pending), nodes(block.instructions.size()),
        graph(block.instructions.size()), slots(timing) {}
  void run();

private:
  struct Node {
    uint32_t waitsFor = 0;
    int64_t height = 0, ready = 0, cycle = -1;
  };
  /// By height: the longest path first, then in the order of the code.
  using Heap = std::priority_queue<std::pair<int64_t, int64_t>>;
  using Later = std::priority_queue<std::pair<int64_t, int64_t>,
                                    std::vector<std::pair<int64_t, int64_t>>, std::greater<>>;

  void waitForPending();
  void findHeights();
  void place();
  void placeUnit(unsigned unit, int64_t cycle);
  void placeTerminators();
  void release(uint32_t number, int64_t cycle);
  void take(uint32_t number, int64_t cycle) {
    nodes[number].cycle = cycle;
    slots.take(instruction(number), cycle);
  }
  void write();

  const Instruction &instruction(uint32_t number) const { return block.instructions[number]; }

  Block &block;
  const Timing &timing;
  const Pending &pending;
  std::vector<Node> nodes;
  DependenceGraph graph;
  std::vector<uint32_t> terminators;
  std::array<Heap, kNumUnits> available;
  Later later; ///< operands are on their way: cycle and number
  bool again = false;
  size_t left = 0;
  SlotTable slots;
};

/// Of what the block finds under way.
void BlockScheduler::waitForPending() {
  llvm::DenseSet<uint64_t> written;
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    const Instruction &here = instruction(i);
    int64_t &ready = nodes[i].ready;
    ready = pending.busy;
    if (here.op == Opcode::DmaStart || here.op == Opcode::DmaWait)
      ready = std::max(ready, pending.memory);
    for (Reg source : here.sources())
      if (source && !written.contains(keyOf(source)))
        ready = std::max(ready, pending.of(source));
    if (here.dst && written.insert(keyOf(here.dst)).second)
      ready = std::max(ready, pending.of(here.dst) - timing.latency(here) + 1);
  }
}

void BlockScheduler::findHeights() {
  for (uint32_t i = nodes.size(); i-- > 0;) {
    nodes[i].height = timing.latency(instruction(i));
    for (const Dependence &edge : graph.users[i]) {
      nodes[i].height = std::max(nodes[i].height, edge.latency + nodes[edge.to].height);
      ++nodes[edge.to].waitsFor;
    }
  }
}

void BlockScheduler::release(uint32_t number, int64_t cycle) {
  if (isTerminator(instruction(number).op))
    return;
  if (nodes[number].ready > cycle)
    return later.push({nodes[number].ready, number});
  available[unsigned(unitOf(instruction(number)))].push({nodes[number].height, -int64_t(number)});
  again = true;
}

/// Fills the slots of a unit. What needs an immediate or a matrix unit may have to
/// wait where others behind it need not, so a few are tried.
void BlockScheduler::placeUnit(unsigned unit, int64_t cycle) {
  constexpr size_t kTries = 12;
  llvm::SmallVector<std::pair<int64_t, int64_t>, kTries> skipped;
  Heap &heap = available[unit];
  while (!heap.empty() && skipped.size() < kTries && !slots.isFull(Unit(unit), cycle)) {
    auto best = heap.top();
    heap.pop();
    uint32_t number = -best.second;
    if (!slots.fits(instruction(number), cycle)) {
      skipped.push_back(best);
      continue;
    }
    take(number, cycle);
    --left;
    for (const Dependence &edge : graph.users[number]) {
      Node &user = nodes[edge.to];
      user.ready = std::max(user.ready, cycle + edge.latency);
      if (--user.waitsFor == 0)
        release(edge.to, cycle);
    }
  }
  for (auto &entry : skipped)
    heap.push(entry);
}

void BlockScheduler::place() {
  left = nodes.size();
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    if (isTerminator(instruction(i).op))
      terminators.push_back(i), --left;
    else if (nodes[i].waitsFor == 0)
      release(i, 0);
  }
  for (int64_t cycle = 0; left;) {
    for (; !later.empty() && later.top().first <= cycle; later.pop())
      release(later.top().second, cycle);
    // What becomes ready in this cycle may still join its bundle.
    do {
      again = false;
      for (unsigned unit = 0; unit < kNumUnits; ++unit)
        placeUnit(unit, cycle);
    } while (again);
    bool waiting = llvm::any_of(available, [](const Heap &heap) { return !heap.empty(); });
    cycle = waiting || later.empty() ? cycle + 1 : std::max(cycle + 1, later.top().first);
  }
  placeTerminators();
}

/// Branches leave when everything has been issued.
void BlockScheduler::placeTerminators() {
  int64_t cycle = 0;
  for (const Node &node : nodes)
    cycle = std::max(cycle, node.cycle);
  for (uint32_t number : terminators) {
    cycle = std::max(cycle, nodes[number].ready);
    while (!slots.fits(instruction(number), cycle))
      ++cycle;
    take(number, cycle++);
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
  int64_t last = -1;
  block.bundles.clear();
  for (uint32_t number : order) {
    int64_t cycle = nodes[number].cycle;
    if (cycle != last) {
      if (block.bundles.empty() && cycle > 0)
        block.bundles.push_back({0, 0, 0}), last = 0;
      if (!block.bundles.empty())
        block.bundles.back().idle = cycle - last - 1;
      block.bundles.push_back({uint32_t(code.size()), 0, 0});
      last = cycle;
    }
    ++block.bundles.back().count;
    code.push_back(instruction(number));
  }
  block.instructions = std::move(code);
}

void BlockScheduler::run() {
  waitForPending();
  addRegisterDependences(block.instructions, timing, graph);
  addMemoryDependences(block.instructions, timing, false, graph);
  addQueueDependences(block.instructions, timing, graph);
  findHeights();
  place();
  write();
}

/// Makes the block last until no more is under way than `allowed`, `delay` cycles
/// after its end.
void waitAtEnd(Block &block, const Timing &timing, const Pending &before, const Pending &allowed,
               int64_t delay) {
  int64_t end = block.cycles(), wait = 0;
  Pending after = pendingAfter(block, timing, before, end);
  for (auto [reg, cycles] : after.registers)
    wait = std::max(wait, cycles - delay - allowed.registers.lookup(reg));
  wait = std::max({wait, after.memory - delay - allowed.memory, after.busy - delay - allowed.busy});
  if (wait <= 0)
    return;
  if (block.bundles.empty())
    block.bundles.push_back({0, 0, 0}), --wait;
  block.bundles.back().idle += wait;
}

} // namespace

void formBundles(Kernel &kernel, const Timing &timing) {
  std::vector<Pending> pending(kernel.blocks.size());
  for (uint32_t number = 0; number < kernel.blocks.size(); ++number) {
    Block &block = kernel.blocks[number];
    llvm::SmallVector<Successor, 2> successors = successorsOf(kernel, number);
    if (!block.isPipelined()) {
      BlockScheduler(block, timing, pending[number]).run();
      for (auto [to, taken] : successors) {
        int64_t delay = taken ? timing.branchDelay : 0;
        // The steady state of a pipelined loop finds everything ready.
        if (to <= number || kernel.blocks[to].isPipelined())
          waitAtEnd(block, timing, pending[number],
                    kernel.blocks[to].isPipelined() ? Pending() : pending[to], delay);
      }
    }
    Pending after = pendingAfter(block, timing, pending[number], block.cycles());
    for (auto [to, taken] : successors)
      if (to > number)
        pending[to].merge(after, taken ? timing.branchDelay : 0);
  }
}

} // namespace spokeshave::tpu
