//===- Dependences.h - what must come before what ---------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The edges that schedulers share: registers of straight code, memory, the queues of
// matrix units, transfers. Modulo scheduling has edges through registers of its own, as
// values of different iterations do not share one there.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "target/tpu/Timing.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace spokeshave::tpu {

/// `to` of the iteration `distance` later issues at least `latency` cycles after
/// this instruction. Latency 0: in the same bundle at the earliest, behind it.
struct Dependence {
  uint32_t to = 0;
  int32_t latency = 0;
  uint32_t distance = 0;
};

/// Edges by the number of the instruction that they leave.
struct DependenceGraph {
  std::vector<llvm::SmallVector<Dependence, 4>> users;

  explicit DependenceGraph(size_t instructions) : users(instructions) {}
  void add(uint32_t from, uint32_t to, int64_t latency, uint32_t distance = 0) {
    if (from != to || distance > 0)
      users[from].push_back({to, int32_t(std::max<int64_t>(0, latency)), distance});
  }
};

/// A register by its file and number.
inline uint64_t keyOf(Reg reg) {
  return uint64_t(reg.file) << 32 | reg.number;
}

/// Registers, of the machine or virtual ones: what is read after it is written, and
/// not written before it is read.
void addRegisterDependences(llvm::ArrayRef<Instruction> code, const Timing &timing,
                            DependenceGraph &graph);

/// Accesses to VMEM that may touch the same bytes, where one of them writes.
/// Addresses are compared as sums of registers' values at the start of the code,
/// with factors. With `isLoop` the code is the body of a loop, and accesses of
/// different iterations are compared as well: as far apart as the registers move
/// from one to the next. Transfers and waits are fences.
void addMemoryDependences(llvm::ArrayRef<Instruction> code, const Timing &timing, bool isLoop,
                          DependenceGraph &graph);

/// Matrix units take in pushes and weights in their order, and give out results in
/// theirs; a pop waits for the pushes before it, pushes not for the next few pops.
/// Transfers, waits and their counts keep their order.
void addQueueDependences(llvm::ArrayRef<Instruction> code, const Timing &timing,
                         DependenceGraph &graph);

} // namespace spokeshave::tpu
