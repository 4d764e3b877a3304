//===- LowerUnitDot.cpp - matrix products on matrix units ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For machines with matrix units and a near memory. A task multiplies a block of
// lhs with a block of rhs; tasks with the same block of the result follow each
// other along k and share its sums:
//
//   for each batch, row block, column block, block of k:      the tasks
//     lhs, rhs: the block's window, or packed from what the fusion computes
//     sums (+)= lhs * rhs                                     one tile_dot
//     at the last block of k: what the fusion does with the sums, to the results
//
// Windows of operands, of what the fusion reads beside, and of results are declared
// where they lie affinely in the space of batch, row, column and k (BlockWindows.h).
// Blocks are larger than what they hold at the edges: rows and columns beyond are
// computed from whatever is there and not written, so only k is exact.
//
// Rows of lhs must lie along k; where they lie across, the cross-lane unit turns the
// block. rhs may lie either way.
//
//===----------------------------------------------------------------------===//
#include "kernel/TurnTiles.h"
#include "kernel/UnitDot.h"
#include "kernel/WithinRows.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

/// Registers of packed operands and of the epilogue that are written in one iteration.
constexpr int64_t kUnrolledRegisters = 64;

Value UnitDotLowering::scratch(int64_t elements, Type element) {
  int64_t offset = scratchBytes;
  int64_t bytes = std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
  scratchBytes += llvm::alignTo(elements * bytes, 64) + 64;
  return builder.create<ScratchOp>(loc(), MemRefType::get({elements}, element), offset);
}

//===----------------------------------------------------------------------===//
// The task
//===----------------------------------------------------------------------===//

void UnitDotLowering::splitTask() {
  IndexSpace &space = emitter.space();
  Value task = lowering.kernel.getTask();
  SmallVector<Index> positions;
  for (int64_t radix : llvm::reverse(radices)) {
    if (radix == 1) {
      positions.push_back(Index(0)), digits.push_back(index(0));
      continue;
    }
    Value digit = builder.createOrFold<arith::RemUIOp>(loc(), task, index(radix));
    task = builder.createOrFold<arith::DivUIOp>(loc(), task, index(radix));
    positions.push_back(space.variable(digit, 0, radix - 1));
    digits.push_back(digit);
  }
  depthDigit = digits[0];
  depthBegin = space.scale(positions[0], plan.depth);
  columnBegin = space.scale(positions[1], plan.columns);
  rowBegin = space.scale(positions[2], plan.rows);
  int64_t stride = 1;
  for (size_t d = 0; d < batchExtents.size(); ++d) {
    batch = space.add(batch, space.scale(positions[3 + d], stride));
    stride *= batchExtents[batchExtents.size() - 1 - d];
  }
}

/// Inputs are read in their windows.
void UnitDotLowering::bindInputs() {
  for (auto &[number, made] : inputViews) {
    BlockArgument input = lowering.fusion.getBlock().getArgument(number);
    emitter.bind(input,
                 [this, input, box = *inputs[number],
                  window = made](const Position &at) -> FailureOr<Element> {
                   RankedTensorType type = typeOf(input);
                   Index linear = emitter.space().linearize(at, type.getShape());
                   std::optional<Index> local = box.local(emitter.space(), linear, digits);
                   if (!local)
                     return view.op->emitOpError(
                         "reads an input at another place than it is staged for");
                   auto flat = RankedTensorType::get({box.elements()}, type.getElementType());
                   return emitter.load(flat, window, {*local});
                 });
  }
}

/// Loops over the rows of a block, several in an iteration. Only over those that there
/// are: where dimensions are taken apart, a row beyond the last is one of the next batch.
LogicalResult UnitDotLowering::forBlockRows(int64_t extent, int64_t rowElements, const Index &begin,
                                            int64_t limit,
                                            llvm::function_ref<LogicalResult(const Index &)> body) {
  int64_t registers = llvm::divideCeil(rowElements, lowering.machine.lanes(32));
  bool isOneBlock = limit <= extent;
  extent = std::min(extent, limit);
  int64_t unroll = std::clamp<int64_t>(kUnrolledRegisters / registers, 1, extent);
  while (!isOneBlock && (extent % unroll || limit % unroll))
    --unroll;
  int64_t whole = extent / unroll * unroll;
  IndexSpace &space = emitter.space();
  Value end = index(whole);
  if (!isOneBlock && limit % extent) {
    Value left = builder.createOrFold<arith::SubIOp>(loc(), index(limit), space.scalar(begin));
    end = lowering.minimum(left, extent);
  }
  auto loop = builder.create<scf::ForOp>(loc(), index(0), end, index(unroll));
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    ElementEmitter::Level level(emitter, loop);
    Index row =
        space.variable(loop.getInductionVar(), 0, std::max<int64_t>(whole - unroll, 1), unroll);
    for (int64_t i = 0; i < unroll; ++i)
      if (failed(body(space.add(row, i))))
        return failure();
  }
  for (int64_t row = whole; row < extent; ++row)
    if (failed(body(Index(row))))
      return failure();
  return success();
}

/// The same along the lanes: registers side by side, all of them in one iteration.
LogicalResult
UnitDotLowering::forBlockLanes(int64_t extent, const Index &begin, int64_t limit,
                               llvm::function_ref<LogicalResult(const Index &)> body) {
  IndexSpace &space = emitter.space();
  int64_t lanes = std::min<int64_t>(lowering.machine.lanes(32), llvm::PowerOf2Ceil(extent));
  for (int64_t at = 0; at < extent; at += lanes) {
    Value mask;
    int64_t present = std::min(lanes, extent - at);
    if (!reachesBeyond && limit % extent != 0) {
      Value count =
          builder.createOrFold<arith::SubIOp>(loc(), index(limit - at), space.scalar(begin));
      count = builder.createOrFold<arith::MinSIOp>(loc(), count, index(present));
      mask = makeMask(builder, loc(), count, lanes);
    } else {
      mask = makeMask(builder, loc(), present, lanes);
    }
    ElementEmitter::Tile tile(emitter, lanes, mask, present);
    Index lane(at);
    lane.lane = lanes > 1 ? 1 : 0;
    if (failed(body(lane)))
      return failure();
  }
  return success();
}

/// Loops over the tiles of 8 rows by 128 columns of a block of the result.
LogicalResult UnitDotLowering::forBlockTiles(
    llvm::function_ref<LogicalResult(const Index &row, const Index &column)> body) {
  // A tile that begins beyond the last column would be one of the next row.
  int64_t columns = std::min<int64_t>(plan.columns, llvm::alignTo(view.n, kTileColumns));
  int64_t rows = std::min<int64_t>(plan.rows, llvm::alignTo(view.m, kTileRows));
  int64_t groups = rows / kTileRows, perGroup = columns / kTileColumns;
  int64_t ofLast = llvm::divideCeil(view.m % plan.rows, kTileRows);
  int64_t unroll = std::clamp<int64_t>(kUnrolledRegisters / perGroup, 1, groups);
  while (groups % unroll || ofLast % unroll)
    --unroll;
  Value end = index(groups);
  if (plan.rowBlocks > 1 && ofLast) {
    Value left = builder.createOrFold<arith::SubIOp>(loc(), index(view.m + kTileRows - 1),
                                                     emitter.space().scalar(rowBegin));
    left = builder.createOrFold<arith::DivUIOp>(loc(), left, index(kTileRows));
    end = lowering.minimum(left, groups);
  }
  auto loop = builder.create<scf::ForOp>(loc(), index(0), end, index(unroll));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  ElementEmitter::Level level(emitter, loop);
  ElementEmitter::Tile tile(emitter, {kTileRows, kTileColumns}, Value());
  IndexSpace &space = emitter.space();
  Index first = space.scale(
      space.variable(loop.getInductionVar(), 0, std::max<int64_t>(groups - unroll, 1), unroll),
      kTileRows);
  for (int64_t i = 0; i < unroll * perGroup; ++i) {
    Index row = space.add(first, i / perGroup * kTileRows), column(i % perGroup * kTileColumns);
    row.sublane = 1, column.lane = 1;
    if (failed(body(row, column)))
      return failure();
  }
  return success();
}

/// Computes the block's elements into scratch: lhs [rows][k], rhs [k][columns].
LogicalResult UnitDotLowering::pack(DotFactor &operand, bool isLeft) {
  IndexSpace &space = emitter.space();
  Type element = accumulator.isF32() ? accumulator : IntegerType::get(builder.getContext(), 8);
  int64_t lanes = lowering.machine.lanes(32);
  int64_t outerExtent = isLeft ? plan.rows : plan.depth;
  int64_t laneExtent = isLeft ? plan.depth : plan.columns;
  const Index &outerBegin = isLeft ? rowBegin : depthBegin;
  const Index &laneBegin = isLeft ? depthBegin : columnBegin;
  int64_t outerLimit = isLeft ? view.m : view.k, laneLimit = isLeft ? view.k : view.n;
  // Whole registers are stored: a row's last one stays within the row.
  int64_t pitch =
      llvm::alignTo(laneExtent, std::min<int64_t>(lanes, llvm::PowerOf2Ceil(laneExtent)));
  operand.buffer = scratch(outerExtent * pitch + lanes, element);
  operand.offset = index(0), operand.outerStride = pitch;
  bool zeroExtends = isUnsigned(typeOf(operand.tensor).getElementType());
  // Lanes stay within what is contiguous along k.
  int64_t part = isLeft && view.depthRow < view.k ? view.depthRow : laneExtent;
  return forBlockRows(outerExtent, laneExtent, outerBegin, outerLimit, [&](const Index &outer) {
    auto store = [&](const Index &lane) -> LogicalResult {
      Index o = space.add(outerBegin, outer), l = space.add(laneBegin, lane);
      FailureOr<Element> value =
          isLeft ? view.lhs(emitter, batch, o, l) : view.rhs(emitter, batch, o, l);
      if (failed(value))
        return failure();
      Index at = space.add(space.scale(outer, pitch), lane);
      at.lane = 0;
      builder.create<StoreOp>(loc(), widened(value->re, element, zeroExtends), operand.buffer,
                              ValueRange{space.scalar(at)}, Value(), 1);
      return success();
    };
    if (part == laneExtent)
      return forBlockLanes(laneExtent, laneBegin, laneLimit, store);
    return forRange(
        emitter, index(0), index(laneExtent / part), laneExtent / part, [&](const Index &number) {
          Index base = space.scale(number, part);
          return forBlockLanes(part, Index(0), part,
                               [&](const Index &lane) { return store(space.add(base, lane)); });
        });
  });
}

/// lhs from [k][row], as it lies, to [row][k].
void UnitDotLowering::turnLeft() {
  Type element = cast<MemRefType>(left.buffer.getType()).getElementType();
  int64_t pitch = llvm::alignTo(plan.depth, 128), rows = llvm::alignTo(plan.rows, 128);
  Value turned = scratch(rows * pitch, element);
  turnTiles(builder, loc(), {left.buffer, plan.depth, plan.rows, plan.rows},
            {turned, rows, pitch, pitch});
  left.buffer = turned, left.outerStride = pitch;
}

/// The sums of this block of k: depth is a constant, so the last block may have a
/// product of its own.
void UnitDotLowering::multiply() {
  int64_t last = view.k - (plan.depthBlocks - 1) * plan.depth;
  Type leftType = typeOf(left.tensor).getElementType(),
       rightType = typeOf(right.tensor).getElementType();
  auto dot = [&](int64_t depth, bool adds) {
    bool turned = right.form == DotFactor::Form::Turned;
    auto made = builder.create<TileDotOp>(loc(), left.buffer, left.offset, right.buffer,
                                          right.offset, sums, sumsOffset, index(depth), plan.rows,
                                          plan.columns, left.outerStride, 1,
                                          turned ? 1 : right.outerStride, plan.columns, adds);
    if (turned)
      made.setBColumnStride(right.outerStride);
    made.setAUnsigned(isUnsigned(leftType));
    made.setBUnsigned(isUnsigned(rightType));
    partsOf(view, lowering.machine).set(made);
  };
  auto branch = [&](arith::CmpIPredicate predicate, int64_t value, auto yes, auto no) {
    Value condition = builder.create<arith::CmpIOp>(loc(), predicate, depthDigit, index(value));
    auto made = builder.create<scf::IfOp>(loc(), condition, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(made.thenBlock());
    yes();
    builder.setInsertionPointToStart(made.elseBlock());
    no();
  };
  if (plan.depthBlocks == 1)
    return dot(view.k, false);
  branch(
      arith::CmpIPredicate::eq, 0, [&] { dot(plan.depth, false); },
      [&] {
        if (last == plan.depth)
          return dot(plan.depth, true);
        branch(
            arith::CmpIPredicate::slt, plan.depthBlocks - 1, [&] { dot(plan.depth, true); },
            [&] { dot(last, true); });
      });
}

/// Rounding sums to f16 has a price of its own, which depends on whether tasks share
/// windows (Timing.h).
void UnitDotLowering::markRounding(Value sum) {
  auto wide = sum.getDefiningOp<arith::ExtFOp>();
  if (auto rounding = wide ? wide.getIn().getDefiningOp<arith::TruncFOp>() : nullptr)
    rounding->setAttr(kOfProductAttr, builder.getBoolAttr(lowering.kernel.getTasks() > 1));
}

LogicalResult UnitDotLowering::emitEpilogueAt(const Index &row, const Index &column) {
  IndexSpace &space = emitter.space();
  Index r = space.add(rowBegin, row), c = space.add(columnBegin, column);
  Position expected = view.result(space, batch, r, c);
  emitter.bind(product, [&](const Position &at) -> FailureOr<Element> {
    if (!(at == expected))
      return view.op->emitOpError("is read at another place than it is computed for");
    auto type = RankedTensorType::get({plan.rows, plan.columns}, accumulator);
    Element sum = emitter.load(type, sums, {row, column});
    Num finished = finishedSum(sum.re, typeOf(product).getElementType());
    markRounding(finished);
    return Element{finished, {}};
  });
  auto all = [&]() -> LogicalResult {
    SmallVector<std::pair<Element, Position>, 2> results;
    for (Value output : lowering.fusion.getYield().getValues()) {
      std::optional<Position> at = followProduct(space, product, output, expected);
      if (!at)
        return lowering.fusion.emitOpError("has a result that does not come from its product");
      FailureOr<Element> element = emitter.emit(output, *at);
      if (failed(element))
        return failure();
      results.push_back({*element, *at});
    }
    // Loads stand before stores: a result may take the place of an input.
    for (auto [i, output] : llvm::enumerate(lowering.fusion.getYield().getValues())) {
      RankedTensorType type = typeOf(output);
      if (!outputViews[i]) {
        if (failed(
                emitter.store(results[i].first, type, emitter.outputBuffer(i), results[i].second)))
          return failure();
        continue;
      }
      Index linear = space.linearize(results[i].second, type.getShape());
      std::optional<Index> local = outputs[i]->local(space, linear, digits);
      if (!local)
        return lowering.fusion.emitOpError(
            "writes a result at another place than it is staged for");
      auto flat = RankedTensorType::get({outputs[i]->elements()}, type.getElementType());
      if (failed(emitter.store(results[i].first, flat, outputViews[i], {*local})))
        return failure();
    }
    return success();
  };
  LogicalResult done = all();
  emitter.unbind(product);
  return done;
}

LogicalResult UnitDotLowering::emitEpilogue() {
  // A result without rows or columns has one of them.
  int64_t rows = view.m == 1 ? 1 : plan.rows, columns = view.n == 1 ? 1 : plan.columns;
  // Tiles fill registers whatever the number of columns, but cover the whole block.
  bool inTiles = reachesBeyond && rows > 1 && columns > 1 &&
                 lowering.machine.rowLanes == kTileColumns && columns % kTileColumns == 0;
  auto all = [&]() -> LogicalResult {
    if (inTiles)
      return forBlockTiles(
          [&](const Index &row, const Index &column) { return emitEpilogueAt(row, column); });
    return forBlockRows(rows, columns, rowBegin, view.m, [&](const Index &row) {
      return forBlockLanes(columns, columnBegin, view.n,
                           [&](const Index &column) { return emitEpilogueAt(row, column); });
    });
  };
  if (plan.depthBlocks == 1)
    return all();
  Value last = builder.create<arith::CmpIOp>(loc(), arith::CmpIPredicate::eq, depthDigit,
                                             index(plan.depthBlocks - 1));
  auto branch = builder.create<scf::IfOp>(loc(), last);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  ElementEmitter::Level level(emitter, branch);
  return all();
}

LogicalResult UnitDotLowering::run() {
  makeProbes();
  left.bytes = right.bytes = 4;
  classify(left, true);
  classify(right, false);
  findOutputs();
  findInputs();
  sumsInOutput = canSumInOutput();
  choosePlan();
  setBlocks();
  lowering.kernel.setTasks(view.batch * plan.rowBlocks * plan.columnBlocks * plan.depthBlocks);
  lowering.kernel->setAttr(kCoresAttr, builder.getI64IntegerAttr(plan.cores));
  declareWindows();
  splitTask();
  bindInputs();
  // In place: rows of the result's window lie as the sums do.
  sumsOffset = index(0);
  sums = sumsInOutput ? outputViews[0] : scratch(plan.rows * plan.columns, accumulator);
  if (left.form == DotFactor::Form::Packed && failed(pack(left, true)))
    return failure();
  if (right.form == DotFactor::Form::Packed && failed(pack(right, false)))
    return failure();
  if (left.form == DotFactor::Form::Direct)
    left.outerStride = plan.depth;
  if (left.form == DotFactor::Form::Turned)
    turnLeft();
  if (right.form == DotFactor::Form::Direct)
    right.outerStride = plan.columns;
  if (right.form == DotFactor::Form::Turned)
    right.outerStride = plan.depth;
  multiply();
  if (!sumsInOutput && failed(emitEpilogue()))
    return failure();
  lowering.kernel.setScratchBytes(scratchBytes);
  return success();
}

LogicalResult kernel::lowerUnitDot(FusionLowering &lowering, MatrixProblem &problem,
                                   ElementEmitter &emitter) {
  return UnitDotLowering(lowering, problem, emitter).run();
}
