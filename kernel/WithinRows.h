//===- WithinRows.h - across the 128 lanes of each row of a register -------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For machines whose registers are 8 rows of 128 lanes (load_rows): lane
// 128 r + c stands at row r, column c.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/Arith.h"

namespace spokeshave::kernel {

constexpr int64_t kTileRows = 8, kTileColumns = 128, kTileLanes = kTileRows * kTileColumns;

/// Lane (r, c) of `value`, 1024 lanes, becomes the one of (r, (c + by) mod 128).
Num rotateWithinRows(Num value, int64_t by);

/// Reduces the 128 lanes of each row, all rows at once, with the result in every
/// lane of its row. `combine` is commutative; the order is that of a tree: lanes 64
/// apart, then 32, and so on. Seven rotations, each waiting for the one before:
/// interleave several registers to hide their latency.
Num reduceWithinRows(Num value, llvm::function_ref<Num(Num, Num)> combine);

/// What is on of a register where the row, or the column, of a lane is less than
/// `count`. Windows.cpp knows the form.
mlir::Value makePositionMask(mlir::OpBuilder &builder, mlir::Location loc, int64_t count,
                             bool ofRows);

/// Transposes 128 x 128 elements in 16 registers of 8 rows each: 64 permutations of
/// two registers.
void transposeTile(mlir::OpBuilder &builder, mlir::Location loc,
                   llvm::MutableArrayRef<mlir::Value> registers);

} // namespace spokeshave::kernel
