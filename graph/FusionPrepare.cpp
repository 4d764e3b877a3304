//===- FusionPrepare.cpp - what fusion knows before it begins --------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "graph/Fusion.h"

#include "input/StablehloOps.h"

#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
namespace sh = spokeshave::stablehlo;

namespace spokeshave::graph {

/// A row of a rows fusion stays in the first cache while it is read again.
static constexpr int64_t kLargestRowBytes = 64 << 10;

Value resolveViews(Value value) {
  while (auto reshape = value.getDefiningOp<sh::ReshapeOp>())
    value = reshape.getOperand();
  return value;
}

void BlockFuser::numberOperations() {
  int64_t position = 0;
  for (Operation &op : block)
    positions[&op] = position++;
}

// What loops, branches, calls and the terminator read, also inside their
// regions, must exist in memory by their position.
void BlockFuser::recordTopLevelReads() {
  for (Operation &op : block) {
    if (classify(&op) != OpClass::TopLevel)
      continue;
    Use use;
    use.position = positions[&op];
    for (Value operand : op.getOperands())
      pushUse(operand, use);
    if (op.getNumRegions() == 0)
      continue;
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op.getRegions(), captured);
    for (Value value : captured)
      pushUse(value, use);
  }
}

// Elementwise work behind a dot or convolution runs best on its result tiles.
// A producer so marked does not join the front of some other hero.
void BlockFuser::findEpilogues() {
  auto flowsFromHero = [&](Value operand) {
    Value value = resolveViews(operand);
    Operation *def = value.getDefiningOp();
    if (!def || def->getBlock() != &block || !value.hasOneUse())
      return false;
    return isa<sh::DotGeneralOp, sh::ConvolutionOp>(def) || epilogues.contains(def);
  };
  for (Operation &op : block)
    if (classify(&op) == OpClass::Elementwise && llvm::any_of(op.getOperands(), flowsFromHero))
      epilogues.insert(&op);
}

/// The number of elements that one result element reduces, if they are a row:
/// the trailing dimensions; else 0.
static int64_t reducedRowSize(sh::ReduceOp op) {
  auto type = cast<ShapedType>(op.getInputs().front().getType());
  SmallVector<int64_t> dims(op.getDimensions());
  llvm::sort(dims);
  int64_t size = 1;
  for (auto [index, dim] : llvm::enumerate(dims)) {
    if (dim != type.getRank() - static_cast<int64_t>(dims.size() - index))
      return 0;
    size *= type.getDimSize(dim);
  }
  int64_t rowBytes = size * std::max<int64_t>(1, byteSize(type) / std::max<int64_t>(1, numElements(type)));
  return rowBytes <= kLargestRowBytes ? size : 0;
}

// One value per row is computed once per row only in a rows fusion; this marks
// the values that will find a reduction to form one with.
void BlockFuser::findRows() {
  for (Operation &op : block) {
    if (auto reduce = dyn_cast<sh::ReduceOp>(&op)) {
      if (int64_t size = reducedRowSize(reduce))
        for (Value result : op.getResults())
          rowSizes[result] = size;
      continue;
    }
    OpClass opClass = classify(&op);
    if (opClass != OpClass::Elementwise && opClass != OpClass::View)
      continue;
    for (Value operand : op.getOperands())
      if (auto found = rowSizes.find(operand); found != rowSizes.end()) {
        rowSizes[op.getResult(0)] = found->second;
        break;
      }
  }
}

} // namespace spokeshave::graph
