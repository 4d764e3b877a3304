//===- Dimensions.h - which dimensions of a fusion loop as one -------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "graph/GraphDialect.h"

namespace spokeshave::kernel {

/// Adjacent dimensions of `shape`, the shape of all `roots`, that the body
/// treats alike are one loop: the extents of these loops, outermost first.
/// Dimensions of size 1 disappear. Only speed depends on it: a position can
/// always be worked out from the linear element number.
llvm::SmallVector<int64_t> collapsedDimensions(graph::FusionOp fusion,
                                               llvm::ArrayRef<mlir::Value> roots);

/// Some dimensions that loop as one.
struct DimensionGroup {
  int64_t extent;
  llvm::SmallVector<int64_t, 4> dims;
};
/// The same with the dimensions in each loop. `cut` may ask for more cuts between
/// neighbouring dimensions.
llvm::SmallVector<DimensionGroup> collapsedGroups(graph::FusionOp fusion,
                                                  llvm::ArrayRef<mlir::Value> roots,
                                                  llvm::function_ref<bool(int64_t, int64_t)> cut);

} // namespace spokeshave::kernel
