//===- Sharing.cpp - which results of a kernel may lie in its inputs -------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "schedule/Sharing.h"

#include "graph/Aliasing.h"
#include "graph/Classify.h"
#include "graph/RegisterLoop.h"
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

/// Of a loop in registers: the input where an array lies that it updates.
static std::optional<unsigned> updatedByLoop(graph::FusionOp fusion, unsigned result) {
  stablehlo::WhileOp loop = graph::loopOf(fusion);
  unsigned carried = graph::carriedNumber(fusion, result);
  auto argument = dyn_cast<BlockArgument>(loop->getOperand(carried));
  if (!argument || !graph::isInMemory(loop, carried))
    return std::nullopt;
  return argument.getArgNumber();
}

std::optional<unsigned> spokeshave::schedule::updatedInput(graph::FusionOp fusion,
                                                           unsigned result) {
  graph::FusionKind kind = fusion.getKind();
  if (kind == graph::FusionKind::While)
    return updatedByLoop(fusion, result);
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

/// An array that the loop updates is read by nothing else. A single state is read
/// before and during the loop and written after it, by one task.
static bool mayShareInWhile(graph::FusionOp fusion, unsigned input, unsigned result) {
  if (std::optional<unsigned> updated = updatedInput(fusion, result))
    return *updated == input && fusion.getBlock().getArgument(input).hasOneUse();
  return fusion->hasAttr(graph::kSingleState) &&
         graph::byteSize(fusion.getInputs()[input].getType()) ==
             graph::byteSize(fusion.getResult(result).getType());
}

bool spokeshave::schedule::mayShareBuffer(graph::FusionOp fusion, unsigned input, unsigned result) {
  if (graph::mayShareBuffer(fusion, input, result))
    return true;
  if (fusion.getKind() == graph::FusionKind::While)
    return mayShareInWhile(fusion, input, result);
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
