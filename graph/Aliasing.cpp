//===- Aliasing.cpp - which results may lie in which inputs ----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "graph/Aliasing.h"

#include "graph/Classify.h"
#include "input/StablehloOps.h"

#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
namespace sh = spokeshave::stablehlo;

namespace spokeshave::graph {

namespace {

/// Finds for the values of a body whether they are read only at the element that
/// is being written, walking from results to operands.
class ReadMap {
public:
  explicit ReadMap(Block &body) : body(body) {}

  /// The walk's begin: `value` is evaluated at the element that is written.
  void start(Value value) { samePlace.insert(value); }

  /// Visits the body from its end. Operations in `stops` are not looked through.
  void walk(llvm::function_ref<bool(Operation *)> stop) {
    for (Operation &op : llvm::reverse(body.without_terminator()))
      if (!stop(&op))
        visit(&op);
  }

  bool isReadElsewhere(Value value) const { return elsewhere.contains(value); }
  bool isReadAtPlace(Value value) const { return samePlace.contains(value); }

private:
  void visit(Operation *op) {
    bool same = llvm::any_of(op->getResults(), [&](Value v) { return samePlace.contains(v); });
    bool other = llvm::any_of(op->getResults(), [&](Value v) { return elsewhere.contains(v); });
    if (!same && !other)
      return;
    for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
      bool keeps = keepsPlace(op, index);
      if (same && keeps)
        samePlace.insert(operand);
      if (other || !keeps)
        elsewhere.insert(operand);
    }
    if (op->getNumRegions() == 0)
      return;
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    elsewhere.insert(captured.begin(), captured.end());
  }

  /// Whether operand `index` is read at the row-major number of the result.
  static bool keepsPlace(Operation *op, unsigned index) {
    OpClass opClass = classify(op);
    if (isa<sh::DynamicUpdateSliceOp>(op))
      return index == 0;
    if (opClass != OpClass::Elementwise && opClass != OpClass::View)
      return false;
    return numElements(op->getOperand(index).getType()) == numElements(op->getResult(0).getType());
  }

  Block &body;
  DenseSet<Value> samePlace, elsewhere;
};

bool haveSameElementSize(Type a, Type b) {
  int64_t elements = numElements(a);
  return elements == numElements(b) && byteSize(a) == byteSize(b);
}

Value withoutViews(Value value) {
  while (auto reshape = value.getDefiningOp<sh::ReshapeOp>())
    value = reshape.getOperand();
  return value;
}

bool mayShareInLoop(FusionOp fusion, BlockArgument argument) {
  ReadMap reads(fusion.getBlock());
  for (Value result : fusion.getYield().getValues())
    reads.start(result);
  reads.walk([](Operation *) { return false; });
  return !reads.isReadElsewhere(argument);
}

/// A read of the updated tensor that goes to the update's own place.
bool isSliceAtUpdate(Operation *op, sh::DynamicUpdateSliceOp update) {
  auto slice = dyn_cast<sh::DynamicSliceOp>(op);
  return slice && slice.getOperand() == update.getOperand() &&
         slice.getStartIndices() == update.getStartIndices() &&
         slice.getType() == update.getUpdate().getType();
}

bool mayShareInUpdate(FusionOp fusion, BlockArgument argument, unsigned output) {
  auto update =
      withoutViews(fusion.getYield().getValues()[output]).getDefiningOp<sh::DynamicUpdateSliceOp>();
  if (!update || withoutViews(update.getOperand()) != argument)
    return false;
  // One element is written after everything has been read.
  if (numElements(update.getUpdate().getType()) == 1)
    return true;
  ReadMap reads(fusion.getBlock());
  reads.start(update.getUpdate());
  bool slicesAtPlace = true;
  reads.walk([&](Operation *op) {
    if (op == update)
      return true;
    if (!isSliceAtUpdate(op, update))
      return false;
    slicesAtPlace &= !reads.isReadElsewhere(op->getResult(0));
    return true; // the slice's own read is the element that will be written
  });
  bool startsReadIt = llvm::any_of(update.getStartIndices(), [&](Value start) {
    llvm::SetVector<Operation *> slice;
    for (SmallVector<Value> work{start}; !work.empty();) {
      Value value = work.pop_back_val();
      if (value == argument)
        return true;
      if (Operation *def = value.getDefiningOp(); def && slice.insert(def))
        work.append(def->operand_begin(), def->operand_end());
    }
    return false;
  });
  return slicesAtPlace && !startsReadIt && !reads.isReadElsewhere(argument) &&
         !reads.isReadAtPlace(argument);
}

bool mayShareInScatter(FusionOp fusion, BlockArgument argument, unsigned output) {
  auto result = dyn_cast<OpResult>(withoutViews(fusion.getYield().getValues()[output]));
  auto scatter = result ? dyn_cast<sh::ScatterOp>(result.getOwner()) : sh::ScatterOp();
  if (!scatter || !argument.hasOneUse())
    return false;
  Value target = scatter.getInputs()[result.getResultNumber()];
  return withoutViews(target) == argument && target.hasOneUse();
}

} // namespace

bool mayShareBuffer(FusionOp fusion, unsigned input, unsigned output) {
  BlockArgument argument = fusion.getBlock().getArgument(input);
  if (!haveSameElementSize(argument.getType(), fusion.getResult(output).getType()))
    return false;
  switch (fusion.getKind()) {
  case FusionKind::Loop:
    return mayShareInLoop(fusion, argument);
  case FusionKind::Update:
    return mayShareInUpdate(fusion, argument, output);
  case FusionKind::Scatter:
    return mayShareInScatter(fusion, argument, output);
  default:
    // Their kernels write results before all reads of their inputs are done.
    return false;
  }
}

} // namespace spokeshave::graph
