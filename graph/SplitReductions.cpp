//===- SplitReductions.cpp - much reduced to little, in two steps ----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel's tasks are its results, or groups of them: a sum of everything would
// keep one thread busy. And memory is read at its full speed only as several
// streams, neither one nor hundreds. So what is reduced is cut into parts: in the
// first step some tens of rows become one row, element by element, in the second
// these rows are reduced, the same way where they are many. Sums along the columns
// and sums of everything share their first step. Products with a long depth and a
// small result are cut alike. How depends on the shape alone, never on the machine:
// it decides the order of the sum.
//
//===----------------------------------------------------------------------===//
#include "graph/Classify.h"
#include "graph/Emit.h"
#include "graph/Passes.h"
#include "input/StablehloOps.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

namespace spokeshave::graph {
#define GEN_PASS_DEF_SPLITREDUCTIONS
#include "graph/Passes.h.inc"
} // namespace spokeshave::graph

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::graph;
namespace sh = spokeshave::stablehlo;

namespace {

using Dims = SmallVector<int64_t>;

/// Elements that are worth a task, about ten microseconds.
constexpr int64_t kPart = 1 << 15;
constexpr int64_t kMostParts = 256;
/// Reductions to so many rows have tasks enough.
constexpr int64_t kEnoughRows = 8;
/// Rows that are reduced into one by a task. Each is a stream through memory, which
/// reads some tens of them faster than one; with more, they leave what the
/// translation of addresses has at hand.
constexpr int64_t kFewestStreams = 8, kMostStreams = 48;
/// Elements of a row that is worth a stream, and of one that is too long.
constexpr int64_t kShortRow = 256, kLongRow = 1 << 13;
/// Columns from which on rows are reduced in groups although tasks are enough.
constexpr int64_t kWorthStreams = 1 << 20;
/// Products: the largest result, and the shortest depth of a part.
constexpr int64_t kLargestResult = 128 * 128, kShortestDepth = 2048;

RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// The largest divisor of `extent` up to `most`.
int64_t largestDivisor(int64_t extent, int64_t most) {
  for (int64_t parts = std::min(extent, most); parts > 1; --parts)
    if (extent % parts == 0)
      return parts;
  return 1;
}

bool isNarrowFloat(Type element) {
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// The reduced dimensions from `first` to before `last` count as one, and become
/// `parts` times `streams` times the rest, of which the first step reduces the
/// streams alone: parts and rest are reduced in the second.
struct Cut {
  int64_t first, last, parts, streams, rest;
};

bool isReduced(sh::ReduceOp op, int64_t dim) {
  return llvm::is_contained(op.getDimensions(), dim);
}

/// `extent` places of `row` elements each are reduced to one or, if the row is kept,
/// to a row. Nothing if the extent has no fitting divisor.
std::optional<Cut> cutRows(int64_t first, int64_t last, int64_t extent, int64_t row) {
  bool wide = row >= kShortRow;
  int64_t streams = largestDivisor(extent, wide ? kMostStreams : kPart / row);
  if (streams < (wide ? kFewestStreams : kPart / row / 16) || extent / streams < 4)
    return std::nullopt;
  return Cut{first, last, extent / streams, streams, 1};
}

std::optional<Cut> chooseCut(sh::ReduceOp op) {
  RankedTensorType type = typeOf(op.getInputs().front());
  int64_t elements = type.getNumElements(), rank = type.getRank();
  int64_t results = typeOf(op->getResult(0)).getNumElements();
  int64_t first = 0;
  while (first < rank && (!isReduced(op, first) || type.getDimSize(first) == 1))
    ++first;
  if (first == rank || results == 0 || elements < 4 * kPart)
    return std::nullopt;
  bool minor = isReduced(op, rank - 1);
  if (minor ? results >= kEnoughRows : results >= kPart || elements < kWorthStreams)
    return std::nullopt;
  int64_t last = first, extent = 1, row = 1;
  for (; last < rank && isReduced(op, last); ++last)
    extent *= type.getDimSize(last);
  if (last < rank) { // rows are kept, or some of their dimensions
    for (int64_t dim = last; dim < rank; ++dim)
      row *= type.getDimSize(dim);
    return row > kPart ? std::nullopt : cutRows(first, last, extent, row);
  }
  // Whole dimensions as the row, since what is read may depend on its place there.
  while (last > first + 1 && row * type.getDimSize(last - 1) <= kLongRow)
    row *= type.getDimSize(--last);
  extent /= row;
  if (row >= kShortRow)
    return cutRows(first, last, extent, row);
  row = largestDivisor(extent, kLongRow);
  if (row < kShortRow || last != rank)
    return std::nullopt;
  std::optional<Cut> cut = cutRows(first, last, extent / row, row);
  if (cut)
    cut->rest = row;
  return cut;
}

/// A reducer of one operation, for elements of another type.
bool canRetype(sh::ReduceOp op) {
  Block &body = op.getBody().front();
  return op.getInputs().size() == 1 && llvm::hasNItems(body.begin(), body.end(), 2) &&
         isa<sh::AddOp, sh::MulOp, sh::MaxOp, sh::MinOp>(body.front()) &&
         body.front().getOperands() == ValueRange(body.getArguments()) &&
         body.getTerminator()->getOperand(0) == body.front().getResult(0);
}

void copyReducer(OpBuilder &builder, sh::ReduceOp from, sh::ReduceOp to, Type element) {
  if (element == typeOf(from->getResult(0)).getElementType()) {
    IRMapping mapping;
    from.getBody().cloneInto(&to.getBody(), mapping);
    return;
  }
  OpBuilder::InsertionGuard guard(builder);
  Location loc = from.getLoc();
  auto scalar = RankedTensorType::get({}, element);
  Block *block = builder.createBlock(&to.getBody(), {}, {scalar, scalar}, {loc, loc});
  OperationState state(loc, from.getBody().front().front().getName(), block->getArguments(),
                       {scalar});
  builder.create<sh::ReturnOp>(loc, builder.create(state)->getResult(0));
}

class ReductionSplitter {
public:
  ReductionSplitter(sh::ReduceOp op, Cut cut)
      : op(op), cut(cut), builder(op), emit(builder, op.getLoc()) {}
  /// Gives the second step.
  sh::ReduceOp run();

private:
  sh::ReduceOp reduce(ValueRange inputs, ArrayRef<int64_t> dims);

  sh::ReduceOp op;
  Cut cut;
  OpBuilder builder;
  Emit emit;
  Type wide; ///< of partial results, where it is not the inputs'
  SmallVector<Value> initial;
};

sh::ReduceOp ReductionSplitter::reduce(ValueRange inputs, ArrayRef<int64_t> dims) {
  SmallVector<Type> types;
  for (Value input : inputs) {
    Dims kept;
    for (auto [dim, size] : llvm::enumerate(typeOf(input).getShape()))
      if (!llvm::is_contained(dims, int64_t(dim)))
        kept.push_back(size);
    types.push_back(typeOf(input).clone(kept));
  }
  auto result = builder.create<sh::ReduceOp>(op.getLoc(), types, inputs, initial, dims);
  copyReducer(builder, op, result, wide ? wide : typeOf(op->getResult(0)).getElementType());
  return result;
}

sh::ReduceOp ReductionSplitter::run() {
  RankedTensorType type = typeOf(op.getInputs().front());
  Type element = type.getElementType();
  // Partial sums of narrow floats are not rounded.
  if (isNarrowFloat(element))
    wide = builder.getF32Type();
  Dims shape(type.getShape().take_front(cut.first));
  llvm::append_range(shape, Dims{cut.parts, cut.streams});
  if (cut.rest > 1)
    shape.push_back(cut.rest);
  int64_t shift = int64_t(shape.size()) - cut.last;
  llvm::append_range(shape, type.getShape().drop_front(cut.last));
  SmallVector<Value> inputs;
  for (auto [input, init] : llvm::zip_equal(op.getInputs(), op.getInitValues())) {
    Value value = emit.reshape(input, shape);
    inputs.push_back(wide ? emit.convert(value, wide) : value);
    initial.push_back(wide ? emit.convert(init, wide) : init);
  }
  // Then what else was reduced: the streams' dimension is gone.
  Dims dims{cut.first};
  if (cut.rest > 1)
    dims.push_back(cut.first + 1);
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (isReduced(op, dim) && (dim < cut.first || dim >= cut.last))
      dims.push_back(dim < cut.first ? dim : dim + shift - 1);
  llvm::sort(dims);
  sh::ReduceOp partial = reduce(inputs, {cut.first + 1});
  sh::ReduceOp whole = reduce(partial->getResults(), dims);
  for (auto [result, value] : llvm::zip_equal(op->getResults(), whole->getResults()))
    result.replaceAllUsesWith(wide ? emit.convert(value, element) : value);
  op->erase();
  return whole;
}

void splitReduction(sh::ReduceOp op) {
  auto isPlain = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.hasStaticShape();
  };
  if (!llvm::all_of(op.getInputs(), isPlain))
    return;
  Type element = typeOf(op.getInputs().front()).getElementType();
  if (isNarrowFloat(element) && !canRetype(op))
    return;
  // The reducer's own types may be wider than the inputs'.
  for (auto [input, result] : llvm::zip_equal(op.getInputs(), op->getResults()))
    if (typeOf(input).getElementType() != typeOf(result).getElementType())
      return;
  while (std::optional<Cut> cut = chooseCut(op))
    op = ReductionSplitter(op, *cut).run();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// `dims` of an operand whose dimension `split` became two.
Dims shifted(ArrayRef<int64_t> dims, int64_t split) {
  Dims result;
  for (int64_t dim : dims)
    result.push_back(dim > split ? dim + 1 : dim);
  return result;
}

/// The pair of contracted dimensions with the largest extent, and its parts.
std::pair<size_t, int64_t> choosePart(sh::DotGeneralOp op) {
  RankedTensorType lhs = typeOf(op.getLhs()), rhs = typeOf(op.getRhs());
  ArrayRef<int64_t> contracted = op.getDotDimensionNumbers().getLhsContractingDimensions();
  int64_t depth = 1, results = typeOf(op).getNumElements(), longest = 0;
  size_t pair = 0;
  for (auto [i, dim] : llvm::enumerate(contracted)) {
    depth *= lhs.getDimSize(dim);
    if (lhs.getDimSize(dim) > longest)
      longest = lhs.getDimSize(dim), pair = i;
  }
  int64_t read = lhs.getNumElements() + rhs.getNumElements();
  if (results == 0 || results > kLargestResult || read < 4 * kPart)
    return {0, 1};
  // Partial results are to be small beside what is read.
  int64_t most = std::min({kMostParts, read / kPart, depth / kShortestDepth, read / (8 * results)});
  return {pair, largestDivisor(longest, most)};
}

void splitProduct(sh::DotGeneralOp op) {
  Type element = typeOf(op).getElementType();
  if (!element.isIntOrFloat() || element.isInteger(1) || op->hasAttr("algorithm") ||
      !typeOf(op.getLhs()).hasStaticShape() || !typeOf(op.getRhs()).hasStaticShape())
    return;
  auto [pair, parts] = choosePart(op);
  if (parts < 4)
    return;
  OpBuilder builder(op);
  Emit emit(builder, op.getLoc());
  auto numbers = op.getDotDimensionNumbers();
  auto cut = [&](Value operand, int64_t dim) {
    Dims shape(typeOf(operand).getShape());
    shape[dim] /= parts;
    shape.insert(shape.begin() + dim, parts);
    return emit.reshape(operand, shape);
  };
  int64_t left = numbers.getLhsContractingDimensions()[pair];
  int64_t right = numbers.getRhsContractingDimensions()[pair];
  auto batches = [&](ArrayRef<int64_t> dims, int64_t split) {
    Dims result = shifted(dims, split);
    result.push_back(split);
    return result;
  };
  auto depths = [&](ArrayRef<int64_t> dims, int64_t split) {
    Dims result = shifted(dims, split);
    result[pair] = split + 1;
    return result;
  };
  auto partial = cast<sh::DotGeneralOp>(builder.clone(*op));
  partial.getLhsMutable().assign(cut(op.getLhs(), left));
  partial.getRhsMutable().assign(cut(op.getRhs(), right));
  partial.setDotDimensionNumbersAttr(sh::DotDimensionNumbersAttr::get(
      op.getContext(), batches(numbers.getLhsBatchingDimensions(), left),
      batches(numbers.getRhsBatchingDimensions(), right),
      depths(numbers.getLhsContractingDimensions(), left),
      depths(numbers.getRhsContractingDimensions(), right)));
  int64_t place = numbers.getLhsBatchingDimensions().size();
  Dims shape(typeOf(op).getShape());
  shape.insert(shape.begin() + place, parts);
  Type wide = isNarrowFloat(element) ? Type(builder.getF32Type()) : element;
  partial.getResult().setType(RankedTensorType::get(shape, wide));
  partial->moveBefore(op); // behind its operands
  Value sum = emit.sum(partial, {place});
  op.getResult().replaceAllUsesWith(wide == element ? sum : emit.convert(sum, element));
  op->erase();
}

class SplitReductionsPass : public graph::impl::SplitReductionsBase<SplitReductionsPass> {
  void runOnOperation() override {
    SmallVector<sh::ReduceOp> reductions;
    SmallVector<sh::DotGeneralOp> products;
    getOperation().walk([&](Operation *op) {
      if (auto reduce = dyn_cast<sh::ReduceOp>(op))
        reductions.push_back(reduce);
      else if (auto dot = dyn_cast<sh::DotGeneralOp>(op))
        products.push_back(dot);
    });
    for (sh::ReduceOp op : reductions)
      splitReduction(op);
    for (sh::DotGeneralOp op : products)
      splitProduct(op);
  }
};

} // namespace
