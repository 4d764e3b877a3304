//===- LinearizeControl.cpp - loops and branches as steps ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop's carried values each get one node, a branch's results too; the copies
// there may turn out to be nothing. See Linearize.cpp.
//
//===----------------------------------------------------------------------===//
#include "schedule/Linearizer.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::schedule;

/// Opens a block of `step`, fills it, closes it.
LogicalResult Linearizer::inBlock(Step &step, bool loop,
                                  llvm::function_ref<LogicalResult(Sequence &)> fill) {
  int32_t parent = block;
  block = plan.blocks.size();
  BlockInfo &info = plan.blocks.emplace_back();
  info.parent = parent;
  info.first = windows();
  info.stepFirst = step.window;
  info.inLoop = loop;
  auto leave = llvm::make_scope_exit([&] { block = parent; });
  Sequence steps;
  LogicalResult result = fill(steps);
  plan.blocks[block].last = windows() - 1;
  step.blocks.push_back(std::move(steps));
  return result;
}

/// Writes the body's steps once. `carried` are the values before that trip,
/// afterwards those behind it.
LogicalResult Linearizer::visitTrip(stablehlo::WhileOp op, SmallVectorImpl<Buffers> &carried,
                                    Sequence &steps) {
  Block &body = op.getBody().front();
  for (auto [argument, buffers] : llvm::zip_equal(body.getArguments(), carried))
    buffersOf[argument] = buffers;
  if (failed(visitBlock(body, steps)))
    return failure();
  for (auto [operand, buffers] : llvm::zip_equal(body.getTerminator()->getOperands(), carried))
    buffers = Buffers(buffersOf[operand]);
  return success();
}

LogicalResult Linearizer::visitWhile(stablehlo::WhileOp op, Sequence &steps) {
  Block &condition = op.getCond().front(), &body = op.getBody().front();
  Operation *latch = body.getTerminator();
  std::optional<int64_t> trips;
  if (auto counted = op->getAttrOfType<IntegerAttr>("graph.trip_count"))
    trips = counted.getInt();
  bool twice = trips && *trips > 1 && doubled.contains(op);
  SmallVector<Buffers> values;
  for (Value init : op->getOperands())
    values.push_back(buffersOf[init]);
  if (twice && *trips % 2 && failed(visitTrip(op, values, steps)))
    return failure();
  Step step{Step::Kind::While, op, nextWindow()};
  step.trips = twice ? *trips / 2 : trips;

  // Entry: a carried value gets a node. What the body only passes on is not
  // carried but read where it is.
  SmallVector<std::pair<unsigned, BufferUse>> carried;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    Value inBody = body.getArgument(i);
    if (latch->getOperand(i) != inBody) {
      Buffers inits = std::move(values[i]);
      values[i].clear();
      if (failed(makeNodes(op->getResult(i).getType(), op.getLoc(), values[i])))
        return failure();
      for (auto [source, target] : llvm::zip_equal(inits, values[i])) {
        addCopy(step, source, target, step.window);
        carried.push_back({i, target});
      }
    }
    for (Value value : {Value(condition.getArgument(i)), inBody, Value(op->getResult(i))})
      buffersOf[value] = values[i];
  }

  int32_t firstBlock = plan.blocks.size();
  auto fillCondition = [&](Sequence &inner) -> LogicalResult {
    if (!step.trips && failed(visitBlock(condition, inner)))
      return failure();
    int32_t decide = nextWindow();
    if (!step.trips) {
      step.selector = buffersOf[condition.getTerminator()->getOperand(0)].front();
      read(step, *step.selector, decide);
    }
    return success();
  };
  Step latchStep{Step::Kind::Copies, latch, -1};
  auto fillBody = [&](Sequence &inner) -> LogicalResult {
    for (int round = 0; round < (twice ? 2 : 1); ++round)
      if (failed(visitTrip(op, values, inner)))
        return failure();
    latchStep.window = nextWindow();
    unsigned position = 0, last = ~0u;
    for (auto [index, target] : carried) {
      position = index == last ? position + 1 : 0;
      last = index;
      addCopy(latchStep, values[index][position], target, latchStep.window);
    }
    inner.push_back(latchStep);
    return success();
  };
  if (failed(inBlock(step, true, fillCondition)))
    return failure();
  int32_t bodyBlock = plan.blocks.size();
  if (failed(inBlock(step, true, fillBody)))
    return failure();
  step.exitWindow = nextWindow();
  for (int32_t sibling : {firstBlock, bodyBlock}) {
    plan.blocks[sibling].stepLast = step.exitWindow;
    plan.blocks[sibling].siblings = {firstBlock, bodyBlock};
  }
  for (auto [index, target] : carried)
    plan.loopValues.push_back({target.node, block, bodyBlock, step.window,
                               plan.blocks[bodyBlock].first, latchStep.window, step.exitWindow});
  steps.push_back(std::move(step));
  return success();
}

LogicalResult Linearizer::visitBranches(Operation *op, Sequence &steps) {
  Step step{Step::Kind::Case, op, nextWindow()};
  step.selector = buffersOf[op->getOperand(0)].front();
  read(step, *step.selector, step.window);
  SmallVector<Buffers> results;
  SmallVector<CaseValue> values;
  for (Value result : op->getResults()) {
    Buffers &buffers = results.emplace_back();
    if (failed(makeNodes(result.getType(), result.getLoc(), buffers)))
      return failure();
    for (BufferUse use : buffers)
      values.push_back({use.node, block, {}, -1});
  }
  SmallVector<int32_t> siblings;
  for (Region &region : op->getRegions()) {
    siblings.push_back(plan.blocks.size());
    auto fill = [&](Sequence &inner) -> LogicalResult {
      if (failed(visitBlock(region.front(), inner)))
        return failure();
      Operation *end = region.front().getTerminator();
      Step copies{Step::Kind::Copies, end, nextWindow()};
      for (CaseValue &value : values)
        value.arrivals.push_back(copies.window);
      for (auto [operand, targets] : llvm::zip_equal(end->getOperands(), results))
        for (auto [source, target] : llvm::zip_equal(Buffers(buffersOf[operand]), targets))
          addCopy(copies, source, target, copies.window);
      inner.push_back(std::move(copies));
      return success();
    };
    if (failed(inBlock(step, false, fill)))
      return failure();
  }
  step.exitWindow = nextWindow();
  for (int32_t sibling : siblings) {
    plan.blocks[sibling].stepLast = step.exitWindow;
    plan.blocks[sibling].siblings.assign(siblings.begin(), siblings.end());
  }
  for (CaseValue &value : values)
    value.exit = step.exitWindow;
  llvm::append_range(plan.caseValues, values);
  for (auto [result, buffers] : llvm::zip_equal(op->getResults(), results))
    buffersOf[result] = buffers;
  steps.push_back(std::move(step));
  return success();
}
