//===- LowerVecmat.cpp - products of a few vectors and a large matrix ------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The counterpart of LowerMatvec for a matrix that is contiguous along the columns
// of the result: lhs has a few rows, rhs is read where it lies, once. A task
// computes some columns of all rows:
//
//   sums of all its columns in scratch, zero at first
//   for some rows of rhs at a time:
//     for each panel of columns: tile_dot adds the products
//   epilogue: what the fusion does with the product, its lanes along the columns
//
// A few rows at a time and long pieces of them are what memory reads fastest: one
// row would be one stream, all of them more than prefetching and the translation
// of addresses follow. k is taken in order, so the tiles change no bit.
//
//===----------------------------------------------------------------------===//
#include "kernel/Product.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

/// More rows reuse the matrix enough for packed tiles.
constexpr int64_t kMostRows = 8;
/// Rows of rhs at a time, and bytes of a row that make a good stream.
constexpr int64_t kStreams = 16, kStreamBytes = 2048;
/// Smaller matrices stay in a cache.
constexpr int64_t kSmallMatrix = 256 << 10, kShortDepth = 64;

/// Whether tile_dot takes elements of `buffer` as they are.
static bool isReadable(Value buffer, Type accumulator) {
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  return element == accumulator || (accumulator.isF32() && (element.isBF16() || element.isF16()));
}

static int64_t bytesOf(Value buffer) {
  return cast<MemRefType>(buffer.getType()).getElementTypeBitWidth() / 8;
}

bool kernel::isVecmat(MatrixProblem &problem, ElementEmitter &emitter) {
  if (isa<ComplexType>(typeOf(problem.op->getResult(0)).getElementType()) ||
      problem.m > kMostRows || problem.n <= problem.m || problem.k < kShortDepth)
    return false;
  std::optional<DirectRead> rhs = problem.directRhs(emitter, Index(0));
  return rhs && rhs->firstStride == 1 && isReadable(rhs->buffer, accumulatorType(problem.op)) &&
         problem.k * problem.n * bytesOf(rhs->buffer) >= kSmallMatrix;
}

namespace {

class VecmatLowering {
public:
  VecmatLowering(FusionLowering &lowering, MatrixProblem &problem, ElementEmitter &emitter)
      : lowering(lowering), view(problem), emitter(emitter), builder(lowering.builder),
        product(problem.op->getResult(0)), accumulator(accumulatorType(problem.op)) {}
  LogicalResult run();

private:
  void plan(int64_t bytes);
  void splitTask();
  Value scratch(int64_t elements);
  Value index(int64_t i) { return lowering.constant(i); }
  LogicalResult placeRows();
  void clearSums();
  void addStreams();
  void forPanels(llvm::function_ref<void(Value column, int64_t columns)> body);
  LogicalResult emitEpilogue();

  FusionLowering &lowering;
  MatrixProblem &view;
  ElementEmitter &emitter;
  OpBuilder &builder;
  Value product;
  Type accumulator;

  int64_t lanes = 1, panel = 1; ///< columns of a register, of a tile
  int64_t columns = 1;          ///< of a task: whole panels
  int64_t blocks = 1;           ///< tasks of a batch
  int64_t scratchBytes = 0;
  Index batch;
  Value begin, end; ///< the task's columns
  Value sums;       ///< [row][column of the task]
  Value left, leftOffset;
  int64_t leftRowStride = 0, leftDepthStride = 1;
};

} // namespace

Value VecmatLowering::scratch(int64_t elements) {
  int64_t offset = scratchBytes;
  scratchBytes += llvm::alignTo(elements * accumulator.getIntOrFloatBitWidth() / 8, 64);
  return builder.create<ScratchOp>(lowering.loc(), MemRefType::get({elements}, accumulator),
                                   offset);
}

/// Tiles of as many registers as hold sums, tasks of long pieces of rows, as many
/// for each thread.
void VecmatLowering::plan(int64_t bytes) {
  const machine::Machine &machine = lowering.machine;
  lanes = machine.lanes(accumulator.getIntOrFloatBitWidth());
  auto registers = int64_t(llvm::bit_floor(uint64_t((machine.numVectorRegisters - 4) / view.m)));
  panel = lanes * std::min<int64_t>(8, registers);
  int64_t panels = llvm::divideCeil(view.n, panel);
  int64_t work = view.n * view.k * bytes / (64 << 10) + 1; // some microseconds each
  int64_t wanted = llvm::divideCeil(std::min(4 * machine.threads, work), view.batch);
  int64_t perTask =
      std::max<int64_t>(llvm::divideCeil(panels, wanted), kStreamBytes / (panel * bytes));
  blocks = llvm::divideCeil(panels, perTask);
  if (view.batch < machine.threads)
    blocks = std::min<int64_t>(llvm::alignTo(blocks, machine.threads), panels);
  perTask = llvm::divideCeil(panels, blocks);
  blocks = llvm::divideCeil(panels, perTask);
  columns = perTask * panel;
  FuncOp kernel = lowering.kernel;
  kernel.setTasks(view.batch * blocks);
  // Some 12 GB/s on one core.
  int64_t price = view.k * bytes * 80 + view.m * picosecondsPerElement(lowering.fusion, lanes);
  kernel.setTaskCostNs(std::max<int64_t>(1, std::min(columns, view.n) * price / 1000));
}

void VecmatLowering::splitTask() {
  Location loc = lowering.loc();
  Value task = lowering.kernel.getTask();
  begin = index(0);
  if (blocks > 1) {
    Value count = index(blocks);
    begin = lowering.multiply(builder.create<arith::RemUIOp>(loc, task, count), columns);
    task = builder.create<arith::DivUIOp>(loc, task, count);
  }
  end = lowering.minimum(lowering.add(begin, index(columns)), view.n);
  batch = view.batch == 1 ? Index(0) : emitter.space().variable(task, 0, view.batch - 1);
}

/// The rows of lhs: where they lie, or evaluated into scratch.
LogicalResult VecmatLowering::placeRows() {
  IndexSpace &space = emitter.space();
  std::optional<DirectRead> read = view.directLhs(emitter, batch);
  if (read && isReadable(read->buffer, accumulator)) {
    left = read->buffer;
    leftOffset = space.scalar(read->origin);
    leftRowStride = read->firstStride, leftDepthStride = read->secondStride;
    return success();
  }
  leftRowStride = llvm::alignTo(view.k, lanes);
  left = scratch(view.m * leftRowStride);
  leftOffset = index(0);
  bool zeroExtends = isUnsigned(typeOf(view.op->getOperand(0)).getElementType());
  return forLanes(emitter, index(0), index(view.k), view.k, lanes, [&](const Index &k) {
    for (int64_t row = 0; row < view.m; ++row) {
      FailureOr<Element> element = view.lhs(emitter, batch, Index(row), k);
      if (failed(element))
        return failure();
      Index at = space.add(k, row * leftRowStride);
      at.lane = 0;
      builder.create<StoreOp>(lowering.loc(), widened(element->re, accumulator, zeroExtends), left,
                              ValueRange{space.scalar(at)}, Value(), 1);
    }
    return success();
  });
}

void VecmatLowering::clearSums() {
  Location loc = lowering.loc();
  sums = scratch(view.m * columns);
  auto loop = builder.create<scf::ForOp>(loc, index(0), index(view.m * columns), index(lanes));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  auto type = VectorType::get({lanes}, accumulator);
  Value zero = builder.create<arith::ConstantOp>(loc, builder.getZeroAttr(type));
  builder.create<StoreOp>(loc, zero, sums, ValueRange{loop.getInductionVar()}, Value(), 1);
}

/// The task's panels: whole ones, then the matrix's last.
void VecmatLowering::forPanels(llvm::function_ref<void(Value, int64_t)> body) {
  Location loc = lowering.loc();
  int64_t whole = view.n / panel * panel, rest = view.n - whole;
  if (whole) {
    Value last = lowering.minimum(end, whole);
    auto loop = builder.create<scf::ForOp>(loc, begin, last, index(panel));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar(), panel);
  }
  if (!rest)
    return;
  Value isLast = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sgt, end, index(whole));
  auto branch = builder.create<scf::IfOp>(loc, isLast);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  body(index(whole), rest);
}

void VecmatLowering::addStreams() {
  Location loc = lowering.loc();
  DirectRead rhs = *view.directRhs(emitter, batch);
  Value origin = emitter.space().scalar(rhs.origin);
  auto loop = builder.create<scf::ForOp>(loc, index(0), index(view.k), index(kStreams));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value k = loop.getInductionVar();
  Value depth = lowering.minimum(builder.create<arith::SubIOp>(loc, index(view.k), k), kStreams);
  Value leftAt = lowering.add(leftOffset, lowering.multiply(k, leftDepthStride));
  Value rightAt = lowering.add(origin, lowering.multiply(k, rhs.secondStride));
  forPanels([&](Value column, int64_t width) {
    Value target = builder.create<arith::SubIOp>(loc, column, begin);
    builder.create<TileDotOp>(loc, left, leftAt, rhs.buffer, lowering.add(rightAt, column), sums,
                              target, depth, view.m, width, leftRowStride, leftDepthStride,
                              rhs.secondStride, columns, /*accumulate=*/true);
  });
}

LogicalResult VecmatLowering::emitEpilogue() {
  IndexSpace &space = emitter.space();
  return forLanes(emitter, begin, end, view.n, lanes, [&](const Index &column) -> LogicalResult {
    Index first = column;
    first.lane = 0;
    Value local = builder.create<arith::SubIOp>(lowering.loc(), space.scalar(first), begin);
    for (int64_t row = 0; row < view.m; ++row) {
      Position expected = view.result(space, batch, Index(row), column);
      emitter.bind(product, [&](const Position &at) -> FailureOr<Element> {
        if (!(at == expected))
          return view.op->emitOpError("is read at another place than it is computed for");
        Value sum = builder.create<LoadOp>(
            lowering.loc(), VectorType::get({lanes}, accumulator), sums,
            ValueRange{lowering.add(local, index(row * columns))}, Value(), 1);
        return Element{finishedSum({emitter.context(), sum}, typeOf(product).getElementType()), {}};
      });
      LogicalResult done = emitProductOutputs(lowering, emitter, view, batch, Index(row), column);
      emitter.unbind(product);
      if (failed(done))
        return failure();
    }
    return success();
  });
}

LogicalResult VecmatLowering::run() {
  if (view.batch == 0) {
    lowering.kernel.setTasks(0);
    return success();
  }
  plan(bytesOf(view.directRhs(emitter, Index(0))->buffer));
  splitTask();
  if (failed(placeRows()))
    return failure();
  clearSums();
  lowering.kernel.setScratchBytes(scratchBytes);
  addStreams();
  return emitEpilogue();
}

LogicalResult kernel::lowerVecmat(FusionLowering &lowering, MatrixProblem &problem,
                                  ElementEmitter &emitter) {
  return VecmatLowering(lowering, problem, emitter).run();
}
