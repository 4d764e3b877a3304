//===- SingleDevice.cpp - what one device can forget -----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JAX emits shardings and, from shard_map and pmap, collectives also for
// programs of one device. In programs of several devices only what says nothing
// there either is removed: casts and annotations (SeveralDevices.cpp, Lower-
// Collectives.cpp do the rest).
//
//===----------------------------------------------------------------------===//
#include "graph/Passes.h"
#include "graph/Processes.h"
#include "input/StablehloOps.h"

namespace spokeshave::graph {
#define GEN_PASS_DEF_SINGLEDEVICE
#include "graph/Passes.h.inc"
} // namespace spokeshave::graph

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::graph;

namespace {

/// Custom calls that only annotate their operand for partitioners.
bool isAnnotation(stablehlo::CustomCallOp op) {
  return llvm::StringSwitch<bool>(op.getCallTargetName())
      .Cases("Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", true)
      .Cases("xla.sdy.FuncResultSharding", "xla.sdy.GlobalToLocalShape",
             "xla.sdy.LocalToGlobalShape", true)
      .Cases("annotate_device_placement", "LayoutConstraint", "MoveToHost", "MoveToDevice", true)
      .Default(false);
}

/// Custom calls between whole arrays and parts, for partitioners of programs in
/// which shardings are attributes of their own.
bool isConversion(stablehlo::CustomCallOp op) {
  return llvm::StringSwitch<bool>(op.getCallTargetName())
      .Cases("SPMDFullToShardShape", "SPMDShardToFullShape", "xla.sdy.GlobalToLocalShape",
             "xla.sdy.LocalToGlobalShape", true)
      .Default(false);
}

/// Replaces each result by the operand of the same number. Types must agree:
/// they do when the group has one member.
LogicalResult forward(Operation *op) {
  if (op->getOperandTypes() != op->getResultTypes())
    return op->emitOpError() << "changes shapes between devices, but the program has one device";
  op->replaceAllUsesWith(op->getOperands());
  op->erase();
  return success();
}

/// Puts a manual computation's body, which sees local shapes, in its place.
LogicalResult inlineManualComputation(Operation *op) {
  Block &body = op->getRegion(0).front();
  Operation *terminator = body.getTerminator();
  if (body.getArgumentTypes() != op->getOperandTypes() ||
      terminator->getOperandTypes() != op->getResultTypes())
    return op->emitOpError()
           << "has local shapes unlike the global ones, but the program has one device";
  for (auto [argument, operand] : llvm::zip_equal(body.getArguments(), op->getOperands()))
    argument.replaceAllUsesWith(operand);
  SmallVector<Value> results(terminator->getOperands());
  terminator->erase();
  op->getBlock()->getOperations().splice(op->getIterator(), body.getOperations());
  op->replaceAllUsesWith(results);
  op->erase();
  return success();
}

void replaceByZero(Operation *op) {
  OpBuilder builder(op);
  auto type = cast<ShapedType>(op->getResult(0).getType());
  auto zero = builder.create<stablehlo::ConstantOp>(op->getLoc(),
                                                    cast<ElementsAttr>(builder.getZeroAttr(type)));
  op->getResult(0).replaceAllUsesWith(zero);
  op->erase();
}

/// A permute keeps the value if the only device sends to itself, else gives zeros.
LogicalResult simplifyPermute(stablehlo::CollectivePermuteOp op) {
  if (op.getSourceTargetPairs().getNumElements() > 0)
    return forward(op);
  replaceByZero(op);
  return success();
}

LogicalResult simplify(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (name == "sdy.sharding_constraint" || name == "sdy.reshard")
    return forward(op);
  if (name == "sdy.manual_computation")
    return inlineManualComputation(op);
  if (name == "sdy.mesh") {
    op->erase();
    return success();
  }
  if (name == "builtin.unrealized_conversion_cast" && op->getOperandTypes() == op->getResultTypes())
    return forward(op);
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op))
    return isAnnotation(call) ? forward(op) : success();
  if (auto permute = dyn_cast<stablehlo::CollectivePermuteOp>(op))
    return simplifyPermute(permute);
  if (isa<stablehlo::AllReduceOp, stablehlo::AllGatherOp, stablehlo::AllToAllOp,
          stablehlo::ReduceScatterOp, stablehlo::CollectiveBroadcastOp>(op))
    return forward(op);
  if (isa<stablehlo::PartitionIdOp, stablehlo::ReplicaIdOp>(op))
    replaceByZero(op);
  return success();
}

/// For programs of several devices.
LogicalResult removeAnnotations(Operation *op) {
  if (op->getName().getStringRef() == "builtin.unrealized_conversion_cast" &&
      op->getOperandTypes() == op->getResultTypes())
    return forward(op);
  auto call = dyn_cast<stablehlo::CustomCallOp>(op);
  if (call && isConversion(call))
    return call.emitOpError() << "is a conversion for a partitioner, '" << call.getCallTargetName()
                              << "', which this compiler does not have; it reads the manual "
                                 "computations of the Shardy dialect";
  return call && isAnnotation(call) ? forward(op) : success();
}

/// Attributes that name a removed mesh must go with it.
void dropShardingAttributes(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    function.removeArgAttr(i, "sdy.sharding");
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    function.removeResultAttr(i, StringAttr::get(function.getContext(), "sdy.sharding"));
}

class SingleDevicePass : public graph::impl::SingleDeviceBase<SingleDevicePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    bool isAlone = Processes::of(module).count() == 1;
    // Inner operations first: when a manual computation's body moves up, it is
    // already free of what is removed here.
    SmallVector<Operation *> worklist;
    module.walk<WalkOrder::PostOrder>([&](Operation *op) {
      if (op != module)
        worklist.push_back(op);
    });
    for (Operation *op : worklist)
      if (failed(isAlone ? simplify(op) : removeAnnotations(op)))
        return signalPassFailure();
    if (isAlone)
      for (auto function : module.getOps<func::FuncOp>())
        dropShardingAttributes(function);
  }
};

} // namespace
