//===- Program.h - a compiled program for the TPU-class chip ---------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels, and the order in which they run over buffers in HBM. The sequencer
// that launches them reads predicates and branch numbers from HBM.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "graph/Rematerialize.h"
#include "target/cpu/Compile.h"
#include "target/tpu/Isa.h"
#include "target/tpu/Timing.h"

#include <memory>
#include <optional>

namespace spokeshave::tpu {

using cpu::ValueSpec;

/// Bytes of HBM of an execution, or of the core's VMEM.
struct MemoryRef {
  enum class Base : uint8_t { Argument, Result, Arena, Constant, Vmem } base = Base::Arena;
  uint32_t index = 0; ///< of the argument, result or constant
  int64_t offset = 0, bytes = 0;
};

/// min(max(start, 0), limit) * stride bytes. The start is an integer in HBM that the
/// sequencer reads or, without one, begin + step * the innermost loop's trip.
struct SliceStart {
  int64_t limit = 0, stride = 0;
  int64_t wrap = 0; ///< added to a start that is negative
  std::optional<MemoryRef> at = {};
  bool isSigned = true;
  int64_t begin = 0, step = 0;
};

/// What a step works on.
struct BufferRef : MemoryRef {
  std::vector<SliceStart> starts = {}; ///< that move it further
  /// More than one: a box of as many runs, `pitch` bytes apart. Of copies and transfers.
  int64_t rows = 1, pitch = 0;
  /// From the first byte to behind the last.
  int64_t extent() const { return (rows - 1) * pitch + bytes / rows; }
  /// How far the starts may move it.
  int64_t reach() const {
    int64_t furthest = 0;
    for (const SliceStart &start : starts)
      furthest += start.limit * start.stride;
    return furthest;
  }
};

/// What chips do with each other: the moves that graph/LowerCollectives.cpp leaves,
/// and the chip's own numbers.
struct Collective {
  enum class Kind : uint8_t {
    Gather,        ///< everybody's operand
    Exchange,      ///< a part for each
    ReduceScatter, ///< an exchange whose parts are summed then: costs what a ring does
    Broadcast,
    Permute, ///< groups are pairs of source and target
    ReplicaId,
    PartitionId,
    Send, ///< to whom receives on the channel
    Receive,
    Infeed, ///< from the host
    Outfeed
  } kind = Kind::Gather;
  /// Whether it has any number of operands and results, and waits for nobody but its
  /// other end.
  bool isTransfer() const { return kind >= Kind::Send; }
  std::vector<std::vector<int64_t>> groups; ///< of chips: replica * partitions + partition
  std::string name;                         ///< "all_gather", "all_reduce by all_gather"
  int64_t channel = 0;                      ///< of Send and Receive
};

/// Bytes to which the places of a program's values in HBM are aligned.
constexpr int64_t kHbmAlignment = 4096;

struct Step {
  /// Start: begins a transfer from `buffers[0]` to `buffers[1]`, one or both in VMEM,
  /// which goes on while later steps run, with the bandwidth that their kernels leave.
  /// Wait: until all transfers with the semaphore are done. Kernels that use what was moved say so
  /// (Kernel::kept). Using either side of a transfer before its Wait is an error.
  enum class Kind : uint8_t {
    Launch,
    Copy,
    While,
    Case,
    Collective,
    Start,
    Wait,
    Meet ///< nothing but that the cores meet
  } kind = Kind::Launch;
  uint32_t kernel = 0; ///< Launch
  /// Launch; Copy, Start: source, target; While, Case: predicate; Collective: operand,
  /// if it has one, and result; of a transfer operands and results.
  std::vector<BufferRef> buffers;
  uint32_t inputs = 0;     ///< Launch, Collective: how many of the buffers are only read
  uint32_t collective = 0; ///< Collective: which of the program's
  int64_t trips = -1;      ///< While: known number of trips, or -1
  bool isIf = false;       ///< Case on an i1: true is branch 0
  int64_t semaphore = 0;   ///< Start, Wait
  /// Start: what each core moves from or to its own VMEM; empty: the first one, all.
  std::vector<Kernel::Part> parts;
  /// The cores meet before the step; of a While after each time that its condition ran.
  bool meets = false;
  /// Start: always, not where the run before did it, for the run after, or for the
  /// loop's next trip, if there is one.
  enum class When : uint8_t { Always, FirstRun, NextRun, NextTrip } when = When::Always;
  /// While: condition, body. Case: the branches.
  std::vector<std::vector<Step>> blocks;
  std::string location;
};

/// What the compiler knows of a kernel, for reports.
struct KernelInfo {
  std::string name, kind, location;
  int64_t flops = 0, bytes = 0, launches = 0;
};

struct Program {
  std::string name;
  machine::Chip chip;
  Timing timing;
  std::vector<Kernel> kernels;
  std::vector<KernelInfo> infos; ///< of each kernel
  std::vector<Step> steps;
  std::vector<Collective> collectives;
  int64_t replicas = 1, partitions = 1; ///< it runs on their product of chips at once
  std::vector<ValueSpec> arguments, results;
  std::vector<std::vector<char>> constants;
  int64_t arenaBytes = 0;
  int64_t hbmBytes = 0;                      ///< that it may use
  std::vector<graph::Recomputed> recomputed; ///< so that it fits
  cpu::CompileStats stats;
};

} // namespace spokeshave::tpu
