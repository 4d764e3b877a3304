//===- Windows.cpp - the part of a buffer that each task touches -----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For each task, index arithmetic is evaluated with intervals: loop variables
// stand for their range, branches that a task does not take are left out, lanes
// that a mask leaves off do not count. The intervals of all tasks are then matched
// with the form of a Window, exactly. Indices that come from memory have no
// interval; their buffer has no window.
//
//===----------------------------------------------------------------------===//
#include "kernel/Windows.h"

#include "kernel/WithinRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

namespace {

struct Interval {
  int64_t min, max;
};
using Maybe = std::optional<Interval>;

/// Tasks times accesses that are looked at: more would cost too much time.
constexpr int64_t kMostEvaluations = 4'000'000;

class Evaluator {
public:
  Evaluator(FuncOp kernel, int64_t task) : task(task), taskValue(kernel.getTask()) {}

  Maybe of(Value value);
  /// Whether the operation runs in this task; undecided counts as yes.
  bool runs(Operation *op);
  /// The lanes that may be on: the first so many.
  int64_t activeLanes(Value mask, int64_t lanes);

private:
  Maybe compute(Value value);
  Maybe ofArithmetic(Operation *op);
  Maybe ofCompare(arith::CmpIOp op);

  int64_t task;
  Value taskValue;
  DenseMap<Value, Maybe> known;
};

Maybe Evaluator::of(Value value) {
  auto [found, isNew] = known.try_emplace(value, std::nullopt);
  if (!isNew)
    return found->second;
  Maybe result = compute(value);
  known[value] = result;
  return result;
}

Maybe Evaluator::compute(Value value) {
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

Maybe Evaluator::ofCompare(arith::CmpIOp op) {
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

Maybe Evaluator::ofArithmetic(Operation *op) {
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

bool Evaluator::runs(Operation *op) {
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

int64_t Evaluator::activeLanes(Value mask, int64_t lanes) {
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

/// Rows and columns that may be on of a register of rows, by the masks that
/// RowTiles.cpp writes: lane / 128 < rows and lane % 128 < columns.
std::pair<int64_t, int64_t> activeRows(Value mask, Evaluator &evaluator) {
  std::pair<int64_t, int64_t> active{kTileRows, kTileColumns};
  if (!mask)
    return active;
  if (auto both = mask.getDefiningOp<arith::AndIOp>()) {
    auto a = activeRows(both.getLhs(), evaluator), b = activeRows(both.getRhs(), evaluator);
    return {std::min(a.first, b.first), std::min(a.second, b.second)};
  }
  auto compare = mask.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::slt)
    return active;
  Maybe count = evaluator.of(compare.getRhs());
  if (count && compare.getLhs().getDefiningOp<arith::ShRUIOp>())
    active.first = std::clamp<int64_t>(count->max, 0, kTileRows);
  if (count && compare.getLhs().getDefiningOp<arith::AndIOp>())
    active.second = std::clamp<int64_t>(count->max, 0, kTileColumns);
  return active;
}

/// A register of rows from `offset` on.
Maybe touchedByRows(Value offset, Value mask, int64_t rowStride, Evaluator &evaluator) {
  Maybe first = evaluator.of(offset);
  auto [rows, columns] = activeRows(mask, evaluator);
  if (!first || rows == 0 || columns == 0 || rowStride < 0)
    return std::nullopt;
  return Interval{first->min, first->max + (rows - 1) * rowStride + columns - 1};
}

/// What one access touches, before clipping to the buffer; nothing if unknown.
Maybe touchedBy(Operation *op, Value buffer, Evaluator &evaluator) {
  auto type = cast<MemRefType>(buffer.getType());
  ValueRange indices;
  Value mask;
  int64_t laneStride = 1;
  Type value;
  if (auto load = dyn_cast<LoadOp>(op)) {
    indices = load.getIndices(), mask = load.getMask(), laneStride = load.getLaneStride();
    value = load.getType();
  } else if (auto store = dyn_cast<StoreOp>(op)) {
    indices = store.getIndices(), mask = store.getMask(), laneStride = store.getLaneStride();
    value = store.getValue().getType();
  } else if (auto rows = dyn_cast<LoadRowsOp>(op)) {
    return touchedByRows(rows.getOffset(), rows.getMask(), rows.getRowStride(), evaluator);
  } else if (auto stored = dyn_cast<StoreRowsOp>(op)) {
    return touchedByRows(stored.getOffset(), stored.getMask(), stored.getRowStride(), evaluator);
  } else if (auto dot = dyn_cast<TileDotOp>(op)) {
    // As the left factor; a right factor is a box (findBox).
    Maybe offset = evaluator.of(dot.getAOffset()), depth = evaluator.of(dot.getDepth());
    if (!offset || !depth || dot.getA() != buffer || dot.getB() == buffer)
      return std::nullopt;
    return Interval{offset->min, offset->max +
                                     (int64_t(dot.getRows()) - 1) * int64_t(dot.getARowStride()) +
                                     (depth->max - 1) * int64_t(dot.getADepthStride())};
  } else {
    return std::nullopt;
  }
  Interval sum{0, 0};
  int64_t stride = 1;
  bool perLane = false;
  for (int64_t d = int64_t(indices.size()) - 1; d >= 0; --d) {
    Maybe index = evaluator.of(indices[d]);
    if (!index)
      return std::nullopt;
    perLane |= isa<VectorType>(indices[d].getType());
    sum = {sum.min + index->min * stride, sum.max + index->max * stride};
    if (indices.size() > 1)
      stride *= type.getDimSize(d);
  }
  auto vector = dyn_cast<VectorType>(value);
  if (vector && !perLane) {
    int64_t active = evaluator.activeLanes(mask, vector.getNumElements());
    int64_t reach = std::max<int64_t>(0, active - 1) * laneStride;
    sum = {sum.min + std::min<int64_t>(0, reach), sum.max + std::max<int64_t>(0, reach)};
  }
  return sum;
}

/// [begin, end) of each task.
using Ranges = std::vector<std::pair<int64_t, int64_t>>;

std::optional<Ranges> rangesOf(FuncOp kernel, BlockArgument buffer) {
  SmallVector<Operation *> users(buffer.getUsers());
  int64_t tasks = kernel.getTasks();
  if (tasks * int64_t(users.size()) > kMostEvaluations)
    return std::nullopt;
  Ranges ranges;
  for (int64_t task = 0; task < tasks; ++task) {
    Evaluator evaluator(kernel, task);
    Interval all{INT64_MAX, INT64_MIN};
    for (Operation *user : users) {
      if (!evaluator.runs(user))
        continue;
      Maybe touched = touchedBy(user, buffer, evaluator);
      if (!touched)
        return std::nullopt;
      all = {std::min(all.min, touched->min), std::max(all.max, touched->max)};
    }
    if (all.min > all.max)
      return std::nullopt;
    ranges.push_back({all.min, all.max + 1});
  }
  return ranges;
}

/// The numbers by which the kernel divides the task's number.
SmallVector<int64_t> divisorsOf(FuncOp kernel) {
  SmallVector<int64_t> divisors{1};
  for (Operation *user : kernel.getTask().getUsers())
    if (isa<arith::DivUIOp, arith::RemUIOp>(user))
      if (auto constant = user->getOperand(1).getDefiningOp<arith::ConstantIndexOp>())
        divisors.push_back(constant.value());
  return divisors;
}

std::optional<Window> match(const Ranges &ranges, int64_t divisor, int64_t total) {
  int64_t tasks = ranges.size();
  Window window;
  window.divisor = divisor, window.total = total;
  window.base = ranges[0].first;
  if (divisor > 1)
    window.minor = ranges[1].first - window.base;
  if (tasks > divisor)
    window.major = ranges[divisor].first - window.base;
  for (auto [task, range] : llvm::enumerate(ranges)) {
    if (window.originAt(task) != range.first)
      return std::nullopt;
    window.count = std::max(window.count, range.second - range.first);
  }
  return window;
}

/// Whether outputs are covered once: each task's run, clipped, ends where the next
/// begins.
bool covers(Window &window, const Ranges &ranges) {
  for (bool clips : {false, true}) {
    window.clipsToMajor = clips;
    int64_t at = 0;
    bool good = true;
    for (auto [task, range] : llvm::enumerate(ranges)) {
      int64_t origin = window.originAt(task), end = std::min(origin + window.count, window.total);
      if (clips)
        end = std::min(end, window.base + window.major * (int64_t(task) / window.divisor + 1));
      good &= origin == at && end == range.second;
      at = end;
    }
    if (good && at == window.total)
      return true;
  }
  return false;
}

} // namespace

/// A buffer that is the right factor of tile_dots only: as many rows as the product
/// is deep, of the columns of the task's panel.
static std::optional<Window> findBox(FuncOp kernel, BlockArgument buffer) {
  int64_t total = cast<MemRefType>(buffer.getType()).getNumElements(), tasks = kernel.getTasks();
  Window box;
  Ranges ranges(tasks, {INT64_MAX, INT64_MIN});
  for (Operation *user : buffer.getUsers()) {
    auto dot = dyn_cast<TileDotOp>(user);
    if (!dot || dot.getB() != buffer || dot.getA() == buffer)
      return std::nullopt;
    for (int64_t task = 0; task < tasks; ++task) {
      Evaluator evaluator(kernel, task);
      if (!evaluator.runs(user))
        continue;
      Maybe offset = evaluator.of(dot.getBOffset()), depth = evaluator.of(dot.getDepth());
      if (!offset || !depth || depth->min != depth->max ||
          (box.rowStride &&
           (box.rowStride != int64_t(dot.getBDepthStride()) || box.rows != depth->max)))
        return std::nullopt;
      box.rows = depth->max, box.rowStride = dot.getBDepthStride();
      auto &range = ranges[task];
      range = {std::min(range.first, offset->min),
               std::max(range.second, offset->max + int64_t(dot.getColumns()))};
    }
  }
  if (!box.rowStride || box.rows < 2)
    return std::nullopt;
  for (int64_t divisor : divisorsOf(kernel)) {
    if (divisor <= 0 || (divisor > 1 && divisor >= tasks))
      continue;
    std::optional<Window> window = match(ranges, divisor, total);
    if (!window || window->count > box.rowStride || window->count * box.rows >= total)
      continue;
    window->rows = box.rows, window->rowStride = box.rowStride;
    return window;
  }
  return std::nullopt;
}

std::optional<Window> kernel::findWindow(FuncOp kernel, BlockArgument buffer) {
  int64_t total = cast<MemRefType>(buffer.getType()).getNumElements();
  if (std::optional<Window> box = findBox(kernel, buffer))
    return box;
  std::optional<Ranges> ranges = rangesOf(kernel, buffer);
  if (!ranges)
    return std::nullopt;
  bool isOutput = buffer.getArgNumber() > kernel.getNumInputs();
  for (int64_t divisor : divisorsOf(kernel)) {
    if (divisor <= 0 || (divisor > 1 && divisor >= int64_t(ranges->size())))
      continue;
    std::optional<Window> window = match(*ranges, divisor, total);
    if (!window || window->count >= total)
      continue;
    if (!isOutput || covers(*window, *ranges))
      return window;
  }
  return std::nullopt;
}

std::pair<int64_t, int64_t> Window::rangeAt(int64_t task) const {
  int64_t begin = originAt(task), end = begin + (rows - 1) * rowStride + count;
  if (clipsToMajor)
    end = std::min(end, base + major * (task / divisor + 1));
  return {std::max<int64_t>(0, begin), std::min(end, total)};
}

//===----------------------------------------------------------------------===//
// As operations
//===----------------------------------------------------------------------===//

Value Window::origin(OpBuilder &builder, Location loc, Value task) const {
  auto constant = [&](int64_t i) -> Value {
    return builder.create<arith::ConstantIndexOp>(loc, i);
  };
  auto scaled = [&](Value value, int64_t by) {
    return builder.createOrFold<arith::MulIOp>(loc, value, constant(by));
  };
  Value sum = constant(base);
  if (divisor == 1)
    return builder.createOrFold<arith::AddIOp>(loc, scaled(task, major), sum);
  Value quotient = builder.createOrFold<arith::DivUIOp>(loc, task, constant(divisor));
  Value rest = builder.createOrFold<arith::RemUIOp>(loc, task, constant(divisor));
  sum = builder.createOrFold<arith::AddIOp>(loc, scaled(quotient, major), sum);
  return builder.createOrFold<arith::AddIOp>(loc, sum, scaled(rest, minor));
}

std::pair<Value, Value> Window::clipped(OpBuilder &builder, Location loc, Value task) const {
  auto constant = [&](int64_t i) -> Value {
    return builder.create<arith::ConstantIndexOp>(loc, i);
  };
  Value first = origin(builder, loc, task);
  Value end = builder.createOrFold<arith::AddIOp>(loc, first, constant(count));
  if (rows > 1) {
    // To the end of the first run's row.
    Value row = builder.createOrFold<arith::DivUIOp>(loc, first, constant(rowStride));
    row = builder.createOrFold<arith::AddIOp>(loc, row, constant(1));
    row = builder.createOrFold<arith::MulIOp>(loc, row, constant(rowStride));
    end = builder.createOrFold<arith::MinSIOp>(loc, end, row);
  }
  end = builder.createOrFold<arith::MinSIOp>(loc, end, constant(total));
  if (clipsToMajor) {
    Value quotient = builder.createOrFold<arith::DivUIOp>(loc, task, constant(divisor));
    Value next = builder.createOrFold<arith::AddIOp>(loc, quotient, constant(1));
    next = builder.createOrFold<arith::MulIOp>(loc, next, constant(major));
    next = builder.createOrFold<arith::AddIOp>(loc, next, constant(base));
    end = builder.createOrFold<arith::MinSIOp>(loc, end, next);
  }
  Value begin = builder.createOrFold<arith::MaxSIOp>(loc, first, constant(0));
  return {begin, builder.createOrFold<arith::SubIOp>(loc, end, begin)};
}
