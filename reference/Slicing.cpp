//===- Slicing.cpp - slices at fixed and at computed places ----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// dynamic_slice, dynamic_update_slice, real_dynamic_slice, slice.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "reference/Evaluator.h"
#include "reference/Ops.h"

#include <cstring>

using namespace mlir;

namespace spokeshave::reference {

Tensor slice(const Tensor &operand, ArrayRef<int64_t> start, ArrayRef<int64_t> limit,
             ArrayRef<int64_t> strides) {
  Index shape, steps = stridesOf(operand.shape());
  int64_t offset = 0;
  for (int64_t axis = 0; axis < operand.rank(); ++axis) {
    shape.push_back((limit[axis] - start[axis] + strides[axis] - 1) / strides[axis]);
    offset += start[axis] * steps[axis];
    steps[axis] *= strides[axis];
  }
  return stridedView(operand, shape, steps, offset);
}

Tensor splitPart(const Tensor &operand, int64_t part, int64_t parts, int64_t axis) {
  Index start(operand.rank(), 0), limit(operand.shape()), strides(operand.rank(), 1);
  int64_t size = operand.dim(axis) / parts;
  start[axis] = part * size;
  limit[axis] = start[axis] + size;
  return slice(operand, start, limit, strides);
}

static LogicalResult sliceChecked(Call &call, ArrayRef<int64_t> start, ArrayRef<int64_t> limit,
                                  ArrayRef<int64_t> strides) {
  auto rank = static_cast<size_t>(call[0].rank());
  if (start.size() != rank || limit.size() != rank || strides.size() != rank)
    return call.error() << "needs bounds for each of " << rank << " dimensions";
  for (size_t axis = 0; axis < rank; ++axis)
    if (start[axis] < 0 || start[axis] > limit[axis] || limit[axis] > call[0].dim(axis) ||
        strides[axis] < 1)
      return call.error() << "slices out of bounds in dimension " << axis << ": " << start[axis]
                          << " to " << limit[axis] << " step " << strides[axis] << " of "
                          << call[0].dim(axis);
  // A step past the end is as good as one to the end, and does not overflow.
  Index steps(strides);
  for (size_t axis = 0; axis < rank; ++axis)
    steps[axis] = std::min(steps[axis], std::max<int64_t>(1, call[0].dim(axis)));
  return call.give(slice(call[0], start, limit, steps));
}

static LogicalResult evalSlice(stablehlo::SliceOp op, Call &call) {
  return sliceChecked(call, op.getStartIndices(), op.getLimitIndices(), op.getStrides());
}

static LogicalResult evalRealDynamicSlice(stablehlo::RealDynamicSliceOp, Call &call) {
  return sliceChecked(call, call[1].toIndex(), call[2].toIndex(), call[3].toIndex());
}

/// Start indices, moved so that a box of `sizes` fits: clamp(start, 0,
/// dim - size). Unsigned indices beyond int64 count as large.
static FailureOr<Index> adjustedStart(Call &call, ArrayRef<Tensor> starts,
                                      ArrayRef<int64_t> sizes) {
  Shape shape = call[0].shape();
  if (starts.size() != shape.size() || sizes.size() != shape.size())
    return call.error() << "needs a start and a size for each of " << shape.size() << " dimensions";
  Index result;
  for (auto [axis, start] : llvm::enumerate(starts)) {
    if (sizes[axis] < 0 || sizes[axis] > shape[axis])
      return call.error() << "has a box larger than the operand in dimension " << axis;
    int64_t value = start.at(0).i, last = shape[axis] - sizes[axis];
    bool huge = start.elementType().isUnsigned() && value < 0;
    result.push_back(huge ? last : std::clamp<int64_t>(value, 0, last));
  }
  return result;
}

static LogicalResult evalDynamicSlice(stablehlo::DynamicSliceOp op, Call &call) {
  FailureOr<Index> start = adjustedStart(call, call.operands.drop_front(1), op.getSliceSizes());
  if (failed(start))
    return failure();
  return call.give(stridedView(call[0], op.getSliceSizes(), stridesOf(call[0].shape()),
                               call[0].linearIndex(*start)));
}

static LogicalResult evalDynamicUpdateSlice(stablehlo::DynamicUpdateSliceOp, Call &call) {
  const Tensor &update = call[1];
  FailureOr<Index> start = adjustedStart(call, call.operands.drop_front(2), update.shape());
  if (failed(start))
    return failure();
  Tensor result = call[0];
  unsigned bytes = result.elementType().bytes();
  char *to = result.mutableData();
  const char *from = update.data();
  Index target(start->size());
  forEachIndex(update.shape(), [&](ArrayRef<int64_t> index) {
    for (auto [axis, i] : llvm::enumerate(index))
      target[axis] = (*start)[axis] + i;
    std::memcpy(to + result.linearIndex(target) * bytes, from, bytes);
    from += bytes;
  });
  return call.give(std::move(result));
}

void addSlicing(HandlerTable &table) {
  table.add<stablehlo::DynamicSliceOp, evalDynamicSlice>();
  table.add<stablehlo::DynamicUpdateSliceOp, evalDynamicUpdateSlice>();
  table.add<stablehlo::RealDynamicSliceOp, evalRealDynamicSlice>();
  table.add<stablehlo::SliceOp, evalSlice>();
}

} // namespace spokeshave::reference
