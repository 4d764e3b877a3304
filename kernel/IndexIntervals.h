//===- IndexIntervals.h - which values an index takes in a task ------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Index arithmetic is evaluated with intervals, for one task: loop variables stand
// for their range, branches that the task does not take are left out, lanes that a
// mask leaves off do not count.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/KernelDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <optional>

namespace spokeshave::kernel {

/// Both ends included.
struct Interval {
  int64_t min, max;
};
using MaybeInterval = std::optional<Interval>;

class IndexIntervals {
public:
  IndexIntervals(FuncOp kernel, int64_t task) : task(task), taskValue(kernel.getTask()) {}

  MaybeInterval of(mlir::Value value);
  /// Whether the operation runs in this task; undecided counts as yes.
  bool runs(mlir::Operation *op);
  /// The lanes that may be on: the first so many.
  int64_t activeLanes(mlir::Value mask, int64_t lanes);

private:
  MaybeInterval compute(mlir::Value value);
  MaybeInterval ofArithmetic(mlir::Operation *op);
  MaybeInterval ofCompare(mlir::arith::CmpIOp op);

  int64_t task;
  mlir::Value taskValue;
  llvm::DenseMap<mlir::Value, MaybeInterval> known;
};

} // namespace spokeshave::kernel
