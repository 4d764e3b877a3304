//===- Timing.cpp - slots, latencies and occupancy of instructions ---------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "target/tpu/Timing.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

namespace spokeshave::tpu {

Timing timingOf(const machine::Chip &chip) {
  Timing timing;
  auto slot = [&](Unit unit, int64_t count) {
    timing.slots[unsigned(unit)] = uint8_t(std::max<int64_t>(1, count));
  };
  slot(Unit::Scalar, chip.scalar.slots);
  slot(Unit::VectorAlu, chip.vector.alus);
  slot(Unit::VectorLoad, chip.vector.loads);
  slot(Unit::VectorStore, chip.vector.stores);
  slot(Unit::Transcendental, 1);
  slot(Unit::CrossLane, chip.vector.xlus);
  slot(Unit::MatrixPush, chip.bundle.pushes);
  slot(Unit::MatrixPop, chip.bundle.pops);
  slot(Unit::Misc, chip.bundle.misc);
  timing.immediates = uint8_t(chip.bundle.immediates);
  timing.scalarRegisters = chip.scalar.registers;
  timing.vectorRegisters = chip.vector.registers;
  timing.maskRegisters = chip.vector.maskRegisters;

  timing.simple = chip.scalar.latency;
  timing.scalarMultiply = chip.scalar.latency;
  timing.multiply = chip.vector.latency;
  timing.divide = 6 * chip.vector.latency;
  timing.transcendental = chip.vector.transcendentalLatency;
  timing.load = chip.vector.loadLatency;
  timing.crossLane = chip.vector.xluLatency;
  timing.matrix = chip.mxu.latency;
  // A row a cycle, faster where a cell does several multiply-adds.
  auto rows = [&](double rate) {
    return rate > 0 ? std::max<int64_t>(1, int64_t(double(kSublanes) / rate)) + chip.mxu.pushStall
                    : 0;
  };
  timing.matrixRows = rows(chip.mxu.bf16Rate);
  timing.matrixRowsOfF8 = rows(chip.mxu.f8Rate);
  timing.matrixRowsOfBytes = rows(chip.mxu.int8Rate);
  timing.matrixUnits = chip.mxu.count;
  timing.matrixSize = chip.mxu.size;
  timing.matrixLatch = std::max<int64_t>(1, chip.mxu.weightLoad / (chip.mxu.size / kSublanes));
  timing.weightSets = chip.mxu.weightSets;
  timing.resultTiles = chip.mxu.resultTiles;
  timing.roundToBf16 = chip.vector.bf16 ? 1 : 2;
  double alus = double(chip.vector.alus), ofResults = chip.cost.resultCycles;
  if (ofResults > 0) {
    timing.roundResultToF16 = std::llround(ofResults * alus);
    timing.roundCarriedToF16 = std::llround((ofResults + chip.cost.carryCycles) * alus);
  }
  timing.branchDelay = chip.scalar.branchDelay;

  timing.clock = chip.core.clock;
  timing.vmemBytesPerCycle =
      std::min(chip.memory.vmemRead, chip.memory.vmemWrite) / chip.core.clock;
  timing.hbmBytesPerCycle = chip.hbmBandwidthOfDevice() * chip.cost.hbmEfficiency / chip.core.clock;
  timing.dmaLatency = int64_t(chip.cycles(chip.dma.latency));
  timing.dmaGranule = chip.dma.granule;
  timing.dmaIssue = chip.dma.issue;
  timing.launch = int64_t(chip.cycles(chip.cost.kernelOverhead));
  timing.coreSync = int64_t(chip.cycles(chip.cost.coreSync));
  return timing;
}

int64_t Timing::pushCycles(ElementType factors) const {
  if (factors == ElementType::I8)
    return matrixRowsOfBytes;
  bool isF8 = factors == ElementType::F8E4M3FN || factors == ElementType::F8E5M2;
  return isF8 && matrixRowsOfF8 ? matrixRowsOfF8 : matrixRows;
}

static bool isWide(const Instruction &instruction) {
  return instruction.lanes > 1 &&
         (bitsOf(instruction.type) == 64 || bitsOf(instruction.from) == 64);
}

int64_t Timing::occupancy(const Instruction &instruction) const {
  int64_t registers = 1;
  bool isVector = instruction.lanes > 1 || instruction.dst.file == File::Vector;
  switch (instruction.op) {
  case Opcode::Gather:
  case Opcode::Scatter:
    return std::max<int64_t>(1, instruction.lanes / indexedLanes);
  case Opcode::Load:
  case Opcode::Store: {
    int64_t element = std::max<int64_t>(1, bitsOf(instruction.type) / 8);
    bool regular = instruction.stride == 0 || std::abs(instruction.stride) == element;
    if (isVector && !regular)
      return std::max<int64_t>(1, instruction.lanes / indexedLanes);
    return isWide(instruction) ? 2 : 1;
  }
  case Opcode::DivF:
  case Opcode::SqrtF:
  case Opcode::DivS:
  case Opcode::DivU:
  case Opcode::RemS:
  case Opcode::RemU:
    registers = isVector ? divide / 2 : 1; // a sequence, on a vector ALU
    break;
  case Opcode::ConvertF:
    if (isVector && instruction.type == ElementType::BF16)
      registers = roundToBf16;
    else if (isVector && instruction.type == ElementType::F16)
      registers = instruction.predicate ? roundCarriedToF16 : roundResultToF16;
    break;
  case Opcode::MatrixPush:
    return pushCycles(instruction.from);
  case Opcode::ReduceAngle: // integer products of 192 bits, in words of 32
    registers = 100;
    break;
  default:
    break;
  }
  bool computes = unitOf(instruction) == Unit::VectorAlu;
  return registers * (computes && isWide(instruction) ? wideFactor : 1);
}

int64_t Timing::latency(const Instruction &instruction) const {
  int64_t busy = occupancy(instruction) - 1;
  bool isScalar = instruction.dst.file == File::Scalar;
  switch (latencyOf(instruction.op)) {
  case Latency::Simple:
    return simple + busy;
  case Latency::Multiply:
    return (isScalar ? scalarMultiply : multiply) + busy;
  case Latency::Divide:
    return divide + busy;
  case Latency::Transcendental:
    return transcendental + busy;
  case Latency::Load:
  case Latency::Gather:
    return load + busy;
  case Latency::CrossLane:
    return crossLane + busy;
  case Latency::MatrixPush:
    return 1;
  case Latency::MatrixPop:
    return 2;
  }
  return 1;
}

} // namespace spokeshave::tpu
