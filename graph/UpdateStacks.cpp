//===- UpdateStacks.cpp - a scan updates its stacks where they lie ---------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A scan over layers takes layer i of a stack, changes a part of it (a token's keys
// and values in a cache), works with it, and puts it into a second stack of the same
// shape, so that each layer moves twice:
//
//   layer = taken[i];  layer' = update(layer, part, at);  ...;  put[i] = layer'
//
// Where the trips fill all layers of the second stack, it may as well begin as the
// first one: then layer i is there already when trip i comes to it, and only the part
// is written. What works with the layer reads it where it lies.
//
//===----------------------------------------------------------------------===//
#include "graph/Classify.h"
#include "graph/LoopAnalysis.h"
#include "graph/Passes.h"
#include "input/StablehloOps.h"

#include "mlir/IR/Matchers.h"

namespace spokeshave::graph {
#define GEN_PASS_DEF_UPDATESTACKS
#include "graph/Passes.h.inc"
} // namespace spokeshave::graph

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::graph;
namespace sh = spokeshave::stablehlo;

namespace {

/// A stack that a loop fills, a layer in each trip: a carried value.
struct FilledStack {
  unsigned number; ///< among the carried values
  sh::DynamicUpdateSliceOp put;
  sh::DynamicSliceOp take; ///< of a stack from outside
  /// From the layer as it was taken to the layer that is put.
  SmallVector<sh::DynamicUpdateSliceOp, 2> updates;
};

bool isZero(Value value) {
  return matchPattern(value, m_Zero());
}

/// Whether `starts` are those of layer `index`: zero but for the first.
bool isLayer(OperandRange starts, Value index) {
  return starts.front() == index && llvm::all_of(llvm::drop_begin(starts), isZero);
}

/// `value`, looking through a reshape that drops or adds the stack's dimension of 1.
Value withoutLayerReshape(Value value, RankedTensorType stack) {
  auto reshape = value.getDefiningOp<sh::ReshapeOp>();
  if (!reshape)
    return value;
  auto layer = stack.getShape().drop_front();
  auto isLayerShape = [&](Value v) {
    auto shape = cast<RankedTensorType>(v.getType()).getShape();
    return shape == layer ||
           (shape.size() == layer.size() + 1 && shape[0] == 1 && shape.drop_front() == layer);
  };
  return isLayerShape(reshape) && isLayerShape(reshape.getOperand()) ? reshape.getOperand() : value;
}

/// Whether the body's argument counts 0, 1, 2, ...
bool countsFromZero(sh::WhileOp loop, BlockArgument counter) {
  unsigned number = counter.getArgNumber();
  auto next = loop.getBody().front().getTerminator()->getOperand(number).getDefiningOp<sh::AddOp>();
  if (!next || !isZero(loop->getOperand(number)))
    return false;
  return (next.getLhs() == counter && matchPattern(next.getRhs(), m_One())) ||
         (next.getRhs() == counter && matchPattern(next.getLhs(), m_One()));
}

std::optional<FilledStack> findStack(sh::WhileOp loop, unsigned number) {
  Block &body = loop.getBody().front();
  BlockArgument stack = body.getArgument(number);
  auto type = dyn_cast<RankedTensorType>(stack.getType());
  FilledStack found{number, {}, {}, {}};
  found.put = body.getTerminator()->getOperand(number).getDefiningOp<sh::DynamicUpdateSliceOp>();
  if (!type || type.getRank() == 0 || !found.put || !stack.hasOneUse() || !found.put->hasOneUse() ||
      found.put.getOperand() != stack || !loop.getCond().front().getArgument(number).use_empty())
    return std::nullopt;
  // All layers, one after the other.
  auto index = dyn_cast<BlockArgument>(found.put.getStartIndices().front());
  SmallVector<int64_t> layer(type.getShape());
  layer.front() = 1;
  std::optional<int64_t> trips = countTrips(loop);
  if (trips != type.getDimSize(0) || !index || index.getOwner() != &body ||
      !countsFromZero(loop, index) || !isLayer(found.put.getStartIndices(), index) ||
      cast<RankedTensorType>(found.put.getUpdate().getType()).getShape() != ArrayRef(layer))
    return std::nullopt;
  // The layer is an updated one of the stack that it comes from. Readers of what it
  // was before an update go on reading that stack.
  Value value = withoutLayerReshape(found.put.getUpdate(), type);
  while (auto update = value.getDefiningOp<sh::DynamicUpdateSliceOp>()) {
    OperandRange starts = update.getStartIndices();
    if (update->getBlock() != &body || starts.empty() ||
        starts.front().getType() != index.getType() ||
        (!found.updates.empty() && !update->hasOneUse()))
      return std::nullopt;
    found.updates.push_back(update);
    value = withoutLayerReshape(update.getOperand(), type);
  }
  found.take = value.getDefiningOp<sh::DynamicSliceOp>();
  if (found.updates.empty() || !found.take || found.take.getOperand().getType() != type ||
      found.take.getType() != type.clone(layer) || !isLayer(found.take.getStartIndices(), index) ||
      loop->isAncestor(found.take.getOperand().getParentBlock()->getParentOp()))
    return std::nullopt;
  std::reverse(found.updates.begin(), found.updates.end());
  return found;
}

/// Writes the parts to the stack, each where the layer was updated, and lets all who
/// read the last layer read it there.
void updateInPlace(sh::WhileOp loop, FilledStack found) {
  Value stack = loop.getBody().front().getArgument(found.number);
  auto type = cast<RankedTensorType>(stack.getType());
  auto index = found.put.getStartIndices().front();
  loop->setOperand(found.number, found.take.getOperand());
  for (sh::DynamicUpdateSliceOp update : found.updates) {
    OpBuilder builder(update);
    Location loc = update.getLoc();
    Value part = update.getUpdate();
    auto partType = cast<RankedTensorType>(part.getType());
    SmallVector<Value> starts(update.getStartIndices());
    if (partType.getRank() < type.getRank()) {
      SmallVector<int64_t> shape(partType.getShape());
      shape.insert(shape.begin(), 1);
      part = builder.create<sh::ReshapeOp>(
          loc, RankedTensorType::get(shape, partType.getElementType()), part);
      starts.insert(starts.begin(), index);
    } else {
      starts.front() = index; // of an extent of 1 any start means 0
    }
    stack = builder.create<sh::DynamicUpdateSliceOp>(loc, type, stack, part, starts);
  }
  sh::DynamicUpdateSliceOp last = found.updates.back();
  OpBuilder builder(last);
  auto inStack = cast<sh::DynamicSliceOp>(builder.clone(*found.take.getOperation()));
  inStack->setOperand(0, stack);
  Value layer = inStack;
  if (layer.getType() != last.getType())
    layer = builder.create<sh::ReshapeOp>(last.getLoc(), last.getType(), layer);
  Operation *yield = loop.getBody().front().getTerminator();
  yield->setOperand(found.number, stack);
  found.put->erase();
  last->replaceAllUsesWith(ValueRange{layer});
}

class UpdateStacksPass : public graph::impl::UpdateStacksBase<UpdateStacksPass> {
  void runOnOperation() override {
    getOperation().walk([](sh::WhileOp loop) {
      for (unsigned i = 0; i < loop->getNumOperands(); ++i)
        if (std::optional<FilledStack> found = findStack(loop, i))
          updateInPlace(loop, *found);
    });
  }
};

} // namespace
