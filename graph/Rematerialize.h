//===- Rematerialize.h - values computed again instead of kept -------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>
#include <vector>

namespace spokeshave::graph {

/// A value that is computed a second time.
struct Recomputed {
  std::string name, location; ///< of the fusion that computes it first
  int64_t bytes = 0;          ///< that are not kept meanwhile
  int64_t operations = 0;     ///< that are done once more, as elementCost counts them
};

/// The most bytes that values between operations of the function's body take at once,
/// in their present order, if none of them shares memory with another one.
int64_t peakOfValues(mlir::func::FuncOp function);

/// Computes values of fusions again where they are used late, until peakOfValues is at
/// most `limit` or nothing is left that helps. Only what has no loop structure of its
/// own is computed again, from arguments, constants and values that are there then.
///
/// At each peak the value goes that frees the most bytes for an operation: the ratio
/// of XLA's HloRematerialization and, without its staleness, of Dynamic Tensor
/// Rematerialization (Kirisame et al., ICLR 2021). That cheap producers rather than
/// products are computed again is from Chen et al., Training Deep Nets with Sublinear
/// Memory Cost (2016).
std::vector<Recomputed> rematerialize(mlir::func::FuncOp function, int64_t limit);

} // namespace spokeshave::graph
