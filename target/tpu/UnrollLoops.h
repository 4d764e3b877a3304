//===- UnrollLoops.h - several iterations in one ----------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/KernelDialect.h"

namespace spokeshave::tpu {

/// Of a loop over `from .. min(from + count, limit)`: its trip count where the limit is
/// not in the way.
constexpr llvm::StringLiteral kUsualTrips = "usual_trips";

/// Unrolls innermost loops of known trip counts: wholly, where that makes the loop
/// around them the innermost one, which can be pipelined then; else by a divisor of
/// the trip count, so that iterations share their address arithmetic and one branch.
/// Loops over `from .. min(from + count, limit)` count from 0 to `count` afterwards
/// where the limit is never in the way; others get the attribute above.
void unrollLoops(kernel::FuncOp kernel);

} // namespace spokeshave::tpu
