//===- VerifyBundles.cpp - is a kernel scheduled as the machine demands? ---===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// There is no interlock, so this is what hardware would silently get wrong. Results
// may be under way when a block ends: a data flow over the blocks finds what can be
// under way where one begins, for the longest, and each block is checked for that.
// So a pipelined loop is checked around its back edge.
//
//===----------------------------------------------------------------------===//
#include "runtime/tpu/Core.h"

#include "support/Error.h"

#include "llvm/ADT/DenseMap.h"

#include <deque>

namespace spokeshave::runtime::tpu {

using namespace spokeshave::tpu;

static llvm::Error hazard(const Kernel &kernel, const Instruction &instruction,
                          llvm::Twine message) {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(instruction, os);
  return makeError(ErrorCode::Internal,
                   "kernel @" + kernel.name + ": " + message + " in `" + text + "`");
}

namespace {

uint64_t keyOf(Reg reg) {
  return uint64_t(reg.file) << 32 | reg.number;
}

/// What is under way at a block's start, in cycles from there: until when registers
/// are not ready, and units work for something that began earlier.
struct Pending {
  llvm::DenseMap<uint64_t, int64_t> registers;
  /// By unit: how many of its slots are still taken in cycle 0, 1, ...
  std::array<std::deque<int64_t>, kNumUnits> slots;

  /// The longest of both; whether that is more than it was.
  bool merge(const Pending &other) {
    bool changed = false;
    for (auto [reg, cycles] : other.registers)
      if (cycles > registers.lookup(reg))
        registers[reg] = cycles, changed = true;
    for (unsigned unit = 0; unit < kNumUnits; ++unit)
      for (size_t cycle = 0; cycle < other.slots[unit].size(); ++cycle) {
        if (cycle >= slots[unit].size())
          slots[unit].resize(cycle + 1);
        if (other.slots[unit][cycle] > slots[unit][cycle])
          slots[unit][cycle] = other.slots[unit][cycle], changed = true;
      }
    return changed;
  }

  Pending after(int64_t cycles) const {
    Pending later;
    for (auto [reg, until] : registers)
      if (until > cycles)
        later.registers[reg] = until - cycles;
    for (unsigned unit = 0; unit < kNumUnits; ++unit)
      if (int64_t(slots[unit].size()) > cycles)
        later.slots[unit].assign(slots[unit].begin() + cycles, slots[unit].end());
    return later;
  }
};

/// Checks a block that begins with `state`, which becomes that at its end.
llvm::Error checkBlock(const Kernel &kernel, const Block &block, const Timing &timing,
                       Pending &state) {
  int64_t cycle = 0;
  for (const Bundle &bundle : block.bundles) {
    unsigned immediates = 0;
    for (unsigned i = 0; i < bundle.count; ++i) {
      const Instruction &here = block.instructions[bundle.begin + i];
      for (Reg source : here.sources())
        if (source && state.registers.lookup(keyOf(source)) > cycle)
          return hazard(kernel, here, "a register is read before it is ready");
      if (here.immediate && ++immediates > timing.immediates)
        return hazard(kernel, here, "more immediates than a bundle has");
      unsigned unit = unsigned(unitOf(here));
      bool keeps = here.op != Opcode::MatrixPush; // keeps its unit, not the slot
      std::deque<int64_t> &slots = state.slots[unit];
      int64_t end = cycle + (keeps ? timing.occupancy(here) : 1);
      if (int64_t(slots.size()) < end)
        slots.resize(end);
      for (int64_t c = cycle; c < end; ++c)
        if (++slots[c] > timing.slots[unit])
          return hazard(kernel, here, "more instructions than slots");
    }
    for (unsigned i = 0; i < bundle.count; ++i) {
      const Instruction &here = block.instructions[bundle.begin + i];
      if (!here.dst)
        continue;
      int64_t &ready = state.registers[keyOf(here.dst)], arrival = cycle + timing.latency(here);
      if (ready >= arrival)
        return hazard(kernel, here, "an earlier result arrives later in the same register");
      ready = arrival;
    }
    cycle += 1 + bundle.idle;
  }
  state = state.after(cycle);
  return llvm::Error::success();
}

} // namespace

llvm::Error verifyBundles(const Kernel &kernel, const Timing &timing) {
  // States only grow, and are bounded by the latencies.
  std::vector<Pending> states(kernel.blocks.size());
  std::vector<bool> waits(kernel.blocks.size(), true);
  for (bool again = true; again;) {
    again = false;
    for (uint32_t number = 0; number < kernel.blocks.size(); ++number) {
      if (!waits[number])
        continue;
      waits[number] = false;
      Pending state = states[number];
      if (llvm::Error error = checkBlock(kernel, kernel.blocks[number], timing, state))
        return error;
      for (Successor successor : successorsOf(kernel, number))
        if (states[successor.block].merge(
                state.after(successor.isTaken ? timing.branchDelay : 0))) {
          waits[successor.block] = true;
          again |= successor.block <= number;
        }
    }
  }
  return llvm::Error::success();
}

} // namespace spokeshave::runtime::tpu
