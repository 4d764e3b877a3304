//===- CoreMemory.cpp - VMEM, and transfers to and from it -----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/tpu/Core.h"

#include "runtime/tpu/LaneLoops.h"
#include "support/Error.h"

#include "llvm/ADT/Twine.h"

#include <cstring>
#include <type_traits>

namespace spokeshave::runtime::tpu {

using namespace spokeshave::tpu;

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

void Vmem::allocate(int64_t size) {
  bytes.allocate(llvm::alignTo(size, kPage));
  filledFor.assign(llvm::divideCeil(size, kPage), 0);
}

void Vmem::fillPage(int64_t page) {
  filledFor[page] = kernel;
  for (Range range : own) {
    int64_t begin = std::max(range.begin, page * kPage);
    int64_t end = std::min(range.end, (page + 1) * kPage);
    if (begin < end)
      std::memset(bytes.data() + begin, 0xA5, end - begin);
  }
}

/// Bytes [begin, end) of VMEM, which no transfer in flight may touch.
llvm::Expected<char *> Core::vmemAt(const Instruction &instruction, int64_t begin, int64_t end,
                                    bool writes) {
  if (begin < 0 || end > reach)
    return fail(instruction, "access to bytes " + llvm::Twine(begin) + " to " + llvm::Twine(end) +
                                 " of " + llvm::Twine(reach) + " bytes of VMEM");
  if (dma.conflictOf(Range{begin, end}, writes))
    return fail(instruction, "race with a transfer that has not been waited for, at bytes " +
                                 llvm::Twine(begin) + " to " + llvm::Twine(end));
  return vmem.touch({begin, end});
}

namespace {

/// Of a byte in memory, what belongs to an element of the type.
Lane widthMask(ElementType type) {
  int64_t bits = bitsOf(type);
  return bits > 1 && bits < 8 ? (Lane(1) << bits) - 1 : ~Lane(0);
}

/// The lanes of elements of type T in memory.
template <typename T> using LaneOf = std::conditional_t<sizeof(T) == 8, Lane, VectorLane>;

/// dst[i] = the element at `at` + i elements, zero in lanes that are off.
template <typename T>
void loadRun(LaneOf<T> *dst, const char *at, size_t lanes, const VectorLane *mask, T keep) {
  if (!mask) {
    for (size_t i = 0; i < lanes; ++i) {
      T value;
      std::memcpy(&value, at + i * sizeof(T), sizeof(T));
      dst[i] = value & keep;
    }
    return;
  }
  for (size_t i = 0; i < lanes; ++i) {
    T value;
    std::memcpy(&value, at + i * sizeof(T), sizeof(T));
    dst[i] = mask[i] ? value & keep : 0;
  }
}

template <typename T>
void storeRun(const LaneOf<T> *values, char *at, size_t lanes, const VectorLane *mask) {
  for (size_t i = 0; i < lanes; ++i) {
    T value = T(values[i]);
    if (!mask || mask[i])
      std::memcpy(at + i * sizeof(T), &value, sizeof(T));
  }
}

} // namespace

const VectorLane *Core::maskOf(const Instruction &instruction, bool &none) {
  Reg mask = instruction.mask;
  none = mask.file == File::Scalar && !scalar(mask);
  return mask.file == File::Mask || mask.file == File::Vector ? lanesOf<VectorLane>(mask) : nullptr;
}

/// Lanes that lie side by side, or in rows of 128: the common case, in loops that the
/// compiler vectorizes. False: not of that form.
template <typename T>
llvm::Expected<bool> Core::executeRuns(const Instruction &instruction, int64_t base,
                                       const VectorLane *mask) {
  bool rows = instruction.op == Opcode::LoadRows || instruction.op == Opcode::StoreRows;
  bool stores = unitOf(instruction) == Unit::VectorStore;
  bool isRun = (instruction.op == Opcode::Load || instruction.op == Opcode::Store) &&
               instruction.stride == int64_t(sizeof(T));
  if ((!rows && !isRun) || instruction.stride < 0)
    return false;
  LaneOf<T> *lanes = lanesOf<LaneOf<T>>(stores ? instruction.b : instruction.dst);
  if (!stores && mask)
    std::fill_n(lanes, instruction.lanes, 0);
  size_t perRun = rows ? size_t(kLanes) : size_t(instruction.lanes);
  for (size_t run = 0; run < instruction.lanes; run += perRun) {
    // From the first to the last lane that is on: rows far apart have what belongs to
    // others between them.
    size_t first = run, last = std::min<size_t>(run + perRun, instruction.lanes);
    while (mask && first < last && !mask[first])
      ++first;
    while (mask && first < last && !mask[last - 1])
      --last;
    if (first == last)
      continue;
    int64_t at =
        base + int64_t(run / perRun) * instruction.stride + int64_t((first - run) * sizeof(T));
    llvm::Expected<char *> memory =
        vmemAt(instruction, at, at + int64_t((last - first) * sizeof(T)), stores);
    if (!memory)
      return memory.takeError();
    const VectorLane *on = mask ? mask + first : nullptr;
    if (stores)
      storeRun<T>(lanes + first, *memory, last - first, on);
    else
      loadRun<T>(lanes + first, *memory, last - first, on, T(widthMask(instruction.type)));
  }
  return true;
}

/// Bytes from an access's base to each of its lanes, and the range of those that are on.
void Core::findOffsets(const Instruction &instruction, const VectorLane *mask, Offsets &found) {
  size_t count = instruction.lanes;
  found.least = INT64_MAX, found.largest = INT64_MIN;
  bool isIndexed = instruction.op == Opcode::Gather || instruction.op == Opcode::Scatter;
  Reg indices = instruction.op == Opcode::Gather ? instruction.b : instruction.c;
  if (isIndexed && !isWide(instruction.from)) {
    laneLoops().offsets(lanesOf<VectorLane>(indices), instruction.stride, count, mask, found.lanes,
                        found.least, found.largest);
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    int64_t index = isIndexed ? int64_t(lanesOf<Lane>(indices)[i]) : int64_t(i);
    found.lanes[i] = index * instruction.stride;
    if (mask && !mask[i])
      continue;
    found.least = std::min(found.least, found.lanes[i]);
    found.largest = std::max(found.largest, found.lanes[i]);
  }
}

/// Lanes anywhere.
template <typename T>
llvm::Error Core::executeIndexed(const Instruction &instruction, int64_t base,
                                 const VectorLane *mask) {
  bool stores = unitOf(instruction) == Unit::VectorStore;
  size_t count = instruction.lanes;
  Offsets offsets;
  findOffsets(instruction, mask, offsets);
  LaneOf<T> *lanes = lanesOf<LaneOf<T>>(stores ? instruction.b : instruction.dst);
  if (offsets.least > offsets.largest) { // no lane is on
    if (!stores)
      std::fill_n(lanes, count, 0);
    return llvm::Error::success();
  }
  llvm::Expected<char *> first = vmemAt(instruction, base + offsets.least,
                                        base + offsets.largest + int64_t(sizeof(T)), stores);
  if (!first)
    return first.takeError();
  char *origin = *first - offsets.least;
  if constexpr (sizeof(T) == sizeof(VectorLane)) {
    if (!stores) {
      laneLoops().gather(origin, offsets.lanes, count, mask, lanes);
      return llvm::Error::success();
    }
  }
  T keep = T(widthMask(instruction.type));
  for (size_t i = 0; i < count; ++i) {
    bool on = !mask || mask[i];
    char *at = origin + offsets.lanes[i];
    T value = T(lanes[i]);
    if (stores && on)
      std::memcpy(at, &value, sizeof(T));
    if (stores)
      continue;
    if (on)
      std::memcpy(&value, at, sizeof(T));
    lanes[i] = on ? value & keep : 0;
  }
  return llvm::Error::success();
}

template <typename T> llvm::Error Core::executeMemory(const Instruction &instruction) {
  int64_t base = instruction.imm + (instruction.a ? int64_t(scalar(instruction.a)) : 0);
  if (instruction.dst.file == File::Scalar)
    scalars[instruction.dst.number] = 0; // narrow elements are its low half
  bool none;
  const VectorLane *mask = maskOf(instruction, none);
  if (none) {
    if (instruction.dst)
      std::fill_n(lanesOf<LaneOf<T>>(instruction.dst), instruction.lanes, 0);
    return llvm::Error::success();
  }
  llvm::Expected<bool> done = executeRuns<T>(instruction, base, mask);
  if (!done || *done)
    return done.takeError();
  return executeIndexed<T>(instruction, base, mask);
}

llvm::Error Core::executeMemory(const Instruction &instruction) {
  switch (bitsOf(instruction.type)) {
  case 64:
    return executeMemory<uint64_t>(instruction);
  case 32:
    return executeMemory<uint32_t>(instruction);
  case 16:
    return executeMemory<uint16_t>(instruction);
  default: // narrower ones take a byte
    return executeMemory<uint8_t>(instruction);
  }
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
  double perByte = (1 + program.chip.cost.writeCost) / timing.hbmBytesPerCycle;
  return timing.dmaLatency + int64_t(double(bytes) * perByte);
}

/// Where cores share a kernel, each keeps to what the kernel says of it.
bool Core::isOwnPart(Range hbm) const {
  if (kernel->parts.empty() || hbm.begin >= hbm.end)
    return true;
  for (size_t i = 0; i + 1 < buffers.size(); ++i) {
    Kernel::Part part = kernel->parts[i * kernel->cores + number];
    if (buffers[i] + part.begin <= hbm.begin && hbm.end <= buffers[i] + part.end)
      return true;
  }
  return false;
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
  if (!isOwnPart(transfer.hbm))
    return fail(instruction, "transfer beyond the core's part of the kernel");
  if (dma.conflictOf(transfer))
    return fail(instruction, "race between two transfers");
  if (options.computeValues) {
    llvm::SmallVector<int64_t, 4> at(rank, 0);
    auto baseOf = [&](Space space, Range range) {
      return space == Space::Hbm ? hbm.bytes.data() : vmem.touch(range) - range.begin;
    };
    char *source = baseOf(descriptor.from, {from, fromEnd});
    char *target = baseOf(descriptor.to, {to, toEnd});
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

llvm::Error Core::startTransfer(const Step &step, Kernel::Part part, int64_t source,
                                int64_t target) {
  int64_t bytes = part.end - part.begin;
  BufferRef from = step.buffers[0], to = step.buffers[1];
  int64_t rows = std::max(from.rows, to.rows);
  if (rows > 1 && bytes != from.bytes)
    return makeError(ErrorCode::Internal, "a part of a box cannot be moved, at " + step.location);
  from.bytes = to.bytes = bytes;
  source += part.begin, target += part.begin;
  bool fromVmem = from.base == BufferRef::Base::Vmem, toVmem = to.base == BufferRef::Base::Vmem;
  Transfer transfer;
  transfer.semaphore = kStepSemaphores + step.semaphore;
  transfer.writesVmem = toVmem;
  Range read{source, source + from.extent()}, written{target, target + to.extent()};
  transfer.vmem = toVmem ? written : read;
  (fromVmem && toVmem ? transfer.from : transfer.hbm) = toVmem ? read : written;
  auto isWithin = [&](Range range, bool isVmem) {
    return range.begin >= 0 && range.end <= (isVmem ? vmemBytes : hbm.size());
  };
  if (!isWithin(read, fromVmem) || !isWithin(written, toVmem))
    return makeError(ErrorCode::Internal, "a step's transfer of " + llvm::Twine(bytes) +
                                              " bytes goes beyond a memory's end");
  if (dma.conflictOf(transfer))
    return makeError(ErrorCode::Internal, "a step's transfer of " + llvm::Twine(bytes) +
                                              " bytes races with one in flight, at " +
                                              step.location);
  if (options.computeValues && bytes > 0) {
    auto dataAt = [&](int64_t address, bool isVmem) {
      return isVmem ? vmem.at(address) : hbm.bytes.data() + address;
    };
    forRuns(from, to, [&](int64_t at, int64_t there, int64_t run) {
      std::memmove(dataAt(target + there, toVmem), dataAt(source + at, fromVmem), run);
    });
  }
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
      if (slice.kernel < 0 && slice.core == number && slice.end == 0 && slice.location == semaphore)
        slice.end = done;
  return cycle - begin;
}

} // namespace spokeshave::runtime::tpu
