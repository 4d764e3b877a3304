//===- Attention.h - lowerings of attention --------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to kernel/: what LowerAttention.cpp (vector registers along the keys)
// and AttentionUnits.cpp (matrix units, registers of 8 rows) share.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/AttentionView.h"

namespace spokeshave::kernel {

/// How the rows of a run and the keys are cut.
struct AttentionBlocks {
  int64_t rows = 1, rowBlocks = 1; ///< of a run; the last block may be shorter
  int64_t keys = 1, keyBlocks = 1;
};

/// `extent` in equal parts of at most `most`, each a multiple of `step`.
int64_t evenBlock(int64_t extent, int64_t most, int64_t step);

/// Where a task stands: its batch, its first row, and its block within the run.
struct AttentionTask {
  Index batch, row;
  mlir::Value block;
};
/// From the task's number: batches, runs, blocks of a run.
AttentionTask splitAttentionTask(FusionLowering &lowering, ElementEmitter &emitter,
                                 const AttentionView &view, const AttentionBlocks &blocks);

/// The row of the causal mask at which the block of `rows` rows begins, where its rows
/// follow one another there, too.
std::optional<Index> maskRow(FusionLowering &lowering, ElementEmitter &emitter,
                             const AttentionView &view, const AttentionTask &task, int64_t rows);

/// The number of keys that a block of `rows` rows may see, at most all of them; null
/// where that is all.
mlir::Value visibleKeys(FusionLowering &lowering, ElementEmitter &emitter,
                        const AttentionView &view, const AttentionTask &task, int64_t rows);

/// The blocks of `perBlock` keys one after another, the last one with what is left, up
/// to the last that holds any of the `visible` keys (null: all are).
mlir::LogicalResult
forKeyBlocks(FusionLowering &lowering, ElementEmitter &emitter, int64_t keys, int64_t perBlock,
             mlir::Value visible,
             llvm::function_ref<mlir::LogicalResult(const Index &first, int64_t count)> body);

mlir::LogicalResult lowerUnitAttention(FusionLowering &lowering, AttentionView &view,
                                       ElementEmitter &emitter);

} // namespace spokeshave::kernel
