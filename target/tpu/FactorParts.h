//===- FactorParts.h - factors of f32 in parts of bf16 ---------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/KernelDialect.h"

#include "mlir/IR/Builders.h"

namespace spokeshave::tpu {

/// One product of parts: part `a` of the left factor, part `b` of the right one.
/// Part 0 is the factor rounded to bf16, part 1 what that leaves, rounded, and so on.
struct PartPair {
  int64_t a = 0, b = 0;
  bool isFirst() const { return a == 0 && b == 0; }
};

/// The products that make one of `dot`'s precision, the smallest first.
llvm::SmallVector<PartPair> partPairsOf(spokeshave::kernel::TileDotOp dot);

/// Operations of the vector unit that partOf makes.
int64_t partCost(int64_t part, const PartPair &pair);

/// `rows`, a register of f32 or of bf16's bits, such that a matrix unit, which rounds
/// it to bf16, takes in that part of it. What rounds to no finite number has parts
/// of zero but in the pair of the first parts: an infinity must meet no part that
/// is zero by chance.
mlir::Value partOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value rows, int64_t part,
                   const PartPair &pair);

} // namespace spokeshave::tpu
