//===- DotPlan.h - blocks and tiles of a matrix product --------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/MatrixBlocks.h"
#include "machine/Machine.h"

namespace spokeshave::kernel {

/// Sizes of the blocks and tiles, from the shape and the machine.
struct DotPlan : BlockSizes {
  int64_t lanes = 1, registers = 1; ///< of a panel's row
  bool rowsCollide = false;         ///< a strip of lhs does not stay in the L1 cache where it lies
};

/// For LowerDot.cpp: of a product whose accumulators have `bits`, at the kernel's entry.
DotPlan planDot(MatrixProblem &view, int64_t bits, const machine::Machine &machine,
                ElementEmitter &emitter);

} // namespace spokeshave::kernel
