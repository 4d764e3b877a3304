//===- BlockWindows.h - what a block of a product reads and writes ---------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lowering that cuts an index space into blocks declares, for each buffer that
// lies affinely in that space, the box that a block uses (kernel.window), and reads
// and writes through the box.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/Elements.h"

#include <optional>

namespace spokeshave::kernel {

/// A dimension of the index space: a variable that stands for any position (for
/// finding strides), the positions of a block, and the digit of the task that
/// numbers blocks along it.
struct BlockDimension {
  mlir::Value probe;
  int64_t size = 1, limit = 1; ///< positions of a block, of all
  int64_t digit = -1;          ///< -1: one block
};

/// How a buffer lies in such a space.
struct AffineBox {
  struct Dimension {
    int64_t stride, size, limit, digit, step, pitch; ///< pitch: in the box
    int64_t number;                                  ///< of the space's dimension; -1: none
  };
  int64_t base = 0;
  llvm::SmallVector<Dimension> dims; ///< outermost of the box first; the last stride is 1
  bool inOrder = false;              ///< as the space's dimensions, else by stride

  int64_t elements() const;
  /// From an element number of the buffer to one of the box. Terms of `digits`, which
  /// say where the box begins, are left out. Nothing where it is not affine.
  std::optional<Index> local(IndexSpace &space, const Index &linear,
                             llvm::ArrayRef<mlir::Value> digits) const;
};

/// The box for element number `linear`, an expression in the dimensions' probes.
/// Nothing if it is not affine in them alone. The box's dimensions are in the order
/// of their strides or, `inOrder`, of `dims`, the last of which is contiguous then.
std::optional<AffineBox> boxOf(const Index &linear, llvm::ArrayRef<BlockDimension> dims,
                               bool inOrder = false);

/// Declares the window of `buffer`.
mlir::Value declareWindow(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value buffer,
                          const AffineBox &box, llvm::ArrayRef<int64_t> radices);

/// A read of a fusion's input: its element number.
struct InputRead {
  mlir::BlockArgument input;
  Index linear;
};
/// All reads of inputs that the value of `value` at `position` takes, down to
/// `stop` (or null). False if some of them cannot be told.
bool collectReads(ElementEmitter &emitter, mlir::Value value, const Position &position,
                  mlir::Value stop, llvm::SmallVectorImpl<InputRead> &reads);

} // namespace spokeshave::kernel
