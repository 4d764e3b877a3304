//===- IsolateRegions.cpp - computations of reductions own their constants --===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Common subexpression elimination and folding move constants out of the small
// computations of reductions, sorts and scatters. A kernel wants them whole.
//
//===----------------------------------------------------------------------===//
#include "graph/Classify.h"
#include "graph/Passes.h"
#include "input/StablehloOps.h"

#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace spokeshave::graph {
#define GEN_PASS_DEF_ISOLATEREGIONS
#include "graph/Passes.h.inc"
} // namespace spokeshave::graph

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::graph;

namespace {
class IsolateRegionsPass : public spokeshave::graph::impl::IsolateRegionsBase<IsolateRegionsPass> {
  void runOnOperation() override {
    getOperation().walk<WalkOrder::PreOrder>([](Operation *op) {
      bool ownsComputation = classify(op) == OpClass::Hero || isa<stablehlo::MapOp>(op);
      if (!ownsComputation)
        return WalkResult::advance();
      for (Region &region : op->getRegions())
        isolate(region);
      return WalkResult::skip();
    });
  }

  static void isolate(Region &region) {
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(region, captured);
    OpBuilder builder = OpBuilder::atBlockBegin(&region.front());
    for (Value value : captured)
      if (isSplatConstant(value.getDefiningOp()))
        replaceAllUsesInRegionWith(value, builder.clone(*value.getDefiningOp())->getResult(0),
                                   region);
  }
};
} // namespace
