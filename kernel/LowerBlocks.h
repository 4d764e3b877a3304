//===- LowerBlocks.h - loops over boxes of their buffers -------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/LowerFusion.h"

#include <optional>

namespace spokeshave::kernel {

/// Lowers an elementwise fusion that reads along other dimensions than it writes
/// (transposes, slices) for a machine whose registers are rows: tasks are blocks of
/// the results' loops, of `extents`, and each buffer comes as the box that the block
/// needs. Nothing where reads are not affine, or shapes do not suit.
std::optional<mlir::LogicalResult> lowerBlocks(FusionLowering &lowering,
                                               llvm::ArrayRef<mlir::Value> roots,
                                               llvm::ArrayRef<int64_t> extents);

} // namespace spokeshave::kernel
