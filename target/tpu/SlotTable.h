//===- SlotTable.h - slots that a schedule has taken ------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "target/tpu/Timing.h"

#include "llvm/ADT/DenseMap.h"

namespace spokeshave::tpu {

/// Of straight code, by cycle: slots of the units, immediates, and how long matrix
/// units take rows.
class SlotTable {
public:
  explicit SlotTable(const Timing &timing) : timing(timing) {}

  bool isFull(Unit unit, int64_t cycle) {
    return at(cycle)[unsigned(unit)] >= timing.slots[unsigned(unit)];
  }
  bool fits(const Instruction &here, int64_t cycle);
  void take(const Instruction &here, int64_t cycle);

private:
  std::array<uint8_t, kNumUnits> &at(int64_t cycle) {
    if (size_t(cycle) >= taken.size())
      taken.resize(2 * cycle + 64);
    return taken[cycle];
  }

  const Timing &timing;
  std::vector<std::array<uint8_t, kNumUnits>> taken;
  std::vector<uint8_t> immediates;
  llvm::DenseMap<int64_t, int64_t> matrixBusy; ///< until when, by unit
};

} // namespace spokeshave::tpu
