//===- LowerScan.cpp - prefix scans ----------------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cumsum and its kin arrive as reduce_window over all elements up to the present
// one. Here they are one pass: along a major dimension the lanes run across and
// carry a running value each; along the minor dimension each register is scanned
// in itself (Hillis and Steele's steps) and the last lane is carried on.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "kernel/Accumulate.h"
#include "kernel/LowerFusion.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

namespace {
class ScanLowering {
public:
  ScanLowering(FusionLowering &lowering, hlo::ReduceWindowOp scan, ElementEmitter &emitter);
  LogicalResult run();

private:
  LogicalResult alongMajor();
  LogicalResult alongMinor();
  FailureOr<Elements> combine(ArrayRef<Element> before, ArrayRef<Element> next);
  FailureOr<Elements> inputsAt(const Index &linear);
  FailureOr<Elements> scanLanes(ArrayRef<Element> values);
  LogicalResult storeAt(const Index &linear, ArrayRef<Element> sums);
  /// Step number `t` counted in the scan's direction as an index.
  Index along(const Index &t) const;

  FusionLowering &lowering;
  hlo::ReduceWindowOp scan;
  ElementEmitter &emitter;
  IndexSpace &space;
  OpBuilder &builder;
  ArrayRef<int64_t> shape;
  int64_t dim = 0, outer = 1, inner = 1, extent = 1, lanes = 1;
  bool reversed = false;
};
} // namespace

ScanLowering::ScanLowering(FusionLowering &lowering, hlo::ReduceWindowOp scan,
                           ElementEmitter &emitter)
    : lowering(lowering), scan(scan), emitter(emitter), space(emitter.space()),
      builder(lowering.builder), shape(typeOf(scan.getInputs()[0]).getShape()) {
  for (auto [d, size] : llvm::enumerate(scan.getWindowDimensions()))
    if (size > 1)
      dim = d;
  extent = shape[dim];
  for (int64_t d = 0; d < dim; ++d)
    outer *= shape[d];
  for (size_t d = dim + 1; d < shape.size(); ++d)
    inner *= shape[d];
  // Padding after the data means that windows look ahead.
  reversed = scan.getPadding() && (*scan.getPadding()).getValues<int64_t>()[2 * dim + 1] > 0;
  lanes = chooseLanes(lowering.fusion, lowering.machine);
}

Index ScanLowering::along(const Index &t) const {
  return reversed ? space.subtract(extent - 1, t) : t;
}

FailureOr<Elements> ScanLowering::combine(ArrayRef<Element> before, ArrayRef<Element> next) {
  SmallVector<Element> arguments(before);
  llvm::append_range(arguments, next);
  return applyRegion(emitter, scan.getBody(), arguments);
}

FailureOr<Elements> ScanLowering::inputsAt(const Index &linear) {
  FailureOr<SmallVector<Element>> values =
      emitter.emitAll(scan.getInputs(), space.delinearize(linear, shape));
  if (failed(values))
    return failure();
  return *values;
}

/// Stores the fusion's results at an element, given the scan's there.
LogicalResult ScanLowering::storeAt(const Index &linear, ArrayRef<Element> sums) {
  Position here = space.delinearize(linear, shape);
  for (auto [result, sum] : llvm::zip_equal(scan.getResults(), sums))
    emitter.bind(result, [this, here, sum = sum](const Position &at) -> FailureOr<Element> {
      if (!(at == here))
        return scan.emitOpError("is read at another place than it is computed for");
      return sum;
    });
  SmallVector<std::pair<Element, Position>, 2> results;
  for (Value root : lowering.fusion.getYield().getValues()) {
    Position position = space.delinearize(linear, typeOf(root).getShape());
    FailureOr<Element> element = emitter.emit(root, position);
    if (failed(element))
      return failure();
    results.push_back({*element, position});
  }
  for (auto [i, root] : llvm::enumerate(lowering.fusion.getYield().getValues()))
    if (failed(emitter.store(results[i].first, typeOf(root), emitter.outputBuffer(i),
                             results[i].second)))
      return failure();
  for (Value result : scan.getResults())
    emitter.unbind(result);
  return success();
}

/// A task is a register's width of columns: each lane runs down its own.
LogicalResult ScanLowering::alongMajor() {
  int64_t wide = std::min<int64_t>(lanes, llvm::PowerOf2Ceil(inner));
  int64_t chunks = llvm::divideCeil(inner, wide);
  lowering.kernel.setTasks(outer * chunks);
  lowering.kernel.setTaskCostNs(extent * 2);
  Value count = lowering.constant(chunks);
  Value task = lowering.kernel.getTask();
  Location loc = lowering.loc();
  Index row = space.variable(builder.createOrFold<arith::DivUIOp>(loc, task, count), 0, outer - 1);
  Value begin = lowering.multiply(builder.createOrFold<arith::RemUIOp>(loc, task, count), wide);
  Value end = lowering.minimum(lowering.add(begin, lowering.constant(wide)), inner);
  return forLanes(emitter, begin, end, inner, wide, [&](const Index &lane) -> LogicalResult {
    FailureOr<SmallVector<Element>> initial = emitter.emitAll(scan.getInitValues(), {});
    if (failed(initial))
      return failure();
    auto step = [&](const Index &t, ArrayRef<Element> before) -> FailureOr<Elements> {
      Index linear =
          space.add(space.scale(space.add(space.scale(row, extent), along(t)), inner), lane);
      FailureOr<Elements> values = inputsAt(linear);
      if (failed(values))
        return failure();
      FailureOr<Elements> sums = combine(before, *values);
      if (failed(sums) || failed(storeAt(linear, *sums)))
        return failure();
      return sums;
    };
    return success(succeeded(accumulate(emitter, extent, *initial, step)));
  });
}

/// Lane l becomes the reduction of lanes 0 to l. Lanes shifted in hold the
/// initial value, which a scan's operation leaves alone.
FailureOr<Elements> ScanLowering::scanLanes(ArrayRef<Element> values) {
  FailureOr<SmallVector<Element>> initial = emitter.emitAll(scan.getInitValues(), {});
  if (failed(initial))
    return failure();
  Elements sums(values);
  for (int64_t shift = 1; shift < lanes; shift *= 2) {
    SmallVector<int64_t> order;
    for (int64_t l = 0; l < lanes; ++l)
      order.push_back(l < shift ? l : lanes + l - shift);
    auto shifted = [&](Num fill, Num value) -> Num {
      return {emitter.context(),
              builder.create<vector::ShuffleOp>(lowering.loc(), fill, value, order)};
    };
    Elements before;
    for (auto [fill, sum] : llvm::zip_equal(*initial, sums))
      before.push_back(
          {shifted(fill.re, sum.re), sum.isComplex() ? shifted(fill.im, sum.im) : Num()});
    FailureOr<Elements> next = combine(before, sums);
    if (failed(next))
      return failure();
    sums = *next;
  }
  return sums;
}

/// A task is a row.
LogicalResult ScanLowering::alongMinor() {
  lowering.kernel.setTasks(outer);
  lowering.kernel.setTaskCostNs(extent);
  Index row = space.variable(lowering.kernel.getTask(), 0, outer - 1);
  int64_t whole = extent / lanes, rest = extent % lanes;
  auto lastLane = [&](Num value) -> Num {
    SmallVector<int64_t> order(lanes, lanes - 1);
    return {emitter.context(),
            builder.create<vector::ShuffleOp>(lowering.loc(), value, value, order)};
  };
  auto step = [&](const Index &first, ArrayRef<Element> before) -> FailureOr<Elements> {
    Index t = first;
    t.lane = 1;
    Index linear = space.add(space.scale(row, extent), along(t));
    FailureOr<Elements> values = inputsAt(linear);
    FailureOr<Elements> own =
        succeeded(values) ? scanLanes(*values) : FailureOr<Elements>(failure());
    if (failed(own))
      return failure();
    FailureOr<Elements> sums = combine(before, *own);
    if (failed(sums) || failed(storeAt(linear, *sums)))
      return failure();
    Elements carried;
    for (const Element &sum : *sums)
      carried.push_back({lastLane(sum.re), sum.isComplex() ? lastLane(sum.im) : Num()});
    return carried;
  };
  ElementEmitter::Tile tile(emitter, lanes);
  FailureOr<SmallVector<Element>> initial = emitter.emitAll(scan.getInitValues(), {});
  if (failed(initial))
    return failure();
  FailureOr<Elements> carried =
      accumulate(emitter, whole, *initial, [&](const Index &i, ArrayRef<Element> before) {
        return step(space.scale(i, lanes), before);
      });
  if (failed(carried) || rest == 0)
    return success(succeeded(carried));
  Value mask = makeMask(builder, lowering.loc(), rest, lanes);
  ElementEmitter::Tile last(emitter, lanes, mask, rest);
  return success(succeeded(step(Index(whole * lanes), *carried)));
}

LogicalResult ScanLowering::run() {
  if (outer * extent * inner == 0) {
    lowering.kernel.setTasks(0);
    return success();
  }
  return inner > 1 ? alongMajor() : alongMinor();
}

LogicalResult kernel::lowerScan(FusionLowering &lowering) {
  auto scans = lowering.fusion.getBlock().getOps<hlo::ReduceWindowOp>();
  if (!llvm::hasSingleElement(scans))
    return lowering.fusion.emitOpError("of kind scan holds not exactly one reduce_window");
  ElementEmitter emitter(lowering.builder, lowering.machine, lowering.fusion,
                         lowering.kernel.getBuffers());
  return ScanLowering(lowering, *scans.begin(), emitter).run();
}
