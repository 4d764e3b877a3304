//===- Backend.h - registers and bundles -----------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "target/tpu/Timing.h"

#include "llvm/Support/Error.h"

namespace spokeshave::tpu {

/// Gives each virtual register a register of its file; values that do not fit are
/// kept in VMEM beyond Kernel::vmemBytes, which grows. Afterwards no number is
/// larger than the file. Pipelined loops whose steady state does not find the
/// registers that it needs are `crowded` (SteadyState::loop); if there are any, the
/// kernel is of no use.
llvm::Error allocateRegisters(Kernel &kernel, const Timing &timing,
                              llvm::SmallVectorImpl<uint32_t> &crowded);

/// Orders the instructions of each block into bundles such that every register is
/// read when its producer's latency has passed, on whatever way the block is
/// entered. Instructions keep to the slots of `timing`. Steady states of pipelined
/// loops stay as they are.
void formBundles(Kernel &kernel, const Timing &timing);

} // namespace spokeshave::tpu
