//===- LoopAnalysis.cpp - how often a loop runs ----------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "graph/LoopAnalysis.h"

using namespace mlir;
namespace sh = spokeshave::stablehlo;

namespace spokeshave::graph {

namespace {

/// Wide enough that no sum of two 64-bit integers, signed or not, wraps.
using Wide = __int128;

std::optional<Wide> constantInteger(Value value) {
  DenseIntElementsAttr attribute;
  if (!matchPattern(value, m_Constant(&attribute)) || attribute.getNumElements() != 1)
    return std::nullopt;
  APInt number = *attribute.value_begin<APInt>();
  if (attribute.getElementType().isUnsignedInteger())
    return static_cast<Wide>(number.getZExtValue());
  return static_cast<Wide>(number.getSExtValue());
}

/// A loop's counter: continues while `counter direction limit`.
struct Counter {
  unsigned index;
  sh::ComparisonDirection direction;
  Wide limit;
};

sh::ComparisonDirection mirrored(sh::ComparisonDirection direction) {
  using sh::ComparisonDirection;
  switch (direction) {
  case ComparisonDirection::LT:
    return ComparisonDirection::GT;
  case ComparisonDirection::LE:
    return ComparisonDirection::GE;
  case ComparisonDirection::GT:
    return ComparisonDirection::LT;
  case ComparisonDirection::GE:
    return ComparisonDirection::LE;
  default:
    return direction;
  }
}

std::optional<Counter> findCounter(sh::WhileOp loop) {
  Block &condition = loop.getCond().front();
  auto compare = condition.getTerminator()->getOperand(0).getDefiningOp<sh::CompareOp>();
  if (!compare || !isa<IntegerType>(getElementTypeOrSelf(compare.getLhs().getType())))
    return std::nullopt;
  for (bool swapped : {false, true}) {
    auto counter = dyn_cast<BlockArgument>(swapped ? compare.getRhs() : compare.getLhs());
    std::optional<Wide> limit = constantInteger(swapped ? compare.getLhs() : compare.getRhs());
    if (counter && counter.getOwner() == &condition && limit)
      return Counter{counter.getArgNumber(),
                     swapped ? mirrored(compare.getComparisonDirection())
                             : compare.getComparisonDirection(),
                     *limit};
  }
  return std::nullopt;
}

/// What the body adds to its counter.
std::optional<Wide> findStep(sh::WhileOp loop, unsigned index) {
  Block &body = loop.getBody().front();
  Value counter = body.getArgument(index);
  Operation *next = body.getTerminator()->getOperand(index).getDefiningOp();
  if (auto add = dyn_cast_or_null<sh::AddOp>(next)) {
    if (add.getLhs() == counter)
      return constantInteger(add.getRhs());
    if (add.getRhs() == counter)
      return constantInteger(add.getLhs());
  }
  if (auto subtract = dyn_cast_or_null<sh::SubtractOp>(next);
      subtract && subtract.getLhs() == counter)
    if (std::optional<Wide> step = constantInteger(subtract.getRhs()))
      return -*step;
  return std::nullopt;
}

/// Whether `value` is one of the counter's type: then the counter never wrapped,
/// as it moves in one direction.
bool isRepresentable(Type type, Wide value) {
  auto integer = cast<IntegerType>(getElementTypeOrSelf(type));
  unsigned width = integer.getWidth();
  Wide one = 1;
  if (integer.isUnsignedInteger() || width == 1)
    return value >= 0 && value < (one << width);
  return value >= -(one << (width - 1)) && value < (one << (width - 1));
}

} // namespace

std::optional<int64_t> countTrips(sh::WhileOp loop) {
  using sh::ComparisonDirection;
  std::optional<Counter> counter = findCounter(loop);
  if (!counter)
    return std::nullopt;
  std::optional<Wide> start = constantInteger(loop->getOperand(counter->index));
  std::optional<Wide> step = findStep(loop, counter->index);
  if (!start || !step || *step == 0)
    return std::nullopt;
  // Count upwards to an exclusive limit.
  bool down = *step < 0;
  Wide from = down ? -*start : *start, by = down ? -*step : *step;
  Wide limit = down ? -counter->limit : counter->limit;
  ComparisonDirection direction = down ? mirrored(counter->direction) : counter->direction;
  if (direction == ComparisonDirection::NE) {
    if (limit < from || (limit - from) % by != 0)
      return std::nullopt; // would wrap before it meets the limit
  } else if (direction == ComparisonDirection::LE) {
    ++limit;
  } else if (direction != ComparisonDirection::LT) {
    return std::nullopt;
  }
  Wide trips = from >= limit ? 0 : (limit - from + by - 1) / by;
  Wide last = from + trips * by;
  if (trips > std::numeric_limits<int64_t>::max() ||
      !isRepresentable(loop->getOperand(counter->index).getType(), down ? -last : last))
    return std::nullopt;
  return static_cast<int64_t>(trips);
}

bool isLayer(OperandRange starts, Value index) {
  return !starts.empty() && starts.front() == index &&
         llvm::all_of(llvm::drop_begin(starts),
                      [](Value start) { return constantInteger(start) == 0; });
}

/// Whether `index` is 0, 1, 2, ..., or `last`, `last` - 1, ... in the loop's trips.
static bool visitsAll(sh::WhileOp loop, Value index, int64_t last) {
  if (auto down = index.getDefiningOp<sh::SubtractOp>();
      down && constantInteger(down.getLhs()) == last)
    index = down.getRhs();
  auto counter = dyn_cast<BlockArgument>(index);
  if (!counter || counter.getOwner() != &loop.getBody().front())
    return false;
  Value start = loop->getOperand(counter.getArgNumber());
  return constantInteger(start) == 0 && findStep(loop, counter.getArgNumber()) == 1;
}

sh::DynamicUpdateSliceOp updateThatFills(sh::WhileOp loop, unsigned carried) {
  Block &body = loop.getBody().front();
  BlockArgument stack = body.getArgument(carried);
  auto type = dyn_cast<RankedTensorType>(stack.getType());
  auto put = body.getTerminator()->getOperand(carried).getDefiningOp<sh::DynamicUpdateSliceOp>();
  if (!type || type.getRank() == 0 || !put || put.getOperand() != stack || !stack.hasOneUse() ||
      !put->hasOneUse() || !loop.getCond().front().getArgument(carried).use_empty())
    return {};
  SmallVector<int64_t> layer(type.getShape());
  layer.front() = 1;
  Value index = put.getStartIndices().front();
  bool fills = cast<RankedTensorType>(put.getUpdate().getType()).getShape() == ArrayRef(layer) &&
               isLayer(put.getStartIndices(), index) && countTrips(loop) == type.getDimSize(0) &&
               visitsAll(loop, index, type.getDimSize(0) - 1);
  return fills ? put : sh::DynamicUpdateSliceOp();
}

} // namespace spokeshave::graph
