//===- FusionBuilder.h - puts a group of operations into a fusion ----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "graph/GraphDialect.h"

namespace spokeshave::graph {

/// What becomes one fusion.
struct FusionPlan {
  FusionKind kind = FusionKind::Loop;
  /// Gives the fusion its location: where the user wrote the hero.
  mlir::Operation *hero = nullptr;
  /// In an order in which each stands after what it reads. They are copied, so
  /// that several plans may share one; splat constants need not be listed.
  llvm::SmallVector<mlir::Operation *> ops;
  /// Values made by `ops` that are read outside.
  llvm::SmallVector<mlir::Value> outputs;
};

/// Makes the fusion of `plan` at the builder's place. Result i stands for
/// plan.outputs[i]; uses are not replaced.
FusionOp buildFusion(mlir::OpBuilder &builder, const FusionPlan &plan);

/// A short name made of the operations of a fusion, like dot_add_tanh.
std::string fusionName(llvm::ArrayRef<mlir::Operation *> ops);

/// Checks the postcondition of this level in `block` and the regions of its
/// loops and branches: everything that computes is inside a fusion.
mlir::LogicalResult verifyFused(mlir::Block &block);

} // namespace spokeshave::graph
