//===- Timing.h - where a compilation's time goes --------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "target/cpu/Compile.h"

#include "mlir/Pass/PassInstrumentation.h"

namespace spokeshave::cpu {

/// Times one phase after the other: each ends where the next one begins.
class PhaseClock {
public:
  explicit PhaseClock(std::vector<PhaseTime> &phases) : phases(phases) { restart(); }

  /// The phase since the last call, of this name, is over.
  void end(llvm::StringRef name);
  /// Leaves out the time since the last call.
  void restart();

private:
  std::vector<PhaseTime> &phases;
  double wallBegin = 0, processorBegin = 0;
};

/// Adds up the phases of one name, at the place of the first.
void mergePhases(std::vector<PhaseTime> &phases);

/// Milliseconds on the wall from some beginning, and of this thread's processor.
double wallMilliseconds();
double threadMilliseconds();

/// Adds a phase for each pass of a pipeline, named LEVEL.PASS.
std::unique_ptr<mlir::PassInstrumentation> timePasses(PhaseClock &clock, llvm::StringRef level);

} // namespace spokeshave::cpu
