//===- Dma.h - transfers between HBM and a core's VMEM ---------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to runtime/tpu/. Times are cycles since the execution began; what is in
// flight outlives the kernel or step that started it.
//
// HBM's bandwidth goes to transfers of kernels in the order of their starts, over
// all cores; transfers that steps of the program start (Step::Kind::Start) take
// what these leave, so that a prefetch does not stand before a running kernel's
// windows.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "target/tpu/Program.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace spokeshave::runtime::tpu {

struct Range {
  int64_t begin = 0, end = 0;
  bool meets(Range other) const { return begin < other.end && other.begin < end; }
};

struct Transfer {
  int64_t semaphore = 0;
  bool writesVmem = false; ///< and reads HBM; else the other way round
  Range vmem, hbm;         ///< between the first and the last byte
  Range from;              ///< within VMEM: where it reads, nothing is moved in HBM
  /// In `vmem`, in `from`: other boxes may lie between.
  bool hasGaps = false, fromHasGaps = false;
  bool isLocal() const { return from.end > from.begin; }
  int64_t done = 0; ///< when all has arrived
  /// Of a transfer that a step started: cycles of HBM's bandwidth that it still
  /// needs, and since when. 0: `done` is known.
  int64_t remaining = 0, since = 0;
};

/// Semaphores of steps stand apart from those of kernels.
constexpr int64_t kStepSemaphores = int64_t(1) << 32;

class Dma;

/// What the cores of a device share.
struct HbmChannel {
  double writeCost = 1;                ///< of a byte that is written, in bytes that are read
  int64_t free = 0;                    ///< for the next transfer of a kernel
  int64_t spare = 0;                   ///< until then steps' transfers have had what kernels left
  llvm::SmallVector<Dma *, 2> engines; ///< of the cores

  /// Gives steps' transfers what is left before `until`.
  void spend(int64_t until);
  /// As Dma's. `waiting`: since when a step's transfer waits for the channel.
  void save(int64_t cycle, int64_t waiting, std::vector<int64_t> &state) const;
  void restore(int64_t cycle, llvm::ArrayRef<int64_t> &state);

  /// Cycles for which `bytes` take the bandwidth.
  int64_t flowOf(int64_t bytes, bool writes, const spokeshave::tpu::Timing &timing) const {
    return int64_t(double(bytes) * (writes ? writeCost : 1) / timing.hbmBytesPerCycle);
  }
};

/// The engines of one core.
class Dma {
public:
  Dma(const spokeshave::tpu::Timing &timing, HbmChannel &channel)
      : timing(timing), channel(channel) {
    channel.engines.push_back(this);
  }

  /// The transfer in flight with which `made` would race, or null: one of both
  /// writes what the other uses.
  const Transfer *conflictOf(const Transfer &made) const;
  /// A transfer in flight that the core's access to `vmem` would race with, or null.
  const Transfer *conflictOf(Range vmem, bool writes) const {
    for (const Transfer &transfer : transfers)
      if (((transfer.writesVmem || writes) && transfer.vmem.meets(vmem)) ||
          (writes && transfer.from.meets(vmem)))
        return &transfer;
    return nullptr;
  }

  /// `runs` runs of `run` bytes each, from `cycle` on. Returns the bytes moved in HBM.
  int64_t start(Transfer made, int64_t cycle, int64_t runs, int64_t run);
  /// Of a step: `bytes` contiguous bytes, with the bandwidth that kernels leave.
  void startBehind(Transfer made, int64_t cycle, int64_t bytes);
  /// HBM is taken from `begin` to `end` by something else.
  void occupy(int64_t begin, int64_t end);
  /// When all transfers of the semaphore are done; they leave the list.
  /// `done`: when they were, even if before `cycle`.
  int64_t wait(int64_t semaphore, int64_t cycle, int64_t *done = nullptr);
  /// When all transfers of kernels are done; they leave the list.
  int64_t waitForKernel(int64_t cycle);

  llvm::ArrayRef<Transfer> inFlight() const { return transfers; }

  /// Since when the first of steps' transfers waits for the channel; else INT64_MAX.
  int64_t waitingSince() const;

  /// Everything beside the channel that decides what later transfers take, from `cycle`
  /// on: equal for equal futures. And the way back, which takes it from `state`.
  void save(int64_t cycle, std::vector<int64_t> &state) const;
  void restore(int64_t cycle, llvm::ArrayRef<int64_t> &state);

private:
  friend struct HbmChannel;
  /// Within VMEM: HBM's bandwidth is not used.
  int64_t startLocal(Transfer made, int64_t cycle, int64_t bytes);
  /// Gives steps' transfers, of the first `count`, what the channel has left before
  /// `until`.
  void spend(int64_t until, size_t count);

  const spokeshave::tpu::Timing &timing;
  HbmChannel &channel;
  std::vector<Transfer> transfers;
  int64_t engineFree = 0;
};

} // namespace spokeshave::runtime::tpu
