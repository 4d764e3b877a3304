//===- UnitSplit.h - how a core's matrix units share a product -------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "target/tpu/Timing.h"

namespace spokeshave::tpu {

/// What the units of a core do at once: each multiplies the rows of one of
/// `rowUnits` groups with the weights of one of `depthUnits` tiles along k and one
/// of `columnUnits` along the columns.
struct UnitSplit {
  int64_t depthUnits = 1, columnUnits = 1, rowUnits = 1;
};

/// What 8 rows in a unit take: cycles to push them, operations of the vector unit on
/// each register before.
struct PushCost {
  int64_t cycles = 8, operations = 0;
};

/// Cycles from one group of rows in every unit to the next: the units' own, or what
/// the slots of a bundle allow.
int64_t slotCycles(const Timing &timing, const PushCost &push, const UnitSplit &split);

/// The split that takes the fewest cycles for a product of such sizes.
UnitSplit chooseSplit(const Timing &timing, const PushCost &push, int64_t rows, int64_t columns,
                      int64_t depth);

} // namespace spokeshave::tpu
