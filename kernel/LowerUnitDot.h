//===- LowerUnitDot.h - matrix products on matrix units --------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to kernel/.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/Product.h"

namespace spokeshave::kernel {

/// Whether the machine has matrix units that take the product's element types:
/// floats of at most 32 bits summed in f32, bytes and less in i32.
bool suitsUnits(const FusionLowering &lowering, const MatrixProblem &problem);
/// Of the input that lhs is a mere movement of, the outermost dimension; else 1.
int64_t outerExtentOfLeft(const MatrixProblem &problem);
/// Whether lhs can be pushed from where it lies. Leaves dead code behind.
bool readsLeftInPlace(FusionLowering &lowering, MatrixProblem &problem, ElementEmitter &emitter);
/// Lowers such a product to tile_dots of blocks that stream through near memory.
mlir::LogicalResult lowerUnitDot(FusionLowering &lowering, MatrixProblem &problem,
                                 ElementEmitter &emitter);

} // namespace spokeshave::kernel
