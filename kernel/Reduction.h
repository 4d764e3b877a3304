//===- Reduction.h - reductions that share one loop ------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "input/StablehloOps.h"
#include "kernel/LowerFusion.h"

namespace spokeshave::kernel {

/// Some stablehlo.reduce operations over the same elements, with accumulators
/// in registers. The order of combination is fixed by shapes and lanes alone;
/// narrow floats are accumulated in f32. Accumulators are the elements of all
/// operations, one after another.
class Reduction {
public:
  Reduction(ElementEmitter &emitter, llvm::ArrayRef<stablehlo::ReduceOp> ops)
      : emitter(emitter), ops(ops) {}

  /// The operations' initial values, in the present tile: the neutral elements.
  mlir::FailureOr<llvm::SmallVector<Element>> initial();
  /// Combines pairwise: accumulators of two parts.
  mlir::FailureOr<llvm::SmallVector<Element>> combine(llvm::ArrayRef<Element> a,
                                                      llvm::ArrayRef<Element> b);
  /// Combines accumulators with the operands' elements where `positionOf(op)`
  /// says, in the present tile; lanes that `mask` leaves off count as neutral.
  mlir::FailureOr<llvm::SmallVector<Element>>
  accumulate(llvm::ArrayRef<Element> accumulators, mlir::Value mask,
             llvm::function_ref<Position(stablehlo::ReduceOp)> positionOf);
  /// All lanes into one: halves are combined with halves.
  mlir::FailureOr<llvm::SmallVector<Element>> acrossLanes(llvm::ArrayRef<Element> accumulators);
  /// The lanes of each row of tiles of rows, into all of them (WithinRows.h): of
  /// several tiles' accumulators, step by step, since each step waits long.
  mlir::LogicalResult withinRows(llvm::MutableArrayRef<llvm::SmallVector<Element>> accumulators);
  /// Rounds narrow floats, at the end.
  void finish(llvm::MutableArrayRef<Element> accumulators);

  /// As plain values for loops, and back (`like` says which are complex).
  static Carried flatten(llvm::ArrayRef<Element> elements);
  llvm::SmallVector<Element> unflatten(mlir::ValueRange values, llvm::ArrayRef<Element> like);

  /// The result that accumulator `i` belongs to.
  mlir::Value resultOf(size_t i) const;

private:
  ElementEmitter &emitter;
  llvm::SmallVector<stablehlo::ReduceOp> ops;
};

/// The operand's position, given row-major numbers over the dimensions that are
/// kept and over those that are reduced.
Position reducedPosition(IndexSpace &space, stablehlo::ReduceOp op, const Index &kept,
                         const Index &reduced);
/// Whether operands may be combined in any order. The specification keeps the
/// order and changes the brackets only; true for the known operations and for
/// JAX's argmin and argmax.
bool isOrderFree(stablehlo::ReduceOp op);
/// Elements reduced to one.
int64_t reducedExtent(stablehlo::ReduceOp op);

} // namespace spokeshave::kernel
