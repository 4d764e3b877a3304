//===- NearShares.h - values in the near memories of several cores ---------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to schedule/. Each core has a near memory of its own. A value is there at
// the same place in each, which holds the part of it that the core touches.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "schedule/NearPieces.h"

namespace spokeshave::schedule {

/// Finds the part of `candidate` that each core holds. False if a core would need what
/// another one wrote: then the value goes through far memory.
bool findParts(NearCandidate &candidate, NearPieces &pieces, const KernelFacts &facts,
               int64_t cores);

/// For schedule.start: what each core fetches, or, to far memory, writes back, nothing
/// twice. Empty where there is one core.
llvm::SmallVector<int64_t> movedParts(const NearCandidate &candidate, bool toFar);

} // namespace spokeshave::schedule
