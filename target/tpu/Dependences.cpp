//===- Dependences.cpp - what must come before what -------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "target/tpu/Dependences.h"

#include "target/tpu/LinearForms.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <map>

namespace spokeshave::tpu {

namespace {

/// The bytes that an access may touch, from its address on: [low, high).
struct Span {
  int64_t low = 0, high = 0;
};

bool isRows(const Instruction &instruction) {
  return instruction.op == Opcode::LoadRows || instruction.op == Opcode::StoreRows;
}

bool isIndexed(const Instruction &instruction) {
  return instruction.op == Opcode::Gather || instruction.op == Opcode::Scatter;
}

int64_t elementBytes(const Instruction &instruction) {
  return std::max<int64_t>(1, bitsOf(instruction.type) / 8);
}

Span spanOf(const Instruction &instruction) {
  int64_t run =
      isRows(instruction) ? kLanes * elementBytes(instruction) : elementBytes(instruction);
  int64_t steps = isRows(instruction) ? kSublanes - 1 : instruction.lanes - 1;
  int64_t far = steps * instruction.stride;
  return {std::min<int64_t>(0, far), std::max<int64_t>(0, far) + run};
}

/// Whether accesses a and b, b `distance` bytes beyond a, may touch the same byte.
bool mayOverlap(const Instruction &a, const Instruction &b, int64_t distance) {
  Span ofA = spanOf(a), ofB = spanOf(b);
  if (distance + ofB.low >= ofA.high || distance + ofB.high <= ofA.low)
    return false;
  // Side by side within rows of one stride.
  if (!isRows(a) || !isRows(b) || a.stride != b.stride || a.stride <= 0)
    return true;
  int64_t within = distance % a.stride;
  bool swap = within < 0;
  int64_t first = kLanes * elementBytes(swap ? b : a), second = kLanes * elementBytes(swap ? a : b);
  within = std::abs(within);
  return within < first || within + second > a.stride;
}

/// The least distance >= 1 in iterations after which b touches what a touched;
/// 0: never. b lies `apart` bytes beyond a, and moves `slope` with each iteration.
uint32_t distanceUntil(const Instruction &a, const Instruction &b, int64_t apart, int64_t slope) {
  if (slope == 0)
    return mayOverlap(a, b, apart) ? 1 : 0;
  Span ofA = spanOf(a), ofB = spanOf(b);
  int64_t low = ofA.low - ofB.high, high = ofA.high - ofB.low; // of overlapping distances
  if (slope < 0)
    std::swap(low, high), low = -low, high = -high, apart = -apart;
  int64_t step = std::abs(slope), sign = slope < 0 ? -1 : 1;
  int64_t first = std::max<int64_t>(1, llvm::divideCeil(std::max<int64_t>(0, low - apart), step));
  constexpr int64_t kTries = 64;
  for (int64_t d = first; apart + step * d < high; ++d)
    if (d - first >= kTries || mayOverlap(a, b, sign * (apart + step * d)))
      return uint32_t(d);
  return 0;
}

class MemoryOrder {
public:
  MemoryOrder(llvm::ArrayRef<Instruction> code, const Timing &timing, bool isLoop,
              DependenceGraph &graph)
      : code(code), timing(timing), isLoop(isLoop), graph(graph), forms(code) {}
  void run();

private:
  void addFence(uint32_t number);
  void compare(uint32_t older, uint32_t newer);
  bool writes(uint32_t number) const { return unitOf(code[number]) == Unit::VectorStore; }
  void order(uint32_t first, uint32_t second, uint32_t distance) {
    int64_t busy = timing.occupancy(code[first]);
    graph.add(first, second, writes(first) ? busy : busy - 1, distance);
  }

  llvm::ArrayRef<Instruction> code;
  const Timing &timing;
  bool isLoop;
  DependenceGraph &graph;
  LinearForms forms;
  std::map<uint16_t, std::vector<uint32_t>> accesses; ///< since the last fence, by object
  std::vector<uint32_t> sinceFence;
  int64_t fence = -1;
};

void MemoryOrder::addFence(uint32_t number) {
  for (uint32_t before : sinceFence)
    graph.add(before, number, timing.latency(code[before]));
  if (fence >= 0)
    graph.add(fence, number, 1);
  fence = number;
  accesses.clear();
  sinceFence.clear();
}

void MemoryOrder::compare(uint32_t older, uint32_t newer) {
  if (!writes(older) && !writes(newer))
    return;
  const Instruction &a = code[older], &b = code[newer];
  const LinearForms::Address &atA = forms.of(older), &atB = forms.of(newer);
  if (isIndexed(a) || isIndexed(b) || atA.terms != atB.terms || (isLoop && !atA.slope)) {
    order(older, newer, 0);
    if (isLoop)
      order(newer, older, 1);
    return;
  }
  int64_t apart = atB.constant - atA.constant;
  bool together = mayOverlap(a, b, apart);
  if (together)
    order(older, newer, 0);
  if (!isLoop)
    return;
  if (uint32_t distance = distanceUntil(b, a, -apart, *atA.slope))
    order(newer, older, distance);
  if (together)
    return;
  if (uint32_t distance = distanceUntil(a, b, apart, *atA.slope))
    order(older, newer, distance);
}

void MemoryOrder::run() {
  for (uint32_t i = 0; i < code.size(); ++i) {
    const Instruction &here = code[i];
    if (here.op == Opcode::DmaStart || here.op == Opcode::DmaWait) {
      addFence(i);
      continue;
    }
    Unit unit = unitOf(here);
    if (unit != Unit::VectorLoad && unit != Unit::VectorStore)
      continue;
    if (fence >= 0)
      graph.add(fence, i, 1);
    for (auto &[object, numbers] : accesses)
      if (object == here.object || object == 0 || here.object == 0)
        for (uint32_t older : numbers)
          compare(older, i);
    accesses[here.object].push_back(i);
    sinceFence.push_back(i);
  }
}

} // namespace

void addRegisterDependences(llvm::ArrayRef<Instruction> code, const Timing &timing,
                            DependenceGraph &graph) {
  llvm::DenseMap<uint64_t, uint32_t> writer;
  llvm::DenseMap<uint64_t, llvm::SmallVector<uint32_t, 4>> readers;
  for (auto [number, here] : llvm::enumerate(code)) {
    for (Reg source : here.sources()) {
      if (!source)
        continue;
      if (auto found = writer.find(keyOf(source)); found != writer.end())
        graph.add(found->second, number, timing.latency(code[found->second]));
      readers[keyOf(source)].push_back(number);
    }
    if (!here.dst)
      continue;
    // Registers are read at issue and written at the end of the latency.
    uint64_t key = keyOf(here.dst);
    for (uint32_t reader : readers[key])
      graph.add(reader, number, 0);
    readers[key].clear();
    if (auto found = writer.find(key); found != writer.end())
      graph.add(found->second, number,
                timing.latency(code[found->second]) - timing.latency(here) + 1);
    writer[key] = number;
  }
}

void addMemoryDependences(llvm::ArrayRef<Instruction> code, const Timing &timing, bool isLoop,
                          DependenceGraph &graph) {
  MemoryOrder(code, timing, isLoop, graph).run();
}

void addQueueDependences(llvm::ArrayRef<Instruction> code, const Timing &timing,
                         DependenceGraph &graph) {
  struct Queue {
    llvm::SmallVector<uint32_t> in, pushes, pops;
    llvm::SmallVector<size_t> pushedBefore; ///< each pop, in the order of the code
  };
  std::map<int64_t, Queue> queues;
  std::optional<uint32_t> lastMisc;
  for (uint32_t i = 0; i < code.size(); ++i) {
    const Instruction &here = code[i];
    Unit unit = unitOf(here);
    if (unit == Unit::Misc) {
      if (lastMisc)
        graph.add(*lastMisc, i, 1);
      lastMisc = i;
    }
    if (unit != Unit::MatrixPush && unit != Unit::MatrixPop)
      continue;
    Queue &queue = queues[here.imm];
    bool pops = unit == Unit::MatrixPop;
    if (!queue.in.empty())
      graph.add(queue.in.back(), i, pops ? 0 : 1); // the queues wait by themselves
    if (pops && !queue.pops.empty())
      graph.add(queue.pops.back(), i, 1);
    if (pops)
      queue.pushedBefore.push_back(queue.pushes.size());
    (pops ? queue.pops : queue.in).push_back(i);
    if (here.op == Opcode::MatrixPush)
      queue.pushes.push_back(i);
  }
  // Rows move up past pops by as many as have room for their results in any case.
  size_t room = std::max<int64_t>(1, timing.resultTiles / 4);
  for (auto &[number, queue] : queues)
    for (auto [pop, before] : llvm::zip_equal(queue.pops, queue.pushedBefore))
      if (before + room < queue.pushes.size())
        graph.add(pop, queue.pushes[before + room], 1);
}

} // namespace spokeshave::tpu
