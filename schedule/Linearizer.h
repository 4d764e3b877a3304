//===- Linearizer.h - from tensors in @main to nodes and steps -------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of Linearize.cpp (values and plain operations) and LinearizeControl.cpp (loops
// and branches); all others call linearize() of Plan.h.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "schedule/Plan.h"

#include "graph/GraphDialect.h"
#include "input/StablehloOps.h"

namespace spokeshave::schedule {

/// The buffers of one value: none for a token, several for a tuple.
using Buffers = llvm::SmallVector<BufferUse, 1>;

class Linearizer {
public:
  /// `doubled` are loops whose body is to stand twice in one trip.
  Linearizer(Plan &plan, const LoopSet &doubled) : plan(plan), doubled(doubled) {}
  mlir::LogicalResult run();

private:
  // The blocks and windows under construction.
  int32_t nextWindow() {
    plan.windowBlock.push_back(block);
    return plan.windowBlock.size() - 1;
  }
  int32_t windows() const { return plan.windowBlock.size(); }
  mlir::LogicalResult inBlock(Step &step, bool loop,
                              llvm::function_ref<mlir::LogicalResult(Sequence &)> fill);

  // Values and nodes.
  mlir::LogicalResult makeNodes(mlir::Type type, mlir::Location loc, Buffers &buffers);
  mlir::FailureOr<Buffers> define(mlir::Value value);
  void read(Step &step, BufferUse use, int32_t window) {
    plan.nodes[use.node].reads.push_back(window);
  }
  void addReads(Step &step, mlir::ValueRange values);
  void addCopy(Step &step, BufferUse source, BufferUse target, int32_t window);

  // Operations.
  mlir::LogicalResult addArguments();
  void addDonations();
  mlir::LogicalResult addResults(mlir::func::ReturnOp op);
  mlir::LogicalResult visitBlock(mlir::Block &block, Sequence &steps);
  mlir::LogicalResult visit(mlir::Operation *op, Sequence &steps);
  mlir::LogicalResult visitConstant(stablehlo::ConstantOp op);
  mlir::LogicalResult visitView(mlir::Operation *op);
  mlir::LogicalResult visitFusion(graph::FusionOp op, Sequence &steps);
  mlir::LogicalResult visitCall(mlir::Operation *op, Step::Kind kind, Sequence &steps);
  mlir::LogicalResult visitTrip(stablehlo::WhileOp op, llvm::SmallVectorImpl<Buffers> &carried,
                                Sequence &steps);
  mlir::LogicalResult visitWhile(stablehlo::WhileOp op, Sequence &steps);
  mlir::LogicalResult visitBranches(mlir::Operation *op, Sequence &steps);

  Plan &plan;
  const LoopSet &doubled;
  int32_t block = 0;
  llvm::DenseMap<mlir::Value, Buffers> buffersOf;
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Type>, NodeId> constants;
};

} // namespace spokeshave::schedule
