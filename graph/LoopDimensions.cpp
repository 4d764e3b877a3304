//===- LoopDimensions.cpp - dimensions along which a loop is parallel ------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LoopDimensions.h.
//
//===----------------------------------------------------------------------===//
#include "graph/LoopDimensions.h"

#include "graph/Classify.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::graph;
namespace sh = spokeshave::stablehlo;

static ArrayRef<int64_t> shapeOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getShape() : ArrayRef<int64_t>();
}
static int64_t rankOf(Value value) {
  return shapeOf(value).size();
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

int32_t LoopDimensions::node(Value value, int64_t dim) {
  auto [entry, isNew] = first.try_emplace(value, int32_t(parent.size()));
  if (isNew) {
    values.push_back(value);
    for (int64_t d = 0; d < rankOf(value); ++d) {
      parent.push_back(parent.size());
      isCut.push_back(false);
    }
  }
  return entry->second + dim;
}

int32_t LoopDimensions::find(int32_t node) {
  while (parent[node] != node)
    node = parent[node] = parent[parent[node]];
  return node;
}

void LoopDimensions::unify(Value a, int64_t i, Value b, int64_t j) {
  int32_t x = find(node(a, i)), y = find(node(b, j));
  if (shapeOf(a)[i] != shapeOf(b)[j]) { // one element for all
    cut(a, i);
    cut(b, j);
    return;
  }
  if (x == y || shapeOf(a)[i] == 1)
    return;
  parent[y] = x;
  isCut[x] = isCut[x] || isCut[y];
}

void LoopDimensions::unifyAll(Value a, Value b) {
  if (rankOf(a) == rankOf(b))
    for (int64_t d = 0; d < rankOf(a); ++d)
      unify(a, d, b, d);
}

void LoopDimensions::cut(Value value, int64_t dim) {
  if (shapeOf(value)[dim] != 1)
    isCut[find(node(value, dim))] = true;
}

void LoopDimensions::cutAll(Operation *op) {
  for (Value value : op->getOperands())
    for (int64_t d = 0; d < rankOf(value); ++d)
      cut(value, d);
  for (Value value : op->getResults())
    for (int64_t d = 0; d < rankOf(value); ++d)
      cut(value, d);
}

void LoopDimensions::unifyWhere(Value a, Value b, llvm::function_ref<bool(int64_t)> keeps) {
  for (int64_t d = 0; d < rankOf(a); ++d) {
    if (keeps(d)) {
      unify(a, d, b, d);
      continue;
    }
    cut(a, d);
    cut(b, d);
  }
}

int32_t LoopDimensions::parallelClass(Value value, int64_t dim) {
  auto known = first.find(value);
  if (known == first.end() || shapeOf(value)[dim] == 1)
    return -1;
  int32_t root = find(known->second + dim);
  return isCut[root] ? -1 : root;
}

/// A value with two dimensions of one class relates members to each other.
void LoopDimensions::cutDiagonals() {
  for (Value value : values)
    for (int64_t i = 0; i < rankOf(value); ++i)
      for (int64_t j = 0; j < i; ++j)
        if (shapeOf(value)[i] != 1 && find(node(value, i)) == find(node(value, j)))
          cut(value, i);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LoopDimensions::LoopDimensions(sh::WhileOp loop, Operation *ignored) : ignored(ignored) {
  visitRegions(loop);
  cutDiagonals();
}

void LoopDimensions::visitBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (&op != ignored)
      visit(&op);
}

/// Loops and branches hand values on.
void LoopDimensions::visitRegions(Operation *op) {
  bool isLoop = isa<sh::WhileOp>(op);
  for (Region &region : op->getRegions()) {
    Block &block = region.front();
    for (auto [i, argument] : llvm::enumerate(block.getArguments()))
      unifyAll(op->getOperand(i), argument);
    visitBlock(block);
    if (isLoop && region.getRegionNumber() == 0)
      continue; // the condition
    for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands())) {
      unifyAll(op->getResult(i), value);
      if (isLoop)
        unifyAll(op->getOperand(i), value);
    }
  }
}

/// Dimensions that keep their extent and what is before and behind them.
void LoopDimensions::visitReshape(sh::ReshapeOp op) {
  Value from = op.getOperand();
  ArrayRef<int64_t> a = shapeOf(from), b = shapeOf(op);
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && a[i] == 1) {
      ++i;
      continue;
    }
    if (j < b.size() && b[j] == 1) {
      ++j;
      continue;
    }
    if (i == a.size() || j == b.size())
      return cutAll(op); // of no elements
    if (a[i] == b[j]) {
      unify(from, i++, op, j++);
      continue;
    }
    // Several dimensions that become several others.
    int64_t left = a[i], right = b[j];
    cut(from, i++);
    cut(op, j++);
    while (left != right) {
      if ((left < right ? i == a.size() : j == b.size()) || left == 0 || right == 0)
        return cutAll(op);
      if (left < right)
        left *= a[i], cut(from, i++);
      else
        right *= b[j], cut(op, j++);
    }
  }
}

void LoopDimensions::visitGather(sh::GatherOp op) {
  auto numbers = op.getDimensionNumbers();
  Value from = op.getOperand(), starts = op.getStartIndices(), to = op->getResult(0);
  ArrayRef<int64_t> offsets = numbers.getOffsetDims(), batching = numbers.getOperandBatchingDims();
  int64_t vectorDim = numbers.getIndexVectorDim();
  // Dimensions of the result that are no offsets are those of the starts.
  SmallVector<int64_t> resultOfStart(rankOf(starts), -1);
  int64_t next = 0;
  for (int64_t d = 0; d < rankOf(to); ++d) {
    if (llvm::is_contained(offsets, d))
      continue;
    next += next == vectorDim;
    resultOfStart[next] = d;
    unify(to, d, starts, next++);
  }
  if (vectorDim < rankOf(starts))
    cut(starts, vectorDim);
  next = 0;
  for (int64_t d = 0; d < rankOf(from); ++d) {
    if (auto found = llvm::find(batching, d); found != batching.end()) {
      int64_t inStarts = numbers.getStartIndicesBatchingDims()[found - batching.begin()];
      unify(from, d, to, resultOfStart[inStarts]);
      continue;
    }
    if (llvm::is_contained(numbers.getCollapsedSliceDims(), d)) {
      cut(from, d);
      continue;
    }
    int64_t inResult = offsets[next++];
    if (op.getSliceSizes()[d] == shapeOf(from)[d]) {
      unify(from, d, to, inResult);
    } else {
      cut(from, d);
      cut(to, inResult);
    }
  }
}

void LoopDimensions::visitReduce(sh::ReduceOp op) {
  for (auto [input, result] : llvm::zip_equal(op.getInputs(), op.getResults())) {
    unifyAll(op.getInputs().front(), input);
    int64_t kept = 0;
    for (int64_t d = 0; d < rankOf(input); ++d) {
      if (llvm::is_contained(op.getDimensions(), d))
        cut(input, d);
      else
        unify(input, d, result, kept++);
    }
  }
}

void LoopDimensions::visitDot(sh::DotGeneralOp op) {
  auto numbers = op.getDotDimensionNumbers();
  Value lhs = op.getLhs(), rhs = op.getRhs(), to = op->getResult(0);
  int64_t next = 0;
  for (auto [l, r] :
       llvm::zip_equal(numbers.getLhsBatchingDimensions(), numbers.getRhsBatchingDimensions())) {
    unify(lhs, l, rhs, r);
    unify(lhs, l, to, next++);
  }
  auto visitSide = [&](Value side, ArrayRef<int64_t> batching, ArrayRef<int64_t> contracting) {
    for (int64_t d = 0; d < rankOf(side); ++d) {
      if (llvm::is_contained(contracting, d))
        cut(side, d);
      else if (!llvm::is_contained(batching, d))
        unify(side, d, to, next++);
    }
  };
  visitSide(lhs, numbers.getLhsBatchingDimensions(), numbers.getLhsContractingDimensions());
  visitSide(rhs, numbers.getRhsBatchingDimensions(), numbers.getRhsContractingDimensions());
}

/// Operations that only say where an element comes from.
void LoopDimensions::visitMove(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case<sh::IotaOp, sh::ConstantOp>([](auto) {})
      .Case([&](sh::ReshapeOp reshape) { visitReshape(reshape); })
      .Case([&](sh::GatherOp gather) { visitGather(gather); })
      .Case([&](sh::BroadcastInDimOp broadcast) {
        Value from = broadcast.getOperand();
        for (auto [d, dim] : llvm::enumerate(broadcast.getBroadcastDimensions()))
          if (shapeOf(from)[d] != 1)
            unify(from, d, broadcast, dim);
      })
      .Case([&](sh::TransposeOp transpose) {
        for (auto [d, dim] : llvm::enumerate(transpose.getPermutation()))
          unify(transpose.getOperand(), dim, transpose, d);
      })
      .Case<sh::SliceOp, sh::DynamicSliceOp>([&](auto slice) {
        unifyWhere(slice.getOperand(), slice,
                   [&](int64_t d) { return shapeOf(slice)[d] == shapeOf(slice.getOperand())[d]; });
      })
      .Case([&](sh::ReverseOp reverse) {
        unifyWhere(reverse.getOperand(), reverse,
                   [&](int64_t d) { return !llvm::is_contained(reverse.getDimensions(), d); });
      })
      .Case([&](sh::PadOp pad) {
        unifyWhere(pad.getOperand(), pad, [&](int64_t d) {
          return pad.getEdgePaddingLow()[d] == 0 && pad.getEdgePaddingHigh()[d] == 0 &&
                 pad.getInteriorPadding()[d] == 0;
        });
      })
      .Case([&](sh::ConcatenateOp concatenate) {
        for (Value input : concatenate.getInputs())
          unifyWhere(input, concatenate,
                     [&](int64_t d) { return d != int64_t(concatenate.getDimension()); });
      })
      .Case([&](sh::DynamicUpdateSliceOp update) {
        unifyAll(update.getOperand(), update);
        unifyWhere(update.getUpdate(), update,
                   [&](int64_t d) { return shapeOf(update)[d] == shapeOf(update.getUpdate())[d]; });
      })
      .Default([&](Operation *other) { cutAll(other); });
}

void LoopDimensions::visit(Operation *op) {
  if (isa<sh::WhileOp, sh::IfOp, sh::CaseOp>(op))
    return visitRegions(op);
  if (auto reduce = dyn_cast<sh::ReduceOp>(op))
    return visitReduce(reduce);
  if (auto dot = dyn_cast<sh::DotGeneralOp>(op))
    return visitDot(dot);
  if (classify(op) != OpClass::Elementwise)
    return visitMove(op);
  for (Value operand : op->getOperands())
    unifyAll(op->getResult(0), operand);
}
