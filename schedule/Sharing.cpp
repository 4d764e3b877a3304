//===- Sharing.cpp - which results of a kernel may lie in its inputs -------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "schedule/Sharing.h"

#include "graph/Classify.h"
#include "input/StablehloOps.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::schedule;

/// The operand that `value` is an updated form of, if it is the result of an
/// operation that can work in place.
static OpOperand *updatedOperand(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return nullptr;
  if (isa<stablehlo::DynamicUpdateSliceOp>(op))
    return &op->getOpOperand(0);
  if (isa<stablehlo::ScatterOp>(op))
    return &op->getOpOperand(cast<OpResult>(value).getResultNumber());
  return nullptr;
}

std::optional<unsigned> spokeshave::schedule::updatedInput(graph::FusionOp fusion,
                                                           unsigned result) {
  graph::FusionKind kind = fusion.getKind();
  if (kind != graph::FusionKind::Update && kind != graph::FusionKind::Scatter)
    return std::nullopt;
  Value value = fusion.getYield().getValues()[result];
  while (OpOperand *operand = updatedOperand(value))
    value = operand->get();
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != &fusion.getBlock() ||
      fusion.getYield().getValues()[result] == value)
    return std::nullopt;
  return argument.getArgNumber();
}

/// Each step of the chain of updates must have one reader, the next: then nothing
/// of the operand is read but what the update reads where it writes.
static bool updatesOnly(Value value) {
  while (OpOperand *operand = updatedOperand(value)) {
    value = operand->get();
    if (!value.hasOneUse())
      return false;
  }
  return true;
}

/// Is element i of `argument` read only for element i of the one result?
static bool isReadElementwise(Value argument, ShapedType resultType) {
  if (cast<ShapedType>(argument.getType()).getShape() != resultType.getShape())
    return false;
  // All between the argument and the result keeps the index.
  SmallVector<Value> waiting = {argument};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!waiting.empty())
    for (Operation *user : waiting.pop_back_val().getUsers()) {
      if (isa<graph::YieldOp>(user) || !seen.insert(user).second)
        continue;
      if (graph::classify(user) != graph::OpClass::Elementwise ||
          cast<ShapedType>(user->getResult(0).getType()).getShape() != resultType.getShape())
        return false;
      llvm::append_range(waiting, user->getResults());
    }
  return true;
}

bool spokeshave::schedule::mayShareBuffer(graph::FusionOp fusion, unsigned input, unsigned result) {
  if (std::optional<unsigned> updated = updatedInput(fusion, result))
    return *updated == input && updatesOnly(fusion.getYield().getValues()[result]);
  // A kernel of several results may write one and then read the input again.
  if (fusion.getKind() != graph::FusionKind::Loop || fusion.getNumResults() != 1)
    return false;
  return isReadElementwise(fusion.getBlock().getArgument(input),
                           cast<ShapedType>(fusion.getResult(0).getType()));
}
