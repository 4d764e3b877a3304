//===- FusionMaps.cpp - which elements the members of a cluster read -------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "graph/Fusion.h"

#include "input/StablehloOps.h"

#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
namespace sh = spokeshave::stablehlo;

namespace spokeshave::graph {

// Fresh maps are never found equal to each other, even where they are: a kernel
// would evaluate a member once per path, and that is what is counted.
MapId BlockFuser::freshMap(int64_t evaluations, bool cheapOnly) {
  maps.push_back({evaluations, cheapOnly});
  return kFirstFresh + static_cast<MapId>(maps.size()) - 1;
}

int64_t BlockFuser::evaluations(const Cluster &cluster, MapId map, Operation *member) const {
  switch (map) {
  case kIdentity:
    return cluster.elements;
  case kRow:
    // Once per row if a reduction will make this a rows fusion.
    return member && cluster.rowSize && rowSizes.lookup(member->getResult(0)) == cluster.rowSize
               ? cluster.elements / cluster.rowSize
               : cluster.elements;
  case kElement:
    return cluster.reducedElements;
  case kScalar:
    return 1; // kernels compute scalars outside of their loops
  case kExternal:
    return 0;
  default:
    return maps[map - kFirstFresh].evaluations;
  }
}

void BlockFuser::pushUse(Value value, const Use &use) {
  SmallVector<Use, 2> &list = uses[resolveViews(value)];
  if (!list.empty() && list.back().cluster == use.cluster && list.back().map == use.map &&
      list.back().position == use.position && list.back().viaRow == use.viaRow)
    return;
  list.push_back(use);
}

/// Whether the result's element number divided by `rowSize` is the operand's:
/// the operand's dimensions are the leading ones, in order and whole.
static bool isBroadcastAlongRows(sh::BroadcastInDimOp op, int64_t rowSize) {
  auto from = cast<ShapedType>(op.getOperand().getType());
  auto to = cast<ShapedType>(op.getType());
  if (rowSize == 0 || numElements(from) * rowSize != numElements(to))
    return false;
  int64_t next = 0;
  for (auto [index, dim] : llvm::enumerate(op.getBroadcastDimensions())) {
    if (from.getDimSize(index) == 1)
      continue;
    for (; next < dim; ++next)
      if (to.getDimSize(next) != 1)
        return false;
    if (from.getDimSize(index) != to.getDimSize(dim))
      return false;
    next = dim + 1;
  }
  return true;
}

Use BlockFuser::broadcastRead(int id, Operation *op, MapId map) {
  auto broadcast = cast<sh::BroadcastInDimOp>(op);
  Cluster &cluster = clusters[id];
  int64_t from = numElements(broadcast.getOperand().getType()),
          to = numElements(broadcast.getType());
  if (from == to && from == 1)
    return {id, map};
  if (from == 1)
    return {id, kScalar};
  bool hasRows = !cluster.isReduction() || cluster.rowSize != 0;
  if (map == cluster.elementMap() && hasRows) {
    int64_t rowSize = cluster.rowSize ? cluster.rowSize : to / std::max<int64_t>(1, from);
    if (isBroadcastAlongRows(broadcast, rowSize)) {
      cluster.rowSize = rowSize;
      return {id, cluster.rowMap(), 0, /*viaRow=*/true};
    }
  }
  return {id, freshMap(evaluations(cluster, map, nullptr))};
}

/// How many result elements one index of a gather gives.
static int64_t gatheredSlice(sh::GatherOp op) {
  int64_t size = 1;
  for (int64_t extent : op.getSliceSizes())
    size *= extent;
  return std::max<int64_t>(1, size);
}

// Records what `op`, evaluated at `map`, reads.
void BlockFuser::pushReads(int id, Operation *op, MapId map) {
  Cluster &cluster = clusters[id];
  int64_t count = evaluations(cluster, map, op);
  if (isa<sh::BroadcastInDimOp>(op))
    return pushUse(op->getOperand(0), broadcastRead(id, op, map));
  if (auto gather = dyn_cast<sh::GatherOp>(op)) {
    pushUse(gather.getOperand(), {id, freshMap(count)});
    int64_t indices =
        std::max(numElements(gather.getStartIndices().getType()), count / gatheredSlice(gather));
    return pushUse(gather.getStartIndices(), {id, freshMap(indices)});
  }
  // Leading operands that move elements; the rest are scalars.
  unsigned moved = op->getNumOperands();
  if (isa<sh::DynamicSliceOp, sh::PadOp>(op))
    moved = 1;
  else if (isa<sh::DynamicUpdateSliceOp>(op))
    moved = 2;
  bool elementwise = classify(op) == OpClass::Elementwise;
  bool viaRow = elementwise && map == cluster.rowMap() && cluster.readBack.contains(op);
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    bool scalar = index >= moved || (elementwise && numElements(operand.getType()) == 1 &&
                                     numElements(op->getResult(0).getType()) != 1);
    bool same = elementwise || (isa<sh::DynamicUpdateSliceOp>(op) && index == 0);
    pushUse(operand, {id, scalar ? kScalar : same ? map : freshMap(count), 0, viaRow && !scalar});
  }
  // What regions (of map) take from outside is read as it is.
  if (op->getNumRegions() == 0)
    return;
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    pushUse(value, {id, kExternal});
}

/// How often an average element of a window operation's input is read.
static int64_t windowReads(sh::ReduceWindowOp op) {
  int64_t reads = numElements(op.getResult(0).getType());
  for (int64_t size : op.getWindowDimensions())
    reads *= size;
  return reads;
}

// Records what a hero reads of its operands.
void BlockFuser::pushHeroReads(int id, Operation *op) {
  Cluster &cluster = clusters[id];
  auto external = [&](Value value) { pushUse(value, {id, kExternal}); };
  auto producers = [&](Value value, bool cheapOnly, int64_t count = 0) {
    MapId map = freshMap(std::max(count, numElements(value.getType())), cheapOnly);
    pushUse(value, {id, map});
    return map;
  };
  if (auto reduce = dyn_cast<sh::ReduceOp>(op)) {
    for (Value input : reduce.getInputs())
      pushUse(input, {id, cluster.elementMap()});
    llvm::for_each(reduce.getInitValues(), external);
  } else if (isa<sh::DotGeneralOp, sh::ConvolutionOp>(op)) {
    for (Value operand : op->getOperands())
      producers(operand, /*cheapOnly=*/true);
  } else if (auto window = dyn_cast<sh::ReduceWindowOp>(op)) {
    bool scan = isPrefixScan(op);
    for (Value input : window.getInputs())
      producers(input, /*cheapOnly=*/!scan, scan ? 0 : windowReads(window));
    llvm::for_each(window.getInitValues(), external);
  } else if (auto update = dyn_cast<sh::DynamicUpdateSliceOp>(op)) {
    external(update.getOperand());
    cluster.updateMap = producers(update.getUpdate(), /*cheapOnly=*/false);
    for (Value start : update.getStartIndices())
      pushUse(start, {id, kScalar});
  } else if (auto scatter = dyn_cast<sh::ScatterOp>(op)) {
    llvm::for_each(scatter.getInputs(), external);
    producers(scatter.getScatterIndices(), /*cheapOnly=*/true);
    for (Value value : scatter.getUpdates())
      producers(value, /*cheapOnly=*/false);
  } else if (isa<sh::SortOp, sh::CompositeOp>(op)) {
    for (Value input : op->getOperands())
      producers(input, /*cheapOnly=*/false);
  } else {
    llvm::for_each(op->getOperands(), external);
  }
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  llvm::for_each(captured, external);
}

} // namespace spokeshave::graph
