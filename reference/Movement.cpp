//===- Movement.cpp - shapes and the movement of data ----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// bitcast_convert, broadcast, broadcast_in_dim, concatenate, constant,
// get_dimension_size, iota, pad, reshape, reverse, set_dimension_size,
// transpose; and dynamic_broadcast_in_dim, dynamic_iota, dynamic_pad,
// dynamic_reshape.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "reference/Evaluator.h"
#include "reference/Kernel.h"
#include "reference/Ops.h"

#include <cstring>

using namespace mlir;

namespace spokeshave::reference {

Tensor stridedView(const Tensor &operand, Shape shape, ArrayRef<int64_t> strides, int64_t offset) {
  Tensor result(operand.elementType(), shape);
  if (result.size() == 0)
    return result;
  unsigned bytes = operand.elementType().bytes();
  const char *from = operand.data();
  char *to = result.mutableData();
  Index index(shape.size(), 0);
  int64_t linear = offset;
  while (true) {
    std::memcpy(to, from + linear * bytes, bytes);
    to += bytes;
    int64_t axis = static_cast<int64_t>(shape.size()) - 1;
    for (; axis >= 0; --axis) {
      linear += strides[axis];
      if (++index[axis] < shape[axis])
        break;
      linear -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
    if (axis < 0)
      return result;
  }
}

/// Each dimension of the operand goes to a dimension of the result, of the same
/// size or expanded from 1; dimensions that none goes to repeat the operand.
Tensor broadcastInDim(const Tensor &operand, ArrayRef<int64_t> broadcastDimensions,
                      Shape resultShape) {
  Index strides(resultShape.size(), 0), operandStrides = stridesOf(operand.shape());
  for (auto [axis, resultAxis] : llvm::enumerate(broadcastDimensions))
    strides[resultAxis] = operand.dim(axis) == 1 ? 0 : operandStrides[axis];
  return stridedView(operand, resultShape, strides, 0);
}

Tensor transpose(const Tensor &operand, ArrayRef<int64_t> permutation) {
  Index shape, strides, operandStrides = stridesOf(operand.shape());
  for (int64_t axis : permutation) {
    shape.push_back(operand.dim(axis));
    strides.push_back(operandStrides[axis]);
  }
  return stridedView(operand, shape, strides, 0);
}

Tensor reverse(const Tensor &operand, ArrayRef<int64_t> dimensions) {
  Index strides = stridesOf(operand.shape());
  int64_t offset = 0;
  for (int64_t axis : dimensions) {
    offset += strides[axis] * (operand.dim(axis) - 1);
    strides[axis] = -strides[axis];
  }
  return stridedView(operand, operand.shape(), strides, offset);
}

Tensor concatenate(ArrayRef<Tensor> inputs, int64_t dimension) {
  Index shape(inputs.front().shape());
  shape[dimension] = 0;
  for (const Tensor &input : inputs)
    shape[dimension] += input.dim(dimension);
  Tensor result(inputs.front().elementType(), shape);
  // Per outer index, each input contributes one contiguous run.
  int64_t outer = elementCount(Shape(shape).take_front(dimension));
  int64_t inner = elementCount(Shape(shape).drop_front(dimension + 1));
  char *to = result.mutableData();
  for (int64_t i = 0; i < outer; ++i)
    for (const Tensor &input : inputs) {
      size_t run = static_cast<size_t>(input.dim(dimension) * inner) * input.elementType().bytes();
      if (run)
        std::memcpy(to, input.data() + i * run, run);
      to += run;
    }
  return result;
}

Tensor pad(const Tensor &operand, const Scalar &paddingValue, ArrayRef<int64_t> low,
           ArrayRef<int64_t> high, ArrayRef<int64_t> interior) {
  Index shape;
  for (int64_t axis = 0; axis < operand.rank(); ++axis) {
    int64_t dilated =
        operand.dim(axis) + std::max<int64_t>(operand.dim(axis) - 1, 0) * interior[axis];
    shape.push_back(low[axis] + dilated + high[axis]);
  }
  Tensor result = Tensor::splat(operand.elementType(), shape, paddingValue);
  unsigned bytes = operand.elementType().bytes();
  char *to = result.mutableData();
  const char *from = operand.data();
  Index target(shape.size());
  forEachIndex(operand.shape(), [&](ArrayRef<int64_t> index) {
    bool inside = true;
    for (auto [axis, i] : llvm::enumerate(index)) {
      target[axis] = low[axis] + i * (interior[axis] + 1);
      inside &= target[axis] >= 0 && target[axis] < shape[axis];
    }
    if (inside)
      std::memcpy(to + result.linearIndex(target) * bytes, from, bytes);
    from += bytes;
  });
  return result;
}

Tensor convertTo(const Tensor &operand, ElementType type) {
  if (operand.elementType() == type)
    return operand;
  Tensor result(type, operand.shape());
  char *to = result.mutableData();
  for (int64_t i = 0; i < operand.size(); ++i, to += type.bytes())
    type.store(to, operand.at(i));
  return result;
}

LogicalResult checkShape(const Call &call, Shape shape, unsigned elementBytes) {
  int64_t count = elementCount(shape);
  if (count < 0)
    return call.error() << "is asked for a shape with a negative or overflowing size";
  if (count > (int64_t{1} << 40) / std::max(1u, elementBytes))
    return call.error() << "is asked for a result too large to interpret";
  return success();
}

//===----------------------------------------------------------------------===//
// Handlers.
//===----------------------------------------------------------------------===//

static LogicalResult evalConstant(stablehlo::ConstantOp op, Call &call) {
  FailureOr<Tensor> value = Tensor::fromAttribute(op.getValue());
  if (failed(value))
    return call.error() << "has a value that cannot be read";
  // The attribute of a quantized constant holds its storage integers.
  if (value->elementType() != call.resultType() &&
      value->elementType().bytes() == call.resultType().bytes())
    *value = value->withType(call.resultType());
  return call.give(std::move(*value));
}

static LogicalResult iota(Call &call, Shape shape, int64_t dimension) {
  ElementType type = call.resultType();
  if (failed(checkShape(call, shape, type.bytes())))
    return failure();
  if (dimension < 0 || dimension >= static_cast<int64_t>(shape.size()))
    return call.error() << "iota_dimension is not a dimension of the result";
  Tensor result(type, shape);
  char *to = result.mutableData();
  int64_t stride = stridesOf(shape)[dimension];
  for (int64_t i = 0; i < result.size(); ++i, to += type.bytes()) {
    int64_t position = i / stride % shape[dimension];
    bool real = type.isFloat() || type.isComplex();
    type.store(to, real ? Scalar::real(static_cast<double>(position)) : Scalar::integer(position));
  }
  return call.give(std::move(result));
}

static LogicalResult evalIota(stablehlo::IotaOp op, Call &call) {
  return iota(call, call.declaredShape(), op.getIotaDimension());
}

static LogicalResult evalDynamicIota(stablehlo::DynamicIotaOp op, Call &call) {
  return iota(call, call[0].toIndex(), op.getIotaDimension());
}

static LogicalResult reshape(Call &call, Shape shape) {
  if (elementCount(shape) != call[0].size())
    return call.error() << "changes the number of elements from " << call[0].size() << " to "
                        << elementCount(shape);
  return call.give(call[0].withShape(shape));
}

/// A dimension that the program leaves open is what the others leave over.
static LogicalResult evalReshape(stablehlo::ReshapeOp, Call &call) {
  Index shape(call.declaredShape());
  int64_t *open = llvm::find(shape, ShapedType::kDynamic);
  if (open != shape.end()) {
    *open = 1;
    int64_t others = elementCount(shape);
    if (others > 0 && call[0].size() % others == 0)
      *open = call[0].size() / others;
  }
  return reshape(call, shape);
}

static LogicalResult evalDynamicReshape(stablehlo::DynamicReshapeOp, Call &call) {
  return reshape(call, call[1].toIndex());
}

static LogicalResult broadcast(Call &call, ArrayRef<int64_t> dimensions, Shape shape) {
  const Tensor &operand = call[0];
  if (failed(checkShape(call, shape, operand.elementType().bytes())))
    return failure();
  if (static_cast<int64_t>(dimensions.size()) != operand.rank())
    return call.error() << "needs one broadcast dimension per dimension of the operand";
  for (auto [axis, resultAxis] : llvm::enumerate(dimensions)) {
    if (resultAxis < 0 || resultAxis >= static_cast<int64_t>(shape.size()))
      return call.error() << "broadcast dimension " << resultAxis << " is out of range";
    if (operand.dim(axis) != 1 && operand.dim(axis) != shape[resultAxis])
      return call.error() << "cannot broadcast a dimension of size " << operand.dim(axis)
                          << " to size " << shape[resultAxis];
  }
  return call.give(broadcastInDim(operand, dimensions, shape));
}

static LogicalResult evalBroadcastInDim(stablehlo::BroadcastInDimOp op, Call &call) {
  return broadcast(call, op.getBroadcastDimensions(), call.declaredShape());
}

static LogicalResult evalDynamicBroadcastInDim(stablehlo::DynamicBroadcastInDimOp op, Call &call) {
  return broadcast(call, op.getBroadcastDimensions(), call[1].toIndex());
}

/// The operand's dimensions come last, after broadcast_sizes.
static LogicalResult evalBroadcast(stablehlo::BroadcastOp op, Call &call) {
  Index shape(op.getBroadcastSizes());
  auto dimensions =
      llvm::to_vector(llvm::seq<int64_t>(shape.size(), shape.size() + call[0].rank()));
  llvm::append_range(shape, call[0].shape());
  return broadcast(call, dimensions, shape);
}

static LogicalResult evalTranspose(stablehlo::TransposeOp op, Call &call) {
  return call.give(transpose(call[0], op.getPermutation()));
}

static LogicalResult evalReverse(stablehlo::ReverseOp op, Call &call) {
  return call.give(reverse(call[0], op.getDimensions()));
}

static LogicalResult evalConcatenate(stablehlo::ConcatenateOp op, Call &call) {
  int64_t dimension = op.getDimension();
  for (const Tensor &input : call.operands)
    for (int64_t axis = 0; axis < input.rank(); ++axis)
      if (axis != dimension && input.dim(axis) != call[0].dim(axis))
        return call.error() << "joins tensors whose other dimensions differ";
  return call.give(concatenate(call.operands, dimension));
}

static LogicalResult padChecked(Call &call, ArrayRef<int64_t> low, ArrayRef<int64_t> high,
                                ArrayRef<int64_t> interior) {
  Index shape;
  auto rank = static_cast<size_t>(call[0].rank());
  if (low.size() != rank || high.size() != rank || interior.size() != rank)
    return call.error() << "needs padding for each of " << rank << " dimensions";
  constexpr int64_t limit = int64_t{1} << 40; // keeps the sums below from overflowing
  for (size_t axis = 0; axis < rank; ++axis) {
    int64_t gaps = std::max<int64_t>(call[0].dim(axis) - 1, 0), inside;
    if (interior[axis] < 0 || std::abs(low[axis]) > limit || std::abs(high[axis]) > limit ||
        llvm::MulOverflow(gaps, interior[axis], inside) || inside > limit)
      return call.error() << "has padding out of range in dimension " << axis;
    shape.push_back(low[axis] + call[0].dim(axis) + inside + high[axis]);
  }
  if (failed(checkShape(call, shape, call[0].elementType().bytes())))
    return failure();
  return call.give(pad(call[0], call[1].at(0), low, high, interior));
}

static LogicalResult evalPad(stablehlo::PadOp op, Call &call) {
  return padChecked(call, op.getEdgePaddingLow(), op.getEdgePaddingHigh(), op.getInteriorPadding());
}

static LogicalResult evalDynamicPad(stablehlo::DynamicPadOp, Call &call) {
  return padChecked(call, call[2].toIndex(), call[3].toIndex(), call[4].toIndex());
}

/// Elements of less than a byte, `ratio` of them to a wider one, its low bits
/// first. Elements of whole bytes need no work: memory is little-endian.
static void bitcastPacked(const Tensor &operand, int64_t ratio, bool narrows, Tensor &result) {
  ElementType from = operand.elementType(), to = result.elementType();
  char *out = result.mutableData();
  for (int64_t i = 0; i < (narrows ? operand.size() : result.size()); ++i) {
    if (narrows) {
      uint64_t bits = from.toBits(operand.at(i));
      for (int64_t part = 0; part < ratio; ++part, out += to.bytes())
        to.store(out, to.fromBits(bits >> (part * to.bits())));
      continue;
    }
    uint64_t bits = 0;
    for (int64_t part = 0; part < ratio; ++part)
      bits |= from.toBits(operand.at(i * ratio + part)) << (part * from.bits());
    to.store(out, to.fromBits(bits));
    out += to.bytes();
  }
}

static LogicalResult evalBitcastConvert(stablehlo::BitcastConvertOp, Call &call) {
  const Tensor &operand = call[0];
  ElementType from = operand.elementType(), to = call.resultType();
  Index shape(operand.shape());
  if (from.bits() == to.bits())
    return call.give(operand.withType(to));
  bool narrows = to.bits() < from.bits();
  int64_t ratio = narrows ? from.bits() / to.bits() : to.bits() / from.bits();
  if (narrows)
    shape.push_back(ratio);
  else if (!shape.empty() && shape.back() == ratio)
    shape.pop_back();
  else
    return call.error() << "needs a last dimension of size " << ratio;

  Tensor result(to, shape);
  if (from.bits() % 8 || to.bits() % 8)
    bitcastPacked(operand, ratio, narrows, result);
  else if (result.byteSize() == operand.byteSize() && result.size())
    std::memcpy(result.mutableData(), operand.data(), operand.byteSize());
  return call.give(std::move(result));
}

static LogicalResult evalGetDimensionSize(stablehlo::GetDimensionSizeOp op, Call &call) {
  return call.give(Tensor::scalar(
      call.resultType(), Scalar::integer(call[0].dim(static_cast<int64_t>(op.getDimension())))));
}

/// Keeps the first `size` slices of the dimension.
static LogicalResult evalSetDimensionSize(stablehlo::SetDimensionSizeOp op, Call &call) {
  Index start(call[0].rank(), 0), limit(call[0].shape()), strides(call[0].rank(), 1);
  int64_t size = call[1].at(0).i, dimension = op.getDimension();
  if (size < 0 || size > limit[dimension])
    return call.error() << "sets a dimension of size " << limit[dimension] << " to size " << size;
  limit[dimension] = size;
  return call.give(slice(call[0], start, limit, strides));
}

void addMovement(HandlerTable &table) {
  table.add<stablehlo::BitcastConvertOp, evalBitcastConvert>();
  table.add<stablehlo::BroadcastInDimOp, evalBroadcastInDim>();
  table.add<stablehlo::BroadcastOp, evalBroadcast>();
  table.add<stablehlo::ConcatenateOp, evalConcatenate>();
  table.add<stablehlo::ConstantOp, evalConstant>();
  table.add<stablehlo::DynamicBroadcastInDimOp, evalDynamicBroadcastInDim>();
  table.add<stablehlo::DynamicIotaOp, evalDynamicIota>();
  table.add<stablehlo::DynamicPadOp, evalDynamicPad>();
  table.add<stablehlo::DynamicReshapeOp, evalDynamicReshape>();
  table.add<stablehlo::GetDimensionSizeOp, evalGetDimensionSize>();
  table.add<stablehlo::IotaOp, evalIota>();
  table.add<stablehlo::PadOp, evalPad>();
  table.add<stablehlo::ReshapeOp, evalReshape>();
  table.add<stablehlo::ReverseOp, evalReverse>();
  table.add<stablehlo::SetDimensionSizeOp, evalSetDimensionSize>();
  table.add<stablehlo::TransposeOp, evalTranspose>();
}

} // namespace spokeshave::reference
