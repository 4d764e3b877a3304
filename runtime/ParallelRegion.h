//===- ParallelRegion.h - the shared state of one region in flight ---------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to the thread pool. The tasks of a launch are split into contiguous
// ranges, one per thread ("slot"), and each range into a few chunks; a thread
// takes the chunks of its own slot first and then those of others. The next
// chunk of a slot is one 64-bit word of (launch, chunk), so a thread that lags
// behind can never take a chunk of a later launch by mistake.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "target/cpu/Abi.h"

#include "llvm/ADT/ArrayRef.h"

#include <atomic>
#include <memory>
#include <vector>

namespace spokeshave::runtime {

void futexWait(std::atomic<uint32_t> &word, uint32_t expected);
void futexWake(std::atomic<uint32_t> &word, int count);
/// Tells the core that this is a spin loop.
void spinPause();
/// Iterations of a spin of about 20 microseconds.
constexpr int kSpins = 500;

/// Below this a thread is not worth waking.
constexpr double kInlineNanoseconds = 10000;

/// The estimate of a launch, at least a nanosecond per task.
inline double nanosecondsOf(const cpu::Launch &launch) {
  double each = launch.nanosecondsPerTask > 0 ? double(launch.nanosecondsPerTask) : 1.0;
  return launch.tasks > 0 ? each * double(launch.tasks) : 0.0;
}

class ParallelRegion {
public:
  /// Makes the object ready for `launches`, which are copied: threads may look
  /// at them a moment after the caller is gone.
  void open(llvm::ArrayRef<cpu::Launch> launches, const volatile int32_t *cancel, int participants,
            char *scratch, int64_t scratchStride);

  /// Works until the region is finished. `participant` numbers the threads.
  void work(int participant);

  bool finished() const { return current.load(std::memory_order_acquire) >= launches.size(); }
  bool wasCancelled() const { return skipped.load(std::memory_order_relaxed); }

  // Guarded by the pool's mutex.
  int references = 0;
  int joined = 0;
  int participants = 1;

private:
  struct Plan {
    int slots;
    int64_t tasks, chunk; ///< in tasks
    int64_t begin(int slot) const {
      return tasks / slots * slot + std::min<int64_t>(slot, tasks % slots);
    }
    int64_t chunksOf(int slot) const { return (begin(slot + 1) - begin(slot) + chunk - 1) / chunk; }
  };
  Plan planFor(const cpu::Launch &launch) const;
  void drain(uint32_t index, int participant);
  bool takeChunk(int slot, uint32_t index, int64_t chunks, int64_t &chunk);
  void advance(uint32_t index);
  void waitBeyond(uint32_t index);

  struct alignas(64) Slot {
    std::atomic<uint64_t> next{0};
  };

  std::vector<cpu::Launch> launches;
  const volatile int32_t *cancel = nullptr;
  char *scratch = nullptr;
  int64_t scratchStride = 0;
  std::unique_ptr<Slot[]> slots;
  int slotCapacity = 0;
  alignas(64) std::atomic<uint32_t> current{0}; ///< launch in progress; a futex
  std::atomic<int> waiters{0};
  std::atomic<bool> skipped{false};
  alignas(64) std::atomic<int64_t> done{0}; ///< tasks of the current launch
};

} // namespace spokeshave::runtime
