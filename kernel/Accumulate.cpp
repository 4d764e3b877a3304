//===- Accumulate.cpp - loops that carry elements --------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Accumulate.h.
//
//===----------------------------------------------------------------------===//
#include "kernel/Accumulate.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

SmallVector<Value> kernel::flatten(ArrayRef<Element> elements) {
  SmallVector<Value> values;
  for (const Element &element : elements) {
    values.push_back(element.re);
    if (element.isComplex())
      values.push_back(element.im);
  }
  return values;
}

Elements kernel::unflatten(ArithContext &context, ValueRange values, ArrayRef<Element> like) {
  Elements elements;
  auto next = values.begin();
  for (const Element &shape : like) {
    Element element{{context, *next++}, {}};
    if (shape.isComplex())
      element.im = {context, *next++};
    elements.push_back(element);
  }
  return elements;
}

FailureOr<Elements> kernel::applyRegion(ElementEmitter &emitter, Region &region,
                                        ArrayRef<Element> arguments) {
  return emitRegion(emitter.context(), region, arguments,
                    [&](Value value) { return emitter.emit(value, {}); });
}

Elements kernel::selectElements(Num condition, ArrayRef<Element> yes, ArrayRef<Element> no) {
  if (!condition)
    return Elements(yes);
  Elements elements;
  for (auto [a, b] : llvm::zip_equal(yes, no)) {
    Element element{select(condition, a.re, b.re), {}};
    if (a.isComplex())
      element.im = select(condition, a.im, b.im);
    elements.push_back(element);
  }
  return elements;
}

FailureOr<Elements>
kernel::accumulate(ElementEmitter &emitter, int64_t extent, ArrayRef<Element> initial,
                   llvm::function_ref<FailureOr<Elements>(const Index &, ArrayRef<Element>)> step) {
  if (extent == 0)
    return Elements(initial);
  if (extent == 1)
    return step(Index(0), initial);
  OpBuilder &builder = emitter.getBuilder();
  Location loc = emitter.loc();
  Value zero = builder.create<arith::ConstantIndexOp>(loc, 0);
  Value one = builder.create<arith::ConstantIndexOp>(loc, 1);
  Value end = builder.create<arith::ConstantIndexOp>(loc, extent);
  auto loop = builder.create<scf::ForOp>(loc, zero, end, one, flatten(initial));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  {
    ElementEmitter::Level level(emitter, loop);
    Index index = emitter.space().variable(loop.getInductionVar(), 0, extent - 1);
    FailureOr<Elements> next =
        step(index, unflatten(emitter.context(), loop.getRegionIterArgs(), initial));
    if (failed(next))
      return failure();
    if (!initial.empty()) // else the loop has its terminator already
      builder.create<scf::YieldOp>(loc, flatten(*next));
  }
  return unflatten(emitter.context(), loop.getResults(), initial);
}

FailureOr<Elements> kernel::accumulateOver(
    ElementEmitter &emitter, ArrayRef<int64_t> extents, ArrayRef<Element> initial, int64_t unroll,
    llvm::function_ref<FailureOr<Elements>(const Position &, ArrayRef<Element>)> step) {
  int64_t count = 1;
  for (int64_t extent : extents)
    count *= extent;
  if (count <= unroll) {
    Elements carried(initial);
    for (int64_t i = 0; i < count; ++i) {
      Position position(extents.size());
      int64_t rest = i;
      for (int64_t d = int64_t(extents.size()) - 1; d >= 0; --d) {
        position[d] = Index(rest % extents[d]);
        rest /= extents[d];
      }
      FailureOr<Elements> next = step(position, carried);
      if (failed(next))
        return failure();
      carried = *next;
    }
    return carried;
  }
  Position position;
  std::function<FailureOr<Elements>(ArrayRef<Element>)> nest =
      [&](ArrayRef<Element> carried) -> FailureOr<Elements> {
    if (position.size() == extents.size())
      return step(position, carried);
    return accumulate(emitter, extents[position.size()], carried,
                      [&](const Index &index, ArrayRef<Element> inner) {
                        position.push_back(index);
                        FailureOr<Elements> next = nest(inner);
                        position.pop_back();
                        return next;
                      });
  };
  return nest(initial);
}

bool kernel::undilate(ElementEmitter &emitter, Index &at, int64_t extent, int64_t spacing,
                      Num &inside) {
  IndexSpace &space = emitter.space();
  IndexSpace::Range range = space.range(at);
  int64_t last = (extent - 1) * spacing;
  if (extent == 0 || range.max < 0 || range.min > last)
    return false;
  auto require = [&](Num condition) {
    if (condition)
      inside = inside ? inside & condition : condition;
  };
  auto perLane = [&](const Index &index) { return Num(emitter.context(), space.perLane(index)); };
  if (range.min < 0)
    require(ge(perLane(at), 0));
  if (range.max > last)
    require(le(perLane(at), last));
  if (spacing == 1)
    return true;
  // Positions before the edge divide to anything: they are masked off. Adding a
  // multiple of the spacing keeps numbers positive.
  int64_t shift = range.min < 0 ? llvm::divideCeil(-range.min, spacing) : 0;
  auto [quotient, rest] = space.divide(space.add(at, shift * spacing), spacing);
  if (!(rest == Index(0)))
    require(eq(perLane(rest), 0));
  at = space.add(quotient, -shift);
  return true;
}
