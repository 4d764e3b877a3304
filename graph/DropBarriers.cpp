//===- DropBarriers.cpp - optimization barriers have served ----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A barrier keeps common subexpressions apart and constants from being folded
// (jax.checkpoint relies on it). It says nothing about fusion or order.
//
//===----------------------------------------------------------------------===//
#include "graph/Passes.h"
#include "input/StablehloOps.h"

namespace spokeshave::graph {
#define GEN_PASS_DEF_DROPBARRIERS
#include "graph/Passes.h.inc"
} // namespace spokeshave::graph

using namespace mlir;
using namespace spokeshave;

namespace {
class DropBarriersPass : public graph::impl::DropBarriersBase<DropBarriersPass> {
  void runOnOperation() override {
    getOperation().walk([](stablehlo::OptimizationBarrierOp op) {
      op->replaceAllUsesWith(op->getOperands());
      op->erase();
    });
  }
};
} // namespace
