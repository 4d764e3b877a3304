//===- Rebroadcast.h - a broadcast in another shape of the same size -------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "input/StablehloOps.h"

#include <optional>

namespace spokeshave::graph {

/// Operand shape (a reshape of the present one) and dimensions of a broadcast.
struct Rebroadcast {
  llvm::SmallVector<int64_t> operandShape, dimensions;
};

/// How to broadcast `op`'s operand to `shape`, which has as many elements as its
/// result, so that each element keeps its row-major number. None if a dimension
/// of `shape` would be broadcast in part.
std::optional<Rebroadcast> rebroadcast(stablehlo::BroadcastInDimOp op,
                                       llvm::ArrayRef<int64_t> shape);

} // namespace spokeshave::graph
