//===- Windows.h - the part of a buffer that each task touches -------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/KernelDialect.h"

#include "mlir/IR/Builders.h"

#include <optional>

namespace spokeshave::kernel {

/// A run of elements that moves with the number of the task:
///
///   origin(task) = base + major * (task / divisor) + minor * (task mod divisor)
///
/// `count` elements from there, clipped to the buffer and, if `clipsToMajor`, to
/// the next step of the major part. With `rows` > 1 it is a box: as many runs,
/// `rowStride` elements apart, each clipped to its row; one after the other in near
/// memory.
struct Window {
  int64_t base = 0, major = 0, minor = 0, divisor = 1;
  int64_t count = 0, total = 0;
  bool clipsToMajor = false;
  int64_t rows = 1, rowStride = 0;

  int64_t elements() const { return count * rows; }
  /// For so many tasks in a row the window stays.
  int64_t period() const { return minor == 0 ? divisor : 1; }
  int64_t originAt(int64_t task) const {
    return base + major * (task / divisor) + minor * (task % divisor);
  }
  /// Of `task`, from the first element to behind the last.
  std::pair<int64_t, int64_t> rangeAt(int64_t task) const;
  /// The window that moves in the box's own elements: where origins lie in a buffer
  /// whose rows are as long as the box's.
  Window withinBox() const;
  /// As operations: the origin, which may lie before the buffer.
  mlir::Value origin(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value task) const;
  /// Begin and number of the elements within the buffer.
  std::pair<mlir::Value, mlir::Value> clipped(mlir::OpBuilder &builder, mlir::Location loc,
                                              mlir::Value task) const;
};

/// What a kernel.window says, as operations.
class DeclaredWindow {
public:
  explicit DeclaredWindow(WindowOp op) : op(op) {}
  int64_t elements() const;
  /// For so many tasks in a row the window stays.
  int64_t period() const;
  /// Whether it is a run of the buffer's elements, in their order.
  bool isContiguous() const;
  /// Whether no window reaches beyond the limits.
  bool isExact() const;
  /// Whether the digits that move it are the outermost ones, so that no window is
  /// used twice.
  bool movesOnce() const;
  /// Of `task`, from the first element to behind the last.
  std::pair<int64_t, int64_t> rangeAt(int64_t task) const;
  /// The first element in the buffer, and how many positions there are along each
  /// dimension within the limits.
  std::pair<mlir::Value, llvm::SmallVector<mlir::Value>>
  place(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value task) const;

private:
  mlir::Value digitOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value task,
                      int64_t digit) const;
  mutable WindowOp op; ///< accessors of operations are not const
};

/// The window of `buffer`, an argument of `kernel`, if there is one that is smaller
/// than the buffer. Of an output the windows of all tasks cover each element once.
/// Found by evaluating index arithmetic with intervals for every task.
std::optional<Window> findWindow(FuncOp kernel, mlir::BlockArgument buffer);

} // namespace spokeshave::kernel
