//===- Pipeline.cpp - the graph level in order -----------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "graph/Pipeline.h"

#include "graph/Passes.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace spokeshave::graph {

void buildGraphPipeline(OpPassManager &manager, const GraphOptions &options) {
  // Shardings first: they wrap calls and hide types from the inliner.
  manager.addPass(createSingleDevice());
  manager.addPass(createInline());
  // After inlining: a value's cut does not stop at a call. Before all else: only
  // then have values the shapes that a device sees.
  manager.addPass(createSeveralDevices());
  manager.addPass(createLowerCollectives());

  OpPassManager &function = manager.nest<func::FuncOp>();
  // Before all that looks at element types.
  function.addPass(createExpandQuantized());
  function.addPass(createExpand());
  if (!options.hasLibrary) {
    function.addPass(createExpandFft());
    function.addPass(createExpandDecompositions());
  }
  function.addPass(createCanonicalize());
  function.addPass(createFoldConstants());
  function.addPass(createCSEPass());
  // Loops after folding, which shows their bounds, and before another round:
  // what left a loop may meet what is outside.
  function.addPass(createSimplifyLoops());
  function.addPass(createUnrollLoops());
  // After what does not change left the loops: the stacks that layers come from.
  function.addPass(createUpdateStacks());
  // Before products are brought to their form, which partial ones need as well.
  function.addPass(createSplitReductions());
  // Products as JAX wrote them: their transposes are not yet part of a loop's
  // or a fusion's shape. The reshapes this makes meet others in the next step.
  function.addPass(createNormalizeDots());
  if (options.multipliesBf16) {
    SettlePrecisionOptions precision;
    precision.leastPrecision = int64_t(options.precision);
    precision.fullPasses = options.fullPasses;
    function.addPass(createSettlePrecision(precision));
  }
  function.addPass(createCanonicalize());
  function.addPass(createFoldConstants());
  function.addPass(createCSEPass());

  // Barriers fall only now: they keep CSE from undoing rematerialisation.
  function.addPass(createDropBarriers());
  // After the last elimination of common constants, which would undo it.
  function.addPass(createIsolateRegions());
  // After the last folding, which would make constants of them again.
  function.addPass(createFillSplats());

  if (options.fusion) {
    // Whole loops first: what is left of the others is fused inside.
    if (options.registerLoops)
      manager.addNestedPass<func::FuncOp>(createFormLoops());
    // Before what would take its products and its softmax apart.
    if (options.attention) {
      FormAttentionOptions attention;
      attention.fewestBytes = options.fewestScoreBytes;
      attention.onePass = options.multipliesBf16;
      manager.addNestedPass<func::FuncOp>(createFormAttention(attention));
    }
    manager.addNestedPass<func::FuncOp>(createSkipFills());
    manager.addPass(createFuse());
  } else
    manager.addNestedPass<func::FuncOp>(createFuseAlone());
  // Last: it compares whole fusions.
  manager.addNestedPass<func::FuncOp>(createLiftConstants());
  if (options.overlapExchanges)
    manager.addNestedPass<func::FuncOp>(createOverlapExchanges());
}

void registerGraphPasses() {
  registerGraphLevelPasses();
  PassPipelineRegistration<>("graph", "the whole graph level", [](OpPassManager &manager) {
    buildGraphPipeline(manager, GraphOptions());
  });
}

} // namespace spokeshave::graph
