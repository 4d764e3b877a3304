//===- ExpandDots.h - tile_dot on matrix units and vector ALUs -------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/KernelDialect.h"
#include "target/tpu/Timing.h"

namespace spokeshave::tpu {

/// Replaces every kernel.tile_dot of a staged kernel: by latches, pushes and pops of
/// the matrix units where they take the element types (f32 rounded to bf16, bf16,
/// i8), by loops over vector registers otherwise.
mlir::LogicalResult expandDots(spokeshave::kernel::FuncOp kernel, const Timing &timing);

} // namespace spokeshave::tpu
