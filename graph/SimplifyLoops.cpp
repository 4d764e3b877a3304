//===- SimplifyLoops.cpp - loops carry and do only what they must ----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JAX carries everything a loop's body uses. What does not change is read from
// where it lies (a layer's weights are not copied through the loop), what nobody
// reads is not carried, and where the trips can be counted the loop counts.
//
//===----------------------------------------------------------------------===//
#include "graph/Classify.h"
#include "graph/LoopAnalysis.h"
#include "graph/Passes.h"
#include "input/StablehloOps.h"

#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace spokeshave::graph {
#define GEN_PASS_DEF_SIMPLIFYLOOPS
#include "graph/Passes.h.inc"
} // namespace spokeshave::graph

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::graph;
namespace sh = spokeshave::stablehlo;

namespace {

Block &conditionOf(sh::WhileOp loop) {
  return loop.getCond().front();
}
Block &bodyOf(sh::WhileOp loop) {
  return loop.getBody().front();
}

/// The loop without the carried values marked in `dropped`, none of which may be
/// used any more except by the body's return.
sh::WhileOp dropCarried(sh::WhileOp loop, const llvm::BitVector &dropped) {
  SmallVector<Value> kept;
  SmallVector<Type> types;
  for (auto [index, operand] : llvm::enumerate(loop->getOperands()))
    if (!dropped[index]) {
      kept.push_back(operand);
      types.push_back(operand.getType());
    }
  bodyOf(loop).getTerminator()->eraseOperands(dropped);
  conditionOf(loop).eraseArguments(dropped);
  bodyOf(loop).eraseArguments(dropped);
  OpBuilder builder(loop);
  OperationState state(loop.getLoc(), loop->getName());
  state.addOperands(kept);
  state.addTypes(types);
  state.addAttributes(llvm::to_vector(loop->getDiscardableAttrs()));
  for (Region &region : loop->getRegions())
    state.addRegion()->takeBody(region);
  auto smaller = cast<sh::WhileOp>(builder.create(state));
  unsigned next = 0;
  for (auto [index, result] : llvm::enumerate(loop->getResults()))
    if (!dropped[index])
      result.replaceAllUsesWith(smaller->getResult(next++));
  loop->erase();
  return smaller;
}

/// What each trip hands on as it got it is the value from before the loop.
sh::WhileOp readInvariantsInPlace(sh::WhileOp loop) {
  Operation *yield = bodyOf(loop).getTerminator();
  llvm::BitVector dropped(loop->getNumOperands());
  for (unsigned i = 0; i < loop->getNumOperands(); ++i) {
    if (yield->getOperand(i) != bodyOf(loop).getArgument(i))
      continue;
    Value outside = loop->getOperand(i);
    conditionOf(loop).getArgument(i).replaceAllUsesWith(outside);
    // Other places of the yield may hand the same value on.
    bodyOf(loop).getArgument(i).replaceUsesWithIf(outside, [&](OpOperand &use) {
      return use.getOwner() != yield || use.getOperandNumber() != i;
    });
    loop->getResult(i).replaceAllUsesWith(outside);
    dropped.set(i);
  }
  return dropped.any() ? dropCarried(loop, dropped) : loop;
}

/// What a loop's counter begins with and adds each trip, as attributes.
std::optional<std::pair<Attribute, Attribute>> counterOf(sh::WhileOp loop, unsigned i) {
  BlockArgument counter = bodyOf(loop).getArgument(i);
  auto add = bodyOf(loop).getTerminator()->getOperand(i).getDefiningOp<sh::AddOp>();
  Attribute start, step;
  if (!add || !isa<IntegerType>(getElementTypeOrSelf(counter.getType())) ||
      !matchPattern(loop->getOperand(i), m_Constant(&start)))
    return std::nullopt;
  Value other = add.getLhs() == counter   ? add.getRhs()
                : add.getRhs() == counter ? add.getLhs()
                                          : Value();
  if (!other || !matchPattern(other, m_Constant(&step)))
    return std::nullopt;
  return std::make_pair(start, step);
}

/// Counters that begin and step alike are one: JAX counts for the loop and for
/// its body apart. The others' uses go, and they are dead.
void mergeCounters(sh::WhileOp loop) {
  Operation *yield = bodyOf(loop).getTerminator();
  DenseMap<std::pair<Attribute, Attribute>, unsigned> first;
  for (unsigned i = 0; i < loop->getNumOperands(); ++i) {
    auto counter = counterOf(loop, i);
    if (!counter)
      continue;
    auto [known, isNew] = first.try_emplace(*counter, i);
    if (isNew)
      continue;
    unsigned same = known->second;
    conditionOf(loop).getArgument(i).replaceAllUsesWith(conditionOf(loop).getArgument(same));
    Operation *next = yield->getOperand(i).getDefiningOp();
    bodyOf(loop).getArgument(i).replaceUsesWithIf(
        bodyOf(loop).getArgument(same), [&](OpOperand &use) { return use.getOwner() != next; });
    loop->getResult(i).replaceAllUsesWith(loop->getResult(same));
  }
}

/// Finds what the condition and the loop's used results need.
struct Liveness {
  explicit Liveness(sh::WhileOp loop) : loop(loop), live(loop->getNumOperands()) {
    mark(conditionOf(loop).getTerminator()->getOperand(0));
    for (unsigned i = 0; i < loop->getNumResults(); ++i)
      if (!loop->getResult(i).use_empty())
        markCarried(i);
    // A body that acts (a callback) needs what it acts on.
    bodyOf(loop).walk([&](Operation *op) {
      if (auto call = dyn_cast<sh::CustomCallOp>(op); call && call.getHasSideEffect())
        markOperation(loop.getBody().front().findAncestorOpInBlock(*op));
    });
    while (!worklist.empty())
      markOperation(worklist.pop_back_val());
  }

  void markCarried(unsigned i) {
    if (live.test(i))
      return;
    live.set(i);
    mark(bodyOf(loop).getTerminator()->getOperand(i));
  }

  void mark(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner()->getParentOp() == loop)
        markCarried(argument.getArgNumber());
      return;
    }
    Operation *def = value.getDefiningOp();
    if (loop->isProperAncestor(def) && seen.insert(def).second)
      worklist.push_back(def);
  }

  void markOperation(Operation *op) {
    for (Value operand : op->getOperands())
      mark(operand);
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    for (Value value : captured)
      mark(value);
  }

  sh::WhileOp loop;
  llvm::BitVector live;
  DenseSet<Operation *> seen;
  SmallVector<Operation *> worklist;
};

sh::WhileOp dropDead(sh::WhileOp loop) {
  llvm::BitVector dropped = Liveness(loop).live;
  dropped.flip();
  if (dropped.none())
    return loop;
  // Only dead operations and each other still use them; the uses go to the
  // initial value, and dead code elimination has the rest.
  for (unsigned i : dropped.set_bits()) {
    conditionOf(loop).getArgument(i).replaceAllUsesWith(loop->getOperand(i));
    bodyOf(loop).getArgument(i).replaceAllUsesWith(loop->getOperand(i));
  }
  return dropCarried(loop, dropped);
}

/// Worth moving out of a loop: work, as against addresses, which cost less where
/// they are used than a tensor in memory would.
bool isWork(Operation *op) {
  OpClass opClass = classify(op);
  return (opClass == OpClass::Hero && !isa<sh::DynamicUpdateSliceOp, sh::ScatterOp>(op)) ||
         (opClass == OpClass::Elementwise &&
          (elementCost(op) > 1 || numElements(op->getResult(0).getType()) == 1));
}

bool mayMove(Operation *op) {
  OpClass opClass = classify(op);
  return opClass == OpClass::Constant || opClass == OpClass::Elementwise ||
         opClass == OpClass::Index || opClass == OpClass::View || opClass == OpClass::Hero;
}

/// Moves work on values from outside before the loop, with what it reads.
void hoistInvariants(sh::WhileOp loop) {
  Block &body = bodyOf(loop);
  DenseSet<Operation *> invariant;
  auto isOutside = [&](Value value) {
    Operation *def = value.getDefiningOp();
    return def ? !loop->isProperAncestor(def) || invariant.contains(def)
               : !loop->isAncestor(value.getParentBlock()->getParentOp());
  };
  SmallVector<Operation *> order;
  for (Operation &op : body) {
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op.getRegions(), captured);
    if (mayMove(&op) && llvm::all_of(op.getOperands(), isOutside) &&
        llvm::all_of(captured, isOutside)) {
      invariant.insert(&op);
      order.push_back(&op);
    }
  }
  DenseSet<Operation *> needed;
  for (Operation *op : llvm::reverse(order)) {
    if (!needed.contains(op) && !isWork(op))
      continue;
    needed.insert(op);
    llvm::SetVector<Value> reads;
    getUsedValuesDefinedAbove(op->getRegions(), reads);
    reads.insert(op->operand_begin(), op->operand_end());
    for (Value value : reads)
      if (Operation *def = value.getDefiningOp(); def && invariant.contains(def))
        needed.insert(def);
  }
  for (Operation *op : order)
    if (needed.contains(op))
      op->moveBefore(loop);
}

/// The branch of an index that is known takes the operation's place.
void inlineKnownBranch(Operation *op) {
  DenseIntElementsAttr index;
  if (!matchPattern(op->getOperand(0), m_Constant(&index)))
    return;
  int64_t last = op->getNumRegions() - 1, taken;
  if (isa<sh::IfOp>(op))
    taken = (*index.value_begin<APInt>()).isOne() ? 0 : 1;
  else
    taken = (*index.value_begin<APInt>()).getSExtValue();
  Block &branch = op->getRegion(taken < 0 || taken > last ? last : taken).front();
  SmallVector<Value> results(branch.getTerminator()->getOperands());
  branch.getTerminator()->erase();
  op->getBlock()->getOperations().splice(op->getIterator(), branch.getOperations());
  op->replaceAllUsesWith(results);
  op->erase();
}

class SimplifyLoopsPass : public graph::impl::SimplifyLoopsBase<SimplifyLoopsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> branches;
    getOperation().walk([&](Operation *op) {
      if (isa<sh::IfOp, sh::CaseOp>(op))
        branches.push_back(op);
    });
    for (Operation *op : branches)
      inlineKnownBranch(op);
    // Inner loops first: what leaves them may leave the outer loop too.
    SmallVector<sh::WhileOp> loops;
    getOperation().walk([&](sh::WhileOp loop) { loops.push_back(loop); });
    for (sh::WhileOp loop : loops)
      simplify(loop);
  }

  void simplify(sh::WhileOp loop) {
    loop = readInvariantsInPlace(loop);
    mergeCounters(loop);
    loop = dropDead(loop);
    hoistInvariants(loop);
    std::optional<int64_t> trips = countTrips(loop);
    if (!trips)
      return;
    if (*trips == 0) {
      loop->replaceAllUsesWith(loop->getOperands());
      loop->erase();
      return;
    }
    loop->setAttr("graph.trip_count", Builder(loop).getI64IntegerAttr(*trips));
  }
};

} // namespace
