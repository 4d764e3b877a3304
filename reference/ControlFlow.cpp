//===- ControlFlow.cpp - branches, loops, calls, tuples, tokens ------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// after_all, async_done, async_start, case, composite, create_token,
// get_tuple_element, if, optimization_barrier, tuple, while; and func.call.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "reference/Evaluator.h"

using namespace mlir;

namespace spokeshave::reference {

static LogicalResult evalIf(stablehlo::IfOp op, Call &call) {
  Region &branch = call[0].at(0).i ? op.getTrueBranch() : op.getFalseBranch();
  return call.evaluator.runRegion(branch, {}, call.results, &call.scope);
}

/// An index out of range takes the last branch.
static LogicalResult evalCase(stablehlo::CaseOp op, Call &call) {
  auto count = static_cast<int64_t>(op.getBranches().size());
  if (count == 0)
    return call.error() << "has no branches";
  int64_t index = call[0].at(0).i;
  Region &branch = op.getBranches()[index >= 0 && index < count ? index : count - 1];
  return call.evaluator.runRegion(branch, {}, call.results, &call.scope);
}

static LogicalResult evalWhile(stablehlo::WhileOp op, Call &call) {
  Results values(call.operands);
  while (true) {
    Results condition, next;
    if (failed(call.evaluator.runRegion(op.getCond(), values, condition, &call.scope)))
      return failure();
    if (condition.size() != 1 || !condition[0].isTensor() || condition[0].size() != 1)
      return call.error() << "has a condition that does not return one boolean";
    if (!condition[0].at(0).i)
      break;
    if (failed(call.evaluator.runRegion(op.getBody(), values, next, &call.scope)))
      return failure();
    values = std::move(next);
  }
  call.results = std::move(values);
  return success();
}

static LogicalResult evalCall(func::CallOp op, Call &call) {
  func::FuncOp callee = call.evaluator.lookupFunction(op, op.getCalleeAttr());
  if (!callee)
    return failure();
  return call.evaluator.runFunction(callee, call.operands, call.results);
}

/// A composite means what its decomposition does.
static LogicalResult evalComposite(stablehlo::CompositeOp op, Call &call) {
  func::FuncOp decomposition = call.evaluator.lookupFunction(op, op.getDecompositionAttr());
  if (!decomposition)
    return failure();
  return call.evaluator.runFunction(decomposition, call.operands, call.results);
}

static LogicalResult evalOptimizationBarrier(stablehlo::OptimizationBarrierOp, Call &call) {
  call.results.assign(call.operands.begin(), call.operands.end());
  return success();
}

static LogicalResult evalTuple(stablehlo::TupleOp, Call &call) {
  return call.give(Tensor::tuple(call.operands.vec()));
}

static LogicalResult evalGetTupleElement(stablehlo::GetTupleElementOp op, Call &call) {
  ArrayRef<Tensor> elements = call[0].tupleElements();
  auto index = static_cast<size_t>(op.getIndex());
  if (index >= elements.size())
    return call.error() << "index " << index << " is out of range";
  return call.give(elements[index]);
}

static LogicalResult evalAfterAll(stablehlo::AfterAllOp, Call &call) {
  return call.give(Tensor::token());
}
static LogicalResult evalCreateToken(stablehlo::CreateTokenOp, Call &call) {
  return call.give(Tensor::token());
}

/// What is asynchronous has no meaning of its own: it is done when it starts,
/// and the future holds its results.
static LogicalResult evalAsyncStart(stablehlo::AsyncStartOp op, Call &call) {
  Results results;
  if (failed(call.evaluator.runRegion(op.getBody(), call.operands, results, &call.scope)))
    return failure();
  return call.give(Tensor::tuple({results.begin(), results.end()}));
}
static LogicalResult evalAsyncDone(stablehlo::AsyncDoneOp, Call &call) {
  llvm::append_range(call.results, call[0].tupleElements());
  return success();
}

void addControlFlow(HandlerTable &table) {
  table.add<func::CallOp, evalCall>();
  table.add<stablehlo::AfterAllOp, evalAfterAll>();
  table.add<stablehlo::AsyncDoneOp, evalAsyncDone>();
  table.add<stablehlo::AsyncStartOp, evalAsyncStart>();
  table.add<stablehlo::CaseOp, evalCase>();
  table.add<stablehlo::CompositeOp, evalComposite>();
  table.add<stablehlo::CreateTokenOp, evalCreateToken>();
  table.add<stablehlo::GetTupleElementOp, evalGetTupleElement>();
  table.add<stablehlo::IfOp, evalIf>();
  table.add<stablehlo::OptimizationBarrierOp, evalOptimizationBarrier>();
  table.add<stablehlo::TupleOp, evalTuple>();
  table.add<stablehlo::WhileOp, evalWhile>();
}

} // namespace spokeshave::reference
