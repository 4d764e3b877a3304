//===- IndexIntervals.cpp - which values an index takes in a task ----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "kernel/IndexIntervals.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
using Maybe = MaybeInterval;

Maybe IndexIntervals::of(Value value) {
  auto [found, isNew] = known.try_emplace(value, std::nullopt);
  if (!isNew)
    return found->second;
  Maybe result = compute(value);
  known[value] = result;
  return result;
}

Maybe IndexIntervals::compute(Value value) {
  if (value == taskValue)
    return Interval{task, task};
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument != loop.getInductionVar())
      return std::nullopt;
    Maybe lower = of(loop.getLowerBound()), upper = of(loop.getUpperBound()),
          step = of(loop.getStep());
    if (!lower || !upper || !step || step->min != step->max || step->min <= 0)
      return std::nullopt;
    // The last value that is taken, where the first is known.
    int64_t last = std::max(lower->min, upper->max - 1);
    if (lower->min == lower->max)
      last = lower->min + (last - lower->min) / step->min * step->min;
    return Interval{lower->min, last};
  }
  return ofArithmetic(value.getDefiningOp());
}

Maybe IndexIntervals::ofCompare(arith::CmpIOp op) {
  Maybe a = of(op.getLhs()), b = of(op.getRhs());
  if (!a || !b)
    return Interval{0, 1};
  auto decide = [](bool always, bool never) { return Interval{always, !never}; };
  switch (op.getPredicate()) {
  case arith::CmpIPredicate::slt:
    return decide(a->max < b->min, a->min >= b->max);
  case arith::CmpIPredicate::sle:
    return decide(a->max <= b->min, a->min > b->max);
  case arith::CmpIPredicate::sgt:
    return decide(a->min > b->max, a->max <= b->min);
  case arith::CmpIPredicate::sge:
    return decide(a->min >= b->max, a->max < b->min);
  default:
    return Interval{0, 1};
  }
}

Maybe IndexIntervals::ofArithmetic(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto integer = dyn_cast<IntegerAttr>(constant.getValue()))
      return Interval{integer.getInt(), integer.getInt()};
    auto elements = dyn_cast<DenseIntElementsAttr>(constant.getValue());
    if (!elements)
      return std::nullopt;
    Interval all{INT64_MAX, INT64_MIN};
    for (APInt lane : elements)
      all = {std::min(all.min, lane.getSExtValue()), std::max(all.max, lane.getSExtValue())};
    return all;
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return ofCompare(compare);
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, vector::BroadcastOp,
          vector::SplatOp>(op))
    return of(op->getOperand(0));
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivUIOp, arith::RemUIOp,
           arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(op))
    return std::nullopt;
  Maybe a = of(op->getOperand(0)), b = of(op->getOperand(1));
  if (!a || !b)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return Interval{a->min + b->min, a->max + b->max};
  if (isa<arith::SubIOp>(op))
    return Interval{a->min - b->max, a->max - b->min};
  if (isa<arith::MulIOp>(op)) {
    if (b->min != b->max)
      std::swap(a, b);
    if (b->min != b->max)
      return std::nullopt;
    auto ends = std::minmax(a->min * b->min, a->max * b->min);
    return Interval{ends.first, ends.second};
  }
  if (isa<arith::MinSIOp>(op))
    return Interval{std::min(a->min, b->min), std::min(a->max, b->max)};
  if (isa<arith::MaxSIOp>(op))
    return Interval{std::max(a->min, b->min), std::max(a->max, b->max)};
  if (a->min < 0 || b->min < 0)
    return std::nullopt;
  if (isa<arith::MinUIOp>(op))
    return Interval{std::min(a->min, b->min), std::min(a->max, b->max)};
  if (isa<arith::MaxUIOp>(op))
    return Interval{std::max(a->min, b->min), std::max(a->max, b->max)};
  if (b->min != b->max || b->min == 0)
    return std::nullopt;
  int64_t divisor = b->min;
  if (isa<arith::DivUIOp>(op))
    return Interval{a->min / divisor, a->max / divisor};
  if (a->min / divisor == a->max / divisor)
    return Interval{a->min % divisor, a->max % divisor};
  return Interval{0, divisor - 1};
}

bool IndexIntervals::runs(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent && !isa<FuncOp>(parent);
       op = parent, parent = parent->getParentOp()) {
    if (auto branch = dyn_cast<scf::IfOp>(parent)) {
      Maybe condition = of(branch.getCondition());
      bool inThen = branch.getThenRegion().isAncestor(op->getParentRegion());
      if (condition && (inThen ? condition->max == 0 : condition->min == 1))
        return false;
    }
    if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      Maybe lower = of(loop.getLowerBound()), upper = of(loop.getUpperBound());
      if (lower && upper && lower->min >= upper->max)
        return false;
    }
  }
  return true;
}

int64_t IndexIntervals::activeLanes(Value mask, int64_t lanes) {
  if (!mask || !isa<VectorType>(mask.getType()))
    return lanes;
  if (auto constant = mask.getDefiningOp<arith::ConstantOp>()) {
    auto bits = cast<DenseElementsAttr>(constant.getValue()).getValues<bool>();
    int64_t active = 0;
    for (auto [lane, on] : llvm::enumerate(bits))
      if (on)
        active = lane + 1;
    return active;
  }
  if (auto both = mask.getDefiningOp<arith::AndIOp>())
    return std::min(activeLanes(both.getLhs(), lanes), activeLanes(both.getRhs(), lanes));
  // The form that makeMask writes: lane < count.
  if (auto compare = mask.getDefiningOp<arith::CmpIOp>())
    if (compare.getPredicate() == arith::CmpIPredicate::slt &&
        compare.getLhs().getDefiningOp<arith::ConstantOp>())
      if (Maybe count = of(compare.getRhs()))
        return std::clamp<int64_t>(count->max, 0, lanes);
  return lanes;
}
