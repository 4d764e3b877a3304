//===- Timing.cpp - where a compilation's time goes ------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "target/cpu/Timing.h"

#include "mlir/Pass/Pass.h"

#include <ctime>

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::cpu;

static double millisecondsOf(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return double(now.tv_sec) * 1e3 + double(now.tv_nsec) * 1e-6;
}

double cpu::wallMilliseconds() {
  return millisecondsOf(CLOCK_MONOTONIC);
}

double cpu::threadMilliseconds() {
  return millisecondsOf(CLOCK_THREAD_CPUTIME_ID);
}

void PhaseClock::restart() {
  wallBegin = wallMilliseconds();
  processorBegin = threadMilliseconds();
}

void PhaseClock::end(llvm::StringRef name) {
  double wall = wallMilliseconds(), processor = threadMilliseconds();
  phases.push_back({name.str(), wall - wallBegin, processor - processorBegin});
  wallBegin = wall;
  processorBegin = processor;
}

void cpu::mergePhases(std::vector<PhaseTime> &phases) {
  std::vector<PhaseTime> merged;
  for (PhaseTime &phase : phases) {
    auto same = llvm::find_if(merged, [&](const PhaseTime &m) { return m.name == phase.name; });
    if (same == merged.end()) {
      merged.push_back(std::move(phase));
      continue;
    }
    same->milliseconds += phase.milliseconds;
    same->processorMs += phase.processorMs;
  }
  phases = std::move(merged);
}

namespace {

class PassTimer : public PassInstrumentation {
public:
  PassTimer(PhaseClock &clock, llvm::StringRef level) : clock(clock), level(level) {}

  void runAfterPass(Pass *pass, Operation *) override {
    // Adaptors hold the passes of functions, which are timed themselves.
    if (!pass->getArgument().empty())
      clock.end(level + "." + pass->getArgument().str());
  }

private:
  PhaseClock &clock;
  std::string level;
};

} // namespace

std::unique_ptr<PassInstrumentation> cpu::timePasses(PhaseClock &clock, llvm::StringRef level) {
  return std::make_unique<PassTimer>(clock, level);
}
