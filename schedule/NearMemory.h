//===- NearMemory.h - buffers that stay in near memory between launches ----===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For machines whose kernels work on an explicit near memory: which values of a
// program live there from the launch that makes them to the last one that reads
// them, and which arguments are brought there ahead of their first use.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "schedule/ScheduleDialect.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace spokeshave::schedule {

/// Bytes to which places in near memory are aligned.
constexpr int64_t kNearAlignment = 4096;
/// What an estimate takes for the trips of a loop that data ends.
constexpr double kUnknownTrips = 8;

/// Bytes [begin, end) of a buffer.
struct ByteRange {
  int64_t begin = 0, end = 0;
  bool isEmpty() const { return begin >= end; }
  int64_t size() const { return isEmpty() ? 0 : end - begin; }
  bool holds(ByteRange other) const { return begin <= other.begin && other.end <= end; }
  bool operator==(const ByteRange &) const = default;
};

struct NearMemoryOptions {
  int64_t bytes = 0;        ///< of the near memory
  int64_t latencyBytes = 0; ///< what flows in the latency of a transfer
  bool keep = true;         ///< values stay between launches
  bool prefetch = true;     ///< transfers start before the launch that needs them
  bool slices = true;       ///< of which each starts when its part of the place is free
  bool acrossRuns = false;  ///< the first arguments come while the run before ends
  int64_t cores = 1;        ///< that have such a memory each, and may share launches
};

/// What only the kernels know.
struct KernelFacts {
  /// Bytes of near memory, counted from 0, that a launch needs for itself where the
  /// buffers in `near` (a bit for each) are in near memory already.
  llvm::function_ref<int64_t(LaunchOp, const llvm::BitVector &near)> need;
  /// Whether the launch's outputs hold data that it may leave as it is.
  llvm::function_ref<bool(LaunchOp)> updatesOutputs;
  /// Bytes that far memory gives in the time that the launch works.
  llvm::function_ref<int64_t(LaunchOp)> bytesBeside;
  /// Of several cores: what each touches of a buffer of a launch.
  llvm::function_ref<ByteRange(LaunchOp, unsigned buffer, int64_t core)> touches = nullptr;
};

/// Of schedule.kernel: the numbers of the buffers that most of its launches are likely to
/// find in near memory, so that it may choose its blocks for that.
constexpr llvm::StringLiteral kExpectedNearAttr = "schedule.expected_near";

/// Rewrites `program`: buffers that are kept become schedule.near, allocated from
/// the end of the near memory, above what each launch needs for itself; their
/// transfers from and to far memory become schedule.start and schedule.wait.
///
/// Candidates are ranked by the traffic they save per byte, loops counted by their
/// trips. Buffers that the sequencer reads (predicates, branch numbers), library
/// calls and donated arguments stay in far memory. So do values of which one of several
/// cores needs what another one makes.
void assignNearMemory(ProgramOp program, const NearMemoryOptions &options,
                      const KernelFacts &facts);

} // namespace spokeshave::schedule
