//===- MatrixPlan.cpp - a dot_general as (batch, m, k) x (batch, k, n) -----===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See MatrixPlan.h.
//
//===----------------------------------------------------------------------===//
#include "kernel/MatrixPlan.h"

#include "kernel/Accumulate.h"
#include "kernel/ConvolutionShape.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

int64_t MatrixView::addGroup(Group &group, Value operand, ArrayRef<int64_t> dims) {
  int64_t product = 1;
  for (int64_t dim : dims) {
    group.dims.push_back(dim);
    group.extents.push_back(typeOf(operand).getDimSize(dim));
    product *= group.extents.back();
  }
  return product;
}

/// The dimensions of `operand` that are neither batch nor contracted, in order.
static SmallVector<int64_t> freeDimensions(Value operand, ArrayRef<int64_t> batch,
                                           ArrayRef<int64_t> contracted) {
  SmallVector<int64_t> free;
  for (int64_t d = 0; d < typeOf(operand).getRank(); ++d)
    if (!llvm::is_contained(batch, d) && !llvm::is_contained(contracted, d))
      free.push_back(d);
  return free;
}

MatrixView::MatrixView(hlo::DotGeneralOp dot) {
  auto dims = dot.getDotDimensionNumbers();
  ArrayRef<int64_t> lb = dims.getLhsBatchingDimensions(), rb = dims.getRhsBatchingDimensions();
  ArrayRef<int64_t> lk = dims.getLhsContractingDimensions(),
                    rk = dims.getRhsContractingDimensions();
  batch = addGroup(lhsBatch, dot.getLhs(), lb);
  addGroup(rhsBatch, dot.getRhs(), rb);
  k = addGroup(lhsDepth, dot.getLhs(), lk);
  addGroup(rhsDepth, dot.getRhs(), rk);
  m = addGroup(lhsFree, dot.getLhs(), freeDimensions(dot.getLhs(), lb, lk));
  n = addGroup(rhsFree, dot.getRhs(), freeDimensions(dot.getRhs(), rb, rk));
}

void MatrixView::place(IndexSpace &space, const Group &group, const Index &index,
                       Position &position) {
  for (auto [dim, at] : llvm::zip_equal(group.dims, space.delinearize(index, group.extents)))
    position[dim] = at;
}

Position MatrixView::lhs(IndexSpace &space, const Index &b, const Index &row,
                         const Index &depth) const {
  Position position(lhsBatch.dims.size() + lhsFree.dims.size() + lhsDepth.dims.size());
  place(space, lhsBatch, b, position);
  place(space, lhsFree, row, position);
  place(space, lhsDepth, depth, position);
  return position;
}

Position MatrixView::rhs(IndexSpace &space, const Index &b, const Index &depth,
                         const Index &column) const {
  Position position(rhsBatch.dims.size() + rhsFree.dims.size() + rhsDepth.dims.size());
  place(space, rhsBatch, b, position);
  place(space, rhsFree, column, position);
  place(space, rhsDepth, depth, position);
  return position;
}

Position MatrixView::result(IndexSpace &space, const Index &b, const Index &row,
                            const Index &column) const {
  Position position;
  llvm::append_range(position, space.delinearize(b, lhsBatch.extents));
  llvm::append_range(position, space.delinearize(row, lhsFree.extents));
  llvm::append_range(position, space.delinearize(column, rhsFree.extents));
  return position;
}

//===----------------------------------------------------------------------===//
// Direct reads
//===----------------------------------------------------------------------===//

Value kernel::stepThrough(ElementEmitter &emitter, Operation *op, Position &p) {
  IndexSpace &space = emitter.space();
  if (auto reshape = dyn_cast<hlo::ReshapeOp>(op)) {
    Index linear = space.linearize(p, typeOf(reshape).getShape());
    p = space.delinearize(linear, typeOf(reshape.getOperand()).getShape());
    return reshape.getOperand();
  }
  if (auto transpose = dyn_cast<hlo::TransposeOp>(op)) {
    Position q(p.size());
    for (auto [d, dim] : llvm::enumerate(transpose.getPermutation()))
      q[dim] = p[d];
    p = q;
    return transpose.getOperand();
  }
  if (auto broadcast = dyn_cast<hlo::BroadcastInDimOp>(op)) {
    RankedTensorType from = typeOf(broadcast.getOperand());
    Position q;
    for (auto [d, dim] : llvm::enumerate(broadcast.getBroadcastDimensions()))
      q.push_back(from.getDimSize(d) == 1 ? Index() : p[dim]);
    p = q;
    return broadcast.getOperand();
  }
  if (auto slice = dyn_cast<hlo::SliceOp>(op)) {
    for (auto [index, start, stride] :
         llvm::zip_equal(p, slice.getStartIndices(), slice.getStrides()))
      index = space.add(space.scale(index, stride), start);
    return slice.getOperand();
  }
  if (auto slice = dyn_cast<hlo::DynamicSliceOp>(op)) {
    RankedTensorType from = typeOf(slice.getOperand());
    for (auto [d, start] : llvm::enumerate(slice.getStartIndices())) {
      FailureOr<Index> clamped =
          emitter.clampedStart(start, from.getDimSize(d) - slice.getSliceSizes()[d]);
      if (failed(clamped))
        return {};
      p[d] = space.add(*clamped, p[d]);
    }
    return slice.getOperand();
  }
  return {};
}

/// Whether `value` was computed from one of `variables`.
static bool dependsOn(Value value, ArrayRef<Value> variables,
                      llvm::SmallPtrSetImpl<Operation *> &visited) {
  if (llvm::is_contained(variables, value))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || !visited.insert(op).second)
    return false;
  return llvm::any_of(op->getOperands(),
                      [&](Value operand) { return dependsOn(operand, variables, visited); });
}

std::optional<DirectRead> kernel::resolveDirect(ElementEmitter &emitter, Value value,
                                                const Position &position, Value first,
                                                Value second) {
  Position p = position;
  BlockArgument argument;
  while (!(argument = dyn_cast<BlockArgument>(value))) {
    value = stepThrough(emitter, value.getDefiningOp(), p);
    if (!value)
      return std::nullopt;
  }
  DirectRead read{emitter.inputBuffer(argument.getArgNumber()), {}, 0, 0};
  Index linear = emitter.space().linearize(p, typeOf(argument).getShape());
  read.origin.constant = linear.constant;
  for (const Index::Term &term : linear.terms) {
    if (term.value == first) {
      read.firstStride = term.coefficient;
    } else if (term.value == second) {
      read.secondStride = term.coefficient;
    } else {
      llvm::SmallPtrSet<Operation *, 16> visited;
      if (isa<VectorType>(term.value.getType()) || dependsOn(term.value, {first, second}, visited))
        return std::nullopt;
      read.origin.terms.push_back(term);
    }
  }
  return read;
}

/// Of the inputs beneath `value`, the largest gives `strides`.
static void findStrides(ElementEmitter &emitter, Value value, Position p, Value first, Value second,
                        llvm::DenseSet<Value> &seen, int64_t &largest,
                        std::optional<Strides> &strides) {
  while (!isa<BlockArgument>(value)) {
    if (!seen.insert(value).second)
      return;
    Operation *op = value.getDefiningOp();
    if (isElementwise(op)) {
      for (Value operand : op->getOperands())
        if (typeOf(operand).getRank() == int64_t(p.size()))
          findStrides(emitter, operand, p, first, second, seen, largest, strides);
      return;
    }
    value = stepThrough(emitter, op, p);
    if (!value)
      return;
  }
  std::optional<DirectRead> read = resolveDirect(emitter, value, p, first, second);
  if (int64_t size = typeOf(value).getNumElements(); read && size > largest) {
    largest = size;
    strides = Strides{read->firstStride, read->secondStride};
  }
}

std::optional<Strides> kernel::resolveStrides(ElementEmitter &emitter, Value value,
                                              const Position &position, Value first, Value second) {
  std::optional<Strides> strides;
  llvm::DenseSet<Value> seen;
  int64_t largest = 0;
  findStrides(emitter, value, position, first, second, seen, largest, strides);
  return strides;
}

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

namespace {

class DotProblem : public MatrixProblem {
public:
  explicit DotProblem(hlo::DotGeneralOp dot) : dot(dot), view(dot) {
    op = dot, left = dot.getLhs(), right = dot.getRhs();
    batch = view.batch, m = view.m, n = view.n, k = depthRow = view.k;
    batchExtents.assign(view.batchExtents().begin(), view.batchExtents().end());
  }
  FailureOr<Element> lhs(ElementEmitter &emitter, const Index &b, const Index &row,
                         const Index &depth) override {
    return emitter.emit(dot.getLhs(), view.lhs(emitter.space(), b, row, depth));
  }
  FailureOr<Element> rhs(ElementEmitter &emitter, const Index &b, const Index &depth,
                         const Index &column) override {
    return emitter.emit(dot.getRhs(), view.rhs(emitter.space(), b, depth, column));
  }
  Position result(IndexSpace &space, const Index &b, const Index &row,
                  const Index &column) override {
    return view.result(space, b, row, column);
  }
  std::optional<Position> lhsAt(IndexSpace &space, const Index &b, const Index &row,
                                const Index &depth) override {
    return view.lhs(space, b, row, depth);
  }
  std::optional<Position> rhsAt(IndexSpace &space, const Index &b, const Index &depth,
                                const Index &column) override {
    return view.rhs(space, b, depth, column);
  }
  std::optional<DirectRead> directLhs(ElementEmitter &emitter, const Index &b) override {
    auto [row, depth] = probes(emitter, m);
    return resolveDirect(emitter, dot.getLhs(), view.lhs(emitter.space(), b, row, depth),
                         row.terms[0].value, depth.terms[0].value);
  }
  std::optional<DirectRead> directRhs(ElementEmitter &emitter, const Index &b) override {
    auto [column, depth] = probes(emitter, n);
    return resolveDirect(emitter, dot.getRhs(), view.rhs(emitter.space(), b, depth, column),
                         column.terms[0].value, depth.terms[0].value);
  }
  std::optional<Strides> lhsStrides(ElementEmitter &emitter) override {
    auto [row, depth] = probes(emitter, m);
    return resolveStrides(emitter, dot.getLhs(), view.lhs(emitter.space(), Index(0), row, depth),
                          row.terms[0].value, depth.terms[0].value);
  }
  std::optional<Strides> rhsStrides(ElementEmitter &emitter) override {
    auto [column, depth] = probes(emitter, n);
    return resolveStrides(emitter, dot.getRhs(), view.rhs(emitter.space(), Index(0), depth, column),
                          column.terms[0].value, depth.terms[0].value);
  }

private:
  /// Variables that stand for any row or column and any step of k.
  std::pair<Index, Index> probes(ElementEmitter &emitter, int64_t extent) {
    OpBuilder &builder = emitter.getBuilder();
    Value task = builder.getInsertionBlock()->getArgument(0);
    auto probe = [&](int64_t size) {
      // No constant: quotients of it would fold and look independent of it.
      Value one = builder.create<arith::ConstantIndexOp>(emitter.loc(), 1);
      Value any = builder.create<arith::AddIOp>(emitter.loc(), task, one);
      // At least two values: a variable with one would fold into a constant.
      return emitter.space().variable(any, 0, std::max<int64_t>(size - 1, 1));
    };
    return {probe(extent), probe(k)};
  }

  hlo::DotGeneralOp dot;
  MatrixView view;
};

class SwappedProblem : public MatrixProblem {
public:
  explicit SwappedProblem(std::unique_ptr<MatrixProblem> problem) : inner(std::move(problem)) {
    op = inner->op, left = inner->right, right = inner->left;
    batch = inner->batch, m = inner->n, n = inner->m, k = depthRow = inner->k;
    batchExtents = inner->batchExtents;
  }
  FailureOr<Element> lhs(ElementEmitter &emitter, const Index &b, const Index &row,
                         const Index &depth) override {
    return inner->rhs(emitter, b, depth, row);
  }
  FailureOr<Element> rhs(ElementEmitter &emitter, const Index &b, const Index &depth,
                         const Index &column) override {
    return inner->lhs(emitter, b, column, depth);
  }
  Position result(IndexSpace &space, const Index &b, const Index &row,
                  const Index &column) override {
    return inner->result(space, b, column, row);
  }
  std::optional<Position> lhsAt(IndexSpace &space, const Index &b, const Index &row,
                                const Index &depth) override {
    return inner->rhsAt(space, b, depth, row);
  }
  std::optional<Position> rhsAt(IndexSpace &space, const Index &b, const Index &depth,
                                const Index &column) override {
    return inner->lhsAt(space, b, column, depth);
  }
  std::optional<DirectRead> directLhs(ElementEmitter &emitter, const Index &b) override {
    return inner->directRhs(emitter, b);
  }
  std::optional<DirectRead> directRhs(ElementEmitter &emitter, const Index &b) override {
    return inner->directLhs(emitter, b);
  }
  std::optional<Strides> lhsStrides(ElementEmitter &emitter) override {
    return inner->rhsStrides(emitter);
  }
  std::optional<Strides> rhsStrides(ElementEmitter &emitter) override {
    return inner->lhsStrides(emitter);
  }

private:
  std::unique_ptr<MatrixProblem> inner;
};

/// The outermost part of the rows counts as a dimension of the batch.
class HoistedProblem : public MatrixProblem {
public:
  HoistedProblem(std::unique_ptr<MatrixProblem> problem, int64_t extent)
      : extent(extent), inner(std::move(problem)) {
    op = inner->op, left = inner->left, right = inner->right;
    batch = inner->batch * extent, m = inner->m / extent, n = inner->n;
    k = depthRow = inner->k;
    batchExtents = inner->batchExtents;
    batchExtents.push_back(extent);
  }
  FailureOr<Element> lhs(ElementEmitter &emitter, const Index &b, const Index &row,
                         const Index &depth) override {
    auto [outer, whole] = split(emitter.space(), b, row);
    return inner->lhs(emitter, outer, whole, depth);
  }
  FailureOr<Element> rhs(ElementEmitter &emitter, const Index &b, const Index &depth,
                         const Index &column) override {
    return inner->rhs(emitter, split(emitter.space(), b, {}).first, depth, column);
  }
  Position result(IndexSpace &space, const Index &b, const Index &row,
                  const Index &column) override {
    auto [outer, whole] = split(space, b, row);
    return inner->result(space, outer, whole, column);
  }
  std::optional<Position> lhsAt(IndexSpace &space, const Index &b, const Index &row,
                                const Index &depth) override {
    auto [outer, whole] = split(space, b, row);
    return inner->lhsAt(space, outer, whole, depth);
  }
  std::optional<Position> rhsAt(IndexSpace &space, const Index &b, const Index &depth,
                                const Index &column) override {
    return inner->rhsAt(space, split(space, b, {}).first, depth, column);
  }
  std::optional<DirectRead> directRhs(ElementEmitter &emitter, const Index &b) override {
    return inner->directRhs(emitter, split(emitter.space(), b, {}).first);
  }

private:
  /// The inner problem's batch and row.
  std::pair<Index, Index> split(IndexSpace &space, const Index &b, const Index &row) {
    auto [outer, part] = space.divide(b, extent);
    return {outer, space.add(space.scale(part, m), row)};
  }
  int64_t extent;
  std::unique_ptr<MatrixProblem> inner;
};

class ConvolutionProblem : public MatrixProblem {
public:
  ConvolutionProblem(hlo::ConvolutionOp convolution, int64_t lanes)
      : convolution(convolution), shape(convolution) {
    op = convolution, left = convolution.getLhs(), right = convolution.getRhs();
    places.push_back(shape.batch);
    for (int64_t dim : shape.dims.getOutputSpatialDimensions())
      places.push_back(typeOf(convolution).getDimSize(dim));
    depths = shape.window;
    depths.push_back(shape.features);
    for (int64_t extent : places)
      m *= extent;
    for (int64_t extent : depths)
      k *= extent;
    n = shape.outputFeatures;
    // A few features leave most lanes idle: then the lanes run over all of k.
    depthRow = 2 * shape.features > lanes ? shape.features : k;
  }
  FailureOr<Element> lhs(ElementEmitter &emitter, const Index &, const Index &row,
                         const Index &depth) override {
    Position left, right;
    Num inside;
    Position w = emitter.space().delinearize(depth, depths);
    Type element = typeOf(convolution.getLhs()).getElementType();
    if (!shape.operands(emitter, result(emitter.space(), {}, row, {}), w, left, right, inside))
      return zero(emitter, element);
    FailureOr<Element> value = failure();
    {
      ElementEmitter::Condition condition(emitter, inside);
      value = emitter.emit(convolution.getLhs(), left);
    }
    if (failed(value))
      return failure();
    return selectElements(inside, {*value}, {zero(emitter, element)})[0];
  }
  FailureOr<Element> rhs(ElementEmitter &emitter, const Index &, const Index &depth,
                         const Index &column) override {
    Position right(depths.size() + 1);
    Position w = emitter.space().delinearize(depth, depths);
    for (auto [d, dim] : llvm::enumerate(shape.dims.getKernelSpatialDimensions()))
      right[dim] = shape.reversed[d] ? emitter.space().subtract(shape.window[d] - 1, w[d]) : w[d];
    right[shape.dims.getKernelInputFeatureDimension()] = w.back();
    right[shape.dims.getKernelOutputFeatureDimension()] = column;
    return emitter.emit(convolution.getRhs(), right);
  }
  Position result(IndexSpace &space, const Index &, const Index &row,
                  const Index &column) override {
    Position at(depths.size() + 1);
    Position place = space.delinearize(row, places);
    at[shape.dims.getOutputBatchDimension()] = place[0];
    for (auto [d, dim] : llvm::enumerate(shape.dims.getOutputSpatialDimensions()))
      at[dim] = place[d + 1];
    at[shape.dims.getOutputFeatureDimension()] = column;
    return at;
  }

private:
  Element zero(ElementEmitter &emitter, Type element) {
    return constantElement(emitter.context(), emitter.getBuilder().getZeroAttr(element), element,
                           emitter.lanes());
  }

  hlo::ConvolutionOp convolution;
  ConvolutionShape shape;
  SmallVector<int64_t> places; ///< extents of a row: images, spatial dimensions
  SmallVector<int64_t> depths; ///< extents of k: window, features
};

} // namespace

std::unique_ptr<MatrixProblem> kernel::matrixOf(hlo::DotGeneralOp dot) {
  return std::make_unique<DotProblem>(dot);
}
std::unique_ptr<MatrixProblem> kernel::swapped(std::unique_ptr<MatrixProblem> problem) {
  return std::make_unique<SwappedProblem>(std::move(problem));
}
std::unique_ptr<MatrixProblem> kernel::hoisted(std::unique_ptr<MatrixProblem> problem,
                                               int64_t extent) {
  return std::make_unique<HoistedProblem>(std::move(problem), extent);
}
std::unique_ptr<MatrixProblem> kernel::matrixOf(hlo::ConvolutionOp convolution, int64_t lanes) {
  return std::make_unique<ConvolutionProblem>(convolution, lanes);
}
