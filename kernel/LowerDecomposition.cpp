//===- LowerDecomposition.cpp - small factorisations, many at once ---------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cholesky and triangular_solve of batches of small matrices: each lane works on
// a matrix of its own, so that no step waits for another lane. Matrices stand in
// scratch as one register per element. Columns of the right-hand sides of a
// triangular_solve count as batch too.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "kernel/LowerFusion.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

namespace {

Element conjugate(Element x) {
  return x.isComplex() ? Element{x.re, -x.im} : x;
}
Element multiply(Element a, Element b) {
  if (!a.isComplex())
    return {a.re * b.re, {}};
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
Element subtract(Element a, Element b) {
  return {a.re - b.re, a.isComplex() ? a.im - b.im : Num()};
}
Element divide(Element a, Element b) {
  if (!a.isComplex())
    return {a.re / b.re, {}};
  Num scale = b.re * b.re + b.im * b.im;
  Element product = multiply(a, conjugate(b));
  return {product.re / scale, product.im / scale};
}

class DecompositionLowering {
public:
  DecompositionLowering(FusionLowering &lowering, Operation *op, ElementEmitter &emitter);
  LogicalResult run();

private:
  Position at(const Index &batch, int64_t i, int64_t j);
  LogicalResult cholesky(hlo::CholeskyOp op, const Index &batch);
  LogicalResult solve(hlo::TriangularSolveOp op, const Index &batch);
  FailureOr<Element> matrixElement(hlo::TriangularSolveOp op, const Index &batch, int64_t i,
                                   int64_t j);
  LogicalResult write(Value result, const Position &position, Element element);

  FusionLowering &lowering;
  Operation *op;
  ElementEmitter &emitter;
  IndexSpace &space;
  RankedTensorType type;
  int64_t size, columns = 1, batches = 1;
};

} // namespace

DecompositionLowering::DecompositionLowering(FusionLowering &lowering, Operation *op,
                                             ElementEmitter &emitter)
    : lowering(lowering), op(op), emitter(emitter), space(emitter.space()),
      type(typeOf(op->getOperand(0))), size(type.getShape().back()) {
  for (int64_t extent : type.getShape().drop_back(2))
    batches *= extent;
}

/// Row i and column j of matrix number `batch`.
Position DecompositionLowering::at(const Index &batch, int64_t i, int64_t j) {
  Position position = space.delinearize(batch, type.getShape().drop_back(2));
  position.push_back(Index(i));
  position.push_back(Index(j));
  return position;
}

LogicalResult DecompositionLowering::write(Value result, const Position &position,
                                           Element element) {
  for (auto [i, root] : llvm::enumerate(lowering.fusion.getYield().getValues())) {
    if (root != result)
      return op->emitOpError("does not give the results of its fusion");
    if (failed(emitter.store(element, typeOf(root), emitter.outputBuffer(i), position)))
      return failure();
  }
  return success();
}

/// The row-by-row (Cholesky-Banachiewicz) form, written out: size^3 / 6 steps.
LogicalResult DecompositionLowering::cholesky(hlo::CholeskyOp op, const Index &batch) {
  bool lower = op.getLower();
  SmallVector<SmallVector<Element>> l(size, SmallVector<Element>(size));
  Num zero;
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      FailureOr<Element> a = emitter.emit(op.getA(), lower ? at(batch, i, j) : at(batch, j, i));
      if (failed(a))
        return failure();
      Element sum = lower ? *a : conjugate(*a);
      for (int64_t k = 0; k < j; ++k)
        sum = subtract(sum, multiply(l[i][k], conjugate(l[j][k])));
      if (!zero)
        zero = sum.re.constant(0);
      if (i == j)
        l[i][j] = {sqrt(sum.re), sum.isComplex() ? zero : Num()};
      else
        l[i][j] = {sum.re / l[j][j].re, sum.isComplex() ? sum.im / l[j][j].re : Num()};
    }
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j < size; ++j) {
      Element nothing{zero, isa<ComplexType>(type.getElementType()) ? zero : Num()};
      Element value =
          lower ? (j <= i ? l[i][j] : nothing) : (i <= j ? conjugate(l[j][i]) : nothing);
      if (failed(write(op.getResult(), at(batch, i, j), value)))
        return failure();
    }
  return success();
}

/// Element (i, j) of the matrix as it is applied: transposed, conjugated.
FailureOr<Element> DecompositionLowering::matrixElement(hlo::TriangularSolveOp op,
                                                        const Index &batch, int64_t i, int64_t j) {
  bool transposed = op.getTransposeA() == hlo::Transpose::TRANSPOSE ||
                    op.getTransposeA() == hlo::Transpose::ADJOINT;
  FailureOr<Element> a = emitter.emit(op.getA(), transposed ? at(batch, j, i) : at(batch, i, j));
  if (succeeded(a) && op.getTransposeA() == hlo::Transpose::ADJOINT)
    return conjugate(*a);
  return a;
}

/// Forward or backward substitution of one column (or row, if the matrix stands
/// on the right) per lane.
LogicalResult DecompositionLowering::solve(hlo::TriangularSolveOp op, const Index &number) {
  auto [batch, column] = space.divide(number, columns);
  bool left = op.getLeftSide();
  bool transposed = op.getTransposeA() != hlo::Transpose::NO_TRANSPOSE;
  // x op(A) = b is op(A)^T x^T = b^T.
  bool lower = (op.getLower() != transposed) == left;
  auto element = [&](int64_t i, int64_t j) {
    return left ? matrixElement(op, batch, i, j) : matrixElement(op, batch, j, i);
  };
  auto place = [&](int64_t i) {
    Position position = space.delinearize(batch, type.getShape().drop_back(2));
    position.push_back(left ? Index(i) : column);
    position.push_back(left ? column : Index(i));
    return position;
  };
  SmallVector<Element> x(size);
  for (int64_t step = 0; step < size; ++step) {
    int64_t i = lower ? step : size - 1 - step;
    FailureOr<Element> sum = emitter.emit(op.getB(), place(i));
    for (int64_t known = 0; known < step && succeeded(sum); ++known) {
      int64_t j = lower ? known : size - 1 - known;
      FailureOr<Element> a = element(i, j);
      if (failed(a))
        return failure();
      sum = subtract(*sum, multiply(*a, x[j]));
    }
    FailureOr<Element> pivot = element(i, i);
    if (failed(sum) || failed(pivot))
      return failure();
    x[i] = op.getUnitDiagonal() ? *sum : divide(*sum, *pivot);
  }
  for (int64_t i = 0; i < size; ++i)
    if (failed(write(op.getResult(), place(i), x[i])))
      return failure();
  return success();
}

LogicalResult DecompositionLowering::run() {
  auto triangular = dyn_cast<hlo::TriangularSolveOp>(op);
  if (triangular)
    columns = typeOf(triangular.getB())
                  .getShape()
                  .drop_front(type.getRank() - 2)[triangular.getLeftSide() ? 1 : 0];
  int64_t count = batches * columns;
  if (count * size == 0) {
    lowering.kernel.setTasks(0);
    return success();
  }
  Type element = type.getElementType();
  Type part = isa<ComplexType>(element) ? cast<ComplexType>(element).getElementType() : element;
  if (isSmallFloat(part))
    return op->emitOpError("of narrow floats is not supported in a kernel");
  int64_t lanes = std::min<int64_t>(lowering.machine.lanes(part.getIntOrFloatBitWidth()),
                                    llvm::PowerOf2Ceil(count));
  int64_t perTask = lanes * 8, tasks = llvm::divideCeil(count, perTask);
  lowering.kernel.setTasks(tasks);
  lowering.kernel.setTaskCostNs(8 * size * size * size / 2);
  Value begin = lowering.multiply(lowering.kernel.getTask(), perTask);
  Value end = lowering.minimum(lowering.add(begin, lowering.constant(perTask)), count);
  return forLanes(emitter, begin, end, count, lanes, [&](const Index &number) {
    return triangular ? solve(triangular, number) : cholesky(cast<hlo::CholeskyOp>(op), number);
  });
}

LogicalResult kernel::lowerDecomposition(FusionLowering &lowering) {
  ElementEmitter emitter(lowering.builder, lowering.machine, lowering.fusion,
                         lowering.kernel.getBuffers());
  for (Operation &op : lowering.fusion.getBlock())
    if (isa<hlo::CholeskyOp, hlo::TriangularSolveOp>(op))
      return DecompositionLowering(lowering, &op, emitter).run();
  return lowering.fusion.emitOpError("of kind decomposition holds nothing to decompose");
}
