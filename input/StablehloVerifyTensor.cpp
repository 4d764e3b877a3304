//===- StablehloVerifyTensor.cpp - verifiers of data movement ---------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes, slices, padding, concatenation. Gather and scatter stand in
// StablehloVerifyIndexed.cpp.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloVerify.h"

#include "input/NarrowFloats.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace spokeshave::stablehlo {

//===----------------------------------------------------------------------===//
// Iota.
//===----------------------------------------------------------------------===//

LogicalResult IotaOp::verify() {
  return verifyInRange(*this, 1, "iota_dimension", int64_t(getIotaDimension()),
                       rankOf(getOutput()));
}

LogicalResult DynamicIotaOp::verify() {
  int64_t rank = shapeOf(getOutputShape()).front();
  if (failed(verifyInRange(*this, 1, "iota_dimension", int64_t(getIotaDimension()), rank)))
    return failure();
  if (rankOf(getResult()) != rank)
    return violation(*this, 2) << "result must have rank " << rank << ", got "
                               << rankOf(getResult());
  return verifyConstantShape(*this, 2, getOutputShape(), shapeOf(getResult()));
}

//===----------------------------------------------------------------------===//
// Reshapes.
//===----------------------------------------------------------------------===//

/// Bits of an element; of a complex number, those of both parts.
static int64_t bitsOf(Type element) {
  if (auto quantized = dyn_cast<quant::QuantizedType>(element))
    return quantized.getStorageTypeIntegralWidth();
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * bitsOf(complex.getElementType());
  if (narrow::isNarrowFloat(element))
    return narrow::widthOf(element);
  return element.getIntOrFloatBitWidth();
}

LogicalResult BitcastConvertOp::verify() {
  Type from = elementOf(getOperand()), to = elementOf(getResult());
  if (isa<ComplexType>(from) != isa<ComplexType>(to))
    return violation(*this, 2) << "operand and result must both be complex or neither, got " << from
                               << " and " << to;
  Sizes operand = shapeOf(getOperand()), result = shapeOf(getResult());
  int64_t fromBits = bitsOf(from), toBits = bitsOf(to);
  if (fromBits == toBits)
    return verifyShape(*this, 1, "result", result, operand);
  // The side with smaller elements has one more dimension, which makes up for it.
  bool shrinks = toBits < fromBits;
  Sizes wide = shrinks ? operand : result, narrow = shrinks ? result : operand;
  int64_t ratio = std::max(fromBits, toBits) / std::min(fromBits, toBits);
  if (std::max(fromBits, toBits) % std::min(fromBits, toBits) != 0)
    return violation(*this, 1) << "bits of " << from << " and " << to << " do not divide";
  SmallVector<int64_t> wanted(wide);
  wanted.push_back(ratio);
  return verifyShape(*this, 1, shrinks ? "result" : "operand", narrow, wanted);
}

/// How many elements there are; dynamic if not known or too many to count.
static int64_t countElements(Sizes shape) {
  int64_t count = 1;
  if (llvm::is_contained(shape, 0))
    return 0;
  for (int64_t size : shape)
    if (ShapedType::isDynamic(size) || llvm::MulOverflow(count, size, count))
      return ShapedType::kDynamic;
  return count;
}

/// C3 of reshapes: the dimension that scales belong to is the same one, with as
/// many elements before it, in it and after it.
static LogicalResult verifyQuantizedReshape(Operation *op, Value operand, Value result) {
  auto from = dyn_cast<quant::UniformQuantizedPerAxisType>(elementOf(operand));
  auto to = dyn_cast<quant::UniformQuantizedPerAxisType>(elementOf(result));
  if (!from || !to)
    return success();
  size_t fromDim = from.getQuantizedDimension(), toDim = to.getQuantizedDimension();
  Sizes before = shapeOf(operand), after = shapeOf(result);
  if (!sameSize(before[fromDim], after[toDim]) ||
      !sameSize(countElements(before.take_front(fromDim)),
                countElements(after.take_front(toDim))) ||
      !sameSize(countElements(before.drop_front(fromDim + 1)),
                countElements(after.drop_front(toDim + 1))))
    return violation(op, 3) << "the quantized dimension must stay the same, got "
                            << operand.getType() << " and " << result.getType();
  return success();
}

LogicalResult ReshapeOp::verify() {
  if (failed(verifySameElement(*this, 1, getOperand().getType(), getType(), true)) ||
      failed(verifyQuantizedReshape(*this, getOperand(), getResult())))
    return failure();
  int64_t before = countElements(shapeOf(getOperand())),
          after = countElements(shapeOf(getResult()));
  if (!sameSize(before, after))
    return violation(*this, 2) << "operand and result must have as many elements, got " << before
                               << " and " << after;
  return success();
}

LogicalResult DynamicReshapeOp::verify() {
  if (failed(verifySameElement(*this, 1, getOperand().getType(), getType(), true)) ||
      failed(verifyQuantizedReshape(*this, getOperand(), getResult())))
    return failure();
  int64_t before = countElements(shapeOf(getOperand())),
          after = countElements(shapeOf(getResult()));
  if (!sameSize(before, after))
    return violation(*this, 2) << "operand and result must have as many elements, got " << before
                               << " and " << after;
  if (failed(verifyCount(*this, 4, "output_shape", shapeOf(getOutputShape()).front(),
                         rankOf(getResult()))) ||
      failed(verifyConstantShape(*this, 4, getOutputShape(), shapeOf(getResult()))))
    return failure();
  std::optional<SmallVector<int64_t>> sizes = constantIntegers(getOutputShape());
  if (sizes && !sameSize(before, countElements(*sizes)))
    return violation(*this, 2) << "output_shape must have as many elements as the operand, "
                               << before << ", got " << countElements(*sizes);
  return success();
}

LogicalResult TransposeOp::verify() {
  if (failed(verifySameElement(*this, 1, getOperand().getType(), getType(), true)) ||
      failed(verifyInferred(*this, 3)))
    return failure();
  auto from = dyn_cast<quant::UniformQuantizedPerAxisType>(elementOf(getOperand()));
  auto to = dyn_cast<quant::UniformQuantizedPerAxisType>(elementOf(getResult()));
  if (from && to && from.getQuantizedDimension() != getPermutation()[to.getQuantizedDimension()])
    return violation(*this, 4) << "the quantized dimension must follow the permutation, got "
                               << from.getQuantizedDimension() << " and "
                               << to.getQuantizedDimension();
  return success();
}

LogicalResult ReverseOp::verify() {
  if (failed(verifyUnique(*this, 2, "dimensions", getDimensions())))
    return failure();
  return verifyInRange(*this, 3, "dimensions", getDimensions(), rankOf(getOperand()));
}

//===----------------------------------------------------------------------===//
// Broadcasts.
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  for (int64_t size : getBroadcastSizes())
    if (size < 0)
      return emitOpError("broadcast sizes must not be negative, got ") << size;
  SmallVector<int64_t> wanted(getBroadcastSizes());
  llvm::append_range(wanted, shapeOf(getOperand()));
  if (!sameShape(shapeOf(getResult()), wanted))
    return emitOpError("result must have the sizes and then the operand's shape, got ")
           << getType();
  return success();
}

/// C6: scales of the result are those of the operand, or its only one.
static LogicalResult verifyQuantizedBroadcast(Operation *op, Value operand, Value result,
                                              Sizes dimensions) {
  auto from = dyn_cast<quant::UniformQuantizedPerAxisType>(elementOf(operand));
  auto to = dyn_cast<quant::UniformQuantizedPerAxisType>(elementOf(result));
  if (!from || !to)
    return success();
  if (to.getQuantizedDimension() != dimensions[from.getQuantizedDimension()])
    return violation(op, 6) << "the quantized dimension of the result must be "
                            << dimensions[from.getQuantizedDimension()] << ", got "
                            << to.getQuantizedDimension();
  if (shapeOf(operand)[from.getQuantizedDimension()] != 1)
    return success();
  for (auto [scale, zeroPoint] : llvm::zip(to.getScales(), to.getZeroPoints()))
    if (scale != from.getScales().front() || zeroPoint != from.getZeroPoints().front())
      return violation(op, 6) << "the result must have the operand's scale and zero point";
  return success();
}

/// Constraints 1 to 6, which both forms of broadcast_in_dim have.
static LogicalResult verifyBroadcast(Operation *op, Value operand, Value result, Sizes dimensions) {
  if (failed(verifySameElement(op, 1, operand.getType(), result.getType(), false)) ||
      failed(verifyCount(op, 2, "broadcast_dimensions", dimensions.size(), rankOf(operand))) ||
      failed(verifyInRange(op, 3, "broadcast_dimensions", dimensions, rankOf(result))) ||
      failed(verifyUnique(op, 4, "broadcast_dimensions", dimensions)))
    return failure();
  for (auto [dim, size] : llvm::enumerate(shapeOf(operand))) {
    int64_t resultSize = shapeOf(result)[dimensions[dim]];
    if (size != 1 && !sameSize(size, resultSize))
      return violation(op, 5) << "size " << size << " of operand dimension " << dim
                              << " must be 1 or the size " << resultSize << " of result dimension "
                              << dimensions[dim];
  }
  return verifyQuantizedBroadcast(op, operand, result, dimensions);
}

LogicalResult BroadcastInDimOp::verify() {
  return verifyBroadcast(*this, getOperand(), getResult(), getBroadcastDimensions());
}

LogicalResult DynamicBroadcastInDimOp::verify() {
  if (failed(verifyBroadcast(*this, getOperand(), getResult(), getBroadcastDimensions())) ||
      failed(verifyCount(*this, 7, "output_dimensions", shapeOf(getOutputDimensions()).front(),
                         rankOf(getResult()))) ||
      failed(verifyConstantShape(*this, 7, getOutputDimensions(), shapeOf(getResult()))))
    return failure();
  Sizes expanding = getKnownExpandingDimensions().value_or(Sizes());
  Sizes nonexpanding = getKnownNonexpandingDimensions().value_or(Sizes());
  SmallVector<int64_t> known(expanding);
  llvm::append_range(known, nonexpanding);
  if (failed(verifyUnique(*this, 8, "known dimensions", known)) ||
      failed(
          verifyInRange(*this, 9, "known_expanding_dimensions", expanding, rankOf(getOperand()))))
    return failure();
  return verifyInRange(*this, 10, "known_nonexpanding_dimensions", nonexpanding,
                       rankOf(getOperand()));
}

//===----------------------------------------------------------------------===//
// Slices.
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::verify() {
  if (elementOf(getOperand()) != elementOf(getResult()))
    return violation(*this, 1) << "operand and result must have the same element type, got "
                               << getOperand().getType() << " and " << getType();
  return verifyInferred(*this, 5);
}

/// Start indices: one per dimension, all of one type.
static LogicalResult verifyStarts(Operation *op, int count, int type, ValueRange starts,
                                  int64_t rank) {
  if (failed(verifyCount(op, count, "start_indices", starts.size(), rank)))
    return failure();
  for (Value start : starts)
    if (start.getType() != starts.front().getType())
      return violation(op, type) << "start_indices must have one type, got "
                                 << starts.front().getType() << " and " << start.getType();
  return success();
}

LogicalResult DynamicSliceOp::verify() {
  int64_t rank = rankOf(getOperand());
  if (elementOf(getOperand()) != elementOf(getResult()))
    return violation(*this, 1) << "operand and result must have the same element type, got "
                               << getOperand().getType() << " and " << getType();
  if (failed(verifyCount(*this, 2, "slice_sizes", getSliceSizes().size(), rank)) ||
      failed(verifyStarts(*this, 2, 3, getStartIndices(), rank)))
    return failure();
  for (auto [dim, size] : llvm::enumerate(shapeOf(getOperand()))) {
    int64_t slice = getSliceSizes()[dim];
    if (slice < 0 || (!ShapedType::isDynamic(size) && slice > size))
      return violation(*this, 4) << "slice size " << slice << " of dimension " << dim
                                 << " must be at least 0 and at most " << size;
  }
  return verifyInferred(*this, 5);
}

LogicalResult RealDynamicSliceOp::verify() {
  int64_t rank = rankOf(getOperand());
  if (rankOf(getResult()) != rank)
    return emitOpError("operand and result must have the same rank, got ")
           << getOperand().getType() << " and " << getType();
  if (!sameSize(shapeOf(getStartIndices()).front(), rank))
    return emitOpError("start_indices must have ") << rank << " elements";
  return success();
}

LogicalResult DynamicUpdateSliceOp::verify() {
  int64_t rank = rankOf(getOperand());
  if (!areCompatibleTypes(getOperand().getType(), getType()))
    return violation(*this, 1) << "operand and result must have the same type, got "
                               << getOperand().getType() << " and " << getType();
  if (elementOf(getUpdate()) != elementOf(getOperand()))
    return violation(*this, 2) << "operand and update must have the same element type, got "
                               << getOperand().getType() << " and " << getUpdate().getType();
  if (rankOf(getUpdate()) != rank)
    return violation(*this, 3) << "update must have rank " << rank << ", got "
                               << rankOf(getUpdate());
  if (failed(verifyStarts(*this, 4, 5, getStartIndices(), rank)))
    return failure();
  for (auto [dim, update, size] : llvm::enumerate(shapeOf(getUpdate()), shapeOf(getOperand())))
    if (!ShapedType::isDynamic(update) && !ShapedType::isDynamic(size) && update > size)
      return violation(*this, 6) << "size " << update << " of the update in dimension " << dim
                                 << " must be at most " << size;
  return success();
}

//===----------------------------------------------------------------------===//
// Joining and padding.
//===----------------------------------------------------------------------===//

LogicalResult ConcatenateOp::verify() {
  if (getInputs().empty())
    return violation(*this, 3) << "there must be at least one input";
  Value first = getInputs().front();
  if (failed(verifyInRange(*this, 4, "dimension", int64_t(getDimension()), rankOf(first))))
    return failure();
  for (Value input : getInputs()) {
    if (elementOf(input) != elementOf(first))
      return violation(*this, 1) << "inputs must have the same element type, got "
                                 << first.getType() << " and " << input.getType();
    SmallVector<int64_t> shape(shapeOf(input));
    if (shape.size() == size_t(rankOf(first)))
      shape[getDimension()] = shapeOf(first)[getDimension()];
    if (!sameShape(shape, shapeOf(first)))
      return violation(*this, 2) << "inputs must have the same shape except for dimension "
                                 << getDimension() << ", got " << first.getType() << " and "
                                 << input.getType();
  }
  if (elementOf(getResult()) != elementOf(first))
    return violation(*this, 5) << "inputs and result must have the same element type, got "
                               << first.getType() << " and " << getType();
  return verifyInferred(*this, 6);
}

LogicalResult PadOp::verify() {
  if (elementOf(getOperand()) != elementOf(getResult()) ||
      elementOf(getOperand()) != elementOf(getPaddingValue()))
    return violation(*this, 1) << "operand, padding value and result must have the same element "
                                  "type, got "
                               << getOperandTypes() << " and " << getType();
  return verifyInferred(*this, 4);
}

LogicalResult DynamicPadOp::verify() {
  if (failed(verifyCount(*this, 2, "edge_padding_low", shapeOf(getEdgePaddingLow()).front(),
                         rankOf(getOperand()))))
    return failure();
  std::optional<SmallVector<int64_t>> interior = constantIntegers(getInteriorPadding());
  if (!interior)
    return success();
  for (int64_t padding : *interior)
    if (padding < 0)
      return violation(*this, 3) << "interior padding must not be negative, got " << padding;
  return success();
}

//===----------------------------------------------------------------------===//
// Sizes of dimensions.
//===----------------------------------------------------------------------===//

LogicalResult GetDimensionSizeOp::verify() {
  if (rankOf(getResult()) != 0)
    return emitOpError("result must be a scalar, got ") << getType();
  return verifyInRange(*this, 1, "dimension", int64_t(getDimension()), rankOf(getOperand()));
}

LogicalResult SetDimensionSizeOp::verify() {
  if (rankOf(getSize()) != 0)
    return emitOpError("size must be a scalar, got ") << getSize().getType();
  if (getDimension() >= uint64_t(rankOf(getOperand())))
    return emitOpError("dimension must be less than the operand's rank, got ") << getDimension();
  if (rankOf(getResult()) != rankOf(getOperand()))
    return emitOpError("result must have the operand's rank, got ") << getType();
  return success();
}

} // namespace spokeshave::stablehlo
