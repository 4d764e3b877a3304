//===- Order.cpp - readers of a value before the update of it --------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JAX traces `new = x.at[i].set(u); old = x[j]` in the order it was written.
// Swapped, the update needs no copy of x. Only what must move moves: the rest of
// the program keeps its order, which is also good for the caches.
//
//===----------------------------------------------------------------------===//
#include "schedule/Passes.h"
#include "schedule/Sharing.h"

#include "input/StablehloOps.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace spokeshave::schedule {

#define GEN_PASS_DEF_SCHEDULEORDER
#include "schedule/Passes.h.inc"

namespace {

/// What one reader may drag along: bounds the time in large programs.
constexpr size_t kMostMoved = 64;

bool isView(Operation *op) {
  return isa<stablehlo::ReshapeOp, stablehlo::BitcastConvertOp, stablehlo::OptimizationBarrierOp>(
      op);
}

Value withoutViews(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isView(op))
      break;
    value = op->getOperand(cast<OpResult>(value).getResultNumber());
  }
  return value;
}

/// Adds to `readers` the operations of `block` that read `value`, in it or in
/// regions inside, also through views.
void collectReaders(Value value, Block *block, SetVector<Operation *> &readers) {
  for (Operation *user : value.getUsers()) {
    Operation *op = block->findAncestorOpInBlock(*user);
    if (!op || op->hasTrait<OpTrait::IsTerminator>())
      continue;
    readers.insert(op);
    if (op == user && isView(op))
      for (Value result : op->getResults())
        collectReaders(result, block, readers);
  }
}

/// What of `block` after `update` must run before `reader` does, itself
/// included; empty if that is the update, has effects, or is too much.
SetVector<Operation *> sliceAfter(Operation *update, Operation *reader) {
  SetVector<Operation *> slice;
  slice.insert(reader);
  for (size_t i = 0; i < slice.size(); ++i) {
    Operation *op = slice[i];
    if (op == update || !isMemoryEffectFree(op) || slice.size() > kMostMoved)
      return {};
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *producer = operand.getDefiningOp())
          if (Operation *outer = update->getBlock()->findAncestorOpInBlock(*producer))
            if (outer != op && !outer->isBeforeInBlock(update))
              slice.insert(outer);
    });
  }
  return slice;
}

void orderReaders(graph::FusionOp update, Value updated) {
  SetVector<Operation *> readers;
  collectReaders(withoutViews(updated), update->getBlock(), readers);
  for (Operation *reader : readers) {
    if (reader == update || reader->isBeforeInBlock(update))
      continue;
    SmallVector<Operation *> slice = sliceAfter(update, reader).takeVector();
    llvm::sort(slice, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    for (Operation *op : slice)
      op->moveBefore(update);
  }
}

struct OrderPass : impl::ScheduleOrderBase<OrderPass> {
  void runOnOperation() override {
    SmallVector<graph::FusionOp> fusions;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto fusion = dyn_cast<graph::FusionOp>(op)) {
        fusions.push_back(fusion);
        return WalkResult::skip();
      }
      return WalkResult::advance();
    });
    for (graph::FusionOp fusion : fusions)
      for (unsigned result = 0; result < fusion.getNumResults(); ++result)
        if (std::optional<unsigned> input = updatedInput(fusion, result))
          orderReaders(fusion, fusion.getInputs()[*input]);
  }
};

} // namespace
} // namespace spokeshave::schedule
