//===- LowerWindow.cpp - reductions of windows -----------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// reduce_window and select_and_scatter, evaluated at an element of the result by
// loops over the window, so that they run like any elementwise fusion: in
// parallel, along the lanes, producers and consumers fused.
//
// select_and_scatter is turned round: an element of the result looks at all
// windows that contain it and adds the sources of those that select it. That
// costs the square of the window's size, but nothing is written twice.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "kernel/Accumulate.h"
#include "kernel/LowerFusion.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

/// Windows of at most this size are written out, larger ones are loops.
static constexpr int64_t kUnroll = 16;

/// One number per dimension; absent attributes mean `otherwise`.
static SmallVector<int64_t> numbers(std::optional<ArrayRef<int64_t>> given, size_t rank,
                                    int64_t otherwise) {
  return given ? SmallVector<int64_t>(*given) : SmallVector<int64_t>(rank, otherwise);
}

static SmallVector<std::pair<int64_t, int64_t>>
paddingOf(std::optional<DenseIntElementsAttr> padding, size_t rank) {
  SmallVector<std::pair<int64_t, int64_t>> result(rank);
  if (padding)
    for (size_t d = 0; d < rank; ++d)
      result[d] = {(*padding).getValues<int64_t>()[2 * d],
                   (*padding).getValues<int64_t>()[2 * d + 1]};
  return result;
}

//===----------------------------------------------------------------------===//
// reduce_window
//===----------------------------------------------------------------------===//

static FailureOr<Elements> reduceAt(ElementEmitter &emitter, hlo::ReduceWindowOp op,
                                    const Position &at) {
  IndexSpace &space = emitter.space();
  size_t rank = at.size();
  auto strides = numbers(op.getWindowStrides(), rank, 1);
  auto spacing = numbers(op.getBaseDilations(), rank, 1);
  auto dilation = numbers(op.getWindowDilations(), rank, 1);
  auto padding = paddingOf(op.getPadding(), rank);
  ArrayRef<int64_t> extents = typeOf(op.getInputs()[0]).getShape();
  FailureOr<SmallVector<Element>> initial = emitter.emitAll(op.getInitValues(), {});
  if (failed(initial))
    return failure();
  auto step = [&](const Position &w, ArrayRef<Element> sum) -> FailureOr<Elements> {
    Position from;
    Num inside;
    for (size_t d = 0; d < rank; ++d) {
      Index index =
          space.add(space.add(space.scale(at[d], strides[d]), space.scale(w[d], dilation[d])),
                    -padding[d].first);
      if (!undilate(emitter, index, extents[d], spacing[d], inside))
        return Elements(sum);
      from.push_back(index);
    }
    ElementEmitter::Condition condition(emitter, inside);
    FailureOr<SmallVector<Element>> values = emitter.emitAll(op.getInputs(), from);
    if (failed(values))
      return failure();
    SmallVector<Element> arguments(sum);
    llvm::append_range(arguments, *values);
    FailureOr<SmallVector<Element>> next = applyRegion(emitter, op.getBody(), arguments);
    if (failed(next))
      return failure();
    return selectElements(inside, *next, sum);
  };
  return accumulateOver(emitter, op.getWindowDimensions(), *initial, kUnroll, step);
}

//===----------------------------------------------------------------------===//
// select_and_scatter
//===----------------------------------------------------------------------===//

namespace {
/// select_and_scatter at one element of its result.
class SelectAndScatter {
public:
  SelectAndScatter(ElementEmitter &emitter, hlo::SelectAndScatterOp op)
      : emitter(emitter), op(op), space(emitter.space()), rank(typeOf(op.getOperand()).getRank()),
        window(numbers(op.getWindowDimensions(), rank, 1)),
        strides(numbers(op.getWindowStrides(), rank, 1)),
        padding(paddingOf(op.getPadding(), rank)) {}

  FailureOr<Elements> at(const Position &position);

private:
  FailureOr<Num> isSelected(const Position &source, const Position &w);

  ElementEmitter &emitter;
  hlo::SelectAndScatterOp op;
  IndexSpace &space;
  size_t rank;
  SmallVector<int64_t> window, strides;
  SmallVector<std::pair<int64_t, int64_t>> padding;
};
} // namespace

/// Whether the window at `source` selects its element number `w`: the last that a
/// pass over the window keeps.
FailureOr<Num> SelectAndScatter::isSelected(const Position &source, const Position &w) {
  ArithContext &context = emitter.context();
  ArrayRef<int64_t> extents = typeOf(op.getOperand()).getShape();
  // Carried: the value kept so far, whether there is one, whether it is w.
  FailureOr<Element> some = emitter.emit(op.getInitValue(), {});
  if (failed(some))
    return failure();
  auto boolean = [&](bool value) {
    OpBuilder &builder = emitter.getBuilder();
    return constantElement(context, builder.getBoolAttr(value), builder.getI1Type(),
                           emitter.lanes());
  };
  Elements initial{*some, boolean(false), boolean(false)};
  auto step = [&](const Position &v, ArrayRef<Element> kept) -> FailureOr<Elements> {
    Position from;
    Num inside, same;
    for (size_t d = 0; d < rank; ++d) {
      Index index =
          space.add(space.add(space.scale(source[d], strides[d]), v[d]), -padding[d].first);
      if (!undilate(emitter, index, extents[d], 1, inside))
        return Elements(kept);
      from.push_back(index);
      Num here = eq(Num(context, space.perLane(v[d], 64)), Num(context, space.perLane(w[d], 64)));
      same = same ? same & here : here;
    }
    ElementEmitter::Condition condition(emitter, inside);
    FailureOr<Element> value = emitter.emit(op.getOperand(), from);
    if (failed(value))
      return failure();
    FailureOr<SmallVector<Element>> keep = applyRegion(emitter, op.getSelect(), {kept[0], *value});
    if (failed(keep))
      return failure();
    Num takes = ~(kept[1].re & (*keep)[0].re);
    if (inside)
      takes = takes & inside;
    return selectElements(takes, {*value, boolean(true), {same, {}}}, kept);
  };
  FailureOr<Elements> kept = accumulateOver(emitter, window, initial, kUnroll, step);
  if (failed(kept))
    return failure();
  return (*kept)[2].re;
}

FailureOr<Elements> SelectAndScatter::at(const Position &position) {
  FailureOr<Element> initial = emitter.emit(op.getInitValue(), {});
  if (failed(initial))
    return failure();
  ArrayRef<int64_t> sources = typeOf(op.getSource()).getShape();
  auto step = [&](const Position &w, ArrayRef<Element> sum) -> FailureOr<Elements> {
    // The window whose element w this is: source * stride + w - padding = position.
    Position source;
    Num inside;
    for (size_t d = 0; d < rank; ++d) {
      Index index = space.add(space.subtract(position[d], w[d]), padding[d].first);
      if (!undilate(emitter, index, sources[d], strides[d], inside))
        return Elements(sum);
      source.push_back(index);
    }
    ElementEmitter::Condition condition(emitter, inside);
    FailureOr<Num> selected = isSelected(source, w);
    FailureOr<Element> value = emitter.emit(op.getSource(), source);
    if (failed(selected) || failed(value))
      return failure();
    FailureOr<SmallVector<Element>> next = applyRegion(emitter, op.getScatter(), {sum[0], *value});
    if (failed(next))
      return failure();
    return selectElements(inside ? *selected & inside : *selected, *next, sum);
  };
  // Each step holds a pass over a window: only of small ones is all written out.
  return accumulateOver(emitter, window, {*initial}, kUnroll / 4, step);
}

//===----------------------------------------------------------------------===//
// The fusion
//===----------------------------------------------------------------------===//

LogicalResult kernel::lowerWindow(FusionLowering &lowering) {
  int64_t cost = 0;
  auto bindHero = [&](ElementEmitter &emitter) {
    for (Operation &op : lowering.fusion.getBlock()) {
      if (auto reduce = dyn_cast<hlo::ReduceWindowOp>(op))
        bindAll(emitter, reduce,
                [&emitter, reduce](const Position &at) { return reduceAt(emitter, reduce, at); });
      if (auto select = dyn_cast<hlo::SelectAndScatterOp>(op))
        bindAll(emitter, select, [&emitter, select](const Position &at) {
          return SelectAndScatter(emitter, select).at(at);
        });
    }
  };
  for (Operation &op : lowering.fusion.getBlock()) {
    int64_t window = 1;
    if (auto reduce = dyn_cast<hlo::ReduceWindowOp>(op))
      for (int64_t size : reduce.getWindowDimensions())
        window *= size;
    if (auto select = dyn_cast<hlo::SelectAndScatterOp>(op))
      for (int64_t size : numbers(select.getWindowDimensions(), 0, 1))
        window *= size * size;
    cost += window > 1 ? window * 300 : 0;
  }
  return lowerLoop(lowering, bindHero, cost);
}
