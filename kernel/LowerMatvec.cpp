//===- LowerMatvec.cpp - products of a matrix and a few vectors ------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Such a product reads each element of the matrix once, so that memory is what it
// costs: nothing is packed, and no lane idles. lhs is the matrix, the columns of
// rhs the vectors; lanes run along k, where the matrix is contiguous. A task
// computes some rows:
//
//   pack the vectors into scratch (unless they are read where they lie)
//   for each block of as many rows as there are lanes, or twice as many:
//     for each group of rows: one loop over k with an accumulator for each row
//       and vector; then sums across lanes, into scratch
//     epilogue: what the fusion does with the product, its lanes along the rows
//
// Each sum adds what stands a register apart in order, then halves of the register
// to halves: its order depends on k and the width of registers alone.
//
// Matrices that are contiguous along their rows instead are LowerVecmat's, as rhs.
//
//===----------------------------------------------------------------------===//
#include "kernel/Product.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

/// Products with more vectors reuse the matrix enough for tiles.
constexpr int64_t kMostVectors = 8;

/// Whether a sum over the depth may run along lanes at all.
static bool hasLanes(const MatrixProblem &problem) {
  Type element = typeOf(problem.op->getResult(0)).getElementType();
  return problem.k > 1 && !isa<ComplexType>(element);
}

bool kernel::isMatvec(MatrixProblem &problem, ElementEmitter &emitter) {
  if (!hasLanes(problem) || problem.n > kMostVectors || problem.m < problem.n)
    return false;
  std::optional<Strides> matrix = problem.lhsStrides(emitter);
  // With few lanes in use per row, tiles do better for several vectors.
  int64_t lanes =
      emitter.context().machine.lanes(accumulatorType(problem.op).getIntOrFloatBitWidth());
  if (problem.n > 2 && problem.k < 2 * lanes)
    return false;
  return !matrix || matrix->second == 1 || matrix->first != 1;
}

bool kernel::shouldSwap(MatrixProblem &problem, ElementEmitter &emitter) {
  if (!hasLanes(problem) || std::min(problem.m, problem.n) > kMostVectors)
    return false;
  if (problem.m < problem.n) { // a few vectors from the left
    std::optional<Strides> matrix = problem.rhsStrides(emitter);
    return matrix && matrix->second == 1 && matrix->first != 1;
  }
  std::optional<Strides> matrix = problem.lhsStrides(emitter);
  return problem.n < problem.m && matrix && matrix->first == 1 && matrix->second != 1;
}

namespace {

class MatvecLowering {
public:
  MatvecLowering(FusionLowering &lowering, MatrixProblem &problem, ElementEmitter &emitter)
      : lowering(lowering), view(problem), emitter(emitter), builder(lowering.builder),
        product(problem.op->getResult(0)), accumulator(accumulatorType(problem.op)) {}
  LogicalResult run();

private:
  void plan();
  Value scratch(int64_t elements);
  Value index(int64_t i) { return lowering.constant(i); }
  Num factor(const Element &element);
  bool mustPack();
  LogicalResult packVectors();
  FailureOr<Num> vectorElement(const Index &k, int64_t column);
  LogicalResult emitRows(Value begin, Value end);
  LogicalResult emitGroup(const Index &row, const Index &slot, int64_t count);
  Value sumLanes(SmallVector<Value> sums);
  LogicalResult emitEpilogue(const Index &row);

  FusionLowering &lowering;
  MatrixProblem &view;
  ElementEmitter &emitter;
  OpBuilder &builder;
  Value product;
  Type accumulator;

  int64_t lanes = 1;       ///< along k
  int64_t group = 1;       ///< rows that share a loop over k
  int64_t block = 1;       ///< rows that share an epilogue
  int64_t rowsPerTask = 1; ///< a multiple of `block`
  int64_t slots = 1;       ///< of a vector's sums: those of a group may write beyond the block
  bool packs = false;
  int64_t scratchBytes = 0;
  Index batch;
  Value sums;    ///< [vector][row of the block]
  Value vectors; ///< packed: [vector][k], null if they are read in place
};

} // namespace

Value MatvecLowering::scratch(int64_t elements) {
  int64_t offset = scratchBytes;
  scratchBytes += llvm::alignTo(elements * accumulator.getIntOrFloatBitWidth() / 8, 64);
  return builder.create<ScratchOp>(lowering.loc(), MemRefType::get({elements}, accumulator),
                                   offset);
}

/// Vectors that lie along k in memory are read there; others are packed, unless
/// they are read once only.
bool MatvecLowering::mustPack() {
  if (view.m <= group)
    return false;
  std::optional<DirectRead> read = view.directRhs(emitter, Index(0));
  return !read || read->secondStride != 1;
}

void MatvecLowering::plan() {
  const machine::Machine &machine = lowering.machine;
  int64_t width = machine.lanes(accumulator.getIntOrFloatBitWidth());
  lanes = std::min<int64_t>(width, llvm::PowerOf2Ceil(view.k));
  // Two registers side by side hide latencies of what follows the product.
  bool isLong = llvm::range_size(lowering.fusion.getBlock()) > 8 && view.m >= 4 * width;
  block = std::min<int64_t>(isLong ? 2 * width : width, llvm::PowerOf2Ceil(view.m));
  // What is left of the registers holds rows and a vector.
  group = std::clamp<int64_t>((machine.numVectorRegisters - 8) / view.n, 1, 8);
  group = std::min({group, block, lanes});
  slots = block + int64_t(llvm::PowerOf2Ceil(group));

  // Some 15 GB/s on one core, and the sums across lanes.
  Type element = typeOf(view.op->getOperand(0)).getElementType();
  int64_t bytes = view.k * std::max<int64_t>(1, memoryType(element).getIntOrFloatBitWidth() / 8);
  int64_t price = bytes * 65 + view.n * (3000 + picosecondsPerElement(lowering.fusion, block));
  int64_t rows = std::clamp<int64_t>(20'000'000 / price, 1, view.m);
  packs = mustPack();
  if (packs) // each task packs: a small part of its work
    rows = std::min(std::max(rows, 32 * view.n), view.m);
  rowsPerTask = llvm::alignTo(rows, block);
  FuncOp kernel = lowering.kernel;
  kernel.setTasks(view.batch * llvm::divideCeil(view.m, rowsPerTask));
  kernel.setTaskCostNs(std::max<int64_t>(1, std::min(rowsPerTask, view.m) * price / 1000));
}

Num MatvecLowering::factor(const Element &element) {
  return widened(element.re, accumulator,
                 isUnsigned(typeOf(view.op->getOperand(0)).getElementType()));
}

LogicalResult MatvecLowering::packVectors() {
  int64_t stride = llvm::alignTo(view.k, lanes);
  return forLanes(emitter, index(0), index(view.k), view.k, lanes, [&](const Index &k) {
    for (int64_t column = 0; column < view.n; ++column) {
      FailureOr<Element> element = view.rhs(emitter, batch, k, Index(column));
      if (failed(element))
        return failure();
      Index at = emitter.space().add(k, column * stride);
      at.lane = 0;
      builder.create<StoreOp>(lowering.loc(), factor(*element), vectors,
                              ValueRange{emitter.space().scalar(at)}, Value(), 1);
    }
    return success();
  });
}

FailureOr<Num> MatvecLowering::vectorElement(const Index &k, int64_t column) {
  if (vectors) {
    Index at = emitter.space().add(k, column * int64_t(llvm::alignTo(view.k, lanes)));
    at.lane = 0;
    Value loaded =
        builder.create<LoadOp>(lowering.loc(), VectorType::get({lanes}, accumulator), vectors,
                               ValueRange{emitter.space().scalar(at)}, Value(), /*lane_stride=*/1);
    return Num(emitter.context(), loaded);
  }
  FailureOr<Element> element = view.rhs(emitter, batch, k, Index(column));
  if (failed(element))
    return failure();
  return factor(*element);
}

/// From a register for each of some sums to one register with the sums: the two
/// halves of each segment are added, until a segment is one lane.
Value MatvecLowering::sumLanes(SmallVector<Value> registers) {
  Location loc = lowering.loc();
  Value zero = builder.create<arith::ConstantOp>(
      loc, builder.getZeroAttr(cast<ShapedType>(registers.front().getType())));
  registers.resize(llvm::PowerOf2Ceil(registers.size()), zero);
  // Half of each segment of a and, if there are two registers, of b.
  auto halves = [&](Value a, Value b, int64_t segment, int64_t begin) {
    int64_t width = cast<VectorType>(a.getType()).getNumElements();
    SmallVector<int64_t> picked;
    for (int64_t start = 0; start < (b ? 2 : 1) * width; start += segment)
      for (int64_t i = 0; i < segment / 2; ++i)
        picked.push_back(start + begin + i);
    Value half = builder.create<vector::ShuffleOp>(loc, a, b ? b : a, picked);
    return Num(emitter.context(), half);
  };
  for (int64_t segment = lanes; segment > 1; segment /= 2) {
    SmallVector<Value> next;
    for (size_t i = 0; i < registers.size(); i += 2) {
      Value a = registers[i], b = registers.size() > 1 ? registers[i + 1] : Value();
      next.push_back(halves(a, b, segment, 0) + halves(a, b, segment, segment / 2));
    }
    registers = next;
  }
  return registers.front();
}

/// Rows row, row + 1, ...: their sums go to the block's slots from `slot` on.
LogicalResult MatvecLowering::emitGroup(const Index &row, const Index &slot, int64_t count) {
  Location loc = lowering.loc();
  IndexSpace &space = emitter.space();
  auto type = VectorType::get({lanes}, accumulator);
  Value zero = builder.create<arith::ConstantOp>(loc, builder.getZeroAttr(type));
  auto step = [&](const Index &k, ValueRange carried) -> FailureOr<Carried> {
    SmallVector<Num, kMostVectors> factors;
    for (int64_t column = 0; column < view.n; ++column) {
      FailureOr<Num> value = vectorElement(k, column);
      if (failed(value))
        return failure();
      factors.push_back(*value);
    }
    Carried next;
    for (int64_t i = 0; i < count; ++i) {
      FailureOr<Element> element = view.lhs(emitter, batch, space.add(row, i), k);
      if (failed(element))
        return failure();
      Num x = factor(*element);
      for (int64_t column = 0; column < view.n; ++column) {
        Num sum(emitter.context(), carried[i * view.n + column]);
        Num added = x.isFloat() ? fma(x, factors[column], sum) : x * factors[column] + sum;
        // What is computed beyond the end need not be zero.
        if (Value mask = emitter.currentMask())
          added = select(Num(emitter.context(), mask), added, sum);
        next.push_back(added);
      }
    }
    return next;
  };
  FailureOr<Carried> total = forLanesCarrying(emitter, index(0), index(view.k), view.k, lanes,
                                              Carried(count * view.n, zero), step);
  if (failed(total))
    return failure();
  for (int64_t column = 0; column < view.n; ++column) {
    SmallVector<Value> registers;
    for (int64_t i = 0; i < count; ++i)
      registers.push_back((*total)[i * view.n + column]);
    Value at = space.scalar(space.add(slot, column * slots));
    builder.create<StoreOp>(loc, sumLanes(registers), sums, ValueRange{at}, Value(), 1);
  }
  return success();
}

/// The fusion's results for the block's rows, which are the present tile's lanes.
LogicalResult MatvecLowering::emitEpilogue(const Index &row) {
  for (int64_t column = 0; column < view.n; ++column) {
    Position expected = view.result(emitter.space(), batch, row, Index(column));
    emitter.bind(product, [&](const Position &at) -> FailureOr<Element> {
      if (!(at == expected))
        return view.op->emitOpError("is read at another place than it is computed for");
      Type type = accumulator;
      if (emitter.lanes() > 1)
        type = VectorType::get({emitter.lanes()}, accumulator);
      Value sum = builder.create<LoadOp>(lowering.loc(), type, sums,
                                         ValueRange{index(column * slots)}, Value(), 1);
      return Element{finishedSum({emitter.context(), sum}, typeOf(product).getElementType()), {}};
    });
    LogicalResult done = emitProductOutputs(lowering, emitter, view, batch, row, Index(column));
    emitter.unbind(product);
    if (failed(done))
      return failure();
  }
  return success();
}

LogicalResult MatvecLowering::emitRows(Value begin, Value end) {
  IndexSpace &space = emitter.space();
  return forLanes(emitter, begin, end, view.m, block, [&](const Index &row) -> LogicalResult {
    Index first = row;
    first.lane = 0;
    int64_t count = emitter.currentMask() ? view.m % block : block;
    int64_t groups = count / group, rest = count % group;
    if (groups && failed(forRange(emitter, index(0), index(groups), groups, [&](const Index &g) {
          Index slot = space.scale(g, group);
          return emitGroup(space.add(first, slot), slot, group);
        })))
      return failure();
    int64_t last = groups * group;
    if (rest && failed(emitGroup(space.add(first, last), Index(last), rest)))
      return failure();
    return emitEpilogue(row);
  });
}

LogicalResult MatvecLowering::run() {
  if (view.batch * view.m * view.n == 0) {
    lowering.kernel.setTasks(0);
    return success();
  }
  plan();
  Location loc = lowering.loc();
  Value task = lowering.kernel.getTask(), rows = index(0);
  int64_t pieces = llvm::divideCeil(view.m, rowsPerTask);
  if (pieces > 1) {
    Value count = index(pieces);
    rows = lowering.multiply(builder.create<arith::RemUIOp>(loc, task, count), rowsPerTask);
    task = builder.create<arith::DivUIOp>(loc, task, count);
  }
  batch = view.batch == 1 ? Index(0) : emitter.space().variable(task, 0, view.batch - 1);
  sums = scratch(view.n * slots);
  if (packs)
    vectors = scratch(view.n * llvm::alignTo(view.k, lanes));
  lowering.kernel.setScratchBytes(scratchBytes);
  if (packs && failed(packVectors()))
    return failure();
  Value end = lowering.minimum(lowering.add(rows, index(rowsPerTask)), view.m);
  return emitRows(rows, end);
}

LogicalResult kernel::lowerMatvec(FusionLowering &lowering, MatrixProblem &problem,
                                  ElementEmitter &emitter) {
  return MatvecLowering(lowering, problem, emitter).run();
}
