//===- Unfuse.cpp - puts fusions' bodies back ------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The graph level is StableHLO plus fusions; without them it is a program that
// the reference can run: this is how the level is checked.
//
//===----------------------------------------------------------------------===//
#include "graph/GraphDialect.h"
#include "graph/Passes.h"

namespace spokeshave::graph {
#define GEN_PASS_DEF_UNFUSE
#include "graph/Passes.h.inc"
} // namespace spokeshave::graph

using namespace mlir;
using namespace spokeshave::graph;

namespace {
class UnfusePass : public ::spokeshave::graph::impl::UnfuseBase<UnfusePass> {
  void runOnOperation() override {
    getOperation().walk([](FusionOp fusion) {
      Block &body = fusion.getBlock();
      for (auto [argument, input] : llvm::zip_equal(body.getArguments(), fusion.getInputs()))
        argument.replaceAllUsesWith(input);
      YieldOp yield = fusion.getYield();
      fusion->replaceAllUsesWith(yield.getValues());
      yield->erase();
      fusion->getBlock()->getOperations().splice(fusion->getIterator(), body.getOperations());
      fusion->erase();
    });
  }
};
} // namespace
