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

/// Removes instructions whose results nothing reads.
void eliminateDeadCode(Kernel &kernel);

/// Gives each virtual register a register of its file; values that do not fit are
/// kept in VMEM beyond Kernel::vmemBytes, which grows. Afterwards no number is
/// larger than the file.
llvm::Error allocateRegisters(Kernel &kernel, const Timing &timing);

/// Orders the instructions of each block into bundles such that every register is
/// read when its producer's latency has passed, and all results have arrived at
/// the end of a block. Instructions keep to the slots of `timing`.
void formBundles(Kernel &kernel, const Timing &timing);

} // namespace spokeshave::tpu
