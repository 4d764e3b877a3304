//===- LoopBody.h - a loop's instructions, ready to be overlapped -----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "target/tpu/Liveness.h"
#include "target/tpu/Loops.h"
#include "target/tpu/ModuloSchedule.h"

namespace spokeshave::tpu {

/// A counted loop without its test. Each register has one writer. Moves at the end
/// that only hand a value to the next iteration are gone: readers name the writer,
/// and how many iterations ago it wrote.
struct LoopBody {
  struct Source {
    int32_t writer = -1; ///< number of an instruction of the body, or -1: not of it
    uint32_t distance = 0;
  };
  /// A register as the code around the loop knows it, and who writes it.
  struct Name {
    Reg reg;
    uint32_t writer = 0;
  };

  std::vector<Instruction> code;
  std::vector<std::array<Source, 4>> sources; ///< of each: a, b, c, mask
  std::vector<Name> initial;                  ///< read by the first iteration, written by the last
  std::vector<Name> written;                  ///< all, for the code behind
  DependenceGraph graph{0};
  std::vector<int64_t> latencies;
  /// Of accesses to VMEM: how far the address moves from one iteration to the next,
  /// where that is known.
  std::vector<std::optional<int64_t>> slopes;

  /// How many iterations later than its own the register may be written in which an
  /// access finds its address, as the displacement can make up for that. So addresses
  /// need not be kept for accesses that come late.
  int64_t addressLead(uint32_t number, const ModuloSchedule &schedule) const;
  /// Registers of a file that the body reads and does not write.
  int64_t invariants(File file) const;
  /// Cycles from the writer's issue to the last reader's.
  std::vector<int64_t> lifetimes(const ModuloSchedule &schedule) const;
  /// Registers of a file that are taken at once, at most.
  int64_t pressure(const ModuloSchedule &schedule, File file) const;
};

/// Nothing if the loop holds what does not overlap: transfers, or a register that is
/// written twice.
std::optional<LoopBody> makeLoopBody(const Kernel &kernel, const CountedLoop &loop,
                                     const Timing &timing);

} // namespace spokeshave::tpu
