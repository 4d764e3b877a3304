//===- Liveness.cpp - where registers hold values that are read later -------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The usual data flow over blocks, backwards.
//
//===----------------------------------------------------------------------===//
#include "target/tpu/Liveness.h"

#include "llvm/ADT/STLExtras.h"

namespace spokeshave::tpu {

Liveness::Liveness(const Kernel &kernel) {
  for (const Block &block : kernel.blocks)
    for (const Instruction &instruction : block.instructions) {
      numRegisters = std::max(numRegisters, instruction.dst.number + 1);
      for (Reg source : instruction.sources())
        numRegisters = std::max(numRegisters, source.number + 1);
    }
  std::vector<llvm::BitVector> used, defined;
  for (const Block &block : kernel.blocks) {
    llvm::BitVector &uses = used.emplace_back(numRegisters);
    llvm::BitVector &definitions = defined.emplace_back(numRegisters);
    for (const Instruction &instruction : block.instructions) {
      for (Reg source : instruction.sources())
        if (source && !definitions.test(source.number))
          uses.set(source.number);
      if (instruction.dst)
        definitions.set(instruction.dst.number);
    }
  }
  liveIn = used;
  liveOut.assign(kernel.blocks.size(), llvm::BitVector(numRegisters));
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t number = kernel.blocks.size(); number-- > 0;) {
      for (Successor successor : successorsOf(kernel, number))
        if (liveIn[successor.block].test(liveOut[number]))
          liveOut[number] |= liveIn[successor.block], changed = true;
      llvm::BitVector in = liveOut[number];
      in.reset(defined[number]);
      in |= used[number];
      if (in != liveIn[number])
        liveIn[number] = in, changed = true;
    }
  }
}

std::vector<Interval> findIntervals(const Kernel &kernel, const Liveness &liveness) {
  std::vector<Interval> all(liveness.numRegisters);
  std::vector<int64_t> endOf(liveness.numRegisters, -1); // of what is live here
  int64_t count = 0;
  for (const Block &block : kernel.blocks)
    count += block.instructions.size();
  auto add = [&](Reg reg, int64_t begin, int64_t end) {
    all[reg.number].reg = reg;
    std::vector<Segment> &segments = all[reg.number].segments;
    if (!segments.empty() && segments.back().begin <= end + 1)
      segments.back().begin = begin;
    else
      segments.push_back({begin, end});
  };
  for (uint32_t number = kernel.blocks.size(); number-- > 0;) {
    const Block &block = kernel.blocks[number];
    int64_t last = 2 * count, at = count;
    count -= block.instructions.size();
    for (unsigned reg : liveness.liveOut[number].set_bits())
      endOf[reg] = last;
    for (const Instruction &here : llvm::reverse(block.instructions)) {
      --at;
      if (here.dst) {
        int64_t &end = endOf[here.dst.number];
        // What nobody reads in the block still arrives: in a steady state perhaps only
        // in the next pass.
        bool isRead = end >= 0 && (end < last || liveness.liveIn[number].test(here.dst.number));
        if (block.isPipelined() && !isRead)
          add(here.dst, 2 * count, last);
        else
          add(here.dst, 2 * at + 1, end < 0 ? 2 * at + 1 : end);
        end = -1;
      }
      for (Reg source : here.sources())
        if (source) {
          all[source.number].reg = source;
          if (endOf[source.number] < 0)
            endOf[source.number] = 2 * at;
        }
    }
    for (unsigned reg : liveness.liveIn[number].set_bits()) {
      add(Reg{all[reg].reg.file, reg}, 2 * count, endOf[reg]);
      endOf[reg] = -1;
    }
    for (unsigned reg : liveness.liveOut[number].set_bits())
      endOf[reg] = -1;
  }
  std::vector<Interval> intervals;
  for (auto [number, interval] : llvm::enumerate(all)) {
    if (interval.segments.empty())
      continue;
    std::reverse(interval.segments.begin(), interval.segments.end());
    intervals.push_back(std::move(interval));
  }
  llvm::sort(intervals, [](const Interval &a, const Interval &b) {
    return std::pair(a.begin(), a.reg.number) < std::pair(b.begin(), b.reg.number);
  });
  return intervals;
}

} // namespace spokeshave::tpu
