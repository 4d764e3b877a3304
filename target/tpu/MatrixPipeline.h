//===- MatrixPipeline.h - a product as a pipeline through the matrix units -===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/KernelDialect.h"
#include "target/tpu/Timing.h"

#include "mlir/IR/Builders.h"

namespace spokeshave::tpu {

/// What the units of a core do at once: each multiplies the rows of one of
/// `rowUnits` groups with the weights of one of `depthUnits` tiles along k and one
/// of `columnUnits` along the columns.
struct UnitSplit {
  int64_t depthUnits = 1, columnUnits = 1, rowUnits = 1;
};

/// Cycles from one group of rows in every unit to the next: the units' own, or what
/// the slots of a bundle allow.
int64_t slotCycles(const Timing &timing, int64_t pushCycles, const UnitSplit &split);

/// The split that takes the fewest cycles for a product of such sizes.
UnitSplit chooseSplit(const Timing &timing, int64_t pushCycles, int64_t rows, int64_t columns,
                      int64_t depth);

/// Writes the latches, pushes and pops of `dot` before it. Its depth is a constant,
/// a is contiguous along k, and the units take the element types.
void writeMatrixPipeline(spokeshave::kernel::TileDotOp dot, const Timing &timing);

} // namespace spokeshave::tpu
