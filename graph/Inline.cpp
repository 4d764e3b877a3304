//===- Inline.cpp - inlines calls and composites ---------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JAX emits a function per jitted callee and per composite. One body lets every
// later pass see the whole program; functions are small and @main grows only by
// what the calls would have executed.
//
//===----------------------------------------------------------------------===//
#include "graph/Passes.h"
#include "input/StablehloOps.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringSet.h"

namespace spokeshave::graph {
#define GEN_PASS_DEF_INLINE
#include "graph/Passes.h.inc"
} // namespace spokeshave::graph

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::graph;

namespace {

/// Composites whose name a kernel knows: a fast version of its own is better
/// than the decomposition.
bool isKnownComposite(stablehlo::CompositeOp op) {
  return llvm::StringSwitch<bool>(op.getName())
      .Cases("chlo.erf", "chlo.erfc", "chlo.top_k", true)
      .Default(false);
}

/// The function that `op` would run, or null.
func::FuncOp calleeOf(Operation *op, SymbolTable &symbols) {
  if (auto call = dyn_cast<func::CallOp>(op))
    return symbols.lookup<func::FuncOp>(call.getCallee());
  if (auto composite = dyn_cast<stablehlo::CompositeOp>(op))
    return symbols.lookup<func::FuncOp>(composite.getDecomposition());
  return nullptr;
}

/// Operations below an inlined one say where they stand and who called them.
void setCallSite(Operation *root, Location caller) {
  root->walk([&](Operation *op) { op->setLoc(CallSiteLoc::get(op->getLoc(), caller)); });
}

/// Replaces `call` by a copy of `callee`'s body.
LogicalResult inlineAt(Operation *call, func::FuncOp callee) {
  if (callee.isExternal() || !callee.getBody().hasOneBlock())
    return call->emitOpError() << "calls @" << callee.getName()
                               << ", which has no single-block body";
  Block &body = callee.getBody().front();
  if (body.getArgumentTypes() != call->getOperandTypes() ||
      body.getTerminator()->getOperandTypes() != call->getResultTypes())
    return call->emitOpError() << "does not have the types of @" << callee.getName();
  IRMapping mapping;
  mapping.map(body.getArguments(), call->getOperands());
  OpBuilder builder(call);
  for (Operation &op : body.without_terminator())
    setCallSite(builder.clone(op, mapping), call->getLoc());
  for (auto [result, value] :
       llvm::zip_equal(call->getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(mapping.lookupOrDefault(value));
  call->erase();
  return success();
}

struct Inliner {
  explicit Inliner(ModuleOp module) : symbols(module) {}

  /// Makes `function` free of calls: its callees first, so that each body is
  /// copied in its final form.
  LogicalResult flatten(func::FuncOp function) {
    if (done.contains(function))
      return success();
    active.insert(function);
    SmallVector<Operation *> calls;
    function.walk([&](Operation *op) {
      if (isa<func::CallOp, stablehlo::CompositeOp>(op))
        calls.push_back(op);
    });
    for (Operation *call : calls)
      if (failed(inlineCall(call)))
        return failure();
    active.erase(function);
    done.insert(function);
    return success();
  }

  LogicalResult inlineCall(Operation *call) {
    func::FuncOp callee = calleeOf(call, symbols);
    if (!callee)
      return call->emitOpError() << "calls an unknown function";
    if (active.contains(callee))
      return call->emitOpError() << "is a recursive call of @" << callee.getName()
                                 << ", which is not supported";
    if (failed(flatten(callee)))
      return failure();
    if (auto composite = dyn_cast<stablehlo::CompositeOp>(call))
      if (isKnownComposite(composite)) {
        kept.insert(callee.getName());
        return success();
      }
    return inlineAt(call, callee);
  }

  SymbolTable symbols;
  llvm::DenseSet<Operation *> active, done;
  llvm::StringSet<> kept;
};

/// Everything from here on knows its shapes.
LogicalResult requireStaticShapes(func::FuncOp function) {
  auto isStatic = [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return !shaped || shaped.hasStaticShape();
  };
  if (!llvm::all_of(function.getArgumentTypes(), isStatic))
    return function.emitOpError() << "takes tensors of dynamic shape, which is not supported";
  WalkResult result = function.walk([&](Operation *op) {
    if (llvm::all_of(op->getResultTypes(), isStatic))
      return WalkResult::advance();
    op->emitOpError() << "gives a tensor of dynamic shape, which is not supported";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

class InlinePass : public graph::impl::InlineBase<InlinePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    Inliner inliner(module);
    auto main = inliner.symbols.lookup<func::FuncOp>("main");
    if (!main) {
      module.emitError() << "the program has no function @main";
      return signalPassFailure();
    }
    if (failed(inliner.flatten(main)) || failed(requireStaticShapes(main)))
      return signalPassFailure();
    for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (function != main && !inliner.kept.contains(function.getName()))
        function.erase();
  }
};

} // namespace
