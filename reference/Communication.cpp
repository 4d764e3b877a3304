//===- Communication.cpp - infeed, outfeed, channels -----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// infeed, outfeed, recv, send. Their other ends are other processes of a grid;
// outside a grid there is nothing to read from.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "reference/Grid.h"

using namespace mlir;

namespace spokeshave::reference {

static FailureOr<Grid *> gridOf(Call &call) {
  if (Grid *grid = call.evaluator.where().grid)
    return grid;
  return call.error() << "has nobody at its other end: the program does not run in a grid";
}

static LogicalResult evalInfeed(stablehlo::InfeedOp, Call &call) {
  FailureOr<Grid *> grid = gridOf(call);
  if (failed(grid))
    return failure();
  if ((*grid)->infeed.empty())
    return call.error() << "reads past the end of the infeed";
  func::FuncOp source = (*grid)->infeed.front();
  (*grid)->infeed.pop_front();
  if (failed(call.evaluator.runFunction(source, {}, call.results)))
    return failure();
  return call.give(Tensor::token());
}

static LogicalResult evalOutfeed(stablehlo::OutfeedOp, Call &call) {
  FailureOr<Grid *> grid = gridOf(call);
  if (failed(grid))
    return failure();
  (*grid)->outfeed.emplace_back(call.operands.drop_back());
  return call.give(Tensor::token());
}

static LogicalResult evalSend(stablehlo::SendOp op, Call &call) {
  FailureOr<Grid *> grid = gridOf(call);
  if (failed(grid))
    return failure();
  (*grid)->send(op.getChannelHandle().getHandle(), Results(call.operands.drop_back()));
  return call.give(Tensor::token());
}

static LogicalResult evalRecv(stablehlo::RecvOp op, Call &call) {
  FailureOr<Grid *> grid = gridOf(call);
  if (failed(grid))
    return failure();
  FailureOr<Results> values = (*grid)->receive(call, op.getChannelHandle().getHandle());
  if (failed(values))
    return failure();
  call.results = std::move(*values);
  return call.give(Tensor::token());
}

void addCommunication(HandlerTable &table) {
  table.add<stablehlo::InfeedOp, evalInfeed>();
  table.add<stablehlo::OutfeedOp, evalOutfeed>();
  table.add<stablehlo::RecvOp, evalRecv>();
  table.add<stablehlo::SendOp, evalSend>();
}

} // namespace spokeshave::reference
