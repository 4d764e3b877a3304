//===- UnrollLoops.cpp - a few trips of plain arithmetic become straight code --===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JAX's random bits are a loop of five trips whose constants rotate through its
// carried values. Unrolled, they fold, and what was ten passes over memory is
// one fusion. Loops with anything but elementwise work and data movement stay.
//
//===----------------------------------------------------------------------===//
#include "graph/Classify.h"
#include "graph/LoopAnalysis.h"
#include "graph/Passes.h"
#include "input/StablehloOps.h"

#include "mlir/IR/IRMapping.h"

namespace spokeshave::graph {
#define GEN_PASS_DEF_UNROLLLOOPS
#include "graph/Passes.h.inc"
} // namespace spokeshave::graph

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::graph;
namespace sh = spokeshave::stablehlo;

namespace {

constexpr int64_t kMostTrips = 8, kMostInstructions = 512;

/// The body's operations, if all are plain; else none.
std::optional<int64_t> countPlainOperations(sh::WhileOp loop) {
  int64_t count = 0;
  for (Operation &op : loop.getBody().front().without_terminator()) {
    OpClass opClass = classify(&op);
    bool plain = opClass == OpClass::Elementwise || opClass == OpClass::Index ||
                 opClass == OpClass::View || opClass == OpClass::Constant;
    if (!plain || op.getNumRegions() != 0)
      return std::nullopt;
    ++count;
  }
  return count;
}

void unroll(sh::WhileOp loop, int64_t trips) {
  Block &body = loop.getBody().front();
  OpBuilder builder(loop);
  SmallVector<Value> carried(loop->getOperands());
  for (int64_t trip = 0; trip < trips; ++trip) {
    IRMapping mapping;
    mapping.map(body.getArguments(), carried);
    for (Operation &op : body.without_terminator())
      builder.clone(op, mapping);
    for (auto [value, next] : llvm::zip_equal(carried, body.getTerminator()->getOperands()))
      value = mapping.lookupOrDefault(next);
  }
  loop->replaceAllUsesWith(carried);
  loop->erase();
}

class UnrollLoopsPass : public graph::impl::UnrollLoopsBase<UnrollLoopsPass> {
  void runOnOperation() override {
    SmallVector<sh::WhileOp> loops;
    getOperation().walk([&](sh::WhileOp loop) { loops.push_back(loop); });
    for (sh::WhileOp loop : loops) {
      std::optional<int64_t> trips = countTrips(loop), size = countPlainOperations(loop);
      if (trips && size && *trips <= kMostTrips && *trips * *size <= kMostInstructions)
        unroll(loop, *trips);
    }
  }
};

} // namespace
