//===- UnitDotLayout.cpp - how the factors and results of a product lie ----===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Positions are followed from variables that stand for any batch, row, column and
// step of k to the inputs and results of the fusion. What is affine there has
// windows.
//
//===----------------------------------------------------------------------===//
#include "kernel/UnitDot.h"
#include "schedule/NearMemory.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

Index UnitDotLowering::makeProbe(int64_t extent) {
  // No constant: quotients of it would fold.
  Value any =
      builder.create<arith::AddIOp>(loc(), lowering.kernel.getTask(), index(dims.size() + 1));
  dims.push_back({any, 1, extent, -1});
  return emitter.space().variable(any, 0, std::max<int64_t>(extent - 1, 1));
}

/// Variables that stand for any batch, row, column and step of k. No code remains
/// of them.
void UnitDotLowering::makeProbes() {
  for (int64_t extent : view.batchExtents)
    if (extent > 1)
      batchExtents.push_back(extent);
  if (view.batchExtents.empty() && view.batch > 1)
    batchExtents.push_back(view.batch);
  int64_t stride = view.batch;
  for (int64_t extent : batchExtents) {
    stride /= extent;
    probeBatch = emitter.space().add(probeBatch, emitter.space().scale(makeProbe(extent), stride));
  }
  probeRow = makeProbe(view.m), probeColumn = makeProbe(view.n), probeDepth = makeProbe(view.k);
}

std::optional<AffineBox> UnitDotLowering::boxAt(const Index &linear) {
  return boxOf(linear, dims);
}

/// The input that `value` is a mere movement of, or null.
static BlockArgument inputBeneath(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<hlo::ReshapeOp, hlo::TransposeOp>(op))
      return {};
    value = op->getOperand(0);
  }
  return cast<BlockArgument>(value);
}

/// Whether the units take elements of this type as they are.
static bool isFactor(Type element, Type accumulator) {
  if (accumulator.isF32())
    return element.isF32() || element.isBF16() || element.isF16();
  return element.isInteger(8);
}

void UnitDotLowering::classify(DotFactor &operand, bool isLeft) {
  operand.tensor = isLeft ? view.left : view.right;
  Type element = typeOf(operand.tensor).getElementType();
  operand.bytes = std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
  if (!isFactor(element, accumulator))
    return;
  std::optional<DirectRead> read =
      isLeft ? view.directLhs(emitter, probeBatch) : view.directRhs(emitter, probeBatch);
  if (!read)
    return isLeft ? classifySplit(operand) : void();
  // One row or step of k alone may lie as it pleases.
  int64_t far = cast<MemRefType>(read->buffer.getType()).getNumElements() + 1;
  bool alongDepth = read->secondStride == 1 && view.k > 1;
  if ((isLeft ? view.m : view.n) == 1)
    read->firstStride = alongDepth ? far : 1;
  if (view.k == 1)
    read->secondStride = far;
  bool alongOuter = read->firstStride == 1 && read->secondStride > 1;
  if (!alongDepth && !alongOuter)
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
  operand.form = isLeft == alongDepth ? DotFactor::Form::Direct : DotFactor::Form::Turned;
}

/// Where k is made of two dimensions of the input that do not lie beside each other
/// (heads and their features, say), transfers bring them together.
void UnitDotLowering::classifySplit(DotFactor &operand) {
  IndexSpace &space = emitter.space();
  BlockArgument input = inputBeneath(operand.tensor);
  if (!input || typeOf(input).getRank() == 0)
    return;
  depthPart = typeOf(input).getShape().back();
  if (depthPart < 2 || view.k % depthPart != 0 || view.k == depthPart ||
      lowering.machine.matrixTile % depthPart != 0)
    return;
  Index outer = makeProbe(view.k / depthPart), inner = makeProbe(depthPart);
  Index depth = space.add(space.scale(outer, depthPart), inner);
  std::optional<Position> at = view.lhsAt(space, probeBatch, probeRow, depth);
  SmallVector<InputRead> reads;
  if (!at || !collectReads(emitter, operand.tensor, *at, {}, reads) || reads.size() != 1)
    return;
  std::optional<AffineBox> box = boxOf(reads[0].linear, dims, /*inOrder=*/true);
  int64_t rank = box ? box->dims.size() : 0, first = batchExtents.size();
  if (rank < 3 || box->dims[rank - 1].number != first + 4 ||
      box->dims[rank - 2].number != first + 3 || box->dims[rank - 3].number != first)
    return;
  operand.box = box, operand.buffer = emitter.inputBuffer(input.getArgNumber());
  operand.form = DotFactor::Form::Direct;
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
    if ((isLeft ? left : right).form != DotFactor::Form::Packed)
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

bool UnitDotLowering::isExpectedNear(Value buffer) {
  auto argument = dyn_cast_or_null<BlockArgument>(buffer);
  auto expected =
      lowering.fusion->getParentOp()->getAttrOfType<DenseI64ArrayAttr>(schedule::kExpectedNearAttr);
  return argument && expected &&
         llvm::is_contained(expected.asArrayRef(), int64_t(argument.getArgNumber()) - 1);
}

void UnitDotLowering::choosePlan() {
  UnitProduct shape;
  shape.batch = view.batch, shape.m = view.m, shape.n = view.n, shape.k = view.k;
  shape.ofBytes = !accumulator.isF32();
  shape.passes = partsOf(view, lowering.machine).passes();
  shape.leftBytes = left.bytes, shape.rightBytes = right.bytes;
  shape.packsLeft = left.form != DotFactor::Form::Direct;
  shape.packsRight = right.form == DotFactor::Form::Packed;
  shape.leftRun = left.box && left.box->inOrder ? depthPart : 0;
  shape.turnsLeft = left.form == DotFactor::Form::Turned;
  shape.rightAlongDepth = right.form == DotFactor::Form::Turned;
  shape.cutsDepth = reachesBeyond || (!shape.packsRight && left.form != DotFactor::Form::Packed);
  shape.outputBytes = 0;
  shape.roundsToHalf = typeOf(product).getElementType().isF16();
  for (auto [box, value] : llvm::zip_equal(outputs, lowering.fusion.getYield().getValues()))
    if (box)
      shape.outputBytes += std::max<int64_t>(1, typeOf(value).getElementTypeBitWidth() / 8);
  for (auto &[number, box] : inputs)
    if (box && box->dims.size() > 1)
      shape.epilogueBytes += 4;
  shape.sumsInOutput = sumsInOutput;
  shape.leftIsNear = isExpectedNear(left.buffer);
  shape.rightIsNear = isExpectedNear(right.buffer);
  shape.outputIsNear = llvm::all_of(llvm::seq<unsigned>(outputs.size()), [&](unsigned number) {
    return isExpectedNear(emitter.outputBuffer(number));
  });
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
  if (int64_t(dims.size()) == first + 5) { // k in two parts
    dims[first + 3].size = plan.depth / depthPart, dims[first + 3].digit = first + 2;
    dims[first + 4].size = depthPart;
  }
}

void UnitDotLowering::declareWindows() {
  auto again = [&](std::optional<AffineBox> &box) {
    Index linear(box->base);
    for (const AffineBox::Dimension &dim : box->dims)
      if (dim.number >= 0)
        linear.terms.push_back({dims[dim.number].probe, dim.stride});
    box = boxOf(linear, dims, box->inOrder);
  };
  auto declare = [&](std::optional<AffineBox> &box, Value buffer) {
    again(box);
    return declareWindow(builder, loc(), buffer, *box, radices);
  };
  for (DotFactor *operand : {&left, &right})
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
  return (accumulator.isF32() || accumulator.isInteger(32)) && fits(problem.left) &&
         fits(problem.right);
}

int64_t kernel::outerExtentOfLeft(const MatrixProblem &problem) {
  BlockArgument input = inputBeneath(problem.left);
  return input && typeOf(input).getRank() > 1 ? typeOf(input).getDimSize(0) : 1;
}

bool kernel::readsLeftInPlace(FusionLowering &lowering, MatrixProblem &problem,
                              ElementEmitter &emitter) {
  return UnitDotLowering(lowering, problem, emitter).readsLeftInPlace();
}
