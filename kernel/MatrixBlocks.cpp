//===- MatrixBlocks.cpp - the loops around the tiles of a matrix product ---===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See MatrixBlocks.h.
//
//===----------------------------------------------------------------------===//
#include "kernel/MatrixBlocks.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

void MatrixBlocks::splitTask() {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  Value task = lowering.kernel.getTask();
  auto split = [&](int64_t count) {
    Value divisor = lowering.constant(count);
    Value rest = builder.createOrFold<arith::RemUIOp>(loc, task, divisor);
    task = builder.createOrFold<arith::DivUIOp>(loc, task, divisor);
    return rest;
  };
  auto block = [&](int64_t count, int64_t size, int64_t extent, Index &begin, Value &end) {
    if (count == 1) {
      begin = Index(0), end = lowering.constant(extent);
      return;
    }
    Value first = lowering.multiply(split(count), size);
    begin = emitter.space().variable(first, 0, (count - 1) * size, size);
    end = lowering.minimum(lowering.add(first, lowering.constant(size)), extent);
  };
  block(sizes.rowBlocks, sizes.blockRows, problem.m, rowBegin, rowEnd);
  block(sizes.columnBlocks, sizes.blockColumns, problem.n, columnBegin, columnEnd);
  batch = problem.batch == 1 ? Index(0) : emitter.space().variable(task, 0, problem.batch - 1);
}

LogicalResult MatrixBlocks::forTiles(Body body, const Index &begin, Value end, int64_t size,
                                     int64_t extent, int64_t blockSize) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  int64_t whole = extent / size * size, rest = extent - whole;
  IndexSpace &space = emitter.space();
  // Transfers of a machine with matrix units stand in the loop.
  if (blockSize == size && rest == 0 && !lowering.machine.matrixTile)
    return body(begin, size);
  if (whole) {
    Value upper = lowering.minimum(end, whole);
    auto loop =
        builder.create<scf::ForOp>(loc, space.scalar(begin), upper, lowering.constant(size));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    ElementEmitter::Level level(emitter, loop);
    Index at = space.variable(loop.getInductionVar(), 0, whole - size, size);
    if (failed(body(at, size)))
      return failure();
  }
  if (!rest)
    return success();
  Value last = builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sgt, end,
                                                   lowering.constant(whole));
  auto branch = builder.create<scf::IfOp>(loc, last);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  ElementEmitter::Level level(emitter, branch);
  return body(Index(whole), rest);
}

bool MatrixBlocks::lastStripIsNearlyWhole() const {
  int64_t rest = problem.m % sizes.rows;
  // At most a sixteenth of the work is on rows that are none.
  return problem.m > sizes.rows && 2 * rest >= sizes.rows && 16 * (sizes.rows - rest) <= problem.m;
}

LogicalResult MatrixBlocks::forAnyStrips(StripBody body) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  IndexSpace &space = emitter.space();
  auto loop = builder.create<scf::ForOp>(loc, space.scalar(rowBegin), rowEnd,
                                         lowering.constant(sizes.rows));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  ElementEmitter::Level level(emitter, loop);
  Value at = loop.getInductionVar();
  int64_t last = (problem.m - 1) / sizes.rows * sizes.rows;
  Value left = builder.create<arith::SubIOp>(loc, lowering.constant(problem.m), at);
  return body(space.variable(at, 0, last, sizes.rows), lowering.minimum(left, sizes.rows));
}
