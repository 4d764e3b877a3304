//===- Cost.h - what a program computes and moves --------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "graph/GraphDialect.h"

namespace spokeshave::graph {

struct Cost {
  int64_t flops = 0;           ///< a multiply-add counts as two; transcendentals are apart
  int64_t transcendentals = 0; ///< elements
  int64_t bytes = 0;           ///< read from inputs and written to outputs

  Cost &operator+=(const Cost &other);
  Cost operator*(int64_t times) const;
};

/// One execution of one operation of a fusion's body, without its bytes.
Cost costOf(mlir::Operation *op);

/// One execution of `fusion`. An input that is only sliced or gathered from
/// counts with what is read of it.
Cost costOf(FusionOp fusion);

/// One execution of a block of the fused program: loops count by their trips
/// (unknown ones as one trip), branches by the costliest.
Cost costOf(mlir::Block &block);

} // namespace spokeshave::graph
