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
#include "runtime/tpu/Trace.h"

#include "llvm/Support/Error.h"

#include <functional>
#include <map>

namespace spokeshave::runtime::tpu {

/// Of one execution, by kernel number of the program.
struct Report {
  std::map<uint32_t, KernelTime> kernels;
  std::map<uint32_t, int64_t> launches;
  int64_t cycles = 0;                             ///< in all, with launch overheads and copies
  int64_t copyCycles = 0;                         ///< of copies between kernels
  int64_t waitCycles = 0;                         ///< of steps that wait for transfers
  std::map<uint32_t, CollectiveTime> collectives; ///< by number
  int64_t meetings = 0, meetingCycles = 0;        ///< of the cores
  int64_t stepTransfers = 0, stepBytes = 0;       ///< started by steps
  int64_t nextRunBytes = 0;                       ///< of these, for the program's next run
  int64_t firstRunCycles = 0;   ///< of a run before which none has ended; else this one is of
  int64_t runs = 1;             ///< so many in a row, the last of them
  int64_t assumed = 0;          ///< without values: loops and branches that data decides
  int64_t simulatedBundles = 0; ///< without those of launches that repeat earlier ones
  double seconds = 0;           ///< of the simulator itself, after the check of the bundles

  double bundlesPerSecond() const { return double(simulatedBundles) / (seconds + 1e-9); }
};

struct SimulationOptions {
  /// Off: registers and VMEM hold no data, only scalars are computed; kernels that
  /// ran before with the same arguments are not run again.
  bool computeValues = true;
  /// Whether the bundles obey the machine is checked first; not needed again for a
  /// program that passed.
  bool verify = true;
  /// Without values: also look at each instruction that cannot matter. Slow; the same
  /// times. For tests.
  bool everyInstruction = false;
  /// The program runs again, with the same arguments and right after it has ended, until
  /// that takes the same time: only where it brings arguments for its next run.
  bool repeats = false;
  /// Where to, if a timeline is wanted.
  Trace *trace = nullptr;
  /// The chips of a program for several; one chip if there is no torus.
  ChipGrid grid;
  /// Polled between bundles; an execution that is cancelled ends with an error.
  std::function<bool()> isCancelled;
};

/// Runs `program` once, or several times (SimulationOptions::repeats). `arguments` and `results`
/// are dense row-major arrays of the sizes that the program's specs give; without values they may
/// be null.
llvm::Expected<Report> simulate(const spokeshave::tpu::Program &program,
                                llvm::ArrayRef<const char *> arguments,
                                llvm::ArrayRef<char *> results,
                                const SimulationOptions &options = {});

} // namespace spokeshave::runtime::tpu
