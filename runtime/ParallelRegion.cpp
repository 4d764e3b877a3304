//===- ParallelRegion.cpp - the shared state of one region in flight -------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/ParallelRegion.h"

#include <algorithm>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace spokeshave::runtime {

void futexWait(std::atomic<uint32_t> &word, uint32_t expected) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

void futexWake(std::atomic<uint32_t> &word, int count) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

void spinPause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

void ParallelRegion::open(llvm::ArrayRef<cpu::Launch> wanted, const volatile int32_t *cancelWord,
                          int participantCount, char *scratchBase, int64_t stride) {
  launches.clear();
  for (const cpu::Launch &launch : wanted)
    if (launch.tasks > 0) // an empty launch would have nobody to complete it
      launches.push_back(launch);
  cancel = cancelWord;
  participants = participantCount;
  scratch = scratchBase;
  scratchStride = stride;
  joined = 1;
  if (slotCapacity < participants) {
    slots = std::make_unique<Slot[]>(participants);
    slotCapacity = participants;
  }
  for (int slot = 0; slot < participants; ++slot)
    slots[slot].next.store(0, std::memory_order_relaxed);
  done.store(0, std::memory_order_relaxed);
  skipped.store(false, std::memory_order_relaxed);
  current.store(0, std::memory_order_release);
}

ParallelRegion::Plan ParallelRegion::planFor(const cpu::Launch &launch) const {
  // A thread gets at least 2.5 microseconds of a launch, a chunk at least 4,
  // a slot at most 8 chunks: enough to even out, few enough to be free.
  double total = nanosecondsOf(launch);
  Plan plan;
  plan.tasks = launch.tasks;
  plan.slots = static_cast<int>(std::min<double>(participants, 1 + total / 2500));
  plan.slots = static_cast<int>(std::min<int64_t>(plan.slots, launch.tasks));
  int64_t perSlot = (launch.tasks + plan.slots - 1) / plan.slots;
  double wanted = std::clamp(total / plan.slots / 4000, 1.0, 8.0);
  plan.chunk = std::max<int64_t>(1, static_cast<int64_t>(double(perSlot) / wanted));
  return plan;
}

bool ParallelRegion::takeChunk(int slot, uint32_t index, int64_t chunks, int64_t &chunk) {
  std::atomic<uint64_t> &next = slots[slot].next;
  uint64_t word = next.load(std::memory_order_acquire);
  while (true) {
    if (static_cast<uint32_t>(word >> 32) != index)
      return false; // the others have finished this launch
    chunk = static_cast<int64_t>(word & 0xffffffffu);
    if (chunk >= chunks)
      return false;
    if (next.compare_exchange_weak(word, word + 1, std::memory_order_acq_rel))
      return true;
  }
}

void ParallelRegion::drain(uint32_t index, int participant) {
  const cpu::Launch &launch = launches[index];
  Plan plan = planFor(launch);
  void *own = scratch ? scratch + scratchStride * participant : nullptr;
  for (int step = 0; step < plan.slots; ++step) {
    int slot = (participant + step) % plan.slots;
    int64_t last = plan.begin(slot + 1), chunks = plan.chunksOf(slot), chunk;
    while (takeChunk(slot, index, chunks, chunk)) {
      int64_t begin = plan.begin(slot) + chunk * plan.chunk;
      int64_t end = std::min(last, begin + plan.chunk);
      if (cancel && *cancel)
        skipped.store(true, std::memory_order_relaxed);
      else
        launch.kernel(launch.buffers, begin, end, own);
      if (done.fetch_add(end - begin, std::memory_order_acq_rel) + (end - begin) == plan.tasks)
        advance(index);
    }
  }
}

void ParallelRegion::advance(uint32_t index) {
  done.store(0, std::memory_order_relaxed);
  for (int slot = 0; slot < participants; ++slot)
    slots[slot].next.store(uint64_t(index + 1) << 32, std::memory_order_release);
  // Sequentially consistent against waitBeyond: either the waiter sees the new
  // value or we see the waiter.
  current.store(index + 1, std::memory_order_seq_cst);
  if (waiters.load(std::memory_order_seq_cst) > 0)
    futexWake(current, INT32_MAX);
}

void ParallelRegion::waitBeyond(uint32_t index) {
  for (int spin = 0; spin < kSpins; ++spin) {
    if (current.load(std::memory_order_acquire) != index)
      return;
    spinPause();
  }
  waiters.fetch_add(1, std::memory_order_seq_cst);
  while (current.load(std::memory_order_seq_cst) == index)
    futexWait(current, index);
  waiters.fetch_sub(1, std::memory_order_relaxed);
}

void ParallelRegion::work(int participant) {
  while (true) {
    uint32_t index = current.load(std::memory_order_acquire);
    if (index >= launches.size())
      return;
    drain(index, participant);
    waitBeyond(index);
  }
}

} // namespace spokeshave::runtime
