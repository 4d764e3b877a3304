//===- FusionBuilder.cpp - puts a group of operations into a fusion --------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "graph/FusionBuilder.h"

#include "graph/Classify.h"
#include "input/StablehloOps.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
namespace sh = spokeshave::stablehlo;

namespace spokeshave::graph {

/// Names longer than this say less, not more.
static constexpr size_t kLongestName = 48;

/// What `op` reads: its operands and what its regions take from outside.
static void forEachRead(Operation *op, function_ref<void(Value)> visit) {
  llvm::for_each(op->getOperands(), visit);
  if (op->getNumRegions() == 0)
    return;
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  llvm::for_each(captured, visit);
}

/// The mnemonics in order, the same word in a row once, index operations only
/// if nothing else is there.
std::string fusionName(ArrayRef<Operation *> ops) {
  std::string name;
  StringRef last;
  auto append = [&](bool onlyComputing) {
    for (Operation *op : ops) {
      OpClass opClass = classify(op);
      bool computing = opClass == OpClass::Hero || opClass == OpClass::Elementwise;
      StringRef word = shortName(op);
      if (opClass == OpClass::Constant || (onlyComputing && !computing) || word == last ||
          name.size() + word.size() > kLongestName)
        continue;
      name += (name.empty() ? "" : "_") + word.str();
      last = word;
    }
  };
  append(/*onlyComputing=*/true);
  if (name.empty())
    append(/*onlyComputing=*/false);
  return name.empty() ? "copy" : name;
}

FusionOp buildFusion(OpBuilder &builder, const FusionPlan &plan) {
  llvm::SmallPtrSet<Operation *, 16> members(plan.ops.begin(), plan.ops.end());
  llvm::SetVector<Value> inputs;
  llvm::SetVector<Operation *> constants;
  for (Operation *op : plan.ops)
    forEachRead(op, [&](Value value) {
      Operation *def = value.getDefiningOp();
      if (def && members.contains(def))
        return;
      if (isSplatConstant(def))
        constants.insert(def);
      else
        inputs.insert(value);
    });
  SmallVector<Type> types = llvm::to_vector(ValueRange(plan.outputs).getTypes());
  auto fusion = builder.create<FusionOp>((plan.hero ? plan.hero : plan.ops.back())->getLoc(), types,
                                         inputs.getArrayRef(), plan.kind, fusionName(plan.ops));
  IRMapping mapping;
  mapping.map(inputs.getArrayRef(), fusion.getBlock().getArguments());
  OpBuilder body = OpBuilder::atBlockEnd(&fusion.getBlock());
  for (Operation *op : constants)
    body.clone(*op, mapping);
  for (Operation *op : plan.ops)
    body.clone(*op, mapping);
  auto results = llvm::map_to_vector(plan.outputs, [&](Value v) { return mapping.lookup(v); });
  body.create<YieldOp>(fusion.getLoc(), results);
  return fusion;
}

LogicalResult verifyFused(Block &block) {
  for (Operation &op : block) {
    if (isa<FusionOp>(op) || op.hasTrait<OpTrait::IsTerminator>())
      continue;
    OpClass opClass = classify(&op);
    if (opClass != OpClass::TopLevel && opClass != OpClass::Constant && opClass != OpClass::View)
      return op.emitOpError() << "computes outside of a fusion";
    if (isa<sh::WhileOp, sh::IfOp, sh::CaseOp>(op))
      for (Region &region : op.getRegions())
        if (failed(verifyFused(region.front())))
          return failure();
  }
  return success();
}

} // namespace spokeshave::graph
