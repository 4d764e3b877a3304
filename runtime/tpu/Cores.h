//===- Cores.h - the cores of a simulated device ---------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to runtime/tpu/. Each core goes through the program's steps with a clock of
// its own and does its part of them; where a step says so, they meet. HBM is shared.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/tpu/Core.h"
#include "target/tpu/Meetings.h"

namespace spokeshave::runtime::tpu {

class Cores {
public:
  Cores(const spokeshave::tpu::Program &program, Hbm &hbm, const SimulationOptions &options);

  /// What a run of the program leaves for the next one: transfers in flight, and VMEM.
  struct Left {
    std::vector<int64_t> state;
    std::vector<Vmem> vmem;
  };
  /// After end(). Nothing else may be done then.
  Left left();
  /// Before anything was done.
  void continueFrom(Left before);

  /// The cycle up to which something was done.
  int64_t now() const;
  Core &first() { return *cores.front(); }
  HbmChannel &hbm() { return channel; }

  /// Before a step: meets if it says so. An error if a core uses what another one has
  /// used since they met.
  llvm::Error enter(const spokeshave::tpu::Step &step, spokeshave::tpu::PlaceOf placeOf);
  void meet(const std::string &location);
  /// After all steps: the cores that worked meet.
  void end();
  /// Lets the first `count` cores go on from `cycle`, if they are not later.
  void waitUntil(int64_t cycle, int64_t count);

  /// The first `count` cores do nothing for so long.
  void advance(int64_t cycles, int64_t count);

  /// Launches the kernel on its cores. The time is what it adds to now().
  llvm::Expected<KernelTime> launch(uint32_t kernel, llvm::ArrayRef<int64_t> addresses);
  llvm::Error startTransfer(const spokeshave::tpu::Step &step, int64_t source, int64_t target);
  /// The cycles that this adds to now().
  int64_t waitForStep(int64_t semaphore);

  int64_t meetings = 0, meetingCycles = 0;
  int64_t simulatedBundles = 0;

private:
  llvm::Expected<KernelTime> simulate(const spokeshave::tpu::Kernel &kernel,
                                      llvm::ArrayRef<int64_t> addresses);
  /// The cores whose state matters for a launch on the first `count`.
  llvm::SmallVector<Core *> involved(int64_t count);
  llvm::SmallVector<Core *> all() { return involved(cores.size()); }
  void save(llvm::ArrayRef<Core *> of, int64_t base, std::vector<int64_t> &state) const;
  void restore(llvm::ArrayRef<Core *> of, int64_t base, llvm::ArrayRef<int64_t> state);

  const spokeshave::tpu::Program &program;
  const SimulationOptions &options;
  HbmChannel channel;
  std::vector<std::unique_ptr<Core>> cores;
  spokeshave::tpu::UsesSinceMeeting uses;
  bool areApart = false; ///< another core than the first did something since they met
  /// Without values a kernel is timed once for each state of the transfers in flight
  /// when it starts, and of the cores' clocks; how long it takes, and what it leaves.
  struct Known {
    KernelTime time;
    std::vector<int64_t> after;
  };
  std::map<std::pair<uint32_t, std::vector<int64_t>>, Known> known;
};

} // namespace spokeshave::runtime::tpu
