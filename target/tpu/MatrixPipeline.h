//===- MatrixPipeline.h - a product as a pipeline through the matrix units -===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/KernelDialect.h"
#include "target/tpu/Timing.h"

namespace spokeshave::tpu {

/// Writes the latches, pushes and pops of `dot` before it. Its depth is a constant,
/// a is contiguous along k, and the units take the element types.
void writeMatrixPipeline(spokeshave::kernel::TileDotOp dot, const Timing &timing);

} // namespace spokeshave::tpu
