//===- UnitPlan.h - blocks of a product on a machine with matrix units -----===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "machine/Machine.h"

#include <cstdint>

namespace spokeshave::kernel {

/// What the choice of blocks needs to know of a product.
struct UnitProduct {
  int64_t batch = 1, m = 1, n = 1, k = 1;
  bool ofBytes = false;
  int64_t passes = 1;                    ///< products of parts of f32
  int64_t leftBytes = 2, rightBytes = 2; ///< of an element in far memory
  bool packsLeft = false, packsRight = false;
  int64_t leftRun = 0;          ///< elements of lhs that lie beside each other; 0: a row
  bool turnsLeft = false;       ///< packing lhs is to transpose it
  bool rightAlongDepth = false; ///< rhs lies with its elements along k beside each other
  bool cutsDepth = true;        ///< whether blocks of k are possible
  int64_t outputBytes = 2;      ///< of all results, of an element of the product
  int64_t epilogueBytes = 0;    ///< of what else the epilogue reads, as much
  int64_t wholeBytes = 0;       ///< of buffers that are not in windows
  bool sumsInOutput = false;    ///< no sums beside the result's window
  bool roundsToHalf = false;    ///< results are f16
  /// Expected in near memory: nothing is moved.
  bool leftIsNear = false, rightIsNear = false, outputIsNear = false;
};

/// Tasks are numbered (batch, row block, column block, depth block), the last one
/// innermost: tasks in a row share sums.
struct UnitPlan {
  int64_t rows = 8, columns = 128, depth = 1; ///< of a block
  int64_t rowBlocks = 1, columnBlocks = 1, depthBlocks = 1;
  int64_t cores = 1; ///< that share the tasks
};

/// The blocks that take the least time by a closed form of the machine's: traffic
/// against bandwidth, the units' cycles, and what a task costs beside. Windows are
/// twice in near memory.
UnitPlan planUnits(const UnitProduct &product, const machine::Machine &machine);

} // namespace spokeshave::kernel
