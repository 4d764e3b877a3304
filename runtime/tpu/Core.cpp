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

void *Core::registerAt(Reg reg) {
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
  if (reg)
    return {registerAt(reg), reg.file == File::Scalar};
  if (instruction.immediate != number)
    return {};
  return {&instruction.imm, true};
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

llvm::Error Core::begin(const Kernel &started, llvm::ArrayRef<int64_t> arguments) {
  kernel = &started;
  buffers.assign(arguments.begin(), arguments.end());
  scalars.assign(timing.scalarRegisters, 0);
  unknown.assign(timing.scalarRegisters, false);
  matrixUnits.assign(timing.matrixUnits, MatrixUnit(timing));
  takenBefore.clear();
  dmaCounts.fill(1);
  time = {};
  position = {};
  loop = {};
  begun = cycle;
  tracedBlocks = tracedTransfers = 0;
  if (!options.everyInstruction) {
    auto [found, isNew] = decodedKernels.try_emplace(kernel);
    if (isNew)
      found->second = decode(*kernel, timing, options.computeValues);
    decoded = &found->second;
    visits.assign(kernel->blocks.size(), 0);
    hasUnknown = false;
  }
  return prepareVmem();
}

/// What the kernel does not keep is its own: no transfer may use it, and it has no
/// sensible value.
llvm::Error Core::prepareVmem() {
  std::vector<Range> own;
  int64_t at = 0;
  for (const Kernel::Kept &kept : kernel->kept) {
    own.push_back({at, std::min(kept.offset, kernel->vmemBytes)});
    at = kept.offset + kept.bytes;
  }
  own.push_back({at, kernel->vmemBytes});
  // The last register of what is kept is read whole.
  reach = std::max(at ? at + kRegisterBytes : 0, kernel->vmemBytes);
  if (reach > vmemBytes)
    return makeError(ErrorCode::Internal, "kernel @" + kernel->name + " needs " +
                                              llvm::Twine(reach) + " bytes of VMEM, the core has " +
                                              llvm::Twine(vmemBytes));
  llvm::erase_if(own, [](Range range) { return range.begin >= range.end; });
  for (Range range : own)
    if (dma.conflictOf(range, /*writes=*/true))
      return makeError(ErrorCode::Internal,
                       "kernel @" + kernel->name +
                           ": its VMEM is used by a transfer that has not been waited for");
  if (!options.computeValues)
    return llvm::Error::success();
  vectors.resize(timing.vectorRegisters * kRegisterLanes);
  masks.resize(timing.maskRegisters * kRegisterLanes);
  vmem.beginKernel(std::move(own));
  for (const Kernel::VmemData &data : kernel->data)
    std::memcpy(vmem.touch({data.offset, data.offset + int64_t(data.bytes.size())}),
                data.bytes.data(), data.bytes.size());
  return llvm::Error::success();
}

llvm::Expected<bool> Core::resume(bool pauses) {
  if (decoded)
    return walk(pauses);
  while (position.paused || position.next >= 0) {
    if (!position.paused) {
      if (isCancelled())
        return makeError(ErrorCode::Cancelled, "the simulation was interrupted");
      position.block = position.next++;
      position.bundle = position.instruction = 0;
      blockBegun = cycle;
    }
    llvm::Expected<bool> ended = runBlock(kernel->blocks[position.block], pauses);
    if (!ended || !*ended)
      return ended;
    traceBlock(blockBegun, 1);
  }
  return true;
}

KernelTime Core::finish() {
  cycle = dma.waitForKernel(cycle);
  time.cycles = cycle - begun;
  return time;
}

llvm::Expected<bool> Core::runBlock(const Block &block, bool pauses) {
  for (; position.bundle < block.bundles.size(); ++position.bundle, position.instruction = 0) {
    const Bundle &bundle = block.bundles[position.bundle];
    for (; position.instruction < bundle.count; ++position.instruction) {
      const Instruction &instruction = block.instructions[bundle.begin + position.instruction];
      if (pauses && instruction.op == Opcode::DmaStart && !position.paused) {
        position.paused = true;
        return false;
      }
      position.paused = false;
      time.busy[unsigned(unitOf(instruction))] += timing.occupancy(instruction);
      if (!options.computeValues && !isTimed(instruction))
        continue;
      if (llvm::Error error = execute(instruction))
        return error;
    }
    ++time.bundles;
    cycle += 1 + bundle.idle;
  }
  return true;
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
  bool depends = dependsOnData(instruction);
  if (instruction.op == Opcode::BranchIf) {
    if (depends)
      branchOnData(instruction);
    return !depends;
  }
  if (instruction.dst.file != File::Scalar)
    return false;
  bool ofScalars = llvm::all_of(instruction.sources(),
                                [](Reg source) { return !source || source.file == File::Scalar; });
  bool isKnown = ofScalars && !depends && unit == Unit::Scalar;
  unknown[instruction.dst.number] = !isKnown;
  return isKnown;
}

bool Core::dependsOnData(const Instruction &instruction) const {
  for (Reg source : instruction.sources())
    if (source.file == File::Scalar && unknown[source.number])
      return true;
  return false;
}

/// Not taken, then taken, and so on. So a loop that data ends runs once, whichever
/// end its test stands at, and every other branch is entered.
void Core::branchOnData(const Instruction &instruction) {
  bool &taken = takenBefore[&instruction];
  taken = !taken;
  if (!taken)
    branchTo(instruction.imm);
}

/// The pipeline is refilled at a taken branch.
void Core::branchTo(int64_t block) {
  position.next = block;
  cycle += timing.branchDelay;
}

/// Opcode::Constant, Splat, Iota.
template <typename T> void Core::fill(const Instruction &instruction) {
  T *dst = lanesOf<T>(instruction.dst);
  size_t lanes = instruction.lanes;
  if (instruction.op != Opcode::Iota) {
    bool isConstant = instruction.op == Opcode::Constant;
    std::fill_n(dst, lanes, T(isConstant ? Lane(instruction.imm) : scalar(instruction.a)));
    return;
  }
  T mask = T(~Lane(0) >> (64 - bitsOf(instruction.type)));
  for (size_t i = 0; i < lanes; ++i)
    dst[i] = T(instruction.imm + instruction.stride * int64_t(i)) & mask;
}

llvm::Error Core::execute(const Instruction &instruction) {
  switch (instruction.op) {
  case Opcode::Branch:
    branchTo(instruction.imm);
    return llvm::Error::success();
  case Opcode::BranchIf:
    if (scalar(instruction.a))
      branchTo(instruction.imm);
    return llvm::Error::success();
  case Opcode::Halt:
    position.next = -1;
    return llvm::Error::success();
  case Opcode::DmaCount:
    dmaCounts[instruction.imm] = scalar(instruction.a);
    return llvm::Error::success();
  case Opcode::DmaStart:
    return startTransfer(instruction);
  case Opcode::DmaWait:
    waitFor(scalar(instruction.a));
    return llvm::Error::success();
  case Opcode::MatrixLatch:
  case Opcode::MatrixLatchT:
  case Opcode::MatrixSwap:
  case Opcode::MatrixPush:
  case Opcode::MatrixPop:
    return executeMatrix(instruction);
  default:
    return executeValue(instruction);
  }
}

/// What waits for nothing and only computes.
llvm::Error Core::executeValue(const Instruction &instruction) {
  switch (instruction.op) {
  case Opcode::Constant:
  case Opcode::Splat:
  case Opcode::Iota:
    if (instruction.dst.file == File::Scalar)
      fill<Lane>(instruction);
    else
      withLanesOf(instruction.type, [&](auto lane) { fill<decltype(lane)>(instruction); });
    return llvm::Error::success();
  case Opcode::Argument:
    scalars[instruction.dst.number] = buffers[instruction.imm];
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
  default:
    break;
  }
  if (!compute(instruction, operand(instruction, instruction.a, 1),
               operand(instruction, instruction.b, 2), operand(instruction, instruction.c, 3),
               registerAt(instruction.dst)))
    return fail(instruction, "no such arithmetic");
  return llvm::Error::success();
}

/// Each run of `length` lanes turned by `by`.
template <typename T>
static void rotateRuns(T *dst, const T *a, size_t lanes, size_t length, size_t by) {
  T result[kRegisterLanes];
  for (size_t run = 0; run < lanes; run += length)
    std::rotate_copy(a + run, a + run + by, a + run + length, result + run);
  std::copy_n(result, lanes, dst);
}

template <typename T>
static void permute(T *dst, const T *a, const T *b, size_t lanes, const uint16_t *table) {
  T both[2 * kRegisterLanes];
  std::copy_n(a, kRegisterLanes, both);
  std::copy_n(b, kRegisterLanes, both + kRegisterLanes);
  for (size_t i = 0; i < lanes; ++i)
    dst[i] = both[table[i]];
}

template <typename T> llvm::Error Core::executeAcross(const Instruction &instruction) {
  const T *a = lanesOf<T>(instruction.a);
  size_t lanes = instruction.lanes;
  switch (instruction.op) {
  case Opcode::Permute:
    permute(lanesOf<T>(instruction.dst), a, lanesOf<T>(instruction.b), lanes,
            kernel->tables[instruction.imm].data());
    return llvm::Error::success();
  case Opcode::Rotate:
    rotateRuns(lanesOf<T>(instruction.dst), a, lanes, lanes, instruction.imm);
    return llvm::Error::success();
  case Opcode::RotateLanes:
    rotateRuns(lanesOf<T>(instruction.dst), a, lanes, kLanes, instruction.imm);
    return llvm::Error::success();
  case Opcode::Extract: {
    size_t at = instruction.b ? scalar(instruction.b) : instruction.imm;
    if (at >= size_t(kRegisterLanes))
      return fail(instruction, "lane beyond the register");
    scalars[instruction.dst.number] = a[at];
    return llvm::Error::success();
  }
  case Opcode::Insert: {
    T *dst = lanesOf<T>(instruction.dst);
    if (dst != a)
      std::copy_n(a, lanes, dst);
    dst[instruction.imm] = T(scalar(instruction.b));
    return llvm::Error::success();
  }
  case Opcode::AnyLane:
    scalars[instruction.dst.number] = std::any_of(a, a + lanes, [](T lane) { return lane & 1; });
    return llvm::Error::success();
  case Opcode::ReduceI: {
    static constexpr Opcode steps[] = {Opcode::Add,  Opcode::Mul,  Opcode::And,
                                       Opcode::Or,   Opcode::Xor,  Opcode::MinS,
                                       Opcode::MaxS, Opcode::MinU, Opcode::MaxU};
    Instruction step = instruction;
    step.op = steps[instruction.predicate], step.lanes = 1;
    Lane sum = a[0];
    for (size_t i = 1; i < lanes; ++i) {
      Lane next = a[i];
      compute(step, {&sum, true}, {&next, true}, {}, &sum);
    }
    scalars[instruction.dst.number] = sum;
    return llvm::Error::success();
  }
  default:
    return fail(instruction, "no such instruction");
  }
}

llvm::Error Core::executeAcross(const Instruction &instruction) {
  return withLanesOf(instruction.type,
                     [&](auto lane) { return executeAcross<decltype(lane)>(instruction); });
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
  auto lanesAt = [&](Reg reg) { return reg ? lanesOf<VectorLane>(reg) : nullptr; };
  const char *error = unit.execute(instruction, lanesAt(instruction.a), lanesAt(instruction.b),
                                   lanesAt(instruction.dst));
  return error ? fail(instruction, error) : llvm::Error::success();
}

} // namespace spokeshave::runtime::tpu
