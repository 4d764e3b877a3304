//===- Rebroadcast.cpp - a broadcast in another shape of the same size -----===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "graph/Rebroadcast.h"

using namespace mlir;

namespace spokeshave::graph {

namespace {
/// Neighbouring dimensions of the result that are all taken from the operand, or
/// all new.
struct Segment {
  int64_t size;
  bool fromOperand;
};
} // namespace

/// The result's dimensions in segments; none if the operand is transposed.
static std::optional<SmallVector<Segment>> segmentsOf(stablehlo::BroadcastInDimOp op) {
  auto from = cast<ShapedType>(op.getOperand().getType());
  auto to = cast<ShapedType>(op.getType());
  SmallVector<bool> fromOperand(to.getRank(), false);
  int64_t last = -1;
  for (auto [index, dim] : llvm::enumerate(op.getBroadcastDimensions())) {
    if (from.getDimSize(index) == 1)
      continue;
    if (dim < last)
      return std::nullopt;
    last = dim;
    fromOperand[dim] = true;
  }
  SmallVector<Segment> segments;
  for (auto [dim, size] : llvm::enumerate(to.getShape())) {
    if (size == 1)
      continue;
    if (!segments.empty() && segments.back().fromOperand == fromOperand[dim])
      segments.back().size *= size;
    else
      segments.push_back({size, fromOperand[dim]});
  }
  return segments;
}

std::optional<Rebroadcast> rebroadcast(stablehlo::BroadcastInDimOp op, ArrayRef<int64_t> shape) {
  std::optional<SmallVector<Segment>> segments = segmentsOf(op);
  if (!segments || llvm::is_contained(shape, 0))
    return std::nullopt;
  Rebroadcast result;
  auto segment = segments->begin();
  int64_t left = segments->empty() ? 1 : segment->size;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (size == 1)
      continue;
    if (left == 1 && segment != segments->end() && ++segment != segments->end())
      left = segment->size;
    if (segment == segments->end() || left % size != 0)
      return std::nullopt;
    left /= size;
    if (segment->fromOperand) {
      result.operandShape.push_back(size);
      result.dimensions.push_back(dim);
    }
  }
  return result;
}

} // namespace spokeshave::graph
