//===- Dma.cpp - transfers between HBM and a core's VMEM -------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/tpu/Dma.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace spokeshave::runtime::tpu {

const Transfer *Dma::conflictOf(const Transfer &made) const {
  bool ofStep = made.semaphore >= kStepSemaphores;
  for (const Transfer &other : transfers) {
    if ((made.writesVmem || other.writesVmem) && !(made.hasGaps && other.hasGaps) &&
        made.vmem.meets(other.vmem))
      return &other;
    // A kernel that works in place reads boxes of a buffer and writes others.
    auto writesUnder = [](const Transfer &writer, const Transfer &reader) {
      return writer.writesVmem && writer.vmem.meets(reader.from) &&
             !(writer.hasGaps && reader.fromHasGaps);
    };
    if (writesUnder(made, other) || writesUnder(other, made))
      return &other;
    // Within a kernel, boxes of one buffer may lie between each other in HBM.
    bool apart = ofStep != (other.semaphore >= kStepSemaphores);
    if (apart && !(made.writesVmem && other.writesVmem) && made.hbm.meets(other.hbm))
      return &other;
  }
  return nullptr;
}

int64_t Dma::startLocal(Transfer made, int64_t cycle, int64_t bytes) {
  engineFree = std::max(cycle, engineFree) + timing.dmaIssue +
               int64_t(double(bytes) / timing.vmemBytesPerCycle);
  made.done = engineFree + timing.dmaLatency;
  transfers.push_back(made);
  return 0;
}

int64_t Dma::start(Transfer made, int64_t cycle, int64_t runs, int64_t run) {
  if (made.isLocal())
    return startLocal(made, cycle, runs * run);
  constexpr int64_t kBurst = 32; // bytes that HBM gives at once
  int64_t bytes = runs * int64_t(llvm::alignTo(run, kBurst));
  int64_t moved = runs * std::max<int64_t>(llvm::alignTo(run, kBurst), timing.dmaGranule);
  int64_t flow = channel.flowOf(moved, /*writes=*/!made.writesVmem, timing);
  int64_t begin = std::max({cycle, engineFree, channel.free});
  channel.spend(begin);
  channel.free = begin + flow;
  channel.spare = std::max(channel.spare, channel.free);
  engineFree = begin + flow + timing.dmaIssue;
  made.done = engineFree + timing.dmaLatency;
  transfers.push_back(made);
  return bytes;
}

void Dma::startBehind(Transfer made, int64_t cycle, int64_t bytes) {
  if (made.isLocal()) {
    startLocal(made, cycle, bytes);
    return;
  }
  made.remaining = std::max<int64_t>(1, channel.flowOf(bytes, /*writes=*/!made.writesVmem, timing));
  made.since = cycle + timing.dmaIssue;
  transfers.push_back(made);
}

void Dma::occupy(int64_t begin, int64_t end) {
  channel.spend(std::max(begin, channel.free));
  channel.free = std::max(channel.free, end);
  channel.spare = std::max(channel.spare, channel.free);
}

void Dma::spend(int64_t until, size_t count) {
  for (Transfer &transfer : llvm::MutableArrayRef(transfers).take_front(count)) {
    if (!transfer.remaining)
      continue;
    int64_t begin = std::max(channel.spare, transfer.since);
    int64_t used = std::min(transfer.remaining, until - begin);
    if (used <= 0)
      return; // in the order of their starts
    channel.spare = begin + used;
    transfer.remaining -= used;
    if (!transfer.remaining)
      transfer.done = channel.spare + timing.dmaLatency;
  }
}

int64_t Dma::wait(int64_t semaphore, int64_t cycle, int64_t *done) {
  // Until the last of them is done, nothing else starts on this core.
  for (size_t count = transfers.size(); count; --count)
    if (transfers[count - 1].semaphore == semaphore) {
      spend(INT64_MAX, count);
      // Other cores' kernels come after what has been waited for.
      if (channel.engines.size() > 1)
        channel.free = std::max(channel.free, channel.spare);
      break;
    }
  int64_t last = 0;
  llvm::erase_if(transfers, [&](const Transfer &transfer) {
    if (transfer.semaphore != semaphore)
      return false;
    last = std::max(last, transfer.done);
    return true;
  });
  if (done)
    *done = last;
  return std::max(cycle, last);
}

int64_t Dma::waitForKernel(int64_t cycle) {
  llvm::erase_if(transfers, [&](const Transfer &transfer) {
    if (transfer.semaphore >= kStepSemaphores)
      return false;
    cycle = std::max(cycle, transfer.done);
    return true;
  });
  return cycle;
}

int64_t Dma::waitingSince() const {
  auto waiting = llvm::find_if(transfers, [](const Transfer &t) { return t.remaining > 0; });
  return waiting == transfers.end() ? INT64_MAX : waiting->since;
}

/// Cycles from `cycle` on; what is over does not matter.
static int64_t after(int64_t cycle, int64_t when) {
  return std::max<int64_t>(0, when - cycle);
}

void HbmChannel::spend(int64_t until) {
  for (Dma *dma : engines)
    dma->spend(until, dma->transfers.size());
}

void HbmChannel::save(int64_t cycle, int64_t waiting, std::vector<int64_t> &state) const {
  state.push_back(after(cycle, free));
  // What the channel had left before the first transfer that could have had it is lost.
  state.push_back(waiting == INT64_MAX ? after(cycle, spare) : std::max(spare, waiting) - cycle);
}

void HbmChannel::restore(int64_t cycle, llvm::ArrayRef<int64_t> &state) {
  free = cycle + state[0];
  spare = cycle + state[1];
  state = state.drop_front(2);
}

void Dma::save(int64_t cycle, std::vector<int64_t> &state) const {
  state.push_back(after(cycle, engineFree));
  state.push_back(transfers.size());
  for (const Transfer &t : transfers) {
    state.insert(state.end(), {t.semaphore, t.writesVmem, t.vmem.begin, t.vmem.end, t.hbm.begin,
                               t.hbm.end, t.from.begin, t.from.end, t.hasGaps, t.fromHasGaps,
                               t.remaining ? 0 : after(cycle, t.done), t.remaining,
                               t.remaining ? t.since - cycle : 0});
  }
}

void Dma::restore(int64_t cycle, llvm::ArrayRef<int64_t> &state) {
  engineFree = cycle + state[0];
  transfers.resize(state[1]);
  state = state.drop_front(2);
  for (Transfer &t : transfers) {
    t = {};
    t.semaphore = state[0], t.writesVmem = state[1];
    t.vmem = {state[2], state[3]}, t.hbm = {state[4], state[5]};
    t.from = {state[6], state[7]};
    t.hasGaps = state[8], t.fromHasGaps = state[9];
    t.done = cycle + state[10], t.remaining = state[11], t.since = cycle + state[12];
    state = state.drop_front(13);
  }
}

} // namespace spokeshave::runtime::tpu
