//===- Precision.cpp - how precisely a product is asked for ----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "graph/Precision.h"

#include "graph/Passes.h"

namespace spokeshave::graph {
#define GEN_PASS_DEF_SETTLEPRECISION
#include "graph/Passes.h.inc"
} // namespace spokeshave::graph

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::graph;
namespace sh = spokeshave::stablehlo;

int64_t graph::orderOfPasses(int64_t passes) {
  return passes >= 9 ? 4 : passes >= 6 ? 2 : passes >= 3 ? 1 : 0;
}

/// The more precise of what both factors ask for.
static sh::Precision highestOf(Operation *product) {
  auto precision = sh::Precision::DEFAULT;
  if (auto config = product->getAttrOfType<ArrayAttr>("precision_config"))
    for (Attribute each : config)
      precision = std::max(precision, cast<sh::PrecisionAttr>(each).getValue());
  return precision;
}

/// DEFAULT, HIGH and HIGHEST are numbered as their orders.
int64_t graph::productOrder(Operation *product) {
  if (auto order = product->getAttrOfType<IntegerAttr>(kProductOrder))
    return order.getInt();
  return int64_t(highestOf(product));
}

int64_t graph::partsOf(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  return element.getIntOrFloatBitWidth() >= 32 ? 3 : element.isF16() ? 2 : 1;
}

bool graph::needsParts(Operation *product) {
  auto isWide = [](Value factor) { return partsOf(getElementTypeOrSelf(factor.getType())) > 1; };
  return productOrder(product) > 0 && llvm::any_of(product->getOperands(), isWide);
}

namespace {
class SettlePrecisionPass
    : public spokeshave::graph::impl::SettlePrecisionBase<SettlePrecisionPass> {
public:
  using SettlePrecisionBase::SettlePrecisionBase;
  void runOnOperation() override {
    int64_t full = orderOfPasses(fullPasses);
    getOperation().walk([&](Operation *op) {
      if (!isa<sh::DotGeneralOp, sh::ConvolutionOp>(op) || op->hasAttr(kProductOrder))
        return;
      int64_t order = std::max<int64_t>(int64_t(highestOf(op)), leastPrecision);
      if (order == int64_t(sh::Precision::HIGHEST))
        order = full;
      op->setAttr(kProductOrder, Builder(op).getI64IntegerAttr(order));
    });
  }
};
} // namespace
