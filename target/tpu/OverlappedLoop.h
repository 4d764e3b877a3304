//===- OverlappedLoop.h - prologue, steady state, epilogue ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to Pipeline.cpp.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "target/tpu/LoopBody.h"

#include "llvm/ADT/DenseSet.h"

namespace spokeshave::tpu {

/// The blocks that take a loop's place. Branches to a block among them have the
/// target -1 - its place.
class OverlappedLoop {
public:
  OverlappedLoop(const Kernel &kernel, const CountedLoop &loop, const LoopBody &body,
                 const ModuloSchedule &schedule, int64_t copies, const Liveness &liveness,
                 const Timing &timing)
      : kernel(kernel), loop(loop), body(body), schedule(schedule), copies(copies),
        ahead(schedule.stages() - 1), liveness(liveness), timing(timing),
        next(liveness.numRegisters) {}
  std::vector<Block> run();
  /// Registers from this number on are not used.
  uint32_t nextRegister() const { return next; }

private:
  /// An instruction of the body in an iteration, counted from the first or, in the
  /// steady state and behind, from one whose number is a multiple of `copies`.
  struct Issue {
    int64_t cycle, iteration;
    uint32_t number;
    bool operator<(const Issue &other) const {
      return std::tuple(cycle, iteration, number) <
             std::tuple(other.cycle, other.iteration, other.number);
    }
  };

  Block makeGuard();
  Block makePrologue();
  Block makeSteady();
  Block makeEpilogue();
  Block makeRest() const;
  void closeSteady(Block &block, int64_t end);
  void renameLocals(Block &block, const llvm::DenseSet<uint32_t> &leaving);
  /// The instruction of an iteration, where none after `last` has begun.
  Instruction of(const Issue &issue, int64_t last) const;
  void append(Block &block, std::vector<Issue> issues, int64_t last) const;
  Reg copyOf(uint32_t writer, int64_t iteration) const;
  Instruction moveOf(Reg to, Reg from, uint32_t writer) const;
  Instruction scalar(Opcode op, Reg dst, Reg a, int64_t imm, unsigned immediate = 2) const;
  Reg newScalar() { return {File::Scalar, next++}; }

  const Kernel &kernel;
  const CountedLoop &loop;
  const LoopBody &body;
  const ModuloSchedule &schedule;
  int64_t copies, ahead;
  const Liveness &liveness;
  const Timing &timing;
  uint32_t next, firstCopy = 0;
  Reg passes;          ///< counts down
  bool hasRest = true; ///< iterations may be left
  enum : int64_t { kGuard, kPrologue, kSteady, kEpilogue, kRest };
};

} // namespace spokeshave::tpu
