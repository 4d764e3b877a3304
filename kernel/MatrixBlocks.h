//===- MatrixBlocks.h - the loops around the tiles of a matrix product -----===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A task computes a block of the result of one batch. Within it, strips are as
// many rows, panels as many columns as a register tile has.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/LowerFusion.h"
#include "kernel/MatrixPlan.h"

namespace spokeshave::kernel {

struct BlockSizes {
  int64_t rows = 1, panel = 1; ///< of a strip, columns of a panel
  int64_t blockRows = 1, blockColumns = 1, rowBlocks = 1, columnBlocks = 1;
};

class MatrixBlocks {
public:
  /// `sizes` must outlive this.
  MatrixBlocks(FusionLowering &lowering, ElementEmitter &emitter, const MatrixProblem &problem,
               const BlockSizes &sizes)
      : lowering(lowering), emitter(emitter), problem(problem), sizes(sizes) {}

  /// From the task's number to the block's batch, rows and columns.
  void splitTask();
  using Body = llvm::function_ref<mlir::LogicalResult(const Index &begin, int64_t extent)>;
  /// Loops over the block's strips: whole ones, then the matrix's last.
  mlir::LogicalResult forStrips(Body body) {
    return forTiles(body, rowBegin, rowEnd, sizes.rows, problem.m, sizes.blockRows);
  }
  /// Whether the last strip is nearly a whole one: as one more of them, on a copy
  /// of its rows, it costs little more time and none of the code.
  bool lastStripIsNearlyWhole() const;
  using StripBody = llvm::function_ref<mlir::LogicalResult(const Index &begin, mlir::Value rows)>;
  /// The same in one loop, for any strip: `rows` are those that there are.
  mlir::LogicalResult forAnyStrips(StripBody body);
  /// The same over its panels.
  mlir::LogicalResult forPanels(Body body) {
    return forTiles(body, columnBegin, columnEnd, sizes.panel, problem.n, sizes.blockColumns);
  }

  Index batch, rowBegin, columnBegin;
  mlir::Value rowEnd, columnEnd; ///< of the block

private:
  mlir::LogicalResult forTiles(Body body, const Index &begin, mlir::Value end, int64_t size,
                               int64_t extent, int64_t blockSize);

  FusionLowering &lowering;
  ElementEmitter &emitter;
  const MatrixProblem &problem;
  const BlockSizes &sizes;
};

} // namespace spokeshave::kernel
