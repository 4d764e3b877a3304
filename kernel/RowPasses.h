//===- RowPasses.h - reductions of rows, in the order they can be done -----===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A row is what one result of the reductions is made of. It is worked on in passes:
// the reductions that depend on nothing reduced, those that depend on them, and so
// on; last the results. LowerRows.cpp and LowerRowTiles.cpp share what is decided
// here.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/Reduction.h"

namespace spokeshave::kernel {

struct RowPasses {
  llvm::SmallVector<stablehlo::ReduceOp> reduces;
  int64_t rows = 1, extent = 1;                 ///< and the elements of a row
  unsigned passes = 0;                          ///< passes with reductions
  llvm::DenseMap<mlir::Value, unsigned> passOf; ///< the first in which it can be computed

  /// Fails with a diagnostic on a fusion that is not of rows.
  mlir::LogicalResult analyze(graph::FusionOp fusion);
  /// Whether `value` has one element per element of the rows.
  bool isElement(mlir::Value value) const {
    return extent > 1 && typeOf(value).getNumElements() == rows * extent;
  }
  /// The reductions of a pass.
  llvm::SmallVector<stablehlo::ReduceOp> reducesOf(unsigned pass) const;

  /// A row in scratch: what an early pass computes at a price and a later one needs.
  struct Kept {
    mlir::Value value;
    unsigned pass;
    mlir::Type element; ///< in a register
    int64_t offset;     ///< in scratch, bytes
  };
  /// Values of an early pass that a later one reads, if they cost more than what
  /// storing and loading them does. `bytesOf` an element type is what a row takes in
  /// scratch, a multiple of 64; all take at most `mostBytes`. f16 becomes f32 in
  /// `halfOperations`.
  llvm::SmallVector<Kept> chooseKept(graph::FusionOp fusion,
                                     llvm::function_ref<int64_t(mlir::Type)> bytesOf,
                                     int64_t mostBytes, int64_t halfOperations = 1) const;
};

/// Lowers a fusion of rows to tiles of 8 rows, where the machine's registers and the
/// shape suit (LowerRowTiles.cpp); nothing if they do not.
std::optional<mlir::LogicalResult> lowerRowTiles(FusionLowering &lowering, const RowPasses &rows);

/// The innermost elements of a row that are contiguous in the operands.
int64_t contiguousExtent(graph::FusionOp fusion, const RowPasses &rows);

} // namespace spokeshave::kernel
