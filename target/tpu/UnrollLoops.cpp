//===- UnrollLoops.cpp - several iterations in one --------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "target/tpu/UnrollLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace spokeshave;

namespace {

/// Operations of unrolled bodies, at most.
constexpr int64_t kMostWhole = 512, kMostPartial = 128, kMostCopies = 8;

std::optional<int64_t> tripsOf(scf::ForOp loop) {
  std::optional<int64_t> first = getConstantIntValue(loop.getLowerBound()),
                         last = getConstantIntValue(loop.getUpperBound()),
                         step = getConstantIntValue(loop.getStep());
  if (!first || !last || !step || *step <= 0 || *last <= *first)
    return std::nullopt;
  return llvm::divideCeil(*last - *first, uint64_t(*step));
}

/// The greatest value of an index that is made of constants and counters.
std::optional<int64_t> greatest(Value value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return constant;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument != loop.getInductionVar())
      return std::nullopt;
    std::optional<int64_t> trips = tripsOf(loop);
    if (!trips)
      return std::nullopt;
    return *getConstantIntValue(loop.getLowerBound()) +
           (*trips - 1) * *getConstantIntValue(loop.getStep());
  }
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<arith::AddIOp, arith::MulIOp>(op))
    return std::nullopt;
  std::optional<int64_t> left = greatest(op->getOperand(0)),
                         right = getConstantIntValue(op->getOperand(1));
  if (!left || !right || *right < 0)
    return std::nullopt;
  return isa<arith::AddIOp>(op) ? *left + *right : *left * *right;
}

/// How far `end` is beyond `begin`, if that is a constant but for a limit, which makes
/// `isLimited` true if it may be in the way.
std::optional<int64_t> lengthBetween(Value begin, Value end, bool &isLimited) {
  if (auto least = end.getDefiningOp<arith::MinSIOp>()) {
    std::optional<int64_t> limit = getConstantIntValue(least.getRhs()), most = greatest(begin);
    std::optional<int64_t> length = lengthBetween(begin, least.getLhs(), isLimited);
    isLimited |= !limit || !most || (length && *most + *length > *limit);
    return length;
  }
  auto sum = end.getDefiningOp<arith::AddIOp>();
  if (!sum || sum.getLhs() != begin)
    return std::nullopt;
  return getConstantIntValue(sum.getRhs());
}

/// Makes the loop count from 0 if its trip count is known but its bounds are not.
void countFromZero(scf::ForOp loop) {
  bool isLimited = false;
  std::optional<int64_t> length =
                             lengthBetween(loop.getLowerBound(), loop.getUpperBound(), isLimited),
                         step = getConstantIntValue(loop.getStep());
  if (!length || !step || *length <= 0 || *step <= 0 || getConstantIntValue(loop.getLowerBound()))
    return;
  OpBuilder builder(loop);
  if (isLimited) {
    loop->setAttr(tpu::kUsualTrips,
                  builder.getI64IntegerAttr(llvm::divideCeil(*length, uint64_t(*step))));
    return;
  }
  Location loc = loop.getLoc();
  Value from = loop.getLowerBound();
  loop.setLowerBound(builder.create<arith::ConstantIndexOp>(loc, 0));
  loop.setUpperBound(builder.create<arith::ConstantIndexOp>(loc, *length));
  builder.setInsertionPointToStart(loop.getBody());
  auto counter = builder.create<arith::AddIOp>(loc, from, loop.getInductionVar());
  loop.getInductionVar().replaceAllUsesExcept(counter, counter);
}

/// Whether code that holds this can be the body of a pipelined loop.
bool isStraight(Operation &op) {
  return op.getNumRegions() == 0 && !isa<kernel::DmaStartOp, kernel::DmaWaitOp>(op);
}

/// Operations of a body without loops; nothing if there are any.
std::optional<int64_t> sizeOf(scf::ForOp loop) {
  int64_t size = 0;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (!isStraight(op))
      return std::nullopt;
    size += !matchPattern(&op, m_Constant());
  }
  return size;
}

/// Whether nothing but loops of known trip counts stands in the way of pipelining
/// the loop around.
bool becomesInnermost(scf::ForOp around) {
  return llvm::all_of(around.getBody()->without_terminator(), [](Operation &op) {
    if (auto inner = dyn_cast<scf::ForOp>(op))
      return tripsOf(inner) && sizeOf(inner) && *tripsOf(inner) * *sizeOf(inner) <= kMostWhole;
    return isStraight(op);
  });
}

void unroll(scf::ForOp loop) {
  std::optional<int64_t> trips = tripsOf(loop), size = sizeOf(loop);
  if (!trips || !size || *trips < 2)
    return;
  auto around = dyn_cast<scf::ForOp>(loop->getParentOp());
  if (around && *trips * *size <= kMostWhole && becomesInnermost(around)) {
    (void)loopUnrollByFactor(loop, *trips);
    return;
  }
  for (int64_t copies = kMostCopies; copies > 1; --copies)
    if (*trips % copies == 0 && *trips > copies && copies * *size <= kMostPartial) {
      (void)loopUnrollByFactor(loop, copies);
      return;
    }
}

} // namespace

void tpu::unrollLoops(spokeshave::kernel::FuncOp kernel) {
  SmallVector<scf::ForOp> loops; // inner ones first
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops)
    countFromZero(loop);
  for (scf::ForOp loop : loops)
    unroll(loop);
  // Sums of constants become constants.
  (void)applyPatternsAndFoldGreedily(kernel, FrozenRewritePatternSet());
}
