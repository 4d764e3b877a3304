//===- BlockWindows.cpp - what a block of a product reads and writes -------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See BlockWindows.h.
//
//===----------------------------------------------------------------------===//
#include "kernel/BlockWindows.h"

#include "kernel/MatrixPlan.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

int64_t AffineBox::elements() const {
  int64_t product = 1;
  for (const Dimension &dim : dims)
    product *= dim.size;
  return product;
}

/// A distance of `stride` elements in the buffer as one in the box.
static std::optional<int64_t> localDistance(const AffineBox &box, int64_t distance) {
  int64_t local = 0;
  for (const AffineBox::Dimension &dim : box.dims) {
    local += distance / dim.stride * dim.pitch;
    distance %= dim.stride;
  }
  if (distance != 0)
    return std::nullopt;
  return local;
}

std::optional<Index> AffineBox::local(IndexSpace &space, const Index &linear,
                                      ArrayRef<Value> digits) const {
  Index result;
  std::optional<int64_t> constant = localDistance(*this, linear.constant - base);
  std::optional<int64_t> lane = localDistance(*this, linear.lane);
  std::optional<int64_t> sublane = localDistance(*this, linear.sublane);
  if (!constant || !lane || !sublane || linear.constant < base)
    return std::nullopt;
  result.constant = *constant, result.lane = *lane, result.sublane = *sublane;
  for (const Index::Term &term : linear.terms) {
    if (llvm::is_contained(digits, term.value))
      continue;
    std::optional<int64_t> coefficient = localDistance(*this, term.coefficient);
    if (!coefficient || isa<VectorType>(term.value.getType()))
      return std::nullopt;
    result.terms.push_back({term.value, *coefficient});
  }
  return result;
}

std::optional<AffineBox> kernel::boxOf(const Index &linear, ArrayRef<BlockDimension> dims,
                                       bool inOrder) {
  AffineBox box;
  if (linear.lane != 0 || linear.constant < 0)
    return std::nullopt;
  box.base = linear.constant;
  for (const Index::Term &term : linear.terms) {
    const BlockDimension *dim =
        llvm::find_if(dims, [&](const BlockDimension &d) { return d.probe == term.value; });
    if (dim == dims.end() || term.coefficient <= 0)
      return std::nullopt;
    // Several digits may say where a dimension's block begins, but only one moves it.
    box.dims.push_back({term.coefficient, dim->size, dim->limit, dim->digit,
                        dim->digit < 0 ? 0 : dim->size, 0, dim - dims.begin()});
  }
  auto byStride = [](const auto &a, const auto &b) { return a.stride > b.stride; };
  box.inOrder = inOrder;
  if (inOrder)
    llvm::sort(box.dims, [](const auto &a, const auto &b) { return a.number < b.number; });
  else
    llvm::sort(box.dims, byStride);
  if (box.dims.empty() || box.dims.back().stride != 1) {
    if (inOrder)
      return std::nullopt;
    box.dims.push_back({1, 1, 1, -1, 0, 0, -1});
  }
  int64_t pitch = 1, moved = 0;
  for (auto &dim : llvm::reverse(box.dims)) {
    dim.pitch = pitch;
    pitch *= dim.size;
    moved += dim.size > 1;
  }
  // Runs must not overlap, and a transfer has four dimensions.
  auto sorted = box.dims;
  llvm::sort(sorted, byStride);
  for (size_t d = 0; d + 1 < sorted.size(); ++d)
    if (sorted[d + 1].stride * (sorted[d + 1].limit - 1) >= sorted[d].stride)
      return std::nullopt;
  if (moved > 4)
    return std::nullopt;
  return box;
}

Value kernel::declareWindow(OpBuilder &builder, Location loc, Value buffer, const AffineBox &box,
                            ArrayRef<int64_t> radices) {
  SmallVector<int64_t> sizes, strides, limits, digits, steps;
  // What is contiguous on both sides is one run: transfers of short ones are slow.
  SmallVector<AffineBox::Dimension> runs;
  for (const AffineBox::Dimension &dim : box.dims) {
    bool isWhole = dim.size == dim.limit; // and never moves
    if (runs.empty() || !isWhole || runs.back().stride != dim.stride * dim.size) {
      runs.push_back(dim);
      continue;
    }
    AffineBox::Dimension &outer = runs.back();
    outer.stride = dim.stride;
    outer.size *= dim.size, outer.limit *= dim.size, outer.step *= dim.size;
  }
  for (const AffineBox::Dimension &dim : runs) {
    sizes.push_back(dim.size), strides.push_back(dim.stride), limits.push_back(dim.limit);
    digits.push_back(dim.digit), steps.push_back(dim.step);
  }
  auto type =
      MemRefType::get({box.elements()}, cast<MemRefType>(buffer.getType()).getElementType());
  return builder.create<WindowOp>(loc, type, buffer, box.base, radices, sizes, strides, limits,
                                  digits, steps);
}

bool kernel::collectReads(ElementEmitter &emitter, Value value, const Position &position,
                          Value stop, SmallVectorImpl<InputRead> &reads) {
  Position p = position;
  while (value != stop) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() != &emitter.getFusion().getBlock())
        return false;
      reads.push_back({argument, emitter.space().linearize(p, typeOf(value).getShape())});
      return true;
    }
    Operation *op = value.getDefiningOp();
    if (isa<hlo::ConstantOp, hlo::IotaOp>(op))
      return true;
    if (isElementwise(op))
      return llvm::all_of(op->getOperands(), [&](Value operand) {
        bool isScalar = typeOf(operand).getRank() == 0;
        return collectReads(emitter, operand, isScalar ? Position() : p, stop, reads);
      });
    value = stepThrough(emitter, op, p);
    if (!value)
      return false;
  }
  return true;
}
