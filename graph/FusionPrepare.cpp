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

namespace {
/// For each operation, the elementwise one into which all of its uses flow,
/// through elementwise work alone: its post-dominator.
class Convergence {
public:
  /// To be called from the block's end to its begin.
  void visit(Operation *op) {
    Operation *meet = nullptr;
    for (Value result : op->getResults())
      if (!meetUsers(result, meet))
        return;
    if (meet)
      next[op] = {meet, depthOf(meet) + 1};
  }
  Operation *of(Operation *op) const { return next.lookup(op).op; }

private:
  struct Node {
    Operation *op = nullptr;
    int64_t depth = 0;
  };
  /// What converges later than this is not seen to: the time stays linear.
  static constexpr int kFarthest = 64;

  int64_t depthOf(Operation *op) const { return next.lookup(op).depth; }

  bool meetUsers(Value value, Operation *&meet) {
    for (Operation *user : value.getUsers()) {
      if (user->getBlock() != value.getParentBlock())
        return false;
      if (isa<sh::ReshapeOp>(user)) {
        if (!meetUsers(user->getResult(0), meet))
          return false;
        continue;
      }
      if (classify(user) != OpClass::Elementwise)
        return false;
      meet = meet ? common(meet, user) : user;
      if (!meet)
        return false;
    }
    return true;
  }

  Operation *common(Operation *a, Operation *b) const {
    for (int step = 0; a != b; ++step) {
      if (!a || !b || step > kFarthest)
        return nullptr;
      (depthOf(a) > depthOf(b) ? a : b) = of(depthOf(a) > depthOf(b) ? a : b);
    }
    return a;
  }

  DenseMap<Operation *, Node> next;
};
} // namespace

// Elementwise work behind a dot or convolution runs best on its result tiles.
// A producer so marked does not join the front of some other hero.
void BlockFuser::findEpilogues() {
  Convergence convergence;
  for (Operation &op : llvm::reverse(block))
    convergence.visit(&op);
  for (Operation &op : block)
    if (isa<sh::DotGeneralOp, sh::ConvolutionOp>(op))
      for (Operation *end = convergence.of(&op); end && epilogues.insert(end).second;)
        end = convergence.of(end);
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
  int64_t rowBytes =
      size * std::max<int64_t>(1, byteSize(type) / std::max<int64_t>(1, numElements(type)));
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
