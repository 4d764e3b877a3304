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
// Rows of lhs must lie along k, else they are packed; rhs may lie either way.
//
//===----------------------------------------------------------------------===//
#include "kernel/LowerUnitDot.h"

#include "kernel/BlockWindows.h"
#include "kernel/UnitPlan.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

namespace {

/// Registers of packed operands and of the epilogue that are written in one iteration.
constexpr int64_t kUnrolledRegisters = 64;

/// A factor of the product.
struct Operand {
  enum class Form {
    Direct, ///< as it lies: lhs along k, rhs along its columns
    Turned, ///< as it lies: rhs along k
    Packed, ///< computed into scratch, as Direct
  } form = Form::Packed;
  Value tensor;
  std::optional<AffineBox> box; ///< of the buffer, unless packed
  Value buffer;                 ///< far; then what tile_dot reads
  int64_t bytes = 4;            ///< of an element in far memory
  Value offset;
  int64_t outerStride = 0; ///< of tile_dot's: between rows, or columns of Turned
};

class UnitDotLowering {
public:
  UnitDotLowering(FusionLowering &lowering, MatrixProblem &problem, ElementEmitter &emitter)
      : lowering(lowering), view(problem), emitter(emitter), builder(lowering.builder),
        product(problem.op->getResult(0)), accumulator(accumulatorType(problem.op)) {}
  LogicalResult run();

private:
  Location loc() { return lowering.loc(); }
  Value index(int64_t i) { return lowering.constant(i); }
  Value scratch(int64_t elements, Type element);

  // Before the plan: how everything lies.
  void makeProbes();
  void classify(Operand &operand, bool isLeft);
  void findOutputs();
  void findInputs();
  void choosePlan();
  void setBlocks();
  void declareWindows();
  std::optional<AffineBox> boxAt(const Index &linear);

  // The task.
  void splitTask();
  LogicalResult pack(Operand &operand, bool isLeft);
  LogicalResult packRow(Operand &operand, bool isLeft, const Index &outer, Value at);
  void multiply();
  LogicalResult emitEpilogue();
  bool canSumInOutput();
  LogicalResult emitEpilogueAt(const Index &row, const Index &column);
  void bindInputs();
  LogicalResult forBlockRows(int64_t extent, int64_t rowElements, const Index &begin, int64_t limit,
                             llvm::function_ref<LogicalResult(const Index &)> body);
  LogicalResult forBlockLanes(int64_t extent, const Index &begin, int64_t limit,
                              llvm::function_ref<LogicalResult(const Index &)> body);

  FusionLowering &lowering;
  MatrixProblem &view;
  ElementEmitter &emitter;
  OpBuilder &builder;
  Value product;
  Type accumulator;
  UnitPlan plan;

  // The index space: batch dimensions, row, column, depth.
  SmallVector<int64_t> batchExtents;
  SmallVector<BlockDimension> dims;
  Index probeBatch, probeRow, probeColumn, probeDepth;
  SmallVector<int64_t> radices;

  Operand left, right;
  /// Boxes of what else is read, and of results; nothing: as a whole.
  std::map<unsigned, std::optional<AffineBox>> inputs;
  SmallVector<std::optional<AffineBox>> outputs;
  std::map<unsigned, Value> inputViews;
  SmallVector<Value> outputViews;
  /// Whether the block may reach beyond the problem's edges in what the fusion
  /// computes: everything is in windows then, which are as large as the block.
  bool reachesBeyond = true;

  SmallVector<Value> digits; ///< of the task
  Index batch, rowBegin, columnBegin, depthBegin;
  Value depthDigit;
  Value sums;
  Value sumsOffset;
  bool sumsInOutput = false;
  int64_t scratchBytes = 0;
};

} // namespace

Value UnitDotLowering::scratch(int64_t elements, Type element) {
  int64_t offset = scratchBytes;
  int64_t bytes = std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
  scratchBytes += llvm::alignTo(elements * bytes, 64) + 64;
  return builder.create<ScratchOp>(loc(), MemRefType::get({elements}, element), offset);
}

//===----------------------------------------------------------------------===//
// How everything lies
//===----------------------------------------------------------------------===//

/// Variables that stand for any batch, row, column and step of k. No code remains
/// of them.
void UnitDotLowering::makeProbes() {
  for (int64_t extent : view.batchExtents)
    if (extent > 1)
      batchExtents.push_back(extent);
  if (view.batchExtents.empty() && view.batch > 1)
    batchExtents.push_back(view.batch);
  Value task = lowering.kernel.getTask();
  auto probe = [&](int64_t extent) {
    // No constant: quotients of it would fold.
    Value any = builder.create<arith::AddIOp>(loc(), task, index(dims.size() + 1));
    dims.push_back({any, 1, extent, -1});
    return emitter.space().variable(any, 0, std::max<int64_t>(extent - 1, 1));
  };
  int64_t stride = view.batch;
  for (int64_t extent : batchExtents) {
    stride /= extent;
    probeBatch = emitter.space().add(probeBatch, emitter.space().scale(probe(extent), stride));
  }
  probeRow = probe(view.m), probeColumn = probe(view.n), probeDepth = probe(view.k);
}

std::optional<AffineBox> UnitDotLowering::boxAt(const Index &linear) {
  return boxOf(linear, dims);
}

/// Whether the units take elements of this type as they are.
static bool isFactor(Type element, Type accumulator) {
  if (accumulator.isF32())
    return element.isF32() || element.isBF16();
  return element.isInteger(8);
}

void UnitDotLowering::classify(Operand &operand, bool isLeft) {
  operand.tensor = isLeft ? view.left : view.right;
  Type element = typeOf(operand.tensor).getElementType();
  operand.bytes = std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
  if (!isFactor(element, accumulator))
    return;
  std::optional<DirectRead> read =
      isLeft ? view.directLhs(emitter, probeBatch) : view.directRhs(emitter, probeBatch);
  if (!read)
    return;
  // One row or step of k alone may lie as it pleases.
  int64_t far = cast<MemRefType>(read->buffer.getType()).getNumElements() + 1;
  bool alongDepth = read->secondStride == 1 && view.k > 1;
  if ((isLeft ? view.m : view.n) == 1)
    read->firstStride = alongDepth ? far : 1;
  if (view.k == 1)
    read->secondStride = far;
  bool alongOuter = read->firstStride == 1 && read->secondStride > 1;
  if (isLeft ? !alongDepth : !alongDepth && !alongOuter)
    return;
  // Again in our own variables.
  Index linear = read->origin;
  Value outer = (isLeft ? probeRow : probeColumn).terms[0].value, depth = probeDepth.terms[0].value;
  if (read->firstStride <= 0 || read->secondStride <= 0)
    return;
  linear.terms.push_back({outer, read->firstStride});
  linear.terms.push_back({depth, read->secondStride});
  operand.box = boxAt(linear);
  if (!operand.box)
    return;
  operand.buffer = read->buffer;
  operand.form = isLeft == alongDepth ? Operand::Form::Direct : Operand::Form::Turned;
}

void UnitDotLowering::findOutputs() {
  IndexSpace &space = emitter.space();
  for (Value output : lowering.fusion.getYield().getValues()) {
    std::optional<Position> at = followProduct(
        space, product, output, view.result(space, probeBatch, probeRow, probeColumn));
    std::optional<AffineBox> box;
    if (at && !isa<ComplexType>(typeOf(output).getElementType()))
      box = boxAt(space.linearize(*at, typeOf(output).getShape()));
    outputs.push_back(box);
  }
}

/// What the epilogue and packing read: one box for each input that is always read
/// at the same place.
void UnitDotLowering::findInputs() {
  IndexSpace &space = emitter.space();
  SmallVector<InputRead> reads;
  bool known = true;
  Position at = view.result(space, probeBatch, probeRow, probeColumn);
  for (Value output : lowering.fusion.getYield().getValues()) {
    std::optional<Position> place = followProduct(space, product, output, at);
    known &= place && collectReads(emitter, output, *place, product, reads);
  }
  for (bool isLeft : {true, false}) {
    if ((isLeft ? left : right).form != Operand::Form::Packed)
      continue;
    std::optional<Position> place = isLeft ? view.lhsAt(space, probeBatch, probeRow, probeDepth)
                                           : view.rhsAt(space, probeBatch, probeDepth, probeColumn);
    known &= place && collectReads(emitter, isLeft ? view.left : view.right, *place, {}, reads);
  }
  if (!known) { // some of it is read where we do not know
    reachesBeyond = false;
    return;
  }
  std::map<unsigned, Index> first;
  for (const InputRead &read : reads) {
    unsigned number = read.input.getArgNumber();
    auto [seen, isNew] = first.try_emplace(number, read.linear);
    RankedTensorType type = typeOf(read.input);
    std::optional<AffineBox> box;
    if (!isa<ComplexType>(type.getElementType()))
      box = boxAt(read.linear);
    if (!isNew && !(seen->second == read.linear))
      box.reset();
    inputs[number] = box;
    reachesBeyond &= box.has_value();
  }
  for (const std::optional<AffineBox> &box : outputs)
    reachesBeyond &= box.has_value();
}

void UnitDotLowering::choosePlan() {
  UnitProduct shape;
  shape.batch = view.batch, shape.m = view.m, shape.n = view.n, shape.k = view.k;
  shape.ofBytes = !accumulator.isF32();
  shape.leftBytes = left.bytes, shape.rightBytes = right.bytes;
  shape.packsLeft = left.form != Operand::Form::Direct;
  shape.packsRight = right.form == Operand::Form::Packed;
  shape.rightAlongDepth = right.form == Operand::Form::Turned;
  shape.cutsDepth = reachesBeyond || (!shape.packsRight && left.form != Operand::Form::Packed);
  shape.outputBytes = 0;
  for (auto [box, value] : llvm::zip_equal(outputs, lowering.fusion.getYield().getValues()))
    if (box)
      shape.outputBytes += std::max<int64_t>(1, typeOf(value).getElementTypeBitWidth() / 8);
  for (auto &[number, box] : inputs)
    if (box && box->dims.size() > 1)
      shape.epilogueBytes += 4;
  shape.sumsInOutput = sumsInOutput;
  for (auto [number, input] : llvm::enumerate(lowering.fusion.getBlock().getArguments())) {
    auto box = inputs.find(number);
    Value buffer = emitter.inputBuffer(number);
    bool inWindows =
        (box != inputs.end() && box->second) || buffer == left.buffer || buffer == right.buffer;
    auto type = cast<MemRefType>(buffer.getType());
    if (!inWindows)
      shape.wholeBytes += type.getNumElements() * type.getElementTypeBitWidth() / 8;
  }
  plan = planUnits(shape, lowering.machine);
}

/// The blocks' sizes in the boxes, which were found without them.
void UnitDotLowering::setBlocks() {
  int64_t first = batchExtents.size();
  llvm::append_range(radices, batchExtents);
  radices.append({plan.rowBlocks, plan.columnBlocks, plan.depthBlocks});
  for (int64_t d = 0; d < first; ++d)
    dims[d].digit = d;
  int64_t sizes[] = {plan.rows, plan.columns, plan.depth};
  for (int64_t d = 0; d < 3; ++d)
    dims[first + d].size = sizes[d], dims[first + d].digit = first + d;
}

void UnitDotLowering::declareWindows() {
  auto again = [&](std::optional<AffineBox> &box) {
    Index linear(box->base);
    for (const AffineBox::Dimension &dim : box->dims)
      if (dim.number >= 0)
        linear.terms.push_back({dims[dim.number].probe, dim.stride});
    box = boxAt(linear);
  };
  auto declare = [&](std::optional<AffineBox> &box, Value buffer) {
    again(box);
    return declareWindow(builder, loc(), buffer, *box, radices);
  };
  for (Operand *operand : {&left, &right})
    if (operand->box) {
      operand->buffer = declare(operand->box, operand->buffer);
      operand->offset = index(0);
    }
  for (auto &[number, box] : inputs)
    if (box)
      inputViews[number] = declare(box, emitter.inputBuffer(number));
  for (auto [number, box] : llvm::enumerate(outputs))
    outputViews.push_back(box ? declare(box, emitter.outputBuffer(number)) : Value());
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

/// Loops over the rows of a block, several in an iteration where that is sure to
/// stay within what may be touched.
LogicalResult UnitDotLowering::forBlockRows(int64_t extent, int64_t rowElements, const Index &begin,
                                            int64_t limit,
                                            llvm::function_ref<LogicalResult(const Index &)> body) {
  int64_t registers = llvm::divideCeil(rowElements, lowering.machine.lanes(32));
  int64_t unroll = std::clamp<int64_t>(kUnrolledRegisters / registers, 1, extent);
  while (extent % unroll || (!reachesBeyond && limit % unroll))
    --unroll;
  IndexSpace &space = emitter.space();
  Value end = index(extent);
  if (!reachesBeyond && limit % extent) {
    Value left = builder.createOrFold<arith::SubIOp>(loc(), index(limit), space.scalar(begin));
    end = lowering.minimum(left, extent);
  }
  auto loop = builder.create<scf::ForOp>(loc(), index(0), end, index(unroll));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  ElementEmitter::Level level(emitter, loop);
  Index row =
      space.variable(loop.getInductionVar(), 0, std::max<int64_t>(extent - unroll, 1), unroll);
  for (int64_t i = 0; i < unroll; ++i)
    if (failed(body(space.add(row, i))))
      return failure();
  return success();
}

/// The same along the lanes: registers side by side, all of them in one iteration.
LogicalResult
UnitDotLowering::forBlockLanes(int64_t extent, const Index &begin, int64_t limit,
                               llvm::function_ref<LogicalResult(const Index &)> body) {
  IndexSpace &space = emitter.space();
  int64_t lanes = std::min<int64_t>(lowering.machine.lanes(32),
                                    llvm::PowerOf2Ceil(std::max<int64_t>(extent, 2)));
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
    lane.lane = 1;
    if (failed(body(lane)))
      return failure();
  }
  return success();
}

/// Computes the block's elements into scratch: lhs [rows][k], rhs [k][columns].
LogicalResult UnitDotLowering::pack(Operand &operand, bool isLeft) {
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

/// The sums of this block of k: depth is a constant, so the last block may have a
/// product of its own.
void UnitDotLowering::multiply() {
  int64_t last = view.k - (plan.depthBlocks - 1) * plan.depth;
  Type leftType = typeOf(left.tensor).getElementType(),
       rightType = typeOf(right.tensor).getElementType();
  auto dot = [&](int64_t depth, bool adds) {
    bool turned = right.form == Operand::Form::Turned;
    auto made = builder.create<TileDotOp>(loc(), left.buffer, left.offset, right.buffer,
                                          right.offset, sums, sumsOffset, index(depth), plan.rows,
                                          plan.columns, left.outerStride, 1,
                                          turned ? 1 : right.outerStride, plan.columns, adds);
    if (turned)
      made.setBColumnStride(right.outerStride);
    made.setAUnsigned(isUnsigned(leftType));
    made.setBUnsigned(isUnsigned(rightType));
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

LogicalResult UnitDotLowering::emitEpilogueAt(const Index &row, const Index &column) {
  IndexSpace &space = emitter.space();
  Index r = space.add(rowBegin, row), c = space.add(columnBegin, column);
  Position expected = view.result(space, batch, r, c);
  emitter.bind(product, [&](const Position &at) -> FailureOr<Element> {
    if (!(at == expected))
      return view.op->emitOpError("is read at another place than it is computed for");
    Index from = space.add(space.scale(row, plan.columns), column);
    from.lane = 0;
    Value offset = lowering.add(sumsOffset, space.scalar(from));
    Type type = VectorType::get({emitter.lanes()}, accumulator);
    Num sum(emitter.context(),
            builder.create<LoadOp>(loc(), type, sums, ValueRange{offset}, Value(), 1));
    return Element{finishedSum(sum, typeOf(product).getElementType()), {}};
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
  auto all = [&] {
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

/// Whether sums may be kept in the window of the one result, which is the product.
bool UnitDotLowering::canSumInOutput() {
  ValueRange results = lowering.fusion.getYield().getValues();
  if (results.size() != 1 || results[0] != product || !outputs[0] ||
      typeOf(product).getElementType() != accumulator || outputs[0]->dims.size() < 2)
    return false;
  // Rows of columns that lie beside each other.
  int64_t strideOfRow = 0, strideOfColumn = 0;
  IndexSpace &space = emitter.space();
  Index linear = space.linearize(view.result(space, probeBatch, probeRow, probeColumn),
                                 typeOf(product).getShape());
  for (const Index::Term &term : linear.terms) {
    if (term.value == probeRow.terms[0].value)
      strideOfRow = term.coefficient;
    if (term.value == probeColumn.terms[0].value)
      strideOfColumn = term.coefficient;
  }
  const auto &dims = outputs[0]->dims;
  return strideOfColumn == 1 && strideOfRow == dims[dims.size() - 2].stride && strideOfRow > 1;
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
  declareWindows();
  splitTask();
  bindInputs();
  // In place: rows of the result's window lie as the sums do.
  sumsOffset = index(0);
  sums = sumsInOutput ? outputViews[0] : scratch(plan.rows * plan.columns, accumulator);
  if (left.form == Operand::Form::Packed && failed(pack(left, true)))
    return failure();
  if (right.form == Operand::Form::Packed && failed(pack(right, false)))
    return failure();
  if (left.form == Operand::Form::Direct)
    left.outerStride = plan.depth;
  if (right.form == Operand::Form::Direct)
    right.outerStride = plan.columns;
  if (right.form == Operand::Form::Turned)
    right.outerStride = plan.depth;
  multiply();
  if (!sumsInOutput && failed(emitEpilogue()))
    return failure();
  lowering.kernel.setScratchBytes(scratchBytes);
  return success();
}

bool kernel::suitsUnits(const FusionLowering &lowering, const MatrixProblem &problem) {
  if (!lowering.machine.matrixTile || problem.batch * problem.m * problem.n * problem.k == 0)
    return false;
  Type result = typeOf(problem.op->getResult(0)).getElementType();
  if (isa<ComplexType>(result))
    return false;
  Type accumulator = accumulatorType(problem.op);
  auto fits = [&](Value tensor) {
    Type element = typeOf(tensor).getElementType();
    if (accumulator.isF32())
      return isa<FloatType>(element) && element.getIntOrFloatBitWidth() <= 32;
    return isa<IntegerType>(element) && element.getIntOrFloatBitWidth() <= 8 &&
           element.getIntOrFloatBitWidth() > 1;
  };
  return (accumulator.isF32() ||
          (accumulator.isInteger(32) && lowering.machine.matrixPushCyclesOfBytes)) &&
         fits(problem.left) && fits(problem.right);
}

LogicalResult kernel::lowerUnitDot(FusionLowering &lowering, MatrixProblem &problem,
                                   ElementEmitter &emitter) {
  return UnitDotLowering(lowering, problem, emitter).run();
}
