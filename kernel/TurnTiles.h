//===- TurnTiles.h - transposed copies through the cross-lane unit ---------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to kernel/. For machines whose registers are 8 rows of 128 elements.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/KernelDialect.h"

#include "mlir/IR/Builders.h"

namespace spokeshave::kernel {

/// A matrix in near memory: rows `pitch` elements apart.
struct NearMatrix {
  mlir::Value buffer;
  int64_t rows = 0, columns = 0, pitch = 0;
};

/// Writes to[j][i] = from[i][j], in tiles of 128 x 128. `to` has whole tiles, what is
/// beyond the matrix is undefined.
void turnTiles(mlir::OpBuilder &builder, mlir::Location loc, const NearMatrix &from,
               const NearMatrix &to);

} // namespace spokeshave::kernel
