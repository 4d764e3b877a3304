//===- LowerSort.cpp - stable sorts along a dimension ----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A task sorts one line: its elements are copied into scratch and merged bottom
// up, from runs of one, between two halves of scratch; then results are written.
// A merge step takes the smaller head without a branch; equal heads come from the
// left, so the sort is stable. Any comparator and any number of operands.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "kernel/Accumulate.h"
#include "kernel/LowerFusion.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

namespace {
class SortLowering {
public:
  SortLowering(FusionLowering &lowering, hlo::SortOp sort, ElementEmitter &emitter);
  LogicalResult run();

private:
  using Buffers = SmallVector<Value, 2>;
  Position place(const Index &line, const Index &at);
  Elements loadAll(const Buffers &from, Value at);
  void storeAll(ArrayRef<Element> elements, const Buffers &to, Value at);
  FailureOr<Value> isBefore(ArrayRef<Element> a, ArrayRef<Element> b);
  LogicalResult copyIn(const Index &line);
  LogicalResult copyOut(const Index &line, const Buffers &from);
  LogicalResult mergePass(const Buffers &from, const Buffers &to, Value width);
  LogicalResult mergeRuns(const Buffers &from, const Buffers &to, Value begin, Value width);
  FailureOr<Buffers> mergeAll();

  FusionLowering &lowering;
  hlo::SortOp sort;
  ElementEmitter &emitter;
  IndexSpace &space;
  OpBuilder &builder;
  ArrayRef<int64_t> shape;
  int64_t dim, extent, lines = 1, inner = 1;
  Buffers halves[2];
};
} // namespace

SortLowering::SortLowering(FusionLowering &lowering, hlo::SortOp sort, ElementEmitter &emitter)
    : lowering(lowering), sort(sort), emitter(emitter), space(emitter.space()),
      builder(lowering.builder), shape(typeOf(sort.getInputs()[0]).getShape()) {
  dim = int64_t(sort.getDimension());
  if (dim < 0)
    dim += shape.size();
  extent = shape[dim];
  for (auto [d, size] : llvm::enumerate(shape)) {
    if (int64_t(d) != dim)
      lines *= size;
    if (int64_t(d) > dim)
      inner *= size;
  }
}

/// Element `at` of a line as a position in the tensors.
Position SortLowering::place(const Index &line, const Index &at) {
  auto [outer, within] = space.divide(line, inner);
  Index linear = space.add(space.scale(space.add(space.scale(outer, extent), at), inner), within);
  return space.delinearize(linear, shape);
}

Elements SortLowering::loadAll(const Buffers &from, Value at) {
  Elements elements;
  for (auto [buffer, input] : llvm::zip_equal(from, sort.getInputs())) {
    auto line = RankedTensorType::get({extent}, typeOf(input).getElementType());
    elements.push_back(emitter.load(line, buffer, {space.variable(at, 0, extent - 1)}));
  }
  return elements;
}

void SortLowering::storeAll(ArrayRef<Element> elements, const Buffers &to, Value at) {
  for (auto [element, buffer, input] : llvm::zip_equal(elements, to, sort.getInputs())) {
    auto line = RankedTensorType::get({extent}, typeOf(input).getElementType());
    (void)emitter.store(element, line, buffer, {space.variable(at, 0, extent - 1)});
  }
}

FailureOr<Value> SortLowering::isBefore(ArrayRef<Element> a, ArrayRef<Element> b) {
  SmallVector<Element> arguments;
  for (auto [x, y] : llvm::zip_equal(a, b))
    arguments.append({x, y});
  FailureOr<SmallVector<Element>> result = applyRegion(emitter, sort.getComparator(), arguments);
  if (failed(result))
    return failure();
  return Value((*result)[0].re);
}

LogicalResult SortLowering::copyIn(const Index &line) {
  return forRange(
      emitter, lowering.constant(0), lowering.constant(extent), extent, [&](const Index &at) {
        FailureOr<SmallVector<Element>> values = emitter.emitAll(sort.getInputs(), place(line, at));
        if (failed(values))
          return failure();
        storeAll(*values, halves[0], space.scalar(at));
        return success();
      });
}

LogicalResult SortLowering::copyOut(const Index &line, const Buffers &from) {
  return forRange(
      emitter, lowering.constant(0), lowering.constant(extent), extent, [&](const Index &at) {
        Elements sorted = loadAll(from, space.scalar(at));
        Position here = place(line, at);
        for (auto [result, element] : llvm::zip_equal(sort.getResults(), sorted))
          emitter.bind(
              result, [this, here, element = element](const Position &p) -> FailureOr<Element> {
                if (!(p == here))
                  return sort.emitOpError("is read at another place than it is computed for");
                return element;
              });
        auto roots = lowering.fusion.getYield().getValues();
        FailureOr<SmallVector<Element>> values = emitter.emitAll(roots, here);
        if (failed(values))
          return failure();
        for (auto [i, value] : llvm::enumerate(*values))
          if (failed(emitter.store(value, typeOf(roots[i]), emitter.outputBuffer(i), here)))
            return failure();
        return success();
      });
}

/// Merges [begin, begin + width) and what follows up to another width.
LogicalResult SortLowering::mergeRuns(const Buffers &from, const Buffers &to, Value begin,
                                      Value width) {
  Location loc = lowering.loc();
  Value one = lowering.constant(1);
  Value middle = lowering.minimum(lowering.add(begin, width), extent);
  Value end = lowering.minimum(lowering.add(middle, width), extent);
  auto loop = builder.create<scf::ForOp>(loc, begin, end, one, ValueRange{begin, middle});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  ElementEmitter::Level level(emitter, loop);
  Value i = loop.getRegionIterArg(0), j = loop.getRegionIterArg(1);
  auto less = [&](Value a, Value b) -> Value {
    return builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, a, b);
  };
  // Heads beyond their run are read anyway, within the line, and not taken.
  Elements left = loadAll(from, lowering.minimum(i, extent - 1));
  Elements right = loadAll(from, lowering.minimum(j, extent - 1));
  FailureOr<Value> rightFirst = isBefore(right, left);
  if (failed(rightFirst))
    return failure();
  Value hasLeft = less(i, middle), hasRight = less(j, end);
  Value yes = builder.create<arith::ConstantIntOp>(loc, 1, 1);
  Value noLeft = builder.create<arith::XOrIOp>(loc, hasLeft, yes);
  Value takeRight = builder.create<arith::OrIOp>(loc, *rightFirst, noLeft);
  takeRight = builder.create<arith::AndIOp>(loc, takeRight, hasRight);
  storeAll(selectElements({emitter.context(), takeRight}, right, left), to, loop.getInductionVar());
  Value nextI = builder.create<arith::SelectOp>(loc, takeRight, i, lowering.add(i, one));
  Value nextJ = builder.create<arith::SelectOp>(loc, takeRight, lowering.add(j, one), j);
  builder.create<scf::YieldOp>(loc, ValueRange{nextI, nextJ});
  return success();
}

LogicalResult SortLowering::mergePass(const Buffers &from, const Buffers &to, Value width) {
  Location loc = lowering.loc();
  auto loop = builder.create<scf::ForOp>(loc, lowering.constant(0), lowering.constant(extent),
                                         lowering.add(width, width));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  ElementEmitter::Level level(emitter, loop);
  return mergeRuns(from, to, loop.getInductionVar(), width);
}

/// Doubles the runs until there is one; two passes in a loop, so that code does not
/// grow with the line. Gives the half that the line ends up in.
FailureOr<SortLowering::Buffers> SortLowering::mergeAll() {
  int64_t passes = llvm::Log2_64_Ceil(extent), pairs = passes / 2;
  Location loc = lowering.loc();
  if (pairs) {
    auto loop = builder.create<scf::ForOp>(loc, lowering.constant(0), lowering.constant(pairs),
                                           lowering.constant(1));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    ElementEmitter::Level level(emitter, loop);
    Value pass = lowering.multiply(loop.getInductionVar(), 2);
    Value width = builder.create<arith::ShLIOp>(loc, lowering.constant(1), pass);
    if (failed(mergePass(halves[0], halves[1], width)) ||
        failed(mergePass(halves[1], halves[0], lowering.add(width, width))))
      return failure();
  }
  if (passes % 2 &&
      failed(mergePass(halves[0], halves[1], lowering.constant(int64_t(1) << (2 * pairs)))))
    return failure();
  return halves[passes % 2];
}

LogicalResult SortLowering::run() {
  if (lines * extent == 0) {
    lowering.kernel.setTasks(0);
    return success();
  }
  lowering.kernel.setTasks(lines);
  lowering.kernel.setTaskCostNs(extent * (llvm::Log2_64_Ceil(extent) + 1) * 4);
  int64_t bytes = 0;
  for (Buffers &half : halves)
    for (Value input : sort.getInputs()) {
      auto line = RankedTensorType::get({extent}, typeOf(input).getElementType());
      MemRefType type = bufferType(line);
      half.push_back(builder.create<ScratchOp>(lowering.loc(), type, bytes));
      bytes += llvm::alignTo(
          type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8), 64);
    }
  lowering.kernel.setScratchBytes(bytes);
  ElementEmitter::Tile tile(emitter, 1);
  Index line = space.variable(lowering.kernel.getTask(), 0, lines - 1);
  if (failed(copyIn(line)))
    return failure();
  FailureOr<Buffers> sorted = mergeAll();
  if (failed(sorted))
    return failure();
  return copyOut(line, *sorted);
}

LogicalResult kernel::lowerSort(FusionLowering &lowering) {
  ElementEmitter emitter(lowering.builder, lowering.machine, lowering.fusion,
                         lowering.kernel.getBuffers());
  for (Operation &op : lowering.fusion.getBlock()) {
    if (auto sort = dyn_cast<hlo::SortOp>(op))
      return SortLowering(lowering, sort, emitter).run();
    if (auto composite = dyn_cast<hlo::CompositeOp>(op);
        composite && composite.getName() == "chlo.top_k")
      return lowerTopK(lowering, composite, emitter);
  }
  return lowering.fusion.emitOpError("of kind sort holds neither sort nor top_k");
}
