//===- Annotate.cpp - writes what is known of fusions beside them ----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "graph/Aliasing.h"
#include "graph/Cost.h"
#include "graph/Passes.h"

namespace spokeshave::graph {
#define GEN_PASS_DEF_ANNOTATE
#include "graph/Passes.h.inc"
} // namespace spokeshave::graph

using namespace mlir;
using namespace spokeshave::graph;

namespace {
class AnnotatePass : public spokeshave::graph::impl::AnnotateBase<AnnotatePass> {
  void runOnOperation() override {
    Builder builder(&getContext());
    getOperation().walk([&](FusionOp fusion) {
      Cost cost = costOf(fusion);
      fusion->setAttr("graph.cost",
                      builder.getDenseI64ArrayAttr({cost.flops, cost.transcendentals, cost.bytes}));
      SmallVector<int64_t> pairs;
      for (unsigned output = 0; output < fusion.getNumResults(); ++output)
        for (unsigned input = 0; input < fusion.getNumOperands(); ++input)
          if (mayShareBuffer(fusion, input, output))
            pairs.append({input, output});
      fusion->setAttr("graph.may_share", builder.getDenseI64ArrayAttr(pairs));
    });
    Cost whole = costOf(getOperation().getBody().front());
    getOperation()->setAttr("graph.cost", builder.getDenseI64ArrayAttr(
                                              {whole.flops, whole.transcendentals, whole.bytes}));
  }
};
} // namespace
