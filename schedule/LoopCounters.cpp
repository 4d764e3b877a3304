//===- LoopCounters.cpp - integers in memory that count a loop's trips -----===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop's body is walked once with what its scalars are in terms of those at its
// begin. One that comes out as itself and a constant is a counter, if a constant
// stood there before the loop.
//
//===----------------------------------------------------------------------===//
#include "schedule/LoopCounters.h"

#include "input/StablehloOps.h"
#include "schedule/Views.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::schedule;
namespace hlo = spokeshave::stablehlo;

Place spokeshave::schedule::placeOf(Value value) {
  int64_t bytes = byteSizeOf(cast<MemRefType>(value.getType()));
  auto [base, offset] = baseOfViews(value);
  while (auto slice = base.getDefiningOp<SliceOp>()) { // may be any part of what it is of
    bytes = byteSizeOf(cast<MemRefType>(slice.getSource().getType()));
    std::tie(base, offset) = baseOfViews(slice.getSource());
  }
  if (auto arena = base.getDefiningOp<ArenaOp>())
    base = {}, offset += arena.getOffset();
  return {base, offset, offset + bytes};
}

//===----------------------------------------------------------------------===//
// Within a fusion
//===----------------------------------------------------------------------===//

static std::optional<int64_t> integerOf(Attribute attribute) {
  auto dense = dyn_cast<DenseIntElementsAttr>(attribute);
  if (!dense || dense.getNumElements() != 1)
    return std::nullopt;
  APInt number = *dense.value_begin<APInt>();
  if (number.getSignificantBits() > 63)
    return std::nullopt;
  return dense.getElementType().isUnsignedInteger() ? int64_t(number.getZExtValue())
                                                    : number.getSExtValue();
}

static std::optional<int64_t> constantOf(Value value) {
  auto constant = value.getDefiningOp<hlo::ConstantOp>();
  return constant ? integerOf(constant.getValue()) : std::nullopt;
}

/// `i` of select(i < 0, i + n, i), which is how an index counts from the end, and n.
static std::pair<Value, int64_t> indexThatMayWrap(hlo::SelectOp select) {
  auto compare = select.getPred().getDefiningOp<hlo::CompareOp>();
  auto sum = select.getOnTrue().getDefiningOp<hlo::AddOp>();
  Value index = select.getOnFalse();
  bool isNegative = compare && compare.getComparisonDirection() == hlo::ComparisonDirection::LT &&
                    compare.getLhs() == index && constantOf(compare.getRhs()) == 0;
  if (!isNegative || !sum || sum.getLhs() != index)
    return {};
  return {index, constantOf(sum.getRhs()).value_or(0)};
}

std::optional<Affine> spokeshave::schedule::affineOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getNumElements() != 1 || !isa<IntegerType>(type.getElementType()))
    return std::nullopt;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return Affine{int64_t(argument.getArgNumber()), 1, 0};
  if (std::optional<int64_t> constant = constantOf(value))
    return Affine{-1, 0, *constant};
  Operation *op = value.getDefiningOp();
  if (isa<hlo::ReshapeOp>(op))
    return affineOf(op->getOperand(0));
  if (auto select = dyn_cast<hlo::SelectOp>(op)) {
    auto [index, extent] = indexThatMayWrap(select);
    std::optional<Affine> affine = index && extent ? affineOf(index) : std::nullopt;
    if (!affine || affine->wraps)
      return std::nullopt;
    affine->wraps = extent;
    return affine;
  }
  if (!isa<hlo::AddOp, hlo::SubtractOp>(op))
    return std::nullopt;
  std::optional<Affine> a = affineOf(op->getOperand(0)), b = affineOf(op->getOperand(1));
  if (!a || !b || a->wraps || b->wraps || (a->input >= 0 && b->input >= 0))
    return std::nullopt;
  int64_t sign = isa<hlo::SubtractOp>(op) ? -1 : 1;
  return Affine{std::max(a->input, b->input), a->factor + sign * b->factor,
                a->constant + sign * b->constant};
}

//===----------------------------------------------------------------------===//
// Within a loop
//===----------------------------------------------------------------------===//

graph::FusionOp LoopCounters::fusionOf(LaunchOp launch) {
  return module.lookupSymbol<KernelOp>(launch.getKernel()).getFusion();
}

std::optional<LoopCounters::Known> LoopCounters::lookup(const State &state, const Place &place) {
  for (const Known &known : state) {
    if (known.place == place)
      return known.from ? std::optional(known) : std::nullopt;
    if (known.place.meets(place))
      return std::nullopt;
  }
  return Known{place, place};
}

void LoopCounters::write(State &state, const Place &place, std::optional<Known> value) {
  llvm::erase_if(state, [&](const Known &known) { return known.place.meets(place); });
  Known known = value.value_or(Known{});
  known.place = place;
  state.push_back(known);
}

void LoopCounters::visitLaunch(LaunchOp launch, State &state) {
  graph::FusionOp fusion = fusionOf(launch);
  SmallVector<std::optional<Known>> values;
  for (Value result : fusion.getYield().getValues()) {
    std::optional<Known> &value = values.emplace_back();
    std::optional<Affine> affine = affineOf(result);
    if (!affine || affine->wraps || affine->input < 0)
      continue;
    value = lookup(state, placeOf(launch.getBuffers()[affine->input]));
    if (value)
      value->constant = affine->factor * value->constant + affine->constant,
      value->factor *= affine->factor;
  }
  for (auto [buffer, value] :
       llvm::zip_equal(launch.getBuffers().drop_front(launch.getNumInputs()), values))
    write(state, placeOf(buffer), value);
}

void LoopCounters::visit(Operation &op, State &state) {
  if (auto launch = dyn_cast<LaunchOp>(op))
    return visitLaunch(launch, state);
  if (auto copy = dyn_cast<CopyOp>(op))
    return write(state, placeOf(copy.getTarget()), lookup(state, placeOf(copy.getSource())));
  if (isPlace(&op))
    return;
  if (auto parallel = dyn_cast<ParallelOp>(op)) {
    for (Operation &inner : parallel.getBody().front())
      visit(inner, state);
    return;
  }
  for (Value operand : op.getOperands())
    write(state, placeOf(operand), std::nullopt);
  for (Region &region : op.getRegions())
    for (Block &block : region)
      for (Operation &inner : block) {
        // A loop or branch: what it writes, it may or may not write.
        State unknown;
        visit(inner, unknown);
        for (const Known &known : unknown)
          write(state, known.place, std::nullopt);
      }
}

/// The steps of a block, those of its parallel regions among them.
static SmallVector<Operation *> stepsOf(Block &block) {
  SmallVector<Operation *> steps;
  for (Operation &op : block) {
    if (auto parallel = dyn_cast<ParallelOp>(op))
      llvm::append_range(steps, stepsOf(parallel.getBody().front()));
    else
      steps.push_back(&op);
  }
  return steps;
}

/// The block that holds the step, or the parallel region around it.
static Block &blockOf(Operation *step) {
  auto parallel = dyn_cast<ParallelOp>(step->getParentOp());
  return parallel ? *parallel->getBlock() : *step->getBlock();
}

static std::optional<int64_t> constantAt(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant ? integerOf(constant.getValue()) : std::nullopt;
}

/// Whether a scalar of the integer type can be `value`: else arithmetic has wrapped.
static bool isInRange(Type type, int64_t value) {
  unsigned width = type.getIntOrFloatBitWidth();
  return type.isUnsignedInteger() ? value >= 0 && llvm::isUIntN(width, uint64_t(value))
                                  : llvm::isIntN(width, value);
}

/// The constant that `scalar` is when `step` begins, if its block alone tells that.
std::optional<int64_t> LoopCounters::constantBefore(Operation *step, const Place &place) {
  if (place.root)
    if (std::optional<int64_t> constant = constantAt(place.root))
      return constant;
  SmallVector<Operation *> steps = stepsOf(blockOf(step));
  auto *at = llvm::find(steps, step);
  while (at != steps.begin()) {
    Operation *op = *--at;
    State state;
    visit(*op, state);
    if (llvm::none_of(state, [&](const Known &known) { return known.place.meets(place); }))
      continue;
    if (auto copy = dyn_cast<CopyOp>(op))
      return placeOf(copy.getTarget()) == place ? constantBefore(op, placeOf(copy.getSource()))
                                                : std::nullopt;
    auto launch = dyn_cast<LaunchOp>(op);
    if (!launch)
      return std::nullopt;
    auto outputs = launch.getBuffers().drop_front(launch.getNumInputs());
    auto output = llvm::find_if(outputs, [&](Value out) { return placeOf(out) == place; });
    if (output == outputs.end())
      return std::nullopt;
    Value result = fusionOf(launch).getYield().getValues()[output - outputs.begin()];
    std::optional<Affine> affine = affineOf(result);
    if (!affine || affine->wraps)
      return std::nullopt;
    std::optional<int64_t> input =
        affine->input < 0 ? 0 : constantBefore(op, placeOf(launch.getBuffers()[affine->input]));
    return input ? std::optional(affine->factor * *input + affine->constant) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<TripNumber> LoopCounters::valueAt(Value scalar, const Affine &affine,
                                                Operation *step) {
  // Sums are those of the type; where all of them fit it, none has wrapped.
  Type element = cast<MemRefType>(scalar.getType()).getElementType();
  if (std::optional<int64_t> constant = constantBefore(step, placeOf(scalar))) {
    int64_t value = affine.factor * *constant + affine.constant;
    if (!isInRange(element, value) || (affine.wraps && value < 0))
      return std::nullopt;
    return TripNumber{value, 0};
  }
  Block &block = blockOf(step);
  auto loop = dyn_cast<WhileOp>(block.getParentOp());
  if (!loop || !loop.getTripCount() || block.getParent() != &loop.getBody())
    return std::nullopt;
  State state;
  std::optional<Known> here;
  for (Operation *op : stepsOf(block)) {
    if (op == step)
      here = lookup(state, placeOf(scalar));
    visit(*op, state);
  }
  if (!here)
    return std::nullopt;
  Place counter = *here->from;
  std::optional<Known> after = lookup(state, counter);
  std::optional<int64_t> begin = constantBefore(loop, counter);
  if (!after || !begin || !(*after->from == counter) || after->factor != 1)
    return std::nullopt;
  int64_t factor = affine.factor * here->factor;
  TripNumber number{factor * *begin + affine.factor * here->constant + affine.constant,
                    factor * after->constant};
  int64_t last = number.at(std::max<int64_t>(0, int64_t(*loop.getTripCount()) - 1));
  if (!isInRange(element, number.begin) || !isInRange(element, last) ||
      (affine.wraps && std::min(number.begin, last) < 0))
    return std::nullopt;
  return number;
}

//===----------------------------------------------------------------------===//
// Counters without readers
//===----------------------------------------------------------------------===//

/// At most, of an integer.
static constexpr int64_t kCounterBytes = 8;

/// Whether `op`, with all that is in it, may read bytes of `place`.
bool LoopCounters::reads(Operation &op, const Place &place) {
  bool found = false;
  op.walk([&](Operation *inner) {
    if (isa<ArenaOp, ViewOp, ConstantOp, TripOp>(inner))
      return; // a slice's starts are read
    ValueRange read = inner->getOperands();
    if (auto launch = dyn_cast<LaunchOp>(inner)) {
      graph::FusionKind kind = fusionOf(launch).getKind();
      bool updates = kind == graph::FusionKind::Update || kind == graph::FusionKind::Scatter ||
                     kind == graph::FusionKind::While;
      read = updates ? read : read.take_front(launch.getNumInputs());
    } else if (auto copy = dyn_cast<CopyOp>(inner)) {
      read = read.take_front(1);
    }
    for (Value value : read)
      found |= placeOf(value).meets(place);
  });
  return found;
}

/// Whether something behind `op`, a step of the program, reads what is at `place` now.
bool LoopCounters::isReadAfter(Operation *op, const Place &place) {
  SmallVector<Operation *> steps = stepsOf(*op->getBlock());
  for (auto *at = std::next(llvm::find(steps, op)); at != steps.end(); ++at) {
    if (reads(**at, place))
      return true;
    State state;
    if (isa<LaunchOp, CopyOp>(*at))
      visit(**at, state);
    if (llvm::any_of(state, [&](const Known &known) {
          return known.place.root == place.root && known.place.begin <= place.begin &&
                 place.end <= known.place.end;
        }))
      return false;
  }
  return false;
}

bool LoopCounters::isCounting(LaunchOp launch) {
  graph::FusionOp fusion = fusionOf(launch);
  return llvm::all_of(fusion.getYield().getValues(),
                      [](Value value) { return affineOf(value).has_value(); }) &&
         llvm::all_of(launch.getBuffers().drop_front(launch.getNumInputs()),
                      [](Value buffer) { return !placeOf(buffer).root; });
}

void LoopCounters::eraseUnread(ProgramOp program) {
  for (auto loop : llvm::make_early_inc_range(program.getOps<WhileOp>())) {
    if (!loop.getTripCount())
      continue;
    SmallVector<LaunchOp> counting;
    loop.getBody().walk([&](LaunchOp launch) {
      if (launch->getParentOfType<WhileOp>() == loop && isCounting(launch))
        counting.push_back(launch);
    });
    // All of them are read by each other at most, or by nobody.
    auto isRead = [&](LaunchOp launch) {
      return llvm::any_of(launch.getBuffers().drop_front(launch.getNumInputs()), [&](Value buffer) {
        Place place = placeOf(buffer);
        bool found = isReadAfter(loop, place);
        loop.getBody().walk([&](Operation *op) {
          auto other = dyn_cast<LaunchOp>(op);
          if (op->getNumRegions() > 0) // what it holds is visited by itself
            found |= llvm::any_of(op->getOperands(),
                                  [&](Value read) { return placeOf(read).meets(place); });
          else if (!other || !llvm::is_contained(counting, other))
            found |= reads(*op, place);
        });
        return found;
      });
    };
    for (bool changed = true; changed;) {
      auto *kept = std::remove_if(counting.begin(), counting.end(), isRead);
      changed = kept != counting.end();
      counting.erase(kept, counting.end());
    }
    for (LaunchOp launch : counting)
      launch.erase();
  }
  // What such a counter began with.
  for (auto copy : llvm::make_early_inc_range(program.getOps<CopyOp>())) {
    Place target = placeOf(copy.getTarget());
    if (!target.root && target.end - target.begin <= kCounterBytes && !isReadAfter(copy, target))
      copy.erase();
  }
}
