//===- Timing.h - slots, latencies and occupancy of instructions -----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one description that bundling obeys and the simulator checks.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "machine/Chip.h"
#include "target/tpu/Isa.h"

namespace spokeshave::tpu {

struct Timing {
  /// Instructions of a unit in one bundle.
  std::array<uint8_t, kNumUnits> slots{};
  uint8_t immediates = 6; ///< of a bundle
  int64_t scalarRegisters = 32, vectorRegisters = 64, maskRegisters = 16;

  // In cycles.
  int64_t simple = 1, multiply = 2, scalarMultiply = 2, divide = 12, transcendental = 6, load = 4,
          crossLane = 6, matrix = 100;
  /// Cycles that a matrix unit needs for 8 rows of bf16 (or f32), f8, bytes; 0: it
  /// does not multiply these.
  int64_t matrixRows = 8, matrixRowsOfF8 = 0, matrixRowsOfBytes = 0;
  /// Cycles of the unit's weight port for one latch.
  int64_t matrixLatch = 8;
  int64_t matrixUnits = 4, matrixSize = 128;
  int64_t weightSets = 2;
  /// Products that may wait for their pop.
  int64_t resultTiles = 64;
  /// Indexed loads and stores: lanes per cycle.
  int64_t indexedLanes = 8;
  /// Emulated elements of 64 bits: cycles for one instruction of 32.
  int64_t wideFactor = 8;

  /// ALU operations that round a register of f32 to bf16.
  int64_t roundToBf16 = 2;
  /// The same to f16, of a product's sums: of one task, and where tasks share windows.
  int64_t roundResultToF16 = 17, roundCarriedToF16 = 17;

  /// Cycles lost at a taken branch.
  int64_t branchDelay = 4;

  // Transfers between memories.
  double vmemBytesPerCycle = 4096; ///< of transfers within a core's VMEM
  double hbmBytesPerCycle = 546;   ///< of the device, both directions together
  int64_t dmaLatency = 600;        ///< from start to the first byte
  int64_t dmaGranule = 512;        ///< bytes; shorter runs take as long
  int64_t dmaIssue = 20;           ///< cycles between two starts
  /// Cycles of a launch beyond the kernel's own.
  int64_t launch = 1000;
  /// More cycles of a launch that several cores share.
  int64_t coreSync = 0;
  double clock = 1.5e9; ///< Hz

  /// Cycles from issue until the result may be read.
  int64_t latency(const Instruction &instruction) const;
  /// Cycles of a matrix unit for a push of factors of a type.
  int64_t pushCycles(ElementType factors) const;
  /// Cycles for which the instruction keeps its slot.
  int64_t occupancy(const Instruction &instruction) const;
};

/// The figures of a chip, of one of its cores.
Timing timingOf(const machine::Chip &chip);

} // namespace spokeshave::tpu
