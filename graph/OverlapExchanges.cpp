//===- OverlapExchanges.cpp - work between a collective and its readers ----===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On machines whose links move data beside the cores, a collective costs nothing
// while there is other work. So it starts as soon as its operand is there, and
// what does not depend on it goes before what does, up to the next collective.
// Collectives keep their order, which is the same on all devices.
//
//===----------------------------------------------------------------------===//
#include "graph/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace spokeshave::graph {
#define GEN_PASS_DEF_OVERLAPEXCHANGES
#include "graph/Passes.h.inc"
} // namespace spokeshave::graph

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::graph;
namespace sh = spokeshave::stablehlo;

namespace {

bool isExchange(Operation *op) {
  return isa<sh::AllGatherOp, sh::AllToAllOp, sh::CollectivePermuteOp, sh::CollectiveBroadcastOp>(
      op);
}

/// May another operation that does not depend on it change places with `op`?
bool isMovable(Operation *op) {
  return isMemoryEffectFree(op) && !op->hasTrait<OpTrait::IsTerminator>();
}

/// Moves `exchange` up to behind its operands, and no other operation with effects.
void hoist(Operation *exchange) {
  Operation *place = exchange;
  while (Operation *before = place->getPrevNode()) {
    bool isOperand = llvm::is_contained(
        llvm::map_range(exchange->getOperands(), [](Value v) { return v.getDefiningOp(); }),
        before);
    if (isOperand || !isMovable(before))
      break;
    place = before;
  }
  if (place != exchange)
    exchange->moveBefore(place);
}

/// Moves work that does not depend on `exchange` before the first that does.
void fill(Operation *exchange) {
  llvm::SmallPtrSet<Operation *, 16> dependent = {exchange};
  Operation *firstReader = nullptr;
  for (Operation *op = exchange->getNextNode(), *next; op; op = next) {
    next = op->getNextNode();
    bool depends = false;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        depends |= dependent.contains(operand.getDefiningOp());
    });
    if (depends) {
      dependent.insert(op);
      firstReader = firstReader ? firstReader : op;
      continue;
    }
    if (isExchange(op) || !isMovable(op))
      return;
    if (firstReader)
      op->moveBefore(firstReader);
  }
}

class OverlapExchangesPass : public graph::impl::OverlapExchangesBase<OverlapExchangesPass> {
  void runOnOperation() override {
    SmallVector<Operation *> exchanges;
    getOperation().walk([&](Operation *op) {
      if (isExchange(op))
        exchanges.push_back(op);
    });
    for (Operation *exchange : exchanges)
      hoist(exchange);
    for (Operation *exchange : exchanges)
      fill(exchange);
  }
};

} // namespace
