//===- Check.cpp - runs the expectations of test programs ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// check.expect_*, interpreter.print, .probe and .run_parallel.
//
//===----------------------------------------------------------------------===//
#include "reference/Check.h"

#include "reference/CheckOps.h"
#include "reference/Compare.h"
#include "reference/Evaluator.h"
#include "reference/Grid.h"

using namespace mlir;

namespace spokeshave::reference {

static LogicalResult report(Call &call, const std::optional<std::string> &difference) {
  if (!difference)
    return success();
  return call.error() << "failed: " << *difference;
}

LogicalResult expectEqual(Call &call, const Tensor &actual, const Tensor &expected) {
  return report(call, firstDifference(actual, expected, [&](const Scalar &a, const Scalar &b) {
                  return !sameValue(actual.elementType(), a, b);
                }));
}

LogicalResult expectAlmostEqual(Call &call, const Tensor &actual, const Tensor &expected,
                                double tolerance) {
  return report(call, firstDifference(actual, expected, [&](const Scalar &a, const Scalar &b) {
                  return !almostEqual(actual.elementType(), a, b, tolerance);
                }));
}

/// Every element at most `most` apart, and at least one at least `least` apart.
LogicalResult expectClose(Call &call, const Tensor &actual, const Tensor &expected, uint64_t most,
                          uint64_t least) {
  uint64_t largest = 0;
  auto difference = firstDifference(actual, expected, [&](const Scalar &a, const Scalar &b) {
    uint64_t ulps = ulpDifference(actual.elementType(), a, b);
    largest = std::max(largest, ulps);
    return ulps > most;
  });
  if (difference)
    return call.error() << "failed: " << largest << " units in the last place, at most " << most
                        << " are allowed: " << *difference;
  if (largest < least)
    return call.error() << "failed: no element is " << least
                        << " units in the last place off, the largest difference is " << largest;
  return success();
}

/// The constant, read under the operand's type.
static FailureOr<Tensor> constant(Call &call, ElementsAttr attribute) {
  FailureOr<Tensor> value = Tensor::fromAttribute(attribute);
  if (failed(value))
    return call.error() << "has a value that cannot be read";
  return value;
}

static LogicalResult evalExpectEq(check::ExpectEqOp, Call &call) {
  return expectEqual(call, call[0], call[1]);
}
static LogicalResult evalExpectEqConst(check::ExpectEqConstOp op, Call &call) {
  FailureOr<Tensor> expected = constant(call, op.getValue());
  return failed(expected) ? failure() : expectEqual(call, call[0], *expected);
}
static LogicalResult evalExpectAlmostEq(check::ExpectAlmostEqOp op, Call &call) {
  return expectAlmostEqual(call, call[0], call[1], op.getTolerance().convertToDouble());
}
static LogicalResult evalExpectAlmostEqConst(check::ExpectAlmostEqConstOp op, Call &call) {
  FailureOr<Tensor> expected = constant(call, op.getValue());
  if (failed(expected))
    return failure();
  return expectAlmostEqual(call, call[0], *expected, op.getTolerance().convertToDouble());
}
static LogicalResult evalExpectClose(check::ExpectCloseOp op, Call &call) {
  return expectClose(call, call[0], call[1], op.getMaxUlpDifference(), op.getMinUlpDifference());
}

//===----------------------------------------------------------------------===//
// interpreter.
//===----------------------------------------------------------------------===//

static LogicalResult evalProbe(check::ProbeOp op, Call &call) {
  call.evaluator.probes[op.getProbeId()].push_back(call[0]);
  return call.give(call[0]);
}

static LogicalResult evalExpectSerializedEq(check::ExpectSerializedEqOp op, Call &call) {
  ArrayRef<Tensor> seen = call.evaluator.probes[op.getProbeId()];
  if (op.getIteration() >= seen.size())
    return call.error() << "failed: the probe ran " << seen.size() << " times";
  return expectEqual(call, seen[op.getIteration()], call[0]);
}

static LogicalResult evalPrint(check::PrintOp, Call &call) {
  call[0].print(llvm::outs());
  llvm::outs() << '\n';
  return success();
}

static LogicalResult evalRunParallel(check::RunParallelOp op, Call &call) {
  if (call.evaluator.where().grid)
    return call.error() << "is already within a grid";
  auto rows = op.getPrograms().getAsRange<ArrayAttr>();
  SmallVector<func::FuncOp> programs;
  size_t columns = op.getPrograms().empty() ? 0 : (*rows.begin()).size();
  for (ArrayAttr row : rows) {
    if (row.size() != columns || columns == 0)
      return call.error() << "needs rows of one length";
    for (Attribute name : row) {
      auto symbol = dyn_cast<FlatSymbolRefAttr>(name);
      func::FuncOp program = symbol ? call.evaluator.lookupFunction(op, symbol) : func::FuncOp();
      if (!program)
        return call.error() << "has programs that are not functions";
      programs.push_back(program);
    }
  }
  // Inputs are dealt to the processes in order.
  SmallVector<SmallVector<Tensor>> inputs, results;
  ArrayRef<Tensor> rest = call.operands;
  for (func::FuncOp program : programs) {
    size_t count = program.getNumArguments();
    if (rest.size() < count)
      return call.error() << "has too few inputs for its programs";
    inputs.emplace_back(rest.take_front(count));
    rest = rest.drop_front(count);
  }
  if (programs.empty() || !rest.empty())
    return call.error() << "has inputs that no program takes";
  Grid grid(static_cast<int64_t>(programs.size() / columns), static_cast<int64_t>(columns));
  if (auto infeed = op.getInfeed())
    for (Attribute name : *infeed) {
      func::FuncOp source = call.evaluator.lookupFunction(op, cast<FlatSymbolRefAttr>(name));
      if (!source)
        return failure();
      grid.infeed.push_back(source);
    }
  if (failed(grid.run(programs, inputs, results, call.evaluator.settings())))
    return failure();
  for (Results &values : results)
    llvm::append_range(call.results, values);
  return success();
}

void addCheck(HandlerTable &table) {
  table.add<check::ExpectAlmostEqConstOp, evalExpectAlmostEqConst>();
  table.add<check::ExpectAlmostEqOp, evalExpectAlmostEq>();
  table.add<check::ExpectCloseOp, evalExpectClose>();
  table.add<check::ExpectEqConstOp, evalExpectEqConst>();
  table.add<check::ExpectEqOp, evalExpectEq>();
  table.add<check::ExpectSerializedEqOp, evalExpectSerializedEq>();
  table.add<check::PrintOp, evalPrint>();
  table.add<check::ProbeOp, evalProbe>();
  table.add<check::RunParallelOp, evalRunParallel>();
}

} // namespace spokeshave::reference
