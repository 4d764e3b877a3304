//===- SkipFills.cpp - stacks that a loop fills need no zeros first --------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JAX hands a scan zeros to put its results into. Where the scan writes all of them
// and reads none, nobody sees the zeros.
//
//===----------------------------------------------------------------------===//
#include "graph/Classify.h"
#include "graph/LoopAnalysis.h"
#include "graph/Passes.h"
#include "input/StablehloOps.h"

namespace spokeshave::graph {
#define GEN_PASS_DEF_SKIPFILLS
#include "graph/Passes.h.inc"
} // namespace spokeshave::graph

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::graph;
namespace sh = spokeshave::stablehlo;

namespace {

/// The scalar constant that `value` is a broadcast of, or null.
sh::ConstantOp filledWith(Value value) {
  auto broadcast = value.getDefiningOp<sh::BroadcastInDimOp>();
  auto scalar =
      broadcast ? broadcast.getOperand().getDefiningOp<sh::ConstantOp>() : sh::ConstantOp();
  return scalar && cast<RankedTensorType>(scalar.getType()).getRank() == 0 ? scalar
                                                                           : sh::ConstantOp();
}

void skipFills(sh::WhileOp loop) {
  SmallVector<int64_t> unset;
  for (unsigned i = 0; i < loop->getNumOperands(); ++i) {
    sh::ConstantOp scalar = filledWith(loop->getOperand(i));
    if (!scalar || !updateThatFills(loop, i))
      continue;
    // A constant that nothing reads has no memory.
    Operation *fill = loop->getOperand(i).getDefiningOp();
    auto splat = cast<DenseElementsAttr>(scalar.getValue()).getSplatValue<Attribute>();
    OpBuilder builder(loop);
    loop->setOperand(
        i, builder.create<sh::ConstantOp>(
               scalar.getLoc(), cast<ElementsAttr>(DenseElementsAttr::get(
                                    cast<ShapedType>(loop->getOperand(i).getType()), splat))));
    if (fill->use_empty())
      fill->erase();
    unset.push_back(i);
  }
  if (!unset.empty())
    loop->setAttr(kUnset, Builder(loop).getDenseI64ArrayAttr(unset));
}

class SkipFillsPass : public graph::impl::SkipFillsBase<SkipFillsPass> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (isa<FusionOp>(op)) // a loop in registers has its stacks as inputs
        return WalkResult::skip();
      if (auto loop = dyn_cast<sh::WhileOp>(op))
        skipFills(loop);
      return WalkResult::advance();
    });
  }
};

} // namespace
