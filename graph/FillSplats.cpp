//===- FillSplats.cpp - splats that are needed in memory are filled in -----===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a loop begins with or what is updated in place is needed in memory. The
// bytes of a large splat do not belong in a constant beside the code, and a
// constant cannot be updated: it becomes a computation.
//
//===----------------------------------------------------------------------===//
#include "graph/Classify.h"
#include "graph/Passes.h"
#include "input/StablehloOps.h"

namespace spokeshave::graph {
#define GEN_PASS_DEF_FILLSPLATS
#include "graph/Passes.h.inc"
} // namespace spokeshave::graph

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::graph;

namespace {

/// Splats up to this size lie beside the code; larger ones are filled in.
constexpr int64_t kLargestSplat = 256;

/// Whether `use` needs its value in memory even if it is a splat.
bool needsMemory(OpOperand &use) {
  Operation *op = use.getOwner();
  if (auto update = dyn_cast<stablehlo::DynamicUpdateSliceOp>(op))
    return &use == &update.getOperandMutable();
  if (auto scatter = dyn_cast<stablehlo::ScatterOp>(op))
    return use.getOperandNumber() < scatter.getInputs().size();
  return classify(op) == OpClass::TopLevel;
}

/// Gives each such use a broadcast of its own: what is updated in place is not shared.
void fill(stablehlo::ConstantOp constant) {
  auto type = cast<RankedTensorType>(constant.getType());
  Attribute element = cast<SplatElementsAttr>(constant.getValue()).getSplatValue<Attribute>();
  auto scalarType = RankedTensorType::get({}, type.getElementType());
  for (OpOperand &use : llvm::make_early_inc_range(constant->getUses())) {
    bool isUpdated = classify(use.getOwner()) == OpClass::Hero;
    if (!needsMemory(use) || (!isUpdated && byteSize(type) <= kLargestSplat))
      continue;
    OpBuilder builder(use.getOwner());
    Value scalar = builder.create<stablehlo::ConstantOp>(
        constant.getLoc(), cast<ElementsAttr>(DenseElementsAttr::get(scalarType, element)));
    use.set(builder.create<stablehlo::BroadcastInDimOp>(constant.getLoc(), type, scalar,
                                                        builder.getDenseI64ArrayAttr({})));
  }
}

class FillSplatsPass : public spokeshave::graph::impl::FillSplatsBase<FillSplatsPass> {
  void runOnOperation() override {
    SmallVector<stablehlo::ConstantOp> constants;
    getOperation().walk([&](stablehlo::ConstantOp op) {
      if (isSplatConstant(op))
        constants.push_back(op);
    });
    llvm::for_each(constants, fill);
  }
};

} // namespace
