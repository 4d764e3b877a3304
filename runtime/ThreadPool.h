//===- ThreadPool.h - the threads that run kernels -------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A parallel region is a list of launches with a barrier after each. The
// caller's thread opens the region and works in it; idle workers join. A launch
// is complete when all its tasks are, never "when all workers have arrived":
// so a worker that is late, busy with another caller's region, or missing
// altogether delays nothing, any number of callers make progress at once, and
// one CPU is enough. Workers run only kernels and scheduled tasks; none waits
// for the pool, and none calls into Python.
//
// Which thread runs which task is up to chance. Kernels are written so that the
// bits of the result do not depend on it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "target/cpu/Abi.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/FunctionExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace spokeshave::runtime {

/// How many threads suit this process: SPOKESHAVE_THREADS if set, else the CPUs
/// of the affinity mask, at most the cgroups' CPU quota rounded up.
int defaultThreadCount();

class ThreadPool {
public:
  /// `threads` counts the caller's; 0: defaultThreadCount(). Workers start with
  /// the first region that wants them.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  /// The pool that executions use unless told otherwise. Never destroyed.
  static ThreadPool &global();

  int threadCount() const;
  /// Waits for running tasks of workers to end; regions in flight go on with
  /// their callers alone meanwhile. Does nothing on a worker.
  void setThreadCount(int threads);

  struct Region {
    llvm::ArrayRef<cpu::Launch> launches;
    const volatile int32_t *cancel = nullptr; ///< looked at between chunks
    int maxThreads = 0;                       ///< 0: all
    /// Scratch of the region, scratchStride(launches) bytes for each thread;
    /// aligned to 64 bytes. Ask threadsFor(launches) first and give its answer
    /// as maxThreads: the pool may be resized meanwhile.
    char *scratch = nullptr;
  };
  /// How many threads would take part: 1 when the region is worth less than
  /// about 10 microseconds. Launch::nanosecondsPerTask decides.
  int threadsFor(llvm::ArrayRef<cpu::Launch> launches, int maxThreads = 0) const;
  static int64_t scratchStride(llvm::ArrayRef<cpu::Launch> launches);

  /// Runs the region; true, or false if it was cancelled.
  bool parallel(const Region &region);
  /// The same with scratch of its own: Error OutOfMemory or Cancelled.
  llvm::Error parallel(llvm::ArrayRef<cpu::Launch> launches,
                       const volatile int32_t *cancel = nullptr);

  /// For library routines: calls `body(begin, end)` on pieces of [0, tasks).
  void parallelFor(int64_t tasks, int64_t nanosecondsPerTask,
                   llvm::function_ref<void(int64_t begin, int64_t end)> body);

  /// Runs `task` some time soon on a worker; at once on this thread if there
  /// are no workers or this thread is one (so that nested waits cannot hang).
  void schedule(llvm::unique_function<void()> task);

  /// Is the calling thread a worker of some pool?
  static bool onWorker();

private:
  struct State;
  void start();
  /// Replaced by a fresh one in the child of a fork, whose workers are gone.
  State *state;
  friend struct ForkGuard;
};

} // namespace spokeshave::runtime
