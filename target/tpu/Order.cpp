//===- Order.cpp - the order of code in which registers are given -----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers that are given in the order of the code tie instructions together that
// have nothing to do with each other: a chain of rotations takes 24 cycles for each,
// and what stands behind it finds the same registers. So blocks that keep matrix units
// busy are put in the order in which they would run if there were registers enough:
// the oldest instruction that is ready first, none further ahead of the oldest one that
// waits than a window, and the further ahead the fewer registers may be taken already.
//
//===----------------------------------------------------------------------===//
#include "target/tpu/Order.h"

#include "target/tpu/Dependences.h"
#include "target/tpu/Liveness.h"
#include "target/tpu/SlotTable.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <map>
#include <set>

namespace spokeshave::tpu {

namespace {

/// Instructions that are looked at together; how far ahead they are treated alike, and how
/// much further the registers that they may take come to none.
constexpr int64_t kWindow = 512, kNear = 256, kFade = 400;
/// Registers that are left for the oldest ones, and how long a block is at least.
constexpr int64_t kSpareRegisters = 4;
constexpr size_t kFewestInstructions = 256;

/// Products in the queues of matrix units, by unit, in pops.
using InFlight = std::map<int64_t, int64_t>;

class Orderer {
public:
  Orderer(Block &block, const Timing &timing, const llvm::BitVector &liveIn,
          const llvm::BitVector &liveOut, const InFlight &inFlight)
      : code(block.instructions), timing(timing), liveOut(liveOut), nodes(code.size()),
        graph(code.size()), slots(timing) {
    countRegisters(liveIn);
    addRegisterDependences(code, timing, graph);
    addMemoryDependences(code, timing, false, graph);
    addQueueDependences(code, timing, graph);
    addProducts(inFlight);
  }
  void run();

private:
  struct Node {
    uint32_t waitsFor = 0;
    int64_t ready = 0;
    bool isDone = false;
  };

  void countRegisters(const llvm::BitVector &liveIn);
  void addProducts(const InFlight &inFlight);
  bool hasRegisters(uint32_t number);
  void issue(uint32_t number, int64_t cycle);
  template <typename Body> void forSources(const Instruction &here, Body body);

  std::vector<Instruction> &code;
  const Timing &timing;
  const llvm::BitVector &liveOut;
  std::vector<Node> nodes;
  DependenceGraph graph;
  SlotTable slots;
  std::vector<Instruction> ordered;
  std::set<uint32_t> ready; ///< all that waits for time, slots or registers alone
  uint32_t oldest = 0;

  std::array<int64_t, 4> live{}, limit{};   ///< registers, by file
  llvm::DenseMap<uint32_t, uint32_t> reads; ///< that are still to come
  llvm::DenseSet<uint32_t> present;
};

/// Each register once.
template <typename Body> void Orderer::forSources(const Instruction &here, Body body) {
  auto sources = here.sources();
  for (size_t i = 0; i < sources.size(); ++i)
    if (sources[i] &&
        std::find(sources.begin(), sources.begin() + i, sources[i]) == sources.begin() + i)
      body(sources[i]);
}

void Orderer::countRegisters(const llvm::BitVector &liveIn) {
  limit.fill(INT32_MAX);
  limit[unsigned(File::Vector)] = timing.vectorRegisters - kSpareRegisters;
  limit[unsigned(File::Scalar)] = timing.scalarRegisters - kSpareRegisters;
  limit[unsigned(File::Mask)] = timing.maskRegisters - kSpareRegisters;
  llvm::DenseMap<uint32_t, File> files;
  for (const Instruction &here : code) {
    forSources(here,
               [&](Reg source) { ++reads[source.number], files[source.number] = source.file; });
    if (here.dst)
      files[here.dst.number] = here.dst.file;
  }
  for (unsigned number : liveIn.set_bits())
    if (auto file = files.find(number); file != files.end()) {
      present.insert(number);
      ++live[unsigned(file->second)];
    }
}

/// A pop gives what was pushed so long before: of pushes of this block the latency, of
/// earlier ones, which followed each other, what is left of it.
void Orderer::addProducts(const InFlight &inFlight) {
  int64_t halves = std::max<int64_t>(1, timing.matrixSize / kLanes);
  std::map<int64_t, std::vector<uint32_t>> pushes;
  std::map<int64_t, int64_t> pops;
  for (auto [number, here] : llvm::enumerate(code)) {
    if (here.op == Opcode::MatrixPush)
      pushes[here.imm].push_back(number);
    if (here.op != Opcode::MatrixPop)
      continue;
    auto found = inFlight.find(here.imm);
    int64_t before = found == inFlight.end() ? 0 : found->second, pop = pops[here.imm]++;
    if (pop < before) {
      int64_t ago = (before - pop + halves - 1) / halves * timing.matrixRows;
      nodes[number].ready = std::max<int64_t>(0, timing.matrix - ago);
    } else if (size_t((pop - before) / halves) < pushes[here.imm].size()) {
      graph.add(pushes[here.imm][(pop - before) / halves], number, timing.matrix);
    }
  }
}

bool Orderer::hasRegisters(uint32_t number) {
  if (number == oldest)
    return true;
  const Instruction &here = code[number];
  int64_t faded = std::max<int64_t>(0, int64_t(number - oldest) - kNear);
  std::array<int64_t, 4> change{};
  forSources(here, [&](Reg source) {
    if (reads.lookup(source.number) == 1 && !liveOut.test(source.number))
      --change[unsigned(source.file)];
  });
  if (here.dst && !present.contains(here.dst.number))
    ++change[unsigned(here.dst.file)];
  for (auto [file, by] : llvm::enumerate(change))
    if (by > 0 && live[file] + by > limit[file] - limit[file] * faded / kFade)
      return false;
  return true;
}

void Orderer::issue(uint32_t number, int64_t cycle) {
  const Instruction &here = code[number];
  slots.take(here, cycle);
  forSources(here, [&](Reg source) {
    if (--reads[source.number] == 0 && !liveOut.test(source.number) && present.erase(source.number))
      --live[unsigned(source.file)];
  });
  if (here.dst && (reads.lookup(here.dst.number) || liveOut.test(here.dst.number)) &&
      present.insert(here.dst.number).second)
    ++live[unsigned(here.dst.file)];
  nodes[number].isDone = true;
  while (oldest < nodes.size() && nodes[oldest].isDone)
    ++oldest;
  for (const Dependence &edge : graph.users[number]) {
    Node &user = nodes[edge.to];
    user.ready = std::max(user.ready, cycle + edge.latency);
    if (--user.waitsFor == 0)
      ready.insert(edge.to);
  }
  ordered.push_back(here);
}

void Orderer::run() {
  for (auto &users : graph.users)
    for (const Dependence &edge : users)
      ++nodes[edge.to].waitsFor;
  for (uint32_t number = 0; number < nodes.size(); ++number)
    if (nodes[number].waitsFor == 0)
      ready.insert(number);
  for (int64_t cycle = 0; !ready.empty(); ++cycle)
    for (auto next = ready.begin(); next != ready.end() && *next < oldest + kWindow;) {
      uint32_t number = *next;
      bool waits = isTerminator(code[number].op) && ordered.size() != number;
      if (waits || nodes[number].ready > cycle || !slots.fits(code[number], cycle) ||
          !hasRegisters(number)) {
        ++next;
        continue;
      }
      ready.erase(next);
      issue(number, cycle);
      next = ready.upper_bound(number);
    }
  code = std::move(ordered);
}

} // namespace

void orderCode(Kernel &kernel, const Timing &timing) {
  int64_t halves = std::max<int64_t>(1, timing.matrixSize / kLanes);
  Liveness liveness(kernel);
  std::vector<std::optional<InFlight>> inFlight(kernel.blocks.size());
  for (uint32_t number = 0; number < kernel.blocks.size(); ++number) {
    Block &block = kernel.blocks[number];
    InFlight now = inFlight[number].value_or(InFlight());
    auto pushes = [](const Instruction &here) { return here.op == Opcode::MatrixPush; };
    if (!block.isPipelined() && block.instructions.size() >= kFewestInstructions &&
        llvm::any_of(block.instructions, pushes))
      Orderer(block, timing, liveness.liveIn[number], liveness.liveOut[number], now).run();
    for (const Instruction &here : block.instructions) {
      if (here.op == Opcode::MatrixPush)
        now[here.imm] += halves;
      if (here.op == Opcode::MatrixPop)
        --now[here.imm];
    }
    for (auto [to, taken] : successorsOf(kernel, number))
      if (to > number && !inFlight[to])
        inFlight[to] = now;
  }
}

} // namespace spokeshave::tpu
