//===- Fuse.cpp - forms the fusions of a program ---------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "graph/Fusion.h"
#include "graph/FusionBuilder.h"
#include "graph/Passes.h"
#include "input/StablehloOps.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace spokeshave::graph {
#define GEN_PASS_DEF_FUSE
#include "graph/Passes.h.inc"
} // namespace spokeshave::graph

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::graph;

namespace {

/// What a kernel would have to execute, one per operation.
int64_t countInstructions(Operation *root) {
  int64_t count = 0;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    OpClass opClass = classify(op);
    if (opClass != OpClass::Elementwise && opClass != OpClass::Index && opClass != OpClass::Hero)
      return WalkResult::advance();
    ++count;
    return WalkResult::skip(); // the regions of a reduction belong to it
  });
  return count;
}

/// Chains of cheap operations on nothing but constants, like a mask of iotas.
constexpr int kLongestRecomputed = 6;

bool isMadeOfConstants(Value value, int depth = 0) {
  Operation *def = value.getDefiningOp();
  if (!def || depth > kLongestRecomputed)
    return false;
  if (isSplatConstant(def) || isa<stablehlo::IotaOp>(def))
    return true;
  OpClass opClass = classify(def);
  bool cheap =
      opClass == OpClass::View || isa<stablehlo::BroadcastInDimOp>(def) ||
      (opClass == OpClass::Elementwise && def->getNumRegions() == 0 && elementCost(def) <= 1);
  return cheap && llvm::all_of(def->getOperands(), [&](Value operand) {
           return isMadeOfConstants(operand, depth + 1);
         });
}

Value copyInto(OpBuilder &builder, Value value, IRMapping &mapping) {
  if (Value copy = mapping.lookupOrNull(value))
    return copy;
  Operation *def = value.getDefiningOp();
  for (Value operand : def->getOperands())
    copyInto(builder, operand, mapping);
  return builder.clone(*def, mapping)->getResult(0);
}

/// A region computes what is made of constants itself: read from outside, it
/// would have to be a tensor in memory.
void recomputeInside(Region &region) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(region, captured);
  IRMapping mapping;
  OpBuilder builder = OpBuilder::atBlockBegin(&region.front());
  for (Value value : captured) {
    if (isSplatConstant(value.getDefiningOp()) || !isMadeOfConstants(value))
      continue;
    replaceAllUsesInRegionWith(value, copyInto(builder, value, mapping), region);
  }
}

void fuseBlock(Block &block, DuplicationBudget &budget) {
  for (Operation &op : block)
    if (isa<stablehlo::WhileOp, stablehlo::IfOp, stablehlo::CaseOp>(op))
      for (Region &region : op.getRegions()) {
        recomputeInside(region);
        fuseBlock(region.front(), budget);
      }
  BlockFuser(block, budget).run();
}

void eraseDeadConstants(func::FuncOp function) {
  function.walk([](stablehlo::ConstantOp op) {
    if (op->use_empty())
      op->erase();
  });
}

class FusePass : public graph::impl::FuseBase<FusePass> {
  void runOnOperation() override {
    // Other functions are decompositions of composites, which kernels replace.
    auto function = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!function)
      return;
    DuplicationBudget budget;
    budget.before = countInstructions(function);
    Block &block = function.getBody().front();
    fuseBlock(block, budget);
    eraseDeadConstants(function);
    Builder builder(&getContext());
    getOperation()->setAttr("graph.instructions_before", builder.getI64IntegerAttr(budget.before));
    getOperation()->setAttr("graph.instructions_after",
                            builder.getI64IntegerAttr(countInstructions(function)));
    if (failed(verifyFused(block)))
      signalPassFailure();
  }
};

} // namespace
