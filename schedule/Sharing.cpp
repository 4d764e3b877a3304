//===- Sharing.cpp - which results of a kernel may lie in its inputs -------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "schedule/Sharing.h"

#include "graph/Aliasing.h"
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

/// Is element i of `argument`, counted in row-major order, read only for element
/// i of the results, which all have as many elements?
static bool isReadInPlace(Value argument, int64_t elements) {
  SmallVector<Value> waiting = {argument};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!waiting.empty()) {
    Value value = waiting.pop_back_val();
    if (graph::numElements(value.getType()) != elements)
      return false;
    for (Operation *user : value.getUsers()) {
      if (isa<graph::YieldOp>(user) || !seen.insert(user).second)
        continue;
      graph::OpClass kind = graph::classify(user);
      if (kind != graph::OpClass::Elementwise && kind != graph::OpClass::View)
        return false;
      llvm::append_range(waiting, user->getResults());
    }
  }
  return true;
}

/// The values, not elementwise themselves, that `root` is made of element by
/// element, as far as they come from `hero`.
static llvm::SmallPtrSet<Operation *, 2>
placesOf(Value root, Operation *hero, const llvm::SmallPtrSetImpl<Operation *> &fromHero) {
  llvm::SmallPtrSet<Operation *, 2> places;
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> waiting = {root};
  while (!waiting.empty()) {
    Operation *op = waiting.pop_back_val().getDefiningOp();
    if (!op || !fromHero.contains(op) || !seen.insert(op).second)
      continue;
    graph::OpClass kind = graph::classify(op);
    if (op == hero || (kind != graph::OpClass::Elementwise && kind != graph::OpClass::View))
      places.insert(op);
    else
      llvm::append_range(waiting, op->getOperands());
  }
  return places;
}

/// Are all results of a dot fusion written at one place at a time, counted in
/// row-major order? Not if one is, say, the transpose of another.
static bool resultsGoTogether(graph::FusionOp fusion) {
  Operation *hero = nullptr;
  llvm::SmallPtrSet<Operation *, 16> fromHero;
  for (Operation &op : fusion.getBlock().without_terminator()) {
    bool isHero = isa<stablehlo::DotGeneralOp>(op);
    if (isHero && hero)
      return false;
    if (isHero)
      hero = &op;
    if (isHero || llvm::any_of(op.getOperands(), [&](Value operand) {
          return fromHero.contains(operand.getDefiningOp());
        }))
      fromHero.insert(&op);
  }
  Operation *place = nullptr;
  for (Value root : fusion.getYield().getValues()) {
    auto places = placesOf(root, hero, fromHero);
    if (places.size() != 1 || (place && *places.begin() != place))
      return false;
    place = *places.begin();
  }
  return true;
}

bool spokeshave::schedule::mayShareBuffer(graph::FusionOp fusion, unsigned input, unsigned result) {
  if (graph::mayShareBuffer(fusion, input, result))
    return true;
  if (std::optional<unsigned> updated = updatedInput(fusion, result))
    return *updated == input && updatesOnly(fusion.getYield().getValues()[result]);
  // What stands around a product or a reduction is read and written place by
  // place too: kernels load all that a place needs before they store.
  switch (fusion.getKind()) {
  case graph::FusionKind::Dot:
    if (!resultsGoTogether(fusion))
      return false;
    break;
  case graph::FusionKind::Reduce:
  case graph::FusionKind::Rows:
    break;
  default:
    return false;
  }
  int64_t elements = graph::numElements(fusion.getResult(result).getType());
  return isReadInPlace(fusion.getBlock().getArgument(input), elements);
}
