//===- CustomCall.cpp - the custom calls that have a meaning here ----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a custom call does is not in the specification. Known are expectations
// (check.*) and the calls by which JAX annotates values without changing them;
// all others are errors.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "reference/Check.h"

using namespace mlir;

namespace spokeshave::reference {

static LogicalResult evalCheckCall(stablehlo::CustomCallOp op, Call &call, StringRef target) {
  if (call.operands.size() != 2 || op->getNumResults() != 0)
    return call.error() << "needs two operands and no results for @" << target;
  if (target == "check.expect_eq")
    return expectEqual(call, call[0], call[1]);
  if (target == "check.expect_almost_eq") {
    auto tolerance = op->getAttrOfType<FloatAttr>("tolerance");
    return expectAlmostEqual(call, call[0], call[1],
                             tolerance ? tolerance.getValueAsDouble() : 1e-4);
  }
  auto bound = [&](StringRef name, uint64_t otherwise) {
    auto attribute = op->getAttrOfType<IntegerAttr>(name);
    return attribute ? attribute.getValue().getZExtValue() : otherwise;
  };
  return expectClose(call, call[0], call[1], bound("max_ulp_difference", 3),
                     bound("min_ulp_difference", 0));
}

static LogicalResult evalCustomCall(stablehlo::CustomCallOp op, Call &call) {
  StringRef target = op.getCallTargetName();
  if (target == "check.expect_eq" || target == "check.expect_almost_eq" ||
      target == "check.expect_close")
    return evalCheckCall(op, call, target);
  static constexpr StringRef annotations[] = {
      "Sharding",         "SPMDFullToShardShape",      "SPMDShardToFullShape",
      "LayoutConstraint", "annotate_device_placement", "xla.sdy.FuncResultSharding"};
  if (llvm::is_contained(annotations, target) && call.operands.size() == 1 &&
      op->getNumResults() == 1)
    return call.give(call[0]);
  return call.error() << "calls @" << target << ", which the interpreter does not know";
}

void addCustomCall(HandlerTable &table) {
  table.add<stablehlo::CustomCallOp, evalCustomCall>();
}

} // namespace spokeshave::reference
