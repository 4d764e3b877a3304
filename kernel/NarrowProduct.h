//===- NarrowProduct.h - products of bf16 and of bytes, unwidened ----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which products a machine multiplies without widening their operands, and in
// which tiles and blocks.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/MatrixBlocks.h"

#include <optional>

namespace spokeshave::kernel {

/// How the operands of one product are multiplied: the attributes of tile_dot.
struct NarrowProduct {
  mlir::Type element, accumulator; ///< bf16 and f32, or i8 and i32
  int64_t pack = 1;                ///< elements of a word of 32 bits
  bool aUnsigned = false, bUnsigned = false;
  int64_t aExcess = 0; ///< added to the bytes of lhs when they are packed
  bool unit = false;   ///< by tiles of a matrix unit

  int64_t bytes() const { return 4 / pack; } ///< of an element
  /// What the depth is padded to a multiple of.
  int64_t depthStep() const { return unit ? 64 / bytes() : pack; }
};

/// Nothing where the operands are not narrow, or the machine has nothing better
/// for them than wide products.
std::optional<NarrowProduct> narrowProductOf(const MatrixProblem &problem,
                                             const machine::Machine &machine);

/// How an operand lies along rows or columns and along the depth.
enum class OperandLayout {
  InPlace,    ///< lhs only: tiles are read where it lies
  Contiguous, ///< packing reads along its lanes
  Transposed, ///< packing transposes squares of registers
};

struct NarrowPlan : BlockSizes {
  int64_t lanes = 1, registers = 1; ///< of a panel's row of words
  int64_t unitRows = 0;             ///< of a tile of the matrix unit
  int64_t depth = 0;                ///< k, padded with zeros
  int64_t taskNs = 0;
};

mlir::LogicalResult lowerNarrowDot(FusionLowering &lowering, MatrixProblem &problem,
                                   ElementEmitter &emitter, const NarrowProduct &product);

NarrowPlan planNarrowProduct(const MatrixProblem &problem, const NarrowProduct &product,
                             OperandLayout lhs, OperandLayout rhs, const machine::Machine &machine);

} // namespace spokeshave::kernel
