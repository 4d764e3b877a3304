//===- LinearAlgebra.cpp - triangular matrices -----------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cholesky, triangular_solve. Computed in long double, rounded once. What lies
// outside the triangle of a Cholesky factor is zero; a matrix that is not
// positive definite gives NaN throughout.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "reference/Evaluator.h"
#include "reference/Kernel.h"
#include "reference/Ops.h"

#include <cmath>

using namespace mlir;

namespace spokeshave::reference {

namespace {
/// One matrix of a batch, in wide numbers.
struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<WideComplex> values;

  Matrix(int64_t rows, int64_t columns) : rows(rows), columns(columns), values(rows * columns) {}
  WideComplex &operator()(int64_t i, int64_t j) { return values[i * columns + j]; }

  /// The `index`-th matrix of a tensor whose last two dimensions are matrices.
  static Matrix read(const Tensor &tensor, int64_t index) {
    Matrix result(tensor.dim(tensor.rank() - 2), tensor.dim(tensor.rank() - 1));
    auto size = static_cast<int64_t>(result.values.size());
    for (int64_t i = 0; i < size; ++i)
      result.values[i] = wide(tensor.at(index * size + i));
    return result;
  }
  void write(Tensor &tensor, int64_t index) const {
    for (auto [i, value] : llvm::enumerate(values))
      tensor.set(index * values.size() + i, narrow(value));
  }
  Matrix transposed(bool conjugate) {
    Matrix result(columns, rows);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        result(j, i) = conjugate ? std::conj((*this)(i, j)) : (*this)(i, j);
    return result;
  }
};
} // namespace

static WideComplex times(const WideComplex &a, const WideComplex &b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

static int64_t batchSize(const Tensor &tensor) {
  return elementCount(tensor.shape().drop_back(2));
}

/// L with L L^H = a, of which only the lower triangle is read.
static Matrix factor(Matrix a) {
  Matrix l(a.rows, a.rows);
  for (int64_t j = 0; j < a.rows; ++j) {
    long double pivot = a(j, j).real();
    for (int64_t k = 0; k < j; ++k)
      pivot -= std::norm(l(j, k));
    if (!(pivot > 0)) {
      long double nan = std::numeric_limits<long double>::quiet_NaN();
      std::fill(l.values.begin(), l.values.end(), WideComplex(nan, nan));
      return l;
    }
    long double diagonal = std::sqrt(pivot);
    l(j, j) = diagonal;
    for (int64_t i = j + 1; i < a.rows; ++i) {
      WideComplex sum = a(i, j);
      for (int64_t k = 0; k < j; ++k)
        sum -= times(l(i, k), std::conj(l(j, k)));
      l(i, j) = sum / diagonal;
    }
  }
  return l;
}

static LogicalResult evalCholesky(stablehlo::CholeskyOp op, Call &call) {
  const Tensor &a = call[0];
  if (a.rank() < 2 || a.dim(a.rank() - 1) != a.dim(a.rank() - 2))
    return call.error() << "needs square matrices";
  Tensor result(call.resultType(), a.shape());
  for (int64_t i = 0, e = a.size() ? batchSize(a) : 0; i < e; ++i) {
    Matrix matrix = Matrix::read(a, i);
    if (op.getLower())
      factor(matrix).write(result, i);
    else // a = U^H U with U = L^H
      factor(matrix.transposed(true)).transposed(true).write(result, i);
  }
  return call.give(std::move(result));
}

/// x with a x = b by substitution.
static void substitute(Matrix &a, Matrix &b, bool lower, bool unitDiagonal) {
  for (int64_t column = 0; column < b.columns; ++column)
    for (int64_t step = 0; step < a.rows; ++step) {
      int64_t i = lower ? step : a.rows - 1 - step;
      WideComplex sum = b(i, column);
      int64_t begin = lower ? 0 : i + 1, end = lower ? i : a.rows;
      for (int64_t k = begin; k < end; ++k)
        sum -= times(a(i, k), b(k, column));
      if (unitDiagonal)
        b(i, column) = sum;
      else if (a(i, i).imag() == 0) // a real division keeps infinities and NaNs apart
        b(i, column) = {sum.real() / a(i, i).real(), sum.imag() / a(i, i).real()};
      else
        b(i, column) = sum / a(i, i);
    }
}

static LogicalResult evalTriangularSolve(stablehlo::TriangularSolveOp op, Call &call) {
  const Tensor &a = call[0], &b = call[1];
  int64_t rank = a.rank();
  if (rank < 2 || b.rank() != rank || a.dim(rank - 1) != a.dim(rank - 2) ||
      a.shape().drop_back(2) != b.shape().drop_back(2) ||
      b.dim(op.getLeftSide() ? rank - 2 : rank - 1) != a.dim(rank - 1))
    return call.error() << "has operands whose shapes do not match";
  bool transposed = op.getTransposeA() != stablehlo::Transpose::NO_TRANSPOSE;
  bool conjugate = op.getTransposeA() == stablehlo::Transpose::ADJOINT;
  Tensor result(call.resultType(), b.shape());
  for (int64_t i = 0, e = b.size() ? batchSize(b) : 0; i < e; ++i) {
    Matrix left = Matrix::read(a, i), right = Matrix::read(b, i);
    bool lower = op.getLower();
    if (transposed) {
      left = left.transposed(conjugate);
      lower = !lower;
    }
    if (op.getLeftSide()) {
      substitute(left, right, lower, op.getUnitDiagonal());
      right.write(result, i);
      continue;
    }
    // x a = b is a^T x^T = b^T.
    Matrix turned = left.transposed(false), solution = right.transposed(false);
    substitute(turned, solution, !lower, op.getUnitDiagonal());
    solution.transposed(false).write(result, i);
  }
  return call.give(std::move(result));
}

void addLinearAlgebra(HandlerTable &table) {
  table.add<stablehlo::CholeskyOp, evalCholesky>();
  table.add<stablehlo::TriangularSolveOp, evalTriangularSolve>();
}

} // namespace spokeshave::reference
