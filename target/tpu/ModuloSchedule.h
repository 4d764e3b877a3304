//===- ModuloSchedule.h - iterations of a loop, overlapped ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "target/tpu/Dependences.h"

#include <optional>

namespace spokeshave::tpu {

/// What limits how often an iteration can start.
struct IntervalBounds {
  int64_t resource = 1; ///< cycles for which the fullest unit works for an iteration
  llvm::StringLiteral unit = "";
  int64_t recurrence = 1; ///< cycles around the slowest circle of dependences
  int64_t sequential = 1; ///< cycles of an iteration by itself
};
IntervalBounds boundsOf(llvm::ArrayRef<Instruction> body, const DependenceGraph &graph,
                        const Timing &timing);

/// Iteration i issues instruction n of the body in cycle i * interval + cycles[n].
struct ModuloSchedule {
  int64_t interval = 0;
  std::vector<int64_t> cycles; ///< the least is below `interval`
  int64_t stages() const;
};

/// Iterative modulo scheduling (B. R. Rau, "Iterative modulo scheduling: an algorithm
/// for software pipelining loops", MICRO-27, 1994) at a given interval: nothing if
/// none was found with a few attempts for each instruction. All slots of `timing`
/// are kept, modulo the interval. Loads and constants are then moved towards their
/// uses, as that frees registers.
std::optional<ModuloSchedule> scheduleModulo(llvm::ArrayRef<Instruction> body,
                                             const DependenceGraph &graph, const Timing &timing,
                                             int64_t interval);

} // namespace spokeshave::tpu
