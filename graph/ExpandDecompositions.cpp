//===- ExpandDecompositions.cpp - large factorisations in blocks -----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For machines without a library: cholesky and triangular_solve of matrices that are
// too large for a kernel become loops over blocks, in which products do most of the
// work and smaller matrices the rest. Both are brought to lower matrices, solved from
// the left, first.
//
//   solve      X_i = L_ii \ (B_i - L_i X)            X is zero where it is not yet known
//   cholesky   S = A_j - L L_j^H, of block column j
//              L_jj = cholesky(S_jj), L_j = S / L_jj^H below
//
// Rows and columns up to a whole block are zeros; they come last and nothing reads
// what is made of them.
//
//===----------------------------------------------------------------------===//
#include "graph/Classify.h"
#include "graph/Emit.h"
#include "graph/Passes.h"

namespace spokeshave::graph {
#define GEN_PASS_DEF_EXPANDDECOMPOSITIONS
#include "graph/Passes.h.inc"
} // namespace spokeshave::graph

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::graph;
namespace sh = spokeshave::stablehlo;

namespace {

/// Matrices of a kernel; blocks of matrices that are larger than some blocks.
constexpr int64_t kLeaf = 16, kBlock = 128;

int64_t blockOf(int64_t size) {
  return size > 2 * kBlock ? kBlock : kLeaf;
}

using Shape = SmallVector<int64_t>;

/// Writes operations on batches of matrices, in loops.
class Expander {
public:
  explicit Expander(Operation *op) : builder(op), loc(op->getLoc()) {}

  Value solve(sh::TriangularSolveOp op);
  Value cholesky(sh::CholeskyOp op);

private:
  Emit emit() { return Emit(builder, loc); }
  Shape shapeOf(Value value) { return Shape(cast<RankedTensorType>(value.getType()).getShape()); }
  Type elementOf(Value value) { return getElementTypeOrSelf(value.getType()); }
  int64_t rankOf(Value value) { return shapeOf(value).size(); }
  Value zeros(ArrayRef<int64_t> shape, Type element);
  Value scalar(int64_t value);
  Value transposed(Value matrix, bool conjugate);
  Value reversed(Value matrix, ArrayRef<int64_t> dims);
  Value padded(Value matrix, int64_t rows, int64_t columns);
  Value cropped(Value matrix, int64_t rows, int64_t columns);
  /// `left` times `right`, or times its adjoint.
  Value product(Value left, Value right, bool adjoint);
  /// Rows and columns of each matrix, from places that are known when run; null: 0.
  Value block(Value matrix, Value row, Value column, int64_t rows, int64_t columns);
  Value replaced(Value matrix, Value part, Value row, Value column);
  SmallVector<Value> places(Value matrix, Value row, Value column);
  /// Where an element's row is not before `row`, or is before its column.
  Value atOrBelow(Value matrix, Value row);
  Value lowerPart(Value matrix);

  /// state = body(start, state) for start = 0, step, .. below limit.
  Value loop(int64_t limit, int64_t step, Value state,
             llvm::function_ref<Value(Value start, Value state)> body);
  Value solveLower(Value l, Value b, bool unitDiagonal);
  Value choleskyLower(Value a);

  OpBuilder builder;
  Location loc;
};

Value Expander::zeros(ArrayRef<int64_t> shape, Type element) {
  auto type = RankedTensorType::get(shape, element);
  if (auto complex = dyn_cast<ComplexType>(element)) {
    Value part = emit().splat(type.clone(complex.getElementType()), 0);
    return builder.create<sh::ComplexOp>(loc, type, part, part);
  }
  return emit().splat(type, 0);
}

Value Expander::scalar(int64_t value) {
  return emit().integer(RankedTensorType::get({}, builder.getI32Type()), value);
}

Value Expander::transposed(Value matrix, bool conjugate) {
  Shape shape = shapeOf(matrix), order;
  int64_t rank = shape.size();
  for (int64_t i = 0; i < rank; ++i)
    order.push_back(i);
  std::swap(order[rank - 2], order[rank - 1]);
  std::swap(shape[rank - 2], shape[rank - 1]);
  Value turned =
      builder.create<sh::TransposeOp>(loc, RankedTensorType::get(shape, elementOf(matrix)), matrix,
                                      builder.getDenseI64ArrayAttr(order));
  auto complex = dyn_cast<ComplexType>(elementOf(matrix));
  if (!conjugate || !complex)
    return turned;
  auto part = RankedTensorType::get(shape, complex.getElementType());
  Value re = builder.create<sh::RealOp>(loc, part, turned);
  Value im = builder.create<sh::ImagOp>(loc, part, turned);
  return builder.create<sh::ComplexOp>(loc, turned.getType(), re, emit().unary<sh::NegOp>(im));
}

Value Expander::reversed(Value matrix, ArrayRef<int64_t> dims) {
  return builder.create<sh::ReverseOp>(loc, matrix.getType(), matrix,
                                       builder.getDenseI64ArrayAttr(dims));
}

Value Expander::padded(Value matrix, int64_t rows, int64_t columns) {
  Shape shape = shapeOf(matrix);
  int64_t rank = shape.size();
  auto grow = [&](int64_t dim, int64_t size) {
    if (shape[dim] == size)
      return;
    Shape more(shape);
    more[dim] = size - shape[dim];
    matrix = emit().concatenate({matrix, zeros(more, elementOf(matrix))}, dim);
    shape[dim] = size;
  };
  grow(rank - 2, rows), grow(rank - 1, columns);
  return matrix;
}

Value Expander::cropped(Value matrix, int64_t rows, int64_t columns) {
  Shape limits = shapeOf(matrix), starts(limits.size(), 0);
  int64_t rank = limits.size();
  if (limits[rank - 2] == rows && limits[rank - 1] == columns)
    return matrix;
  limits[rank - 2] = rows, limits[rank - 1] = columns;
  return emit().slice(matrix, starts, limits);
}

Value Expander::product(Value left, Value right, bool adjoint) {
  if (adjoint && isa<ComplexType>(elementOf(right)))
    return product(left, transposed(right, /*conjugate=*/true), false);
  MLIRContext *context = builder.getContext();
  Shape shape = shapeOf(left), other = shapeOf(right), batch;
  int64_t rank = shape.size();
  for (int64_t i = 0; i + 2 < rank; ++i)
    batch.push_back(i);
  shape.back() = other[rank - (adjoint ? 2 : 1)];
  auto numbers = sh::DotDimensionNumbersAttr::get(context, batch, batch, {rank - 1},
                                                  {rank - (adjoint ? 1 : 2)});
  auto highest = sh::PrecisionAttr::get(context, sh::Precision::HIGHEST);
  return builder.create<sh::DotGeneralOp>(
      loc, RankedTensorType::get(shape, elementOf(left)), left, right, numbers,
      ArrayAttr::get(context, {highest, highest}), sh::DotAlgorithmAttr());
}

SmallVector<Value> Expander::places(Value matrix, Value row, Value column) {
  SmallVector<Value> list(rankOf(matrix) - 2, scalar(0));
  list.append({row ? row : scalar(0), column ? column : scalar(0)});
  return list;
}

Value Expander::block(Value matrix, Value row, Value column, int64_t rows, int64_t columns) {
  Shape sizes = shapeOf(matrix);
  int64_t rank = sizes.size();
  sizes[rank - 2] = rows, sizes[rank - 1] = columns;
  return builder.create<sh::DynamicSliceOp>(loc, RankedTensorType::get(sizes, elementOf(matrix)),
                                            matrix, places(matrix, row, column),
                                            builder.getDenseI64ArrayAttr(sizes));
}

Value Expander::replaced(Value matrix, Value part, Value row, Value column) {
  return builder.create<sh::DynamicUpdateSliceOp>(loc, matrix.getType(), matrix, part,
                                                  places(matrix, row, column));
}

Value Expander::atOrBelow(Value matrix, Value row) {
  Shape shape = shapeOf(matrix);
  auto numbers = RankedTensorType::get(shape, builder.getI32Type());
  Value first = emit().broadcast(row, shape, {});
  Value before = emit().less(emit().iota(numbers, shape.size() - 2), first);
  return builder.create<sh::SelectOp>(loc, matrix.getType(), before,
                                      zeros(shape, elementOf(matrix)), matrix);
}

Value Expander::lowerPart(Value matrix) {
  Shape shape = shapeOf(matrix);
  int64_t rank = shape.size();
  auto numbers = RankedTensorType::get(shape, builder.getI32Type());
  Value above = emit().less(emit().iota(numbers, rank - 2), emit().iota(numbers, rank - 1));
  return builder.create<sh::SelectOp>(loc, matrix.getType(), above, zeros(shape, elementOf(matrix)),
                                      matrix);
}

Value Expander::loop(int64_t limit, int64_t step, Value state,
                     llvm::function_ref<Value(Value, Value)> body) {
  SmallVector<Value> initial{scalar(0), state};
  SmallVector<Type> types{initial[0].getType(), state.getType()};
  auto made = builder.create<sh::WhileOp>(loc, types, initial);
  OpBuilder::InsertionGuard guard(builder);
  auto begin = [&](Region &region) {
    return builder.createBlock(&region, region.end(), types, {loc, loc});
  };
  Block *condition = begin(made.getCond());
  builder.create<sh::ReturnOp>(loc,
                               ValueRange{emit().less(condition->getArgument(0), scalar(limit))});
  Block *block = begin(made.getBody());
  Value start = block->getArgument(0);
  Value next = body(start, block->getArgument(1));
  builder.create<sh::ReturnOp>(loc, ValueRange{emit().add(start, scalar(step)), next});
  return made.getResult(1);
}

/// l x = b for lower matrices l, whose upper part is not read.
Value Expander::solveLower(Value l, Value b, bool unitDiagonal) {
  Shape shape = shapeOf(b);
  int64_t size = shape[shape.size() - 2], columns = shape.back();
  if (size <= kLeaf)
    return builder.create<sh::TriangularSolveOp>(loc, b.getType(), l, b, /*left_side=*/true,
                                                 /*lower=*/true, unitDiagonal,
                                                 sh::Transpose::NO_TRANSPOSE);
  int64_t step = blockOf(size), whole = llvm::alignTo(size, step);
  l = lowerPart(padded(l, whole, whole));
  b = padded(b, whole, columns);
  Value x = loop(whole, step, zeros(shapeOf(b), elementOf(b)), [&](Value start, Value known) {
    Value rows = block(l, start, {}, step, whole);
    Value rest =
        emit().sub(block(b, start, {}, step, columns), product(rows, known, /*adjoint=*/false));
    Value diagonal = block(l, start, start, step, step);
    return replaced(known, solveLower(diagonal, rest, unitDiagonal), start, {});
  });
  return cropped(x, size, columns);
}

/// The lower factor; of `a` the lower part is read.
Value Expander::choleskyLower(Value a) {
  int64_t size = shapeOf(a).back();
  if (size <= kLeaf)
    return builder.create<sh::CholeskyOp>(loc, a.getType(), a, builder.getBoolAttr(true));
  int64_t step = blockOf(size), whole = llvm::alignTo(size, step);
  a = lowerPart(padded(a, whole, whole));
  Value l = loop(whole, step, zeros(shapeOf(a), elementOf(a)), [&](Value start, Value known) {
    Value rows = block(known, start, {}, step, whole);
    Value rest = emit().sub(block(a, {}, start, whole, step), product(known, rows, true));
    Value diagonal = choleskyLower(block(rest, start, {}, step, step));
    Value solved = solveLower(diagonal, transposed(rest, /*conjugate=*/true), false);
    Value column = atOrBelow(transposed(solved, true), start);
    return replaced(known, replaced(column, diagonal, start, {}), {}, start);
  });
  return cropped(l, size, size);
}

Value Expander::solve(sh::TriangularSolveOp op) {
  Value a = op.getA(), b = op.getB();
  bool left = op.getLeftSide(), lower = op.getLower();
  sh::Transpose transpose = op.getTransposeA();
  bool turns = transpose != sh::Transpose::NO_TRANSPOSE,
       conjugates = transpose == sh::Transpose::ADJOINT;
  // From the right it is the transposed system.
  if (turns == left)
    a = transposed(a, conjugates), lower = !lower;
  else if (conjugates)
    a = transposed(transposed(a, true), false);
  if (!left)
    b = transposed(b, false);
  int64_t rank = rankOf(b);
  if (!lower)
    a = reversed(a, {rank - 2, rank - 1}), b = reversed(b, {rank - 2});
  Value x = solveLower(a, b, op.getUnitDiagonal());
  if (!lower)
    x = reversed(x, {rank - 2});
  return left ? x : transposed(x, false);
}

Value Expander::cholesky(sh::CholeskyOp op) {
  bool lower = op.getLower();
  Value l = choleskyLower(lower ? op.getA() : transposed(op.getA(), true));
  return lower ? l : transposed(l, true);
}

class ExpandDecompositionsPass
    : public spokeshave::graph::impl::ExpandDecompositionsBase<ExpandDecompositionsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> large;
    getOperation().walk([&](Operation *op) {
      if (isa<sh::CholeskyOp, sh::TriangularSolveOp>(op) && classify(op) == OpClass::TopLevel &&
          numElements(op->getResult(0).getType()) > 0)
        large.push_back(op);
    });
    for (Operation *op : large) {
      Expander expander(op);
      auto factor = dyn_cast<sh::CholeskyOp>(op);
      Value result =
          factor ? expander.cholesky(factor) : expander.solve(cast<sh::TriangularSolveOp>(op));
      op->getResult(0).replaceAllUsesWith(result);
      op->erase();
    }
  }
};

} // namespace
