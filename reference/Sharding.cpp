//===- Sharding.cpp - annotations of where values live ---------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sdy operations, and the casts that portable bytecode has around them. On
// one device they change no value; a manual computation is its body.
//
//===----------------------------------------------------------------------===//
#include "input/SdyOps.h"
#include "reference/Evaluator.h"

using namespace mlir;

namespace spokeshave::reference {

template <typename Op> static LogicalResult evalIdentity(Op, Call &call) {
  call.results.assign(call.operands.begin(), call.operands.end());
  return success();
}

static LogicalResult evalManualComputation(sdy::ManualComputationOp op, Call &call) {
  if (call.evaluator.where().grid)
    return call.error() << "is interpreted on one device only";
  return call.evaluator.runRegion(op.getBody(), call.operands, call.results, &call.scope);
}

static LogicalResult evalNamedComputation(sdy::NamedComputationOp op, Call &call) {
  return call.evaluator.runRegion(op.getBody(), call.operands, call.results, &call.scope);
}

static LogicalResult evalShardingGroup(sdy::ShardingGroupOp, Call &) {
  return success();
}

void addSharding(HandlerTable &table) {
  table.add<UnrealizedConversionCastOp, evalIdentity<UnrealizedConversionCastOp>>();
  table.add<sdy::ManualComputationOp, evalManualComputation>();
  table.add<sdy::NamedComputationOp, evalNamedComputation>();
  table.add<sdy::PropagationBarrierOp, evalIdentity<sdy::PropagationBarrierOp>>();
  table.add<sdy::ReshardOp, evalIdentity<sdy::ReshardOp>>();
  table.add<sdy::ShardingConstraintOp, evalIdentity<sdy::ShardingConstraintOp>>();
  table.add<sdy::ShardingGroupOp, evalShardingGroup>();
}

} // namespace spokeshave::reference
