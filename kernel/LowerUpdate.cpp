//===- LowerUpdate.cpp - dynamic_update_slice in place ---------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The result's buffer already holds the operand: only the slice is written. A
// result may be a chain of updates; those of a chain may overlap and are written
// in order, by one task.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "kernel/Dimensions.h"
#include "kernel/LowerFusion.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

namespace {

struct Update {
  hlo::DynamicUpdateSliceOp op;
  unsigned result;
};

/// The updates of all results, in the order in which they are to happen.
FailureOr<SmallVector<Update>> collectUpdates(graph::FusionOp fusion) {
  SmallVector<Update> all;
  for (auto [i, root] : llvm::enumerate(fusion.getYield().getValues())) {
    SmallVector<Update> chain;
    Value value = root;
    while (auto op = value.getDefiningOp<hlo::DynamicUpdateSliceOp>()) {
      chain.push_back({op, unsigned(i)});
      value = op.getOperand();
    }
    if (chain.empty() || !isa<BlockArgument>(value))
      return fusion.emitOpError("has a result that is not an input with updates");
    llvm::append_range(all, llvm::reverse(chain));
  }
  return all;
}

/// Writes rows [first, last) of an update's slice.
LogicalResult emitUpdate(FusionLowering &lowering, ElementEmitter &emitter, const Update &update,
                         Value first, Value last, int64_t rows, int64_t extent, int64_t lanes) {
  hlo::DynamicUpdateSliceOp op = update.op;
  RankedTensorType part = typeOf(op.getUpdate()), whole = typeOf(op);
  IndexSpace &space = emitter.space();
  Position start;
  for (auto [d, index] : llvm::enumerate(op.getStartIndices())) {
    FailureOr<Index> clamped =
        emitter.clampedStart(index, whole.getDimSize(d) - part.getDimSize(d));
    if (failed(clamped))
      return failure();
    start.push_back(*clamped);
  }
  return forRange(emitter, first, last, rows, [&](const Index &row) {
    return forLanes(emitter, lowering.constant(0), lowering.constant(extent), extent, lanes,
                    [&](const Index &lane) -> LogicalResult {
                      Index linear = space.add(space.scale(row, extent), lane);
                      Position position = space.delinearize(linear, part.getShape());
                      FailureOr<Element> element = emitter.emit(op.getUpdate(), position);
                      if (failed(element))
                        return failure();
                      for (auto [index, offset] : llvm::zip_equal(position, start))
                        index = space.add(index, offset);
                      return emitter.store(*element, whole, emitter.outputBuffer(update.result),
                                           position);
                    });
  });
}

} // namespace

LogicalResult kernel::lowerUpdate(FusionLowering &lowering) {
  graph::FusionOp fusion = lowering.fusion;
  FailureOr<SmallVector<Update>> updates = collectUpdates(fusion);
  if (failed(updates))
    return failure();
  FuncOp kernel = lowering.kernel;
  ElementEmitter emitter(lowering.builder, lowering.machine, fusion, kernel.getBuffers());
  int64_t lanes = chooseLanes(fusion, lowering.machine);
  bool single = updates->size() == 1;
  int64_t cost = 0;
  for (const Update &update : *updates) {
    hlo::DynamicUpdateSliceOp op = update.op;
    RankedTensorType part = typeOf(op.getUpdate()), whole = typeOf(op);
    int64_t elements = part.getNumElements();
    if (elements == 0) {
      if (single)
        kernel.setTasks(0);
      continue;
    }
    // Rows that are contiguous in the slice and in the whole.
    auto groups = collapsedGroups(fusion, {op.getUpdate()}, [&](int64_t, int64_t d) {
      return part.getDimSize(d) != whole.getDimSize(d);
    });
    int64_t extent = groups.empty() ? 1 : groups.back().extent;
    if (groups.size() > 1 && 2 * extent <= lanes)
      extent = elements;
    int64_t rows = elements / extent;
    int64_t price = picosecondsPerElement(fusion, lanes) * extent;
    Value first = lowering.constant(0), last = lowering.constant(rows);
    if (single) {
      int64_t rowsPerTask = std::clamp<int64_t>(20'000'000 / std::max<int64_t>(price, 1), 1, rows);
      kernel.setTasks(llvm::divideCeil(rows, rowsPerTask));
      first = lowering.multiply(kernel.getTask(), rowsPerTask);
      last = lowering.minimum(lowering.add(first, lowering.constant(rowsPerTask)), rows);
      cost = rowsPerTask * price / 1000;
    } else {
      cost += rows * price / 1000;
    }
    int64_t width = std::min<int64_t>(lanes, llvm::PowerOf2Ceil(extent));
    if (failed(emitUpdate(lowering, emitter, update, first, last, rows, extent, width)))
      return failure();
  }
  kernel.setTaskCostNs(cost);
  return success();
}
