//===- LowerScatter.cpp - scatter in place ---------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The results' buffers hold the operands when the kernel starts; only elements
// that an update names are touched. Updates are taken in order by one task, since
// any two may name one element. Windows are cut to what is inside the result
// (the specification skips element by element), and run along the lanes.
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
class ScatterLowering {
public:
  ScatterLowering(FusionLowering &lowering, hlo::ScatterOp op, ElementEmitter &emitter);
  LogicalResult run();

private:
  /// Per dimension of the operand, where it is not 0 everywhere: may be outside.
  using Starts = SmallVector<std::optional<Index>>;
  LogicalResult writeOperands();
  LogicalResult emitUpdate(const Position &scatterAt);
  LogicalResult findStarts(const Position &scatterAt, Starts &starts);
  LogicalResult emitWindow(const Starts &starts, const Position &scatterAt, Position &window,
                           size_t number);
  LogicalResult emitElement(const Starts &starts, const Position &scatterAt,
                            const Position &window);

  FusionLowering &lowering;
  hlo::ScatterOp op;
  ElementEmitter &emitter;
  IndexSpace &space;
  OpBuilder &builder;
  hlo::ScatterDimensionNumbersAttr dims;
  RankedTensorType operand, updates, indices;
  /// The starts as the indices have them: those of Starts are Index objects, which
  /// know that what is stored is inside, and are 0 where only 0 is.
  SmallVector<Value> given;
  SmallVector<int64_t> scatterDims; ///< of updates, not in a window
  SmallVector<int64_t> windowDims;  ///< of the operand, those of update windows in order
};
} // namespace

ScatterLowering::ScatterLowering(FusionLowering &lowering, hlo::ScatterOp op,
                                 ElementEmitter &emitter)
    : lowering(lowering), op(op), emitter(emitter), space(emitter.space()),
      builder(lowering.builder), dims(op.getScatterDimensionNumbers()),
      operand(typeOf(op.getInputs()[0])), updates(typeOf(op.getUpdates()[0])),
      indices(typeOf(op.getScatterIndices())) {
  for (int64_t d = 0; d < updates.getRank(); ++d)
    if (!llvm::is_contained(dims.getUpdateWindowDims(), d))
      scatterDims.push_back(d);
  for (int64_t d = 0; d < operand.getRank(); ++d)
    if (!llvm::is_contained(dims.getInsertedWindowDims(), d) &&
        !llvm::is_contained(dims.getInputBatchingDims(), d))
      windowDims.push_back(d);
}

LogicalResult ScatterLowering::findStarts(const Position &scatterAt, Starts &starts) {
  int64_t vectorDim = dims.getIndexVectorDim();
  starts.assign(operand.getRank(), std::nullopt);
  given.assign(operand.getRank(), Value());
  auto position = [&](int64_t component) {
    Position at(scatterAt);
    if (vectorDim < indices.getRank())
      at.insert(at.begin() + vectorDim, Index(component));
    return at;
  };
  for (auto [i, dim] : llvm::enumerate(dims.getScatterDimsToOperandDims())) {
    FailureOr<Element> index = emitter.emit(op.getScatterIndices(), position(i));
    if (failed(index))
      return failure();
    Type element = indices.getElementType();
    Value wide = isUnsigned(element) ? index->re.zeroExtended(64) : index->re.signExtended(64);
    Value start = builder.create<arith::IndexCastOp>(lowering.loc(), builder.getIndexType(), wide);
    given[dim] = start;
    starts[dim] = space.variable(start, 0, operand.getDimSize(dim) - 1);
  }
  // Batching dimensions of the operand go along with those of the indices.
  for (auto [from, to] :
       llvm::zip_equal(dims.getScatterIndicesBatchingDims(), dims.getInputBatchingDims()))
    starts[to] = scatterAt[from > vectorDim ? from - 1 : from];
  return success();
}

/// Loops over one dimension of the window after the other, each cut to what is
/// inside; the last runs along the lanes.
LogicalResult ScatterLowering::emitWindow(const Starts &starts, const Position &scatterAt,
                                          Position &window, size_t number) {
  if (number == windowDims.size())
    return emitElement(starts, scatterAt, window);
  Location loc = lowering.loc();
  int64_t dim = windowDims[number], extent = operand.getDimSize(dim);
  int64_t size = updates.getDimSize(dims.getUpdateWindowDims()[number]);
  Value lower = lowering.constant(0), upper = lowering.constant(size);
  if (Value start = given[dim]) {
    Value before = builder.create<arith::SubIOp>(loc, lower, start);
    Value left = builder.create<arith::SubIOp>(loc, lowering.constant(extent), start);
    lower = builder.create<arith::MaxSIOp>(loc, lower, before);
    upper = builder.create<arith::MinSIOp>(loc, upper, left);
  }
  bool last = number + 1 == windowDims.size() && size > 1;
  int64_t lanes = last ? std::min<int64_t>(chooseLanes(lowering.fusion, lowering.machine),
                                           llvm::PowerOf2Ceil(size))
                       : 1;
  auto loop = builder.create<scf::ForOp>(loc, lower, upper, lowering.constant(lanes));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  ElementEmitter::Level level(emitter, loop);
  Index at = space.variable(loop.getInductionVar(), 0, size - 1);
  Value mask;
  if (lanes > 1) {
    Value left = builder.create<arith::SubIOp>(loc, upper, loop.getInductionVar());
    mask = makeMask(builder, loc, left, lanes);
    at.lane = 1;
  }
  ElementEmitter::Tile tile(emitter, lanes, mask);
  window.push_back(at);
  LogicalResult done = emitWindow(starts, scatterAt, window, number + 1);
  window.pop_back();
  return done;
}

LogicalResult ScatterLowering::emitElement(const Starts &starts, const Position &scatterAt,
                                           const Position &window) {
  Position to(operand.getRank()), from(updates.getRank());
  for (auto [dim, start] : llvm::enumerate(starts))
    if (start)
      to[dim] = *start;
  for (auto [i, at] : llvm::enumerate(window)) {
    to[windowDims[i]] = space.add(to[windowDims[i]], at);
    from[dims.getUpdateWindowDims()[i]] = at;
  }
  for (auto [i, dim] : llvm::enumerate(scatterDims))
    from[dim] = scatterAt[i];
  SmallVector<Element> arguments;
  for (auto [i, input] : llvm::enumerate(op.getInputs()))
    arguments.push_back(emitter.load(typeOf(input), emitter.outputBuffer(i), to));
  FailureOr<SmallVector<Element>> values = emitter.emitAll(op.getUpdates(), from);
  if (failed(values))
    return failure();
  llvm::append_range(arguments, *values);
  FailureOr<SmallVector<Element>> results =
      applyRegion(emitter, op.getUpdateComputation(), arguments);
  if (failed(results))
    return failure();
  for (auto [i, result] : llvm::enumerate(*results))
    if (failed(emitter.store(result, typeOf(op.getInputs()[i]), emitter.outputBuffer(i), to)))
      return failure();
  return success();
}

/// One update: where it goes, and whether anything of it is inside.
LogicalResult ScatterLowering::emitUpdate(const Position &scatterAt) {
  Starts starts;
  if (failed(findStarts(scatterAt, starts)))
    return failure();
  Location loc = lowering.loc();
  Value inside;
  auto require = [&](arith::CmpIPredicate predicate, Value value, int64_t bound) {
    Value holds = builder.create<arith::CmpIOp>(loc, predicate, value, lowering.constant(bound));
    inside = inside ? builder.create<arith::AndIOp>(loc, inside, holds) : holds;
  };
  // Dimensions with a window are cut by its loop.
  for (auto [dim, start] : llvm::enumerate(given))
    if (start && !llvm::is_contained(windowDims, int64_t(dim)))
      require(arith::CmpIPredicate::ult, start, operand.getDimSize(dim));
  Position window;
  if (!inside)
    return emitWindow(starts, scatterAt, window, 0);
  auto branch = builder.create<scf::IfOp>(loc, inside);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  ElementEmitter::Level level(emitter, branch);
  return emitWindow(starts, scatterAt, window, 0);
}

/// Operands that the fusion itself computes (zeros, mostly) are not in the
/// results' buffers yet.
LogicalResult ScatterLowering::writeOperands() {
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    if (isa<BlockArgument>(input))
      continue;
    int64_t elements = operand.getNumElements();
    int64_t lanes = chooseLanes(lowering.fusion, lowering.machine);
    LogicalResult done =
        forLanes(emitter, lowering.constant(0), lowering.constant(elements), elements, lanes,
                 [&, i = i, input = input](const Index &at) {
                   Position position = space.delinearize(at, operand.getShape());
                   FailureOr<Element> element = emitter.emit(input, position);
                   if (failed(element))
                     return failure();
                   return emitter.store(*element, typeOf(input), emitter.outputBuffer(i), position);
                 });
    if (failed(done))
      return failure();
  }
  return success();
}

LogicalResult ScatterLowering::run() {
  int64_t count = 1;
  SmallVector<int64_t> extents;
  for (int64_t dim : scatterDims) {
    extents.push_back(updates.getDimSize(dim));
    count *= extents.back();
  }
  lowering.kernel.setTasks(1);
  lowering.kernel.setTaskCostNs(updates.getNumElements() + 1);
  if (failed(writeOperands()))
    return failure();
  if (count == 0 || updates.getNumElements() == 0)
    return success();
  for (auto [i, root] : llvm::enumerate(lowering.fusion.getYield().getValues()))
    if (root != op.getResult(i))
      return op.emitOpError("does not give the results of its fusion");
  ElementEmitter::Tile tile(emitter, 1);
  FailureOr<Elements> done =
      accumulateOver(emitter, extents, {}, /*unroll=*/1,
                     [&](const Position &at, ArrayRef<Element>) -> FailureOr<Elements> {
                       if (failed(emitUpdate(at)))
                         return failure();
                       return Elements();
                     });
  return success(succeeded(done));
}

LogicalResult kernel::lowerScatter(FusionLowering &lowering) {
  auto scatters = lowering.fusion.getBlock().getOps<hlo::ScatterOp>();
  if (!llvm::hasSingleElement(scatters))
    return lowering.fusion.emitOpError("of kind scatter holds not exactly one scatter");
  ElementEmitter emitter(lowering.builder, lowering.machine, lowering.fusion,
                         lowering.kernel.getBuffers());
  return ScatterLowering(lowering, *scatters.begin(), emitter).run();
}
