//===- Pipeline.h - loops pipelined over their iterations -------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "target/tpu/Timing.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Error.h"

namespace spokeshave::tpu {

/// Rewrites loops of one block (Loops.h) such that iterations overlap, where that is
/// faster. With S stages and C copies:
///
///     [too few iterations? -> loop]   where their number is not known
///     prologue    the first S - 1 iterations begin
///     steady      C iterations begin and C end; repeated; has its bundles
///     epilogue    the last S - 1 iterations end
///     loop        what is left, as it was
///
/// Registers are virtual before and after; C copies of each let a value live for
/// longer than an interval (modulo variable expansion: M. Lam, PLDI 1988).
///
/// `crowded` counts, by the number of a loop's block, how often allocation has not
/// found registers for its steady state: it gets by with fewer then, and is left
/// alone after a few times.
void pipelineLoops(Kernel &kernel, const Timing &timing,
                   const llvm::DenseMap<uint32_t, unsigned> &crowded);

/// Pipelines loops and allocates registers, until every steady state has what it needs.
llvm::Error overlapAndAllocate(Kernel &kernel, const Timing &timing, bool pipelining);

} // namespace spokeshave::tpu
