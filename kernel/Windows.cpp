//===- Windows.cpp - the part of a buffer that each task touches -----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The intervals of indices (IndexIntervals.h) of all tasks are matched with the form
// of a Window, exactly. Indices that come from memory have no interval; their buffer
// has no window.
//
//===----------------------------------------------------------------------===//
#include "kernel/Windows.h"

#include "kernel/IndexIntervals.h"
#include "kernel/LinearTerms.h"
#include "kernel/WithinRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

namespace {

using Maybe = MaybeInterval;

/// Tasks times accesses that are looked at: more would cost too much time.
constexpr int64_t kMostEvaluations = 4'000'000;

/// Rows and columns that may be on of a register of rows, by the masks that
/// RowTiles.cpp writes: lane / 128 < rows and lane % 128 < columns.
std::pair<int64_t, int64_t> activeRows(Value mask, IndexIntervals &evaluator) {
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
Maybe touchedByRows(Value offset, Value mask, int64_t rowStride, IndexIntervals &evaluator) {
  Maybe first = evaluator.of(offset);
  auto [rows, columns] = activeRows(mask, evaluator);
  if (!first || rows == 0 || columns == 0 || rowStride < 0)
    return std::nullopt;
  return Interval{first->min, first->max + (rows - 1) * rowStride + columns - 1};
}

/// What one access touches, before clipping to the buffer; nothing if unknown.
Maybe touchedBy(Operation *op, Value buffer, IndexIntervals &evaluator) {
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
    IndexIntervals evaluator(kernel, task);
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
      IndexIntervals evaluator(kernel, task);
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

namespace {

/// Rows and elements within them that loads touch.
struct Touched {
  Interval rows{INT64_MAX, INT64_MIN}, elements{INT64_MAX, INT64_MIN};
  bool add(LoadOp load, int64_t rowStride, IndexIntervals &evaluator);
};

void extend(Interval &all, Interval by) {
  all = {std::min(all.min, by.min), std::max(all.max, by.max)};
}

/// Terms of the index by whole rows say which rows, the others which elements.
bool Touched::add(LoadOp load, int64_t rowStride, IndexIntervals &evaluator) {
  LinearTerms index = LinearTerms::of(load.getIndices()[0]);
  if (index.constant < 0)
    return false;
  Interval row{index.constant / rowStride, index.constant / rowStride};
  Interval element{index.constant % rowStride, index.constant % rowStride};
  for (auto [value, coefficient] : index.terms) {
    Maybe range = evaluator.of(value);
    if (!range || coefficient <= 0 || (coefficient > rowStride && coefficient % rowStride))
      return false;
    bool ofRows = coefficient >= rowStride;
    Interval &sum = ofRows ? row : element;
    int64_t by = ofRows ? coefficient / rowStride : coefficient;
    sum = {sum.min + range->min * by, sum.max + range->max * by};
  }
  if (auto vector = dyn_cast<VectorType>(load.getType()))
    element.max +=
        std::max<int64_t>(1, evaluator.activeLanes(load.getMask(), vector.getNumElements())) - 1;
  extend(rows, row);
  extend(elements, element);
  return element.min >= 0 && element.max < rowStride;
}

/// The box of rows of `rowStride` elements that each task reads, equally many rows.
std::optional<Window> findRows(FuncOp kernel, BlockArgument buffer, int64_t rowStride) {
  int64_t total = cast<MemRefType>(buffer.getType()).getNumElements(), rows = 0;
  Ranges ranges;
  for (int64_t task = 0; task < int64_t(kernel.getTasks()); ++task) {
    IndexIntervals evaluator(kernel, task);
    Touched touched;
    for (Operation *user : buffer.getUsers())
      if (evaluator.runs(user) && !touched.add(cast<LoadOp>(user), rowStride, evaluator))
        return std::nullopt;
    int64_t here = touched.rows.max - touched.rows.min + 1;
    if (touched.rows.min > touched.rows.max || (rows && here != rows))
      return std::nullopt;
    rows = here;
    int64_t first = touched.rows.min * rowStride;
    ranges.push_back({first + touched.elements.min, first + touched.elements.max + 1});
  }
  for (int64_t divisor : divisorsOf(kernel)) {
    if (divisor <= 0 || (divisor > 1 && divisor >= int64_t(ranges.size())))
      continue;
    std::optional<Window> window = match(ranges, divisor, total);
    if (!window || rows < 2 || window->base < 0 || window->minor < 0 || window->major < 0 ||
        window->count * rows >= total)
      continue;
    window->rows = rows, window->rowStride = rowStride;
    return window;
  }
  return std::nullopt;
}

/// Shorter runs of a box cost their transfer more than what they hold.
constexpr int64_t kShortestRun = 1024;

/// An input that is read by loads with one index whose lanes lie side by side.
std::optional<Window> findRows(FuncOp kernel, BlockArgument buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  auto isPlain = [](Operation *user) {
    auto load = dyn_cast<LoadOp>(user);
    return load && load.getIndices().size() == 1 && load.getLaneStride() == 1 &&
           load.getIndices()[0].getType().isIndex();
  };
  SmallVector<Operation *> users(buffer.getUsers());
  if (users.empty() || !llvm::all_of(users, isPlain) ||
      int64_t(kernel.getTasks()) * int64_t(users.size()) > kMostEvaluations)
    return std::nullopt;
  int64_t rowStride = 1;
  for (int64_t d = type.getRank() - 1; d > 0; --d) {
    rowStride *= type.getDimSize(d);
    if (rowStride > kShortestRun && rowStride < type.getNumElements())
      if (std::optional<Window> found = findRows(kernel, buffer, rowStride);
          found && found->count >= kShortestRun)
        return found;
  }
  return std::nullopt;
}

/// A run of elements.
std::optional<Window> findRun(FuncOp kernel, BlockArgument buffer) {
  int64_t total = cast<MemRefType>(buffer.getType()).getNumElements();
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

} // namespace

std::optional<Window> kernel::findWindow(FuncOp kernel, BlockArgument buffer) {
  if (std::optional<Window> box = findBox(kernel, buffer))
    return box;
  std::optional<Window> run = findRun(kernel, buffer);
  if (buffer.getArgNumber() > kernel.getNumInputs())
    return run;
  std::optional<Window> rows = findRows(kernel, buffer);
  return rows && (!run || rows->elements() < run->elements()) ? rows : run;
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

Window Window::withinBox() const {
  Window moved = *this;
  for (int64_t Window::*distance : {&Window::base, &Window::major, &Window::minor})
    moved.*distance = repitch(this->*distance, rowStride, count);
  return moved;
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
