//===- RowPasses.cpp - reductions of rows, in the order they can be done ---===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "kernel/RowPasses.h"

#include "kernel/Dimensions.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

LogicalResult RowPasses::analyze(graph::FusionOp fusion) {
  reduces.assign(fusion.getBlock().getOps<hlo::ReduceOp>().begin(),
                 fusion.getBlock().getOps<hlo::ReduceOp>().end());
  if (reduces.empty())
    return fusion.emitOpError("of kind rows has no reduction");
  extent = reducedExtent(reduces.front());
  rows = typeOf(reduces.front()->getResult(0)).getNumElements();
  for (hlo::ReduceOp op : reduces)
    if (reducedExtent(op) != extent || typeOf(op->getResult(0)).getNumElements() != rows)
      return op.emitOpError("reduces other rows than its neighbours in one kernel");
  for (Value root : fusion.getYield().getValues()) {
    int64_t elements = typeOf(root).getNumElements();
    if (elements != rows && elements != rows * extent)
      return fusion.emitOpError("has a result that is neither a row's nor an element's");
  }
  for (Operation &op : fusion.getBlock()) {
    unsigned pass = 0;
    for (Value operand : op.getOperands())
      pass = std::max(pass, passOf.lookup(operand));
    if (isa<hlo::ReduceOp>(op))
      passes = std::max(passes, ++pass);
    for (Value result : op.getResults())
      passOf[result] = pass;
  }
  return success();
}

SmallVector<hlo::ReduceOp> RowPasses::reducesOf(unsigned pass) const {
  SmallVector<hlo::ReduceOp> here;
  for (hlo::ReduceOp op : reduces)
    if (passOf.lookup(op->getResult(0)) == pass + 1)
      here.push_back(op);
  return here;
}

SmallVector<RowPasses::Kept> RowPasses::chooseKept(graph::FusionOp fusion,
                                                   llvm::function_ref<int64_t(Type)> bytesOf,
                                                   int64_t mostBytes,
                                                   int64_t halfOperations) const {
  SmallVector<Kept> kept;
  llvm::DenseMap<Value, int64_t> costs;
  int64_t bytes = 0;
  for (Operation &op : fusion.getBlock()) {
    if (op.getNumResults() != 1 || isa<hlo::ReduceOp>(op))
      continue;
    Value value = op.getResult(0);
    int64_t cost = isa<hlo::ExpOp, hlo::LogOp, hlo::TanhOp, hlo::LogisticOp, hlo::SineOp,
                       hlo::CosineOp, hlo::PowOp, hlo::Expm1Op, hlo::Log1pOp, hlo::CompositeOp,
                       hlo::GatherOp, hlo::DivOp, hlo::SqrtOp, hlo::RsqrtOp>(op)
                       ? 10
                       : 1;
    if (isa<hlo::ConvertOp>(op) && typeOf(op.getOperand(0)).getElementType().isF16())
      cost = halfOperations;
    for (Value operand : op.getOperands())
      if (isElement(operand))
        cost += costs.lookup(operand);
    costs[value] = cost;
    if (!isElement(value) || isa<ComplexType>(typeOf(value).getElementType()))
      continue;
    unsigned pass = passOf.lookup(value);
    bool reduced = false, later = false;
    for (Operation *user : value.getUsers()) {
      reduced = reduced || isa<hlo::ReduceOp>(user);
      later = later ||
              (!isa<graph::YieldOp>(user) && !isa<hlo::ReduceOp>(user) &&
               passOf.lookup(user->getResult(0)) > pass) ||
              (isa<graph::YieldOp>(user) && pass < passes);
    }
    if (!reduced || !later || cost < 8 || pass >= passes)
      continue;
    Type type = registerType(typeOf(value).getElementType());
    if (type.isInteger(1) || bytes + bytesOf(type) > mostBytes)
      continue;
    kept.push_back({value, pass, type, bytes});
    bytes += bytesOf(type);
    costs[value] = 0; // what follows loads it
  }
  return kept;
}

int64_t kernel::contiguousExtent(graph::FusionOp fusion, const RowPasses &rows) {
  hlo::ReduceOp first = rows.reduces.front();
  SmallVector<Value> roots;
  RankedTensorType type = typeOf(first.getInputs().front());
  for (hlo::ReduceOp op : rows.reduces)
    for (Value input : op.getInputs())
      if (typeOf(input).getShape() == type.getShape())
        roots.push_back(input);
  for (Value root : fusion.getYield().getValues())
    if (typeOf(root).getShape() == type.getShape())
      roots.push_back(root);
  auto isReduced = [&](int64_t d) { return llvm::is_contained(first.getDimensions(), d); };
  auto groups = collapsedGroups(fusion, roots,
                                [&](int64_t a, int64_t b) { return isReduced(a) != isReduced(b); });
  int64_t inner = 1;
  for (const DimensionGroup &group : groups)
    if (isReduced(group.dims.front()))
      inner = group.extent;
  return inner;
}
