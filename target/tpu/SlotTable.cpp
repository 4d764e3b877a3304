//===- SlotTable.cpp - slots that a schedule has taken ----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "target/tpu/SlotTable.h"

namespace spokeshave::tpu {

bool SlotTable::fits(const Instruction &here, int64_t cycle) {
  Unit unit = unitOf(here);
  if (here.op == Opcode::MatrixPush)
    return matrixBusy.lookup(here.imm) <= cycle && !isFull(unit, cycle);
  if (here.immediate && size_t(cycle) < immediates.size() && immediates[cycle] >= timing.immediates)
    return false;
  for (int64_t i = 0, busy = timing.occupancy(here); i < busy; ++i)
    if (isFull(unit, cycle + i))
      return false;
  return true;
}

void SlotTable::take(const Instruction &here, int64_t cycle) {
  unsigned unit = unsigned(unitOf(here));
  if (here.op == Opcode::MatrixPush) {
    matrixBusy[here.imm] = cycle + timing.occupancy(here);
    ++at(cycle)[unit];
    return;
  }
  if (here.immediate) {
    if (size_t(cycle) >= immediates.size())
      immediates.resize(2 * cycle + 64);
    ++immediates[cycle];
  }
  for (int64_t i = 0, busy = timing.occupancy(here); i < busy; ++i)
    ++at(cycle + i)[unit];
}

} // namespace spokeshave::tpu
