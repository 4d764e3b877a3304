//===- RowTiles.h - loops over tiles of 8 rows by 128 columns --------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For machines whose registers are rows (WithinRows.h). A task has some rows of a
// matrix; they are worked on in groups of 8, several groups side by side so that
// latencies of one hide behind the others. Loops have one block and no branches
// inside; what does not fill a register comes after them, masked.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/LowerFusion.h"

namespace spokeshave::kernel {

struct RowTiles {
  int64_t rows = 1, extent = 1; ///< of the matrix; extent: elements of a row
  int64_t rowsPerTask = 8, tasks = 1;
  int64_t groups = 1;    ///< of 8 rows, side by side
  int64_t batch = 1;     ///< of these in one loop over columns
  int64_t registers = 1; ///< tiles in a trip of such a loop
  int64_t rowBytes = 4, taskBytes = 0;

  /// Tasks that stream about `Machine::taskBytes`, of `rowBytes` a row. `operations`
  /// of an element decide how much is unrolled. `reduces`: within the rows.
  static RowTiles plan(int64_t rows, int64_t extent, int64_t rowBytes, int64_t operations,
                       const machine::Machine &machine, bool reduces);
  /// Takes so many groups side by side, and as few columns.
  void useGroups(int64_t count, int64_t columnsAtOnce);
  /// Of a group in a trip of a loop over columns of so many groups.
  int64_t unrollOf(int64_t groupsHere) const;
  /// Whether a task of 8 rows may be in near memory twice.
  static bool fits(int64_t extent, int64_t rowBytes, const machine::Machine &machine);

private:
  void divide(); ///< into tasks
};

/// Rows side by side: the first row of each group (lanes add their sublane), and the
/// mask and number of those that are on.
struct RowGroup {
  llvm::SmallVector<Index> rows;
  mlir::Value mask;
  int64_t active;

  /// Some of them.
  RowGroup slice(int64_t first, int64_t count) const {
    llvm::ArrayRef<Index> all(rows);
    return {llvm::SmallVector<Index>(all.slice(first, count)), mask, active};
  }
};

/// Calls `body` for the present task's rows: in loops over so many groups, over fewer
/// for what is left, and once for a last group that is not whole.
mlir::LogicalResult forRowGroups(FusionLowering &lowering, ElementEmitter &emitter,
                                 const RowTiles &tiles,
                                 llvm::function_ref<mlir::LogicalResult(const RowGroup &)> body);

/// Calls `body` for all tiles of columns of `group`, in the tile (of an emitter);
/// columns add their lane. `carried` values go from one to the next; `number` counts
/// the tiles of one trip.
using ColumnBody = llvm::function_ref<mlir::FailureOr<Carried>(const Index &column, int64_t number,
                                                               mlir::ValueRange carried)>;
mlir::FailureOr<Carried> forColumns(FusionLowering &lowering, ElementEmitter &emitter,
                                    const RowTiles &tiles, const RowGroup &group,
                                    mlir::ValueRange init, ColumnBody body);

/// Bytes per row of the buffers of `fusion` that have an element for each of
/// `elements`, and how many operations an element takes, roughly.
int64_t streamedBytes(graph::FusionOp fusion, int64_t elements, int64_t rows);
int64_t operationsPerElement(graph::FusionOp fusion);

} // namespace spokeshave::kernel
