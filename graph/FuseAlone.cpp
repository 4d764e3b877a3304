//===- FuseAlone.cpp - one operation per fusion ----------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For bisecting: with fusion off, a wrong result names the operation.
//
//===----------------------------------------------------------------------===//
#include "graph/Classify.h"
#include "graph/FusionBuilder.h"
#include "graph/Passes.h"
#include "input/StablehloOps.h"

namespace spokeshave::graph {
#define GEN_PASS_DEF_FUSEALONE
#include "graph/Passes.h.inc"
} // namespace spokeshave::graph

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::graph;

namespace {

void fuseAlone(Operation *op) {
  OpBuilder builder(op);
  FusionPlan plan;
  plan.kind = fusionKindOf(op);
  plan.hero = op;
  plan.ops = {op};
  plan.outputs = llvm::to_vector_of<Value>(op->getResults());
  op->replaceAllUsesWith(buildFusion(builder, plan));
  op->erase();
}

void fuseBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    OpClass opClass = classify(&op);
    if (opClass == OpClass::Elementwise || opClass == OpClass::Index || opClass == OpClass::Hero)
      fuseAlone(&op);
    else if (isa<stablehlo::WhileOp, stablehlo::IfOp, stablehlo::CaseOp>(op))
      for (Region &region : op.getRegions())
        fuseBlock(region.front());
  }
}

class FuseAlonePass : public graph::impl::FuseAloneBase<FuseAlonePass> {
  void runOnOperation() override {
    if (getOperation().getName() != "main")
      return; // a composite's decomposition
    Block &block = getOperation().getBody().front();
    fuseBlock(block);
    if (failed(verifyFused(block)))
      signalPassFailure();
  }
};

} // namespace
