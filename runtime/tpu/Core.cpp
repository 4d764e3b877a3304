//===- Core.cpp - one core of the simulated chip ---------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bundles take a cycle each and never wait, except for a transfer's semaphore:
// the code is scheduled for that (verifyBundles checks it once per kernel). So
// time is counted per bundle, and values are computed in order.
//
//===----------------------------------------------------------------------===//
#include "runtime/tpu/Core.h"

#include "support/Error.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Twine.h"

#include <cstring>

namespace spokeshave::runtime::tpu {

using namespace spokeshave::tpu;

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

Lane *Core::lanesOf(Reg reg) {
  switch (reg.file) {
  case File::Vector:
    return &vectors[reg.number * kRegisterLanes];
  case File::Mask:
    return &masks[reg.number * kRegisterLanes];
  default:
    return &scalars[reg.number];
  }
}

Operand Core::operand(const Instruction &instruction, Reg reg, unsigned number) {
  if (!reg) {
    if (instruction.immediate != number)
      return {};
    return {reinterpret_cast<const Lane *>(&instruction.imm), 0};
  }
  return {lanesOf(reg), reg.file == File::Scalar ? 0u : 1u};
}

llvm::Error Core::fail(const Instruction &instruction, llvm::Twine message) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "kernel @" << kernel->name << ": " << message << " in `";
  print(instruction, os);
  os << "`";
  if (instruction.location < kernel->locations.size())
    os << " at " << kernel->locations[instruction.location];
  return makeError(ErrorCode::Internal, text);
}

void Core::start(const Kernel &started) {
  kernel = &started;
  scalars.assign(timing.scalarRegisters, 0);
  unknown.assign(timing.scalarRegisters, false);
  matrixUnits.assign(timing.matrixUnits, MatrixUnit(timing));
  if (options.computeValues) {
    vectors.resize(timing.vectorRegisters * kRegisterLanes);
    masks.resize(timing.maskRegisters * kRegisterLanes);
    vmem.assign(kernel->vmemBytes, char(0xA5)); // no sensible value before it is written
    for (const Kernel::VmemData &data : kernel->data)
      std::memcpy(&vmem[data.offset], data.bytes.data(), data.bytes.size());
  }
  inFlight.clear();
  takenBefore.clear();
  dmaCounts.fill(1);
  cycle = engineFree = 0;
  time = {};
}

llvm::Expected<KernelTime> Core::run(const Kernel &started, llvm::ArrayRef<int64_t> addresses) {
  buffers = addresses;
  start(started);
  nextBlock = 0;
  while (nextBlock >= 0) {
    if (options.isCancelled && options.isCancelled())
      return makeError(ErrorCode::Cancelled, "the simulation was interrupted");
    const Block &block = kernel->blocks[nextBlock++];
    if (llvm::Error error = runBlock(block))
      return error;
  }
  // The launch ends when all that was written has arrived.
  for (const Transfer &transfer : inFlight)
    cycle = std::max(cycle, transfer.done);
  time.cycles = cycle;
  return time;
}

llvm::Error Core::runBlock(const Block &block) {
  for (const Bundle &bundle : block.bundles) {
    for (unsigned i = 0; i < bundle.count; ++i) {
      const Instruction &instruction = block.instructions[bundle.begin + i];
      time.busy[unsigned(unitOf(instruction))] += timing.occupancy(instruction);
      if (!options.computeValues && !isTimed(instruction))
        continue;
      if (llvm::Error error = execute(instruction))
        return error;
    }
    ++time.bundles;
    cycle += 1 + bundle.idle;
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// Without values: whether the instruction matters for time. Scalars that data
/// decides become unknown.
bool Core::isTimed(const Instruction &instruction) {
  Unit unit = unitOf(instruction);
  if (unit == Unit::MatrixPush || unit == Unit::MatrixPop || unit == Unit::Misc ||
      instruction.op == Opcode::Branch || instruction.op == Opcode::Halt)
    return true;
  bool depends = false, ofScalars = true;
  for (Reg source : instruction.sources()) {
    depends |= source.file == File::Scalar && unknown[source.number];
    ofScalars &= !source || source.file == File::Scalar;
  }
  if (instruction.op == Opcode::BranchIf) {
    if (!depends)
      return true;
    // Data decides: not taken, then taken, and so on. So a loop that it ends runs
    // once, whichever end its test stands at, and every other branch is entered.
    bool &taken = takenBefore[&instruction];
    taken = !taken;
    if (!taken)
      branchTo(instruction.imm);
    return false;
  }
  if (instruction.dst.file != File::Scalar)
    return false;
  bool isKnown = ofScalars && !depends && unit == Unit::Scalar;
  unknown[instruction.dst.number] = !isKnown;
  return isKnown;
}

/// The pipeline is refilled at a taken branch.
void Core::branchTo(int64_t block) {
  nextBlock = block;
  cycle += timing.branchDelay;
}

llvm::Error Core::execute(const Instruction &instruction) {
  switch (instruction.op) {
  case Opcode::Constant:
    std::fill_n(lanesOf(instruction.dst), instruction.lanes, Lane(instruction.imm));
    return llvm::Error::success();
  case Opcode::Splat:
    std::fill_n(lanesOf(instruction.dst), instruction.lanes, scalar(instruction.a));
    return llvm::Error::success();
  case Opcode::Iota: {
    Lane *dst = lanesOf(instruction.dst), mask = ~Lane(0) >> (64 - bitsOf(instruction.type));
    for (size_t i = 0; i < instruction.lanes; ++i)
      dst[i] = Lane(instruction.imm + instruction.stride * int64_t(i)) & mask;
    return llvm::Error::success();
  }
  case Opcode::Argument:
    *lanesOf(instruction.dst) = buffers[instruction.imm];
    return llvm::Error::success();
  case Opcode::Branch:
    branchTo(instruction.imm);
    return llvm::Error::success();
  case Opcode::BranchIf:
    if (scalar(instruction.a))
      branchTo(instruction.imm);
    return llvm::Error::success();
  case Opcode::Halt:
    nextBlock = -1;
    return llvm::Error::success();
  case Opcode::DmaCount:
    dmaCounts[instruction.imm] = scalar(instruction.a);
    return llvm::Error::success();
  case Opcode::DmaStart:
    return startTransfer(instruction);
  case Opcode::DmaWait:
    waitFor(scalar(instruction.a));
    return llvm::Error::success();
  default:
    break;
  }
  switch (unitOf(instruction)) {
  case Unit::VectorLoad:
  case Unit::VectorStore:
    return executeMemory(instruction);
  case Unit::CrossLane:
    return executeAcross(instruction);
  case Unit::MatrixPush:
  case Unit::MatrixPop:
    return executeMatrix(instruction);
  default:
    break;
  }
  if (!compute(instruction, operand(instruction, instruction.a, 1),
               operand(instruction, instruction.b, 2), operand(instruction, instruction.c, 3),
               lanesOf(instruction.dst)))
    return fail(instruction, "no such arithmetic");
  return llvm::Error::success();
}

/// Bytes [begin, end) of VMEM, which no transfer in flight may touch.
llvm::Expected<char *> Core::vmemAt(const Instruction &instruction, int64_t begin, int64_t end,
                                    bool writes) {
  if (begin < 0 || end > int64_t(vmem.size()))
    return fail(instruction, "access to bytes " + llvm::Twine(begin) + " to " + llvm::Twine(end) +
                                 " of " + llvm::Twine(vmem.size()) + " bytes of VMEM");
  for (const Transfer &transfer : inFlight)
    if ((transfer.writesVmem || (writes && transfer.readsVmem)) && begin < transfer.vmemEnd &&
        transfer.vmemBegin < end)
      return fail(instruction, "race with a transfer that has not been waited for");
  return vmem.data() + begin;
}

llvm::Error Core::executeMemory(const Instruction &instruction) {
  bool stores = unitOf(instruction) == Unit::VectorStore;
  bool rows = instruction.op == Opcode::LoadRows || instruction.op == Opcode::StoreRows;
  int64_t bytes = std::max<int64_t>(1, bitsOf(instruction.type) / 8);
  int64_t base = instruction.imm + (instruction.a ? int64_t(scalar(instruction.a)) : 0);
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
    }
  }
  return llvm::Error::success();
}

llvm::Error Core::executeAcross(const Instruction &instruction) {
  Lane *dst = lanesOf(instruction.dst);
  const Lane *a = lanesOf(instruction.a);
  size_t lanes = instruction.lanes;
  switch (instruction.op) {
  case Opcode::Permute: {
    const Lane *b = lanesOf(instruction.b);
    const std::vector<uint16_t> &table = kernel->tables[instruction.imm];
    std::vector<Lane> result(lanes);
    for (size_t i = 0; i < lanes; ++i)
      result[i] = table[i] < kRegisterLanes ? a[table[i]] : b[table[i] - kRegisterLanes];
    std::copy(result.begin(), result.end(), dst);
    return llvm::Error::success();
  }
  case Opcode::Rotate: {
    std::vector<Lane> result(a, a + lanes);
    std::rotate(result.begin(), result.begin() + instruction.imm, result.end());
    std::copy(result.begin(), result.end(), dst);
    return llvm::Error::success();
  }
  case Opcode::RotateLanes: {
    std::vector<Lane> result(a, a + lanes);
    for (size_t row = 0; row < lanes; row += kLanes)
      std::rotate(result.begin() + row, result.begin() + row + instruction.imm,
                  result.begin() + row + kLanes);
    std::copy(result.begin(), result.end(), dst);
    return llvm::Error::success();
  }
  case Opcode::Extract: {
    size_t at = instruction.b ? scalar(instruction.b) : instruction.imm;
    if (at >= size_t(kRegisterLanes))
      return fail(instruction, "lane beyond the register");
    *dst = a[at];
    return llvm::Error::success();
  }
  case Opcode::Insert:
    if (dst != a)
      std::copy(a, a + lanes, dst);
    dst[instruction.imm] = scalar(instruction.b);
    return llvm::Error::success();
  case Opcode::AnyLane:
    *dst = std::any_of(a, a + lanes, [](Lane lane) { return lane & 1; });
    return llvm::Error::success();
  case Opcode::ReduceI: {
    static constexpr Opcode steps[] = {Opcode::Add,  Opcode::Mul,  Opcode::And,
                                       Opcode::Or,   Opcode::Xor,  Opcode::MinS,
                                       Opcode::MaxS, Opcode::MinU, Opcode::MaxU};
    Instruction step = instruction;
    step.op = steps[instruction.predicate], step.lanes = 1;
    Lane sum = a[0];
    for (size_t i = 1; i < lanes; ++i)
      compute(step, {&sum, 0}, {&a[i], 0}, {}, &sum);
    *dst = sum;
    return llvm::Error::success();
  }
  default:
    return fail(instruction, "no such instruction");
  }
}

//===----------------------------------------------------------------------===//
// Matrix units
//===----------------------------------------------------------------------===//

/// The queues of the matrix units are the only interlock beside semaphores.
void Core::stallUntil(int64_t when) {
  if (when <= cycle)
    return;
  time.matrixStall += when - cycle;
  cycle = when;
}

llvm::Error Core::executeMatrix(const Instruction &instruction) {
  if (uint64_t(instruction.imm) >= matrixUnits.size())
    return fail(instruction, "no such matrix unit");
  MatrixUnit &unit = matrixUnits[instruction.imm];
  stallUntil(unit.issue(instruction, cycle));
  if (!options.computeValues)
    return llvm::Error::success();
  const char *error = unit.execute(instruction, instruction.a ? lanesOf(instruction.a) : nullptr,
                                   instruction.b ? lanesOf(instruction.b) : nullptr,
                                   instruction.dst ? lanesOf(instruction.dst) : nullptr);
  return error ? fail(instruction, error) : llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

int64_t Core::copyCycles(int64_t bytes) const {
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
    int64_t size = space == Space::Hbm ? hbm.size() : kernel->vmemBytes;
    return begin >= 0 && end <= size;
  };
  if (!check(descriptor.from, from, fromEnd) || !check(descriptor.to, to, toEnd))
    return fail(instruction, "transfer beyond a memory's end");
  Transfer transfer{};
  transfer.semaphore = scalar(instruction.c);
  transfer.writesVmem = descriptor.to == Space::Vmem;
  transfer.readsVmem = descriptor.from == Space::Vmem;
  transfer.vmemBegin = transfer.writesVmem ? to : from;
  transfer.vmemEnd = transfer.writesVmem ? toEnd : fromEnd;
  for (const Transfer &other : inFlight)
    if ((transfer.writesVmem || other.writesVmem) && transfer.vmemBegin < other.vmemEnd &&
        other.vmemBegin < transfer.vmemEnd)
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
  int64_t bytes = runs * llvm::alignTo(run, 32);
  int64_t moved = runs * std::max(llvm::alignTo(run, 32), uint64_t(timing.dmaGranule));
  int64_t duration = int64_t(double(moved) / timing.hbmBytesPerCycle) + timing.dmaIssue;
  int64_t begin = std::max(cycle, engineFree);
  engineFree = begin + duration;
  transfer.done = begin + timing.dmaLatency + duration;
  inFlight.push_back(transfer);
  time.hbmBytes += bytes;
  ++time.transfers;
  return llvm::Error::success();
}

void Core::waitFor(int64_t semaphore) {
  int64_t until = cycle;
  for (const Transfer &transfer : inFlight)
    if (transfer.semaphore == semaphore)
      until = std::max(until, transfer.done);
  llvm::erase_if(inFlight, [&](const Transfer &t) { return t.semaphore == semaphore; });
  time.dmaStall += until - cycle;
  cycle = until;
}

} // namespace spokeshave::runtime::tpu
