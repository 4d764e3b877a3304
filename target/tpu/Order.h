//===- Order.h - the order of code in which registers are given -------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "target/tpu/Timing.h"

namespace spokeshave::tpu {

/// Puts the instructions of blocks that push to matrix units about in the order in
/// which they will be issued, as far as virtual registers that live at once find a
/// place in the files. What the code computes stays the same.
void orderCode(Kernel &kernel, const Timing &timing);

} // namespace spokeshave::tpu
