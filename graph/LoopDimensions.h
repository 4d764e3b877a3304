//===- LoopDimensions.h - dimensions along which a loop is parallel --------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop over a batch of states (a vmapped scan) treats each member alike and
// apart from the others. Which dimension of which value counts the members is
// found by putting dimensions into classes: an elementwise operation, say, puts
// dimension d of its operands and of its result into one class; a reduction,
// slice or concatenation along a dimension makes its class a sequential one.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "input/StablehloOps.h"

#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace spokeshave::graph {

class LoopDimensions {
public:
  /// Of all values in `loop` and of those that it reads. `ignored` is looked at
  /// by the caller (it may be null).
  LoopDimensions(stablehlo::WhileOp loop, mlir::Operation *ignored);

  /// The class of dimension `dim` of `value` if members of the class do not meet
  /// in the loop; -1 for others and for dimensions of extent 1.
  int32_t parallelClass(mlir::Value value, int64_t dim);

private:
  int32_t node(mlir::Value value, int64_t dim);
  int32_t find(int32_t node);
  void unify(mlir::Value a, int64_t i, mlir::Value b, int64_t j);
  void unifyAll(mlir::Value a, mlir::Value b);
  void cut(mlir::Value value, int64_t dim);
  void cutAll(mlir::Operation *op);
  /// Dimensions of one number: in one class where `keeps(d)`, else cut.
  void unifyWhere(mlir::Value a, mlir::Value b, llvm::function_ref<bool(int64_t)> keeps);

  void visitBlock(mlir::Block &block);
  void visit(mlir::Operation *op);
  void visitRegions(mlir::Operation *op);
  void visitReshape(stablehlo::ReshapeOp op);
  void visitGather(stablehlo::GatherOp op);
  void visitReduce(stablehlo::ReduceOp op);
  void visitDot(stablehlo::DotGeneralOp op);
  void visitMove(mlir::Operation *op);
  void cutDiagonals();

  mlir::Operation *ignored;
  llvm::DenseMap<mlir::Value, int32_t> first; ///< node of dimension 0
  std::vector<mlir::Value> values;            ///< in the order in which they came
  std::vector<int32_t> parent;
  std::vector<bool> isCut; ///< of representatives
};

} // namespace spokeshave::graph
