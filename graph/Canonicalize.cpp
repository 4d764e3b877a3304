//===- Canonicalize.cpp - the rewrites to their fixpoint -------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "graph/Canonicalize.h"

#include "graph/Passes.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace spokeshave::graph {
#define GEN_PASS_DEF_CANONICALIZE
#include "graph/Passes.h.inc"
} // namespace spokeshave::graph

using namespace mlir;
using namespace spokeshave;

namespace {
class CanonicalizePass : public graph::impl::CanonicalizeBase<CanonicalizePass> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    graph::populateDynamicRewrites(set);
    graph::populateShapeRewrites(set);
    graph::populateSliceRewrites(set);
    graph::populateValueRewrites(set);
    patterns = FrozenRewritePatternSet(std::move(set));
    return success();
  }

  void runOnOperation() override {
    GreedyRewriteConfig config;
    config.enableRegionSimplification = GreedySimplifyRegionLevel::Disabled;
    config.useTopDownTraversal = true;
    // The rewrites all go down a well-founded order; should one ever not, the
    // program is still right, so that running out of rounds is no failure.
    (void)applyPatternsAndFoldGreedily(getOperation(), patterns, config);
  }

  FrozenRewritePatternSet patterns;
};
} // namespace
