//===- CoreMemory.cpp - VMEM, and transfers to and from it -----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/tpu/Core.h"

#include "support/Error.h"

#include "llvm/ADT/Twine.h"

#include <cstring>

namespace spokeshave::runtime::tpu {

using namespace spokeshave::tpu;

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

/// Bytes [begin, end) of VMEM, which no transfer in flight may touch.
llvm::Expected<char *> Core::vmemAt(const Instruction &instruction, int64_t begin, int64_t end,
                                    bool writes) {
  if (begin < 0 || end > reach)
    return fail(instruction, "access to bytes " + llvm::Twine(begin) + " to " + llvm::Twine(end) +
                                 " of " + llvm::Twine(reach) + " bytes of VMEM");
  if (dma.conflictOf(Range{begin, end}, writes))
    return fail(instruction, "race with a transfer that has not been waited for");
  return vmem.data() + begin;
}

namespace {

/// Of a byte in memory, what belongs to an element of the type.
Lane widthMask(ElementType type) {
  int64_t bits = bitsOf(type);
  return bits > 1 && bits < 8 ? (Lane(1) << bits) - 1 : ~Lane(0);
}

/// dst[i] = the element at `at` + i elements, zero in lanes that are off.
template <typename T>
void loadRun(Lane *dst, const char *at, size_t lanes, const Lane *mask, Lane keep) {
  for (size_t i = 0; i < lanes; ++i) {
    T value;
    std::memcpy(&value, at + i * sizeof(T), sizeof(T));
    dst[i] = !mask || mask[i] ? Lane(value) & keep : 0;
  }
}

template <typename T> void storeRun(const Lane *values, char *at, size_t lanes, const Lane *mask) {
  for (size_t i = 0; i < lanes; ++i) {
    T value = T(values[i]);
    if (!mask || mask[i])
      std::memcpy(at + i * sizeof(T), &value, sizeof(T));
  }
}

template <typename Fn> void withWidth(int64_t bytes, Fn function) {
  switch (bytes) {
  case 1:
    return function(uint8_t());
  case 2:
    return function(uint16_t());
  case 4:
    return function(uint32_t());
  default:
    return function(uint64_t());
  }
}

} // namespace

/// Lanes that lie side by side, or in rows of 128: the common case, in loops that the
/// compiler vectorizes. False: not of that form.
llvm::Expected<bool> Core::executeRuns(const Instruction &instruction, int64_t base) {
  bool rows = instruction.op == Opcode::LoadRows || instruction.op == Opcode::StoreRows;
  bool stores = unitOf(instruction) == Unit::VectorStore;
  int64_t bytes = std::max<int64_t>(1, bitsOf(instruction.type) / 8);
  bool isRun = (instruction.op == Opcode::Load || instruction.op == Opcode::Store) &&
               instruction.stride == bytes;
  if ((!rows && !isRun) || instruction.mask.file == File::Scalar || instruction.stride < 0)
    return false;
  const Lane *mask = instruction.mask ? lanesOf(instruction.mask) : nullptr;
  Lane *dst = stores ? nullptr : lanesOf(instruction.dst);
  if (dst && mask)
    std::fill_n(dst, instruction.lanes, 0);
  // Of each run from the first to the last lane that is on.
  struct Run {
    size_t lane, lanes;
    int64_t at;
  };
  llvm::SmallVector<Run, kSublanes> runs;
  size_t perRun = rows ? size_t(kLanes) : size_t(instruction.lanes);
  for (size_t run = 0; run < instruction.lanes; run += perRun) {
    size_t first = run, last = std::min<size_t>(run + perRun, instruction.lanes);
    while (mask && first < last && !mask[first])
      ++first;
    while (mask && first < last && !mask[last - 1])
      --last;
    if (first == last)
      continue;
    int64_t at = base + int64_t(run / perRun) * instruction.stride + int64_t(first - run) * bytes;
    runs.push_back({first, last - first, at});
  }
  if (runs.empty())
    return true;
  // Rows far apart have what belongs to others between them.
  for (const Run &run : runs) {
    llvm::Expected<char *> memory =
        vmemAt(instruction, run.at, run.at + int64_t(run.lanes) * bytes, stores);
    if (!memory)
      return memory.takeError();
    withWidth(bytes, [&](auto element) {
      using T = decltype(element);
      char *at = *memory;
      const Lane *on = mask ? mask + run.lane : nullptr;
      if (stores)
        storeRun<T>(lanesOf(instruction.b) + run.lane, at, run.lanes, on);
      else
        loadRun<T>(dst + run.lane, at, run.lanes, on, widthMask(instruction.type));
    });
  }
  return true;
}

llvm::Error Core::executeMemory(const Instruction &instruction) {
  bool stores = unitOf(instruction) == Unit::VectorStore;
  bool rows = instruction.op == Opcode::LoadRows || instruction.op == Opcode::StoreRows;
  int64_t bytes = std::max<int64_t>(1, bitsOf(instruction.type) / 8);
  int64_t base = instruction.imm + (instruction.a ? int64_t(scalar(instruction.a)) : 0);
  llvm::Expected<bool> done = executeRuns(instruction, base);
  if (!done || *done)
    return done.takeError();
  const Lane *indices = nullptr;
  if (instruction.op == Opcode::Gather)
    indices = lanesOf(instruction.b);
  if (instruction.op == Opcode::Scatter)
    indices = lanesOf(instruction.c);
  auto offsetOf = [&](size_t lane) {
    if (indices) {
      int64_t index = instruction.from == ElementType::I64 ? int64_t(indices[lane])
                                                           : int64_t(int32_t(indices[lane]));
      return index * instruction.stride;
    }
    if (rows)
      return int64_t(lane / kLanes) * instruction.stride + int64_t(lane % kLanes) * bytes;
    return int64_t(lane) * instruction.stride;
  };
  int64_t begin = INT64_MAX, end = INT64_MIN;
  for (size_t lane = 0; lane < instruction.lanes; ++lane)
    if (isOn(instruction, lane)) {
      int64_t at = base + offsetOf(lane);
      begin = std::min(begin, at), end = std::max(end, at + bytes);
    }
  Lane *dst = stores ? nullptr : lanesOf(instruction.dst);
  if (begin > end) { // no lane is on
    if (dst)
      std::fill_n(dst, instruction.lanes, 0);
    return llvm::Error::success();
  }
  llvm::Expected<char *> first = vmemAt(instruction, begin, end, stores);
  if (!first)
    return first.takeError();
  const Lane *values = stores ? lanesOf(instruction.b) : nullptr;
  for (size_t lane = 0; lane < instruction.lanes; ++lane) {
    bool on = isOn(instruction, lane);
    char *at = *first + (base + offsetOf(lane) - begin);
    if (stores) {
      if (on)
        std::memcpy(at, &values[lane], bytes);
    } else {
      dst[lane] = 0;
      if (on)
        std::memcpy(&dst[lane], at, bytes);
      dst[lane] &= widthMask(instruction.type);
    }
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

void forRuns(const BufferRef &from, const BufferRef &to,
             llvm::function_ref<void(int64_t, int64_t, int64_t)> run) {
  int64_t rows = std::max(from.rows, to.rows), bytes = from.bytes / rows;
  for (int64_t row = 0; row < rows; ++row)
    run(row * (from.rows > 1 ? from.pitch : bytes), row * (to.rows > 1 ? to.pitch : bytes), bytes);
}

int64_t Core::copyCycles(int64_t bytes, int64_t rows) const {
  if (rows > 1)
    bytes = std::max(bytes, rows * timing.dmaGranule);
  return timing.dmaLatency + int64_t(2 * bytes / timing.hbmBytesPerCycle);
}

llvm::Error Core::startTransfer(const Instruction &instruction) {
  const DmaDescriptor &descriptor = kernel->descriptors[instruction.imm];
  size_t rank = descriptor.fromStrides.size();
  int64_t from = scalar(instruction.a), to = scalar(instruction.b);
  int64_t run = dmaCounts[rank - 1] * descriptor.elementBytes, runs = 1;
  int64_t fromEnd = from + run, toEnd = to + run;
  for (size_t d = 0; d + 1 < rank; ++d) {
    runs *= dmaCounts[d];
    fromEnd += std::max<int64_t>(0, dmaCounts[d] - 1) * descriptor.fromStrides[d];
    toEnd += std::max<int64_t>(0, dmaCounts[d] - 1) * descriptor.toStrides[d];
  }
  if (run <= 0 || runs <= 0)
    return llvm::Error::success();
  auto check = [&](Space space, int64_t begin, int64_t end) {
    int64_t size = space == Space::Hbm ? hbm.size() : reach;
    return begin >= 0 && end <= size;
  };
  if (!check(descriptor.from, from, fromEnd) || !check(descriptor.to, to, toEnd))
    return fail(instruction, "transfer beyond a memory's end");
  Transfer transfer;
  transfer.semaphore = scalar(instruction.c);
  transfer.writesVmem = descriptor.to == Space::Vmem;
  transfer.vmem = transfer.writesVmem ? Range{to, toEnd} : Range{from, fromEnd};
  // The rows of a box in VMEM have others between them.
  transfer.hasGaps = transfer.writesVmem ? toEnd - to > runs * run : fromEnd - from > runs * run;
  transfer.fromHasGaps = fromEnd - from > runs * run;
  if (descriptor.from == descriptor.to)
    transfer.from = {from, fromEnd};
  else
    transfer.hbm = transfer.writesVmem ? Range{from, fromEnd} : Range{to, toEnd};
  if (dma.conflictOf(transfer))
    return fail(instruction, "race between two transfers");
  if (options.computeValues) {
    llvm::SmallVector<int64_t, 4> at(rank, 0);
    char *source = descriptor.from == Space::Hbm ? hbm.bytes.data() : vmem.data();
    char *target = descriptor.to == Space::Hbm ? hbm.bytes.data() : vmem.data();
    for (int64_t i = 0; i < runs; ++i) {
      int64_t fromAt = from, toAt = to;
      int64_t rest = i;
      for (size_t d = rank - 1; d-- > 0;) {
        int64_t index = rest % dmaCounts[d];
        rest /= dmaCounts[d];
        fromAt += index * descriptor.fromStrides[d];
        toAt += index * descriptor.toStrides[d];
      }
      std::memmove(target + toAt, source + fromAt, run);
    }
  }
  int64_t bytes = dma.start(transfer, cycle, runs, run);
  time.hbmBytes += bytes;
  time.hbmWritten += transfer.writesVmem ? 0 : bytes;
  ++time.transfers;
  traceTransfer(transfer, kernelNumber(), bytes, instruction.location);
  return llvm::Error::success();
}

void Core::waitFor(int64_t semaphore) {
  int64_t until = dma.wait(semaphore, cycle);
  time.dmaStall += until - cycle;
  cycle = until;
}

//===----------------------------------------------------------------------===//
// The timeline
//===----------------------------------------------------------------------===//

void Core::traceBlock(int64_t begin, int64_t trips) {
  if (!options.trace || begin == cycle)
    return;
  std::vector<BlockSlice> &blocks = options.trace->blocks;
  if (tracedBlocks && blocks.back().core == number && blocks.back().kernel == kernelNumber() &&
      blocks.back().block == position.block && blocks.back().end == begin) {
    blocks.back().end = cycle;
    blocks.back().trips += trips;
    return;
  }
  if (++tracedBlocks > options.trace->mostDetails)
    return;
  blocks.push_back({number, kernelNumber(), uint32_t(position.block), begin, cycle, trips});
}

void Core::traceTransfer(const Transfer &transfer, int64_t kernelOrStep, int64_t bytes,
                         uint32_t location) {
  if (!options.trace || ++tracedTransfers > options.trace->mostDetails)
    return;
  options.trace->transfers.push_back({number, kernelOrStep, cycle, dma.inFlight().back().done,
                                      bytes, transfer.writesVmem, location});
}

//===----------------------------------------------------------------------===//
// Steps of the program
//===----------------------------------------------------------------------===//

llvm::Error Core::startTransfer(const Step &step, int64_t source, int64_t target) {
  int64_t bytes = step.buffers[0].bytes;
  bool fromVmem = step.buffers[0].base == BufferRef::Base::Vmem,
       toVmem = step.buffers[1].base == BufferRef::Base::Vmem;
  Transfer transfer;
  transfer.semaphore = kStepSemaphores + step.semaphore;
  transfer.writesVmem = toVmem;
  const BufferRef &fromRef = step.buffers[0], &toRef = step.buffers[1];
  Range from{source, source + fromRef.extent()}, to{target, target + toRef.extent()};
  transfer.vmem = toVmem ? to : from;
  (fromVmem && toVmem ? transfer.from : transfer.hbm) = toVmem ? from : to;
  auto isWithin = [&](Range range, bool isVmem) {
    return range.begin >= 0 && range.end <= (isVmem ? vmemBytes : hbm.size());
  };
  if (!isWithin(from, fromVmem) || !isWithin(to, toVmem))
    return makeError(ErrorCode::Internal, "a step's transfer of " + llvm::Twine(bytes) +
                                              " bytes goes beyond a memory's end");
  if (dma.conflictOf(transfer))
    return makeError(ErrorCode::Internal, "a step's transfer of " + llvm::Twine(bytes) +
                                              " bytes races with one in flight, at " +
                                              step.location);
  if (options.computeValues && bytes > 0) {
    vmem.resize(
        std::max<size_t>({vmem.size(), size_t(transfer.vmem.end), size_t(transfer.from.end)}));
    forRuns(fromRef, toRef, [&](int64_t at, int64_t there, int64_t run) {
      std::memmove((toVmem ? vmem : hbm.bytes).data() + target + there,
                   (fromVmem ? vmem : hbm.bytes).data() + source + at, run);
    });
  }
  int64_t rows = std::max(fromRef.rows, toRef.rows);
  dma.startBehind(transfer, cycle, rows > 1 ? std::max(bytes, rows * timing.dmaGranule) : bytes);
  traceTransfer(transfer, -1, bytes, uint32_t(step.semaphore));
  cycle += timing.dmaIssue;
  return llvm::Error::success();
}

int64_t Core::waitForStep(int64_t semaphore) {
  int64_t begin = cycle;
  int64_t done;
  cycle = dma.wait(kStepSemaphores + semaphore, cycle, &done);
  if (options.trace)
    for (TransferSlice &slice : options.trace->transfers)
      if (slice.kernel < 0 && slice.end == 0 && slice.location == semaphore)
        slice.end = done;
  return cycle - begin;
}

} // namespace spokeshave::runtime::tpu
