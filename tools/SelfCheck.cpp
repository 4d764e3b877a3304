//===- SelfCheck.cpp - programs that check themselves, compiled -------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/SelfCheck.h"

#include "input/StablehloOps.h"
#include "reference/CheckOps.h"
#include "reference/Interpreter.h"
#include "support/Error.h"
#include "tools/Execution.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::tools;
using namespace spokeshave::reference::check;
using reference::Tensor;

SmallVector<func::FuncOp> tools::selfCheckingFunctions(ModuleOp module) {
  SmallVector<func::FuncOp> functions;
  SmallVector<ModuleOp> modules = {module};
  llvm::append_range(modules, module.getOps<ModuleOp>());
  for (ModuleOp current : modules) {
    if (auto main = current.lookupSymbol<func::FuncOp>("main")) {
      functions.push_back(main);
      continue;
    }
    for (auto function : current.getOps<func::FuncOp>())
      if (!function.isPrivate() && function.getNumArguments() == 0)
        functions.push_back(function);
  }
  return functions;
}

namespace {

llvm::Error unsupported(const llvm::Twine &message) {
  return makeError(ErrorCode::UnsupportedProgram, message);
}

bool isForChecks(Operation *op) {
  return isa<CheckDialect, InterpreterDialect>(op->getDialect());
}

bool isExpectation(Operation *op) {
  return isa<CheckDialect>(op->getDialect());
}

//===----------------------------------------------------------------------===//
// What only an interpreter does goes, so that computation and expectations stand
// in one block.
//===----------------------------------------------------------------------===//

/// Replaces `op` by the body of `callee` on its operands.
void inlineBody(Operation *op, func::FuncOp callee) {
  OpBuilder builder(op);
  IRMapping mapping;
  Block &body = callee.getBody().front();
  mapping.map(body.getArguments(), op->getOperands());
  for (Operation &inner : body.without_terminator())
    builder.clone(inner, mapping);
  SmallVector<Value> results;
  for (Value value : body.getTerminator()->getOperands())
    results.push_back(mapping.lookup(value));
  op->replaceAllUsesWith(results);
  op->erase();
}

/// The function that `op` runs in its place: a call's.
llvm::Expected<func::FuncOp> calleeOf(Operation *op) {
  FlatSymbolRefAttr name;
  if (auto call = dyn_cast<func::CallOp>(op))
    name = call.getCalleeAttr();
  if (!name)
    return func::FuncOp();
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, name);
  if (!callee || !callee.getBody().hasOneBlock() ||
      callee.getNumArguments() != op->getNumOperands() ||
      callee.getNumResults() != op->getNumResults())
    return unsupported("calls a function that cannot be inlined");
  return callee;
}

llvm::Error inlineCalls(func::FuncOp function) {
  constexpr int kMost = 1000; // a recursion is found by it
  for (int count = 0; count < kMost; ++count) {
    bool done = true;
    for (Operation &op : function.getBody().front()) {
      llvm::Expected<func::FuncOp> callee = calleeOf(&op);
      if (!callee)
        return callee.takeError();
      if (!*callee)
        continue;
      inlineBody(&op, *callee);
      done = false;
      break; // the list changed
    }
    if (done)
      return llvm::Error::success();
  }
  return unsupported("calls too many functions");
}

/// A probe gives its operand; what it saw is expected of that operand.
llvm::Error removeProbes(Block &block) {
  llvm::StringMap<Value> seen;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isa<PrintOp>(op)) {
      op.erase();
    } else if (auto probe = dyn_cast<ProbeOp>(op)) {
      if (!seen.try_emplace(probe.getProbeId(), probe.getOperand()).second)
        return unsupported("probes a value several times");
      probe.replaceAllUsesWith(probe.getOperand());
      op.erase();
    } else if (auto expect = dyn_cast<ExpectSerializedEqOp>(op)) {
      Value value = seen.lookup(expect.getProbeId());
      if (!value || expect.getIteration() != 0)
        return unsupported("expects what a probe within a region saw");
      OpBuilder(&op).create<ExpectEqOp>(op.getLoc(), value, expect.getExpected());
      op.erase();
    }
  }
  return llvm::Error::success();
}

llvm::Error refuseInnerChecks(func::FuncOp function) {
  Operation *inner = nullptr;
  function.walk([&](Operation *op) {
    if (isForChecks(op) && op->getParentOp() != function)
      inner = op;
  });
  return inner ? unsupported("has '" + inner->getName().getStringRef() + "' within a region")
               : llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// The cut.
//===----------------------------------------------------------------------===//

/// Operands that say how large something is must stay constants: code has
/// static shapes.
bool givesShape(OpOperand &use) {
  return isa<stablehlo::DynamicReshapeOp, stablehlo::DynamicBroadcastInDimOp,
             stablehlo::DynamicIotaOp, stablehlo::DynamicPadOp, stablehlo::DynamicGatherOp,
             stablehlo::DynamicConvOp, stablehlo::RealDynamicSliceOp>(use.getOwner()) &&
         (use.getOperandNumber() > 0 || use.getOwner()->getNumOperands() == 1);
}

/// Other functions go, with what only they call: they may hold anything.
void dropUnusedFunctions(ModuleOp module, func::FuncOp main) {
  for (bool changed = true; changed;) {
    changed = false;
    for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (function != main && SymbolTable::symbolKnownUseEmpty(function, module)) {
        function.erase();
        changed = true;
      }
  }
}

/// Makes `main` the program of `module`.
void onlyMain(ModuleOp module, func::FuncOp main) {
  for (auto other : module.getOps<func::FuncOp>())
    other.setPrivate();
  // A function of that name that nobody calls may be in the way.
  if (auto old = module.lookupSymbol<func::FuncOp>("main"); old && old != main)
    old.erase();
  main.setSymName("main");
  main.setPublic();
  dropUnusedFunctions(module, main);
}

/// Makes the constants of main's block arguments.
llvm::Error takeConstants(func::FuncOp main, std::vector<Tensor> &arguments) {
  Block &block = main.getBody().front();
  for (auto constant : llvm::make_early_inc_range(block.getOps<stablehlo::ConstantOp>())) {
    auto tensor = Tensor::fromAttribute(constant.getValue());
    if (failed(tensor))
      return unsupported("has a constant of a type that cannot be passed");
    if (constant->use_empty())
      continue;
    auto isData = [](OpOperand &use) { return !givesShape(use); };
    if (llvm::none_of(constant->getUses(), isData))
      continue;
    BlockArgument argument = block.addArgument(constant.getType(), constant.getLoc());
    constant.getResult().replaceUsesWithIf(argument, isData);
    arguments.push_back(std::move(*tensor));
  }
  return llvm::Error::success();
}

/// Makes what main returns and what the expectations look at its results, and
/// removes the expectations.
void giveResults(func::FuncOp main, SmallVector<SmallVector<unsigned>> &uses) {
  Block &block = main.getBody().front();
  llvm::MapVector<Value, unsigned> results;
  Operation *terminator = block.getTerminator();
  for (Value value : terminator->getOperands())
    if (isa<RankedTensorType>(value.getType()))
      results.insert({value, results.size()});
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!isExpectation(&op))
      continue;
    SmallVector<unsigned> numbers;
    for (Value operand : op.getOperands())
      numbers.push_back(results.insert({operand, results.size()}).first->second);
    uses.push_back(std::move(numbers));
    op.erase();
  }
  SmallVector<Value> values;
  for (auto [value, number] : results)
    values.push_back(value);
  terminator->setOperands(values);
  main.setType(FunctionType::get(main.getContext(), block.getArgumentTypes(),
                                 ValueRange(values).getTypes()));
  main.removeResAttrsAttr();
}

} // namespace

llvm::Error tools::makePlain(func::FuncOp function) {
  if (llvm::Error error = inlineCalls(function))
    return error;
  if (llvm::Error error = removeProbes(function.getBody().front()))
    return error;
  return refuseInnerChecks(function);
}

llvm::Error tools::makeMain(ModuleOp module, func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return unsupported("has several blocks");
  onlyMain(module, function);
  return makePlain(function);
}

llvm::Expected<SelfCheck> tools::cutSelfCheck(func::FuncOp function) {
  auto source = function->getParentOfType<ModuleOp>();
  if (function.getNumArguments() != 0 || !function.getBody().hasOneBlock())
    return unsupported("takes arguments, or has several blocks");
  SelfCheck check;
  check.expectations = cast<ModuleOp>(source->clone());
  auto expecting = check.expectations->lookupSymbol<func::FuncOp>(function.getSymName());
  if (llvm::Error error = makePlain(expecting))
    return error;

  check.program = cast<ModuleOp>(check.expectations.get()->clone());
  auto main = check.program->lookupSymbol<func::FuncOp>(function.getSymName());
  onlyMain(*check.program, main);
  if (llvm::Error error = takeConstants(main, check.arguments))
    return error;
  SmallVector<SmallVector<unsigned>> uses;
  giveResults(main, uses);
  auto expectations = llvm::make_filter_range(expecting.getBody().front(),
                                              [](Operation &op) { return isExpectation(&op); });
  for (auto [op, results] : llvm::zip_equal(expectations, uses))
    check.list.push_back({&op, results});
  DiagnosticCollector diagnostics(function.getContext());
  if (failed(verify(*check.program)))
    return diagnostics.take(ErrorCode::Internal, "the program cut out is invalid");
  return check;
}

llvm::Error tools::runOnCpu(OwningOpRef<ModuleOp> module, const cpu::CompileOptions &options,
                            std::vector<Tensor> &arguments, std::vector<Tensor> &results) {
  auto program = cpu::compile(std::move(module), options);
  if (!program)
    return program.takeError();
  auto executable = runtime::Executable::create(std::move(*program));
  if (!executable)
    return executable.takeError();
  int64_t nanoseconds = 0;
  return executeOnTensors(**executable, arguments, results, nanoseconds);
}

llvm::Error tools::runSelfCheck(SelfCheck check, ProgramRunner run) {
  auto results = emptyResults(check.program->lookupSymbol<func::FuncOp>("main"));
  if (!results)
    return results.takeError();
  if (llvm::Error error = run(std::move(check.program), check.arguments, *results))
    return error;
  DiagnosticCollector diagnostics(check.expectations.get()->getContext());
  bool allHold = true;
  for (auto &[op, numbers] : check.list) {
    SmallVector<Tensor> operands;
    for (unsigned number : numbers)
      operands.push_back((*results)[number]);
    allHold &= succeeded(reference::evaluateOp(op, operands));
  }
  return allHold ? llvm::Error::success()
                 : diagnostics.take(ErrorCode::Internal, "an expectation does not hold");
}
