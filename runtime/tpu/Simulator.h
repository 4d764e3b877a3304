//===- Simulator.h - runs programs of the TPU-class chip -------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executes bundles and counts cycles. Deterministic. The machine is described in
// docs/tpu-machine.md; Timing.h holds its figures.
//
// What a correct compiler never does is detected and reported with kernel and
// source line: a register read before it is ready, an access beyond VMEM or HBM,
// an access to memory that a transfer in flight is writing.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/tpu/IciPort.h"
#include "target/tpu/Program.h"

#include "llvm/Support/Error.h"

#include <functional>
#include <map>

namespace spokeshave::runtime::tpu {

/// What one launch took, and why. Cycles of the core's clock.
struct KernelTime {
  int64_t cycles = 0;
  int64_t dmaStall = 0;    ///< of these: waiting for transfers
  int64_t matrixStall = 0; ///< of these: waiting for the queues of matrix units
  int64_t bundles = 0;
  std::array<int64_t, spokeshave::tpu::kNumUnits> busy{}; ///< slot-cycles used, by unit
  int64_t hbmBytes = 0, transfers = 0;

  KernelTime &operator+=(const KernelTime &other);
};

/// Of one execution, by kernel number of the program.
struct Report {
  std::map<uint32_t, KernelTime> kernels;
  std::map<uint32_t, int64_t> launches;
  int64_t cycles = 0;                             ///< in all, with launch overheads and copies
  int64_t copyCycles = 0;                         ///< of copies between kernels
  std::map<uint32_t, CollectiveTime> collectives; ///< by number
  int64_t assumed = 0; ///< without values: loops and branches that data decides
};

struct SimulationOptions {
  /// Off: registers and VMEM hold no data, only scalars are computed; kernels that
  /// ran before with the same arguments are not run again.
  bool computeValues = true;
  /// The chips of a program for several; one chip if there is no torus.
  ChipGrid grid;
  /// Polled between bundles; an execution that is cancelled ends with an error.
  std::function<bool()> isCancelled;
};

/// Runs `program` once. `arguments` and `results` are dense row-major arrays of
/// the sizes that the program's specs give; without values they may be null.
llvm::Expected<Report> simulate(const spokeshave::tpu::Program &program,
                                llvm::ArrayRef<const char *> arguments,
                                llvm::ArrayRef<char *> results,
                                const SimulationOptions &options = {});

} // namespace spokeshave::runtime::tpu
