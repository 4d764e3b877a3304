//===- Simplify.h - instructions that need not be there ---------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "target/tpu/Timing.h"

namespace spokeshave::tpu {

/// Memory that nothing writes: data beside the code. Instruction::object of its loads.
constexpr uint16_t kConstantObject = UINT16_MAX - 1;

/// Removes instructions whose results nothing reads.
void eliminateDeadCode(Kernel &kernel);

/// Computes once per block what selection wrote at each use: addresses, and in
/// counted loops constants of vectors and masks too. Then takes what does not change
/// out of counted loops, as far as that leaves registers for the rest.
void simplifyInstructions(Kernel &kernel, const Timing &timing);

} // namespace spokeshave::tpu
