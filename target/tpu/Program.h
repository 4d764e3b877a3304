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

#include "target/cpu/Compile.h"
#include "target/tpu/Isa.h"
#include "target/tpu/Timing.h"

#include <memory>

namespace spokeshave::tpu {

using cpu::ValueSpec;

/// A piece of HBM of an execution.
struct BufferRef {
  enum class Base : uint8_t { Argument, Result, Arena, Constant } base = Base::Arena;
  uint32_t index = 0; ///< of the argument, result or constant
  int64_t offset = 0, bytes = 0;
};

struct Step {
  /// Start: begins a transfer of all bytes of `buffers[0]` from or to VMEM, which goes
  /// on while later steps run, with the bandwidth that their kernels leave. Wait: until
  /// all transfers with the semaphore are done. Kernels that use what was moved say so
  /// (Kernel::kept). Using either side of a transfer before its Wait is an error.
  enum class Kind : uint8_t { Launch, Copy, While, Case, Start, Wait } kind = Kind::Launch;
  uint32_t kernel = 0;            ///< Launch
  std::vector<BufferRef> buffers; ///< Launch; Copy: source, target; While, Case: predicate; Start
  int64_t trips = -1;             ///< While: known number of trips, or -1
  bool isIf = false;              ///< Case on an i1: true is branch 0
  bool toVmem = true;             ///< Start: from HBM; else the other way round
  int64_t vmemOffset = 0;         ///< Start: in bytes
  int64_t semaphore = 0;          ///< Start, Wait
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
  std::vector<ValueSpec> arguments, results;
  std::vector<std::vector<char>> constants;
  int64_t arenaBytes = 0;
  cpu::CompileStats stats;
};

} // namespace spokeshave::tpu
