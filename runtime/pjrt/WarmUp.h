//===- WarmUp.h - the first compilation of a process -----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

namespace spokeshave::pjrt {

/// Begins to compile a small program on a thread of its own, once in a process, and
/// drops the result. Not if SPOKESHAVE_WARM_UP is 0.
void warmUp();

} // namespace spokeshave::pjrt
