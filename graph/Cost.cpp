//===- Cost.cpp - what a program computes and moves ------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "graph/Cost.h"

#include "graph/Classify.h"
#include "input/StablehloOps.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
namespace sh = spokeshave::stablehlo;

namespace spokeshave::graph {

Cost &Cost::operator+=(const Cost &other) {
  flops += other.flops;
  transcendentals += other.transcendentals;
  bytes += other.bytes;
  return *this;
}

Cost Cost::operator*(int64_t times) const {
  return {flops * times, transcendentals * times, bytes * times};
}

static int64_t product(ArrayRef<int64_t> values) {
  int64_t result = 1;
  for (int64_t value : values)
    result *= value;
  return result;
}

/// Real operations per multiply-add: complex ones take four products.
static int64_t flopsPerMultiplyAdd(Value result) {
  return isa<ComplexType>(getElementTypeOrSelf(result.getType())) ? 8 : 2;
}

static int64_t contracted(sh::DotGeneralOp op) {
  auto shape = cast<ShapedType>(op.getLhs().getType()).getShape();
  int64_t size = 1;
  for (int64_t dim : op.getDotDimensionNumbers().getLhsContractingDimensions())
    size *= shape[dim];
  return size;
}

/// Products per result element: the kernel without its output features.
static int64_t convolved(sh::ConvolutionOp op) {
  auto shape = cast<ShapedType>(op.getRhs().getType()).getShape();
  return product(shape) /
         std::max<int64_t>(1, shape[op.getDimensionNumbers().getKernelOutputFeatureDimension()]);
}

Cost costOf(Operation *op) {
  Cost cost;
  if (op->getNumResults() == 0)
    return cost;
  Value result = op->getResult(0);
  int64_t elements = numElements(result.getType());
  llvm::TypeSwitch<Operation *>(op)
      .Case<sh::DotGeneralOp>(
          [&](auto dot) { cost.flops = elements * contracted(dot) * flopsPerMultiplyAdd(result); })
      .Case<sh::ConvolutionOp>([&](auto convolution) {
        cost.flops = elements * convolved(convolution) * flopsPerMultiplyAdd(result);
      })
      .Case<sh::ReduceOp>(
          [&](auto reduce) { cost.flops = numElements(reduce.getInputs().front().getType()); })
      .Case<sh::ReduceWindowOp>([&](auto window) {
        cost.flops =
            isPrefixScan(window) ? elements : elements * product(window.getWindowDimensions());
      })
      .Case<sh::SelectAndScatterOp>(
          [&](auto select) { cost.flops = numElements(select.getOperand().getType()); })
      .Case<sh::ScatterOp>(
          [&](auto scatter) { cost.flops = numElements(scatter.getUpdates().front().getType()); })
      .Default([&](Operation *other) {
        if (classify(other) != OpClass::Elementwise)
          return;
        if (isTranscendental(other))
          cost.transcendentals = elements;
        else if (!isa<sh::ConvertOp, sh::BitcastConvertOp, sh::RealOp, sh::ImagOp, sh::ComplexOp>(
                     other))
          cost.flops = elements;
      });
  return cost;
}

/// Bytes of `argument` that the body reads.
static int64_t bytesRead(BlockArgument argument) {
  int64_t all = byteSize(argument.getType()), part = 0;
  for (Operation *user : argument.getUsers()) {
    if (user->getBlock() != argument.getOwner())
      return all; // read in each trip of a loop, most often another part
    bool isTable = argument == user->getOperand(0);
    if (isTable && isa<sh::SliceOp, sh::DynamicSliceOp, sh::GatherOp>(user))
      part += byteSize(user->getResult(0).getType());
    else if (!(isTable && isa<sh::DynamicUpdateSliceOp, sh::ScatterOp>(user)))
      return all;
  }
  return std::min(all, part);
}

/// Bytes that are written for `result`: of an update only what changes.
static int64_t bytesWritten(Value result) {
  Operation *def = result.getDefiningOp();
  if (auto update = dyn_cast_or_null<sh::DynamicUpdateSliceOp>(def))
    if (isa<BlockArgument>(update.getOperand()))
      return byteSize(update.getUpdate().getType());
  if (auto scatter = dyn_cast_or_null<sh::ScatterOp>(def))
    return byteSize(scatter.getUpdates().front().getType());
  return byteSize(result.getType());
}

/// What a loop or branch in registers computes.
static Cost costOfRegions(Operation *op) {
  Cost cost;
  for (Region &region : op->getRegions())
    for (Operation &inner : region.front().without_terminator())
      cost +=
          isa<sh::WhileOp, sh::IfOp, sh::CaseOp>(inner) ? costOfRegions(&inner) : costOf(&inner);
  auto trips = op->getAttrOfType<IntegerAttr>("graph.trip_count");
  return trips ? cost * trips.getInt() : cost;
}

Cost costOf(FusionOp fusion) {
  Cost cost;
  for (Operation &op : fusion.getBlock().without_terminator())
    cost += isa<sh::WhileOp>(op) ? costOfRegions(&op) : costOf(&op);
  for (BlockArgument argument : fusion.getBlock().getArguments())
    cost.bytes += bytesRead(argument);
  for (Value result : fusion.getYield().getValues())
    cost.bytes += bytesWritten(result);
  return cost;
}

static Cost costOfLoop(sh::WhileOp loop) {
  auto trips = loop->getAttrOfType<IntegerAttr>("graph.trip_count");
  int64_t count = trips ? trips.getInt() : 1;
  Cost cost = costOf(loop.getBody().front()) * count;
  cost += costOf(loop.getCond().front()) * (count + 1);
  return cost;
}

static Cost costOfBranches(Operation *op) {
  Cost costliest;
  for (Region &region : op->getRegions()) {
    Cost cost = costOf(region.front());
    auto weight = [](const Cost &c) { return c.flops + 10 * c.transcendentals + c.bytes; };
    if (weight(cost) > weight(costliest))
      costliest = cost;
  }
  return costliest;
}

Cost costOf(Block &block) {
  Cost cost;
  for (Operation &op : block) {
    if (auto fusion = dyn_cast<FusionOp>(&op))
      cost += costOf(fusion);
    else if (auto loop = dyn_cast<sh::WhileOp>(&op))
      cost += costOfLoop(loop);
    else if (isa<sh::IfOp, sh::CaseOp>(op))
      cost += costOfBranches(&op);
    else if (!op.hasTrait<OpTrait::IsTerminator>() && !isa<sh::ConstantOp, sh::ReshapeOp>(op))
      for (Type type : llvm::concat<const Type>(llvm::to_vector(op.getOperandTypes()),
                                                llvm::to_vector(op.getResultTypes())))
        cost.bytes += byteSize(type);
  }
  return cost;
}

} // namespace spokeshave::graph
