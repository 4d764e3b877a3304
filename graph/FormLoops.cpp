//===- FormLoops.cpp - loops with a small state become fusions -------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A trip of a few operations costs more in calls of kernels and in memory traffic
// than in arithmetic. Such a loop becomes one kernel, which keeps the state in
// registers; outermost loops are tried first, so that a kernel holds as much as
// it can.
//
//===----------------------------------------------------------------------===//
#include "graph/Classify.h"
#include "graph/FusionBuilder.h"
#include "graph/Passes.h"
#include "graph/RegisterLoop.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace spokeshave::graph {
#define GEN_PASS_DEF_FORMLOOPS
#include "graph/Passes.h.inc"
} // namespace spokeshave::graph

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::graph;
namespace sh = spokeshave::stablehlo;

namespace {

/// A splat constant or what FillSplats made of it: cheaper in the kernel than as a
/// tensor in memory.
bool isSplat(Value value) {
  Operation *def = value.getDefiningOp();
  if (auto broadcast = dyn_cast_or_null<sh::BroadcastInDimOp>(def))
    def = broadcast.getOperand().getDefiningOp();
  return isSplatConstant(def);
}

Value copyInto(OpBuilder &builder, Value value, IRMapping &mapping) {
  if (Value copy = mapping.lookupOrNull(value))
    return copy;
  Operation *def = value.getDefiningOp();
  for (Value operand : def->getOperands())
    copyInto(builder, operand, mapping);
  return builder.clone(*def, mapping)->getResult(0);
}

/// The operations that give the kernel its name, of inner loops too.
std::string nameOf(sh::WhileOp loop) {
  SmallVector<Operation *> ops;
  loop.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<sh::WhileOp, sh::IfOp, sh::CaseOp>(op))
      return WalkResult::advance();
    if (!op->hasTrait<OpTrait::IsTerminator>())
      ops.push_back(op);
    return WalkResult::skip();
  });
  return "while_" + fusionName(ops);
}

void form(const RegisterLoop &plan) {
  sh::WhileOp loop = plan.loop;
  llvm::SetVector<Value> reads, inputs, splats;
  getUsedValuesDefinedAbove(loop->getRegions(), reads);
  for (Value value : reads)
    (isSplat(value) ? splats : inputs).insert(value);
  for (auto [i, value] : llvm::enumerate(loop->getOperands()))
    (isSplat(value) && !plan.inMemory.test(i) ? splats : inputs).insert(value);
  SmallVector<Value> outputs;
  for (Value result : loop->getResults())
    if (!result.use_empty())
      outputs.push_back(result);

  OpBuilder builder(loop);
  auto fusion = builder.create<FusionOp>(loop.getLoc(), ValueRange(outputs).getTypes(),
                                         inputs.getArrayRef(), FusionKind::While, nameOf(loop));
  if (plan.batch.empty())
    fusion->setAttr(kSingleState, builder.getUnitAttr());
  OpBuilder body = OpBuilder::atBlockEnd(&fusion.getBlock());
  // An array that is a splat outside may be read as one, and updated as an input.
  IRMapping mapping;
  for (Value value : splats)
    copyInto(body, value, mapping);
  for (auto [input, argument] : llvm::zip_equal(inputs, fusion.getBlock().getArguments()))
    if (!splats.contains(input))
      mapping.map(input, argument);
  Operation *copy = body.clone(*loop, mapping);
  for (auto [i, value] : llvm::enumerate(loop->getOperands()))
    if (plan.inMemory.test(i))
      copy->setOperand(i,
                       fusion.getBlock().getArgument(llvm::find(inputs, value) - inputs.begin()));
  auto results = llvm::map_to_vector(outputs, [&](Value v) { return mapping.lookup(v); });
  body.create<YieldOp>(loop.getLoc(), results);
  for (auto [output, result] : llvm::zip_equal(outputs, fusion.getResults()))
    output.replaceAllUsesWith(result);
  SmallVector<Value> before(splats.begin(), splats.end());
  loop->erase();
  for (Value value : before)
    if (Operation *def = value.getDefiningOp(); def->use_empty())
      def->erase();
}

/// Constants that are no splats are inputs of kernels.
void moveConstantsOut(sh::WhileOp loop) {
  loop->walk([&](sh::ConstantOp constant) {
    if (!isSplatConstant(constant))
      constant->moveBefore(loop);
  });
}

void visit(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto loop = dyn_cast<sh::WhileOp>(op); loop && !loop.use_empty()) {
      moveConstantsOut(loop);
      if (std::optional<RegisterLoop> plan = planRegisterLoop(loop)) {
        form(*plan);
        continue;
      }
    }
    if (isa<sh::WhileOp, sh::IfOp, sh::CaseOp>(op))
      for (Region &region : op.getRegions())
        visit(region.front());
  }
}

class FormLoopsPass : public spokeshave::graph::impl::FormLoopsBase<FormLoopsPass> {
  void runOnOperation() override {
    if (getOperation().getName() == "main") // others are decompositions of composites
      visit(getOperation().getBody().front());
  }
};

} // namespace
