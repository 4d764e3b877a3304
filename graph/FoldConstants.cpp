//===- FoldConstants.cpp - computes what is known, if it is small ----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// By the reference, so that folding and running cannot mean different things.
// Splats stay splats whatever their size; other results only up to a few
// kilobytes: a constant that must be read is no better than a computation.
//
//===----------------------------------------------------------------------===//
#include "graph/Classify.h"
#include "graph/Passes.h"
#include "input/StablehloOps.h"
#include "reference/Interpreter.h"

namespace spokeshave::graph {
#define GEN_PASS_DEF_FOLDCONSTANTS
#include "graph/Passes.h.inc"
} // namespace spokeshave::graph

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::graph;
namespace sh = spokeshave::stablehlo;

namespace {

constexpr int64_t kLargestResult = 4 << 10, kLargestOperand = 64 << 10;

/// Operations whose results are functions of their operands' elements, and cheap
/// for an interpreter.
bool isFoldable(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0 || isa<sh::CompositeOp, sh::MapOp>(op))
    return false;
  OpClass opClass = classify(op);
  return opClass == OpClass::Elementwise || opClass == OpClass::Index || opClass == OpClass::View ||
         isa<sh::ReduceOp>(op);
}

ElementsAttr constantOf(Value value) {
  auto constant = value.getDefiningOp<sh::ConstantOp>();
  return constant ? constant.getValue() : ElementsAttr();
}

/// `op` applied to one element of each operand: the result of elementwise work
/// on splats is a splat of that.
FailureOr<DenseElementsAttr> foldSplat(Operation *op, ArrayRef<ElementsAttr> operands) {
  Block scratch;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&scratch);
  SmallVector<reference::Tensor> scalars;
  SmallVector<Value> values;
  for (ElementsAttr attribute : operands) {
    auto splat = cast<SplatElementsAttr>(attribute);
    auto scalar = cast<ElementsAttr>(DenseElementsAttr::get(
        RankedTensorType::get({}, splat.getElementType()), splat.getSplatValue<Attribute>()));
    auto tensor = reference::Tensor::fromAttribute(scalar);
    if (failed(tensor))
      return failure();
    scalars.push_back(*tensor);
    values.push_back(builder.create<sh::ConstantOp>(op->getLoc(), scalar));
  }
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Operation *scalarOp = builder.clone(*op);
  scalarOp->setOperands(values);
  scalarOp->getResult(0).setType(type.clone(ArrayRef<int64_t>{}));
  auto results = reference::evaluateOp(scalarOp, scalars);
  if (failed(results))
    return failure();
  return DenseElementsAttr::get(type, results->front().toAttribute().getSplatValue<Attribute>());
}

FailureOr<DenseElementsAttr> foldWhole(Operation *op, ArrayRef<ElementsAttr> operands) {
  if (byteSize(op->getResult(0).getType()) > kLargestResult)
    return failure();
  SmallVector<reference::Tensor> tensors;
  for (ElementsAttr operand : operands) {
    if (byteSize(operand.getType()) > kLargestOperand)
      return failure();
    auto tensor = reference::Tensor::fromAttribute(operand);
    if (failed(tensor))
      return failure();
    tensors.push_back(*tensor);
  }
  auto results = reference::evaluateOp(op, tensors);
  if (failed(results))
    return failure();
  return results->front().toAttribute();
}

FailureOr<DenseElementsAttr> fold(Operation *op) {
  SmallVector<ElementsAttr> operands;
  for (Value operand : op->getOperands()) {
    ElementsAttr constant = constantOf(operand);
    if (!constant)
      return failure();
    operands.push_back(constant);
  }
  bool allSplats = llvm::all_of(operands, [](ElementsAttr a) { return isa<SplatElementsAttr>(a); });
  if (allSplats && classify(op) == OpClass::Elementwise)
    return foldSplat(op, operands);
  return foldWhole(op, operands);
}

class FoldConstantsPass : public graph::impl::FoldConstantsBase<FoldConstantsPass> {
  void runOnOperation() override {
    // What the reference cannot do is left to run; that is no error.
    ScopedDiagnosticHandler quiet(&getContext(), [](Diagnostic &) { return success(); });
    SmallVector<Operation *> candidates;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isFoldable(op))
        candidates.push_back(op);
      // Computations inside reductions are tiny and theirs.
      return classify(op) == OpClass::Hero || isa<sh::MapOp>(op) ? WalkResult::skip()
                                                                 : WalkResult::advance();
    });
    for (Operation *op : candidates) {
      FailureOr<DenseElementsAttr> value = fold(op);
      if (failed(value) || value->getType() != op->getResult(0).getType())
        continue;
      OpBuilder builder(op);
      auto constant = builder.create<sh::ConstantOp>(op->getLoc(), cast<ElementsAttr>(*value));
      op->getResult(0).replaceAllUsesWith(constant);
      op->erase();
    }
  }
};

} // namespace
