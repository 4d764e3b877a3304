//===- GridCheck.cpp - self-checking programs of several devices ------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/GridCheck.h"

#include "input/StablehloOps.h"
#include "reference/CheckOps.h"
#include "reference/Interpreter.h"
#include "runtime/Exchange.h"
#include "support/Error.h"
#include "tools/Execution.h"
#include "tools/SelfCheck.h"
#include "tools/TpuTarget.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::tools;
using namespace spokeshave::reference::check;
using reference::Tensor;
using runtime::Exchange;

bool tools::runsGrid(func::FuncOp function) {
  return !function.getBody().empty() && !function.getBody().front().getOps<RunParallelOp>().empty();
}

namespace {

llvm::Error unsupported(const llvm::Twine &message) {
  return makeError(ErrorCode::UnsupportedProgram, message);
}

/// One run of a grid.
class GridRun {
public:
  GridRun(RunParallelOp op, const GridCompiler &compiler) : op(op), compiler(compiler) {}

  /// `inputs` are dealt to the processes in order; results come in their order,
  /// nothing for tokens.
  llvm::Expected<std::vector<Tensor>> run(ArrayRef<Tensor> inputs);

private:
  struct Program {
    GridProgram run;
    std::vector<Tensor> results; ///< empty ones
  };
  llvm::Error findPrograms();
  llvm::Expected<Program *> compile(func::FuncOp function);
  llvm::Error feed(Exchange &exchange);

  RunParallelOp op;
  const GridCompiler &compiler;
  SmallVector<func::FuncOp> functions; ///< of each process
  int64_t replicas = 0, partitions = 0;
  DenseMap<Operation *, Program> programs;
};

llvm::Error GridRun::findPrograms() {
  for (Attribute row : op.getPrograms()) {
    auto names = cast<ArrayAttr>(row);
    if (replicas++ == 0)
      partitions = names.size();
    if (partitions != int64_t(names.size()) || names.empty())
      return makeError(ErrorCode::InvalidProgram, "a grid needs rows of one length");
    for (Attribute name : names) {
      auto symbol = dyn_cast<FlatSymbolRefAttr>(name);
      auto function =
          symbol ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, symbol) : func::FuncOp();
      if (!function)
        return makeError(ErrorCode::InvalidProgram, "a grid has programs that are not functions");
      functions.push_back(function);
    }
  }
  return llvm::Error::success();
}

/// Compiles `function` for the grid; once, if several processes run it.
llvm::Expected<GridRun::Program *> GridRun::compile(func::FuncOp function) {
  auto [entry, isNew] = programs.try_emplace(function);
  Program &program = entry->second;
  if (!isNew)
    return &program;
  auto module = cast<ModuleOp>(function->getParentOfType<ModuleOp>()->clone());
  OwningOpRef<ModuleOp> owner(module);
  auto main = module.lookupSymbol<func::FuncOp>(function.getSymName());
  if (llvm::Error error = makeMain(module, main))
    return std::move(error);
  OpBuilder builder(module);
  module->setAttr("mhlo.num_replicas", builder.getI32IntegerAttr(replicas));
  module->setAttr("mhlo.num_partitions", builder.getI32IntegerAttr(partitions));
  auto results = emptyResults(main);
  if (!results)
    return results.takeError();
  program.results = std::move(*results);
  auto compiled = compiler(std::move(owner));
  if (!compiled)
    return compiled.takeError();
  program.run = std::move(*compiled);
  return &program;
}

llvm::Error GridRun::feed(Exchange &exchange) {
  if (!op.getInfeed())
    return llvm::Error::success();
  DiagnosticCollector diagnostics(op.getContext());
  ArrayAttr sources = *op.getInfeed();
  for (Attribute name : sources) {
    auto source =
        SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, cast<FlatSymbolRefAttr>(name));
    FailureOr<SmallVector<Tensor>> values = failure();
    if (source)
      values = reference::evaluateFunction(source, {});
    if (failed(values))
      return diagnostics.take(ErrorCode::InvalidProgram, "an infeed has no function to feed it");
    Exchange::Values bytes;
    for (const Tensor &value : *values)
      bytes.emplace_back(value.data(), value.byteSize());
    exchange.feed(std::move(bytes));
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<Tensor>> GridRun::run(ArrayRef<Tensor> inputs) {
  if (llvm::Error error = findPrograms())
    return std::move(error);
  std::vector<GridProgram> runs;
  std::vector<std::vector<Tensor>> arguments, results;
  for (func::FuncOp function : functions) {
    auto program = compile(function);
    if (!program)
      return program.takeError();
    runs.push_back((*program)->run);
    // Tensors share their data until they are written: each process gets its own.
    std::vector<Tensor> &own = results.emplace_back();
    for (const Tensor &result : (*program)->results)
      own.emplace_back(result.elementType(), result.shape());
    if (inputs.size() < function.getNumArguments())
      return makeError(ErrorCode::InvalidProgram, "a grid has too few inputs for its programs");
    std::vector<Tensor> &dealt = arguments.emplace_back();
    for (auto [type, input] : llvm::zip(function.getArgumentTypes(), inputs))
      if (!isa<stablehlo::TokenType>(type))
        dealt.push_back(input);
    inputs = inputs.drop_front(function.getNumArguments());
  }
  Exchange exchange(replicas, partitions);
  if (llvm::Error error = feed(exchange))
    return std::move(error);
  llvm::Error error = runtime::runTogether(exchange, [&](int64_t device) {
    return runs[device](arguments[device], results[device], exchange, device);
  });
  if (error)
    return std::move(error);
  std::vector<Tensor> all;
  for (auto [function, values] : llvm::zip_equal(functions, results)) {
    auto next = values.begin();
    for (Type type : function.getResultTypes())
      all.push_back(isa<stablehlo::TokenType>(type) ? Tensor::token() : *next++);
  }
  return all;
}

} // namespace

GridCompiler tools::gridOnCpu(const cpu::CompileOptions &options) {
  return [options](OwningOpRef<ModuleOp> module) -> llvm::Expected<GridProgram> {
    auto compiled = cpu::compile(std::move(module), options);
    if (!compiled)
      return compiled.takeError();
    auto made = runtime::Executable::create(std::move(*compiled));
    if (!made)
      return made.takeError();
    std::shared_ptr<runtime::Executable> executable = std::move(*made);
    return [executable](auto &arguments, auto &results, Exchange &exchange, int64_t device) {
      int64_t nanoseconds = 0;
      return executeOnTensors(*executable, arguments, results, nanoseconds, &exchange, device);
    };
  };
}

GridCompiler tools::gridOnChips(const tpu::CompileOptions &options) {
  return [options](OwningOpRef<ModuleOp> module) -> llvm::Expected<GridProgram> {
    auto compiled = tpu::compile(std::move(module), options);
    if (!compiled)
      return compiled.takeError();
    std::shared_ptr<tpu::Program> program = std::move(*compiled);
    auto torus = torusFor(*program, "");
    if (!torus)
      return torus.takeError();
    return [program, torus = std::move(*torus)](auto &arguments, auto &results, Exchange &exchange,
                                                int64_t device) {
      return simulateOnTensors(*program, {&torus, &exchange, device}, arguments, results)
          .takeError();
    };
  };
}

llvm::Error tools::runGridCheck(func::FuncOp function, const GridCompiler &compiler) {
  if (function.getNumArguments() != 0 || !function.getBody().hasOneBlock())
    return unsupported("takes arguments, or has several blocks");
  OwningOpRef<ModuleOp> module = cast<ModuleOp>(function->getParentOfType<ModuleOp>()->clone());
  function = module->lookupSymbol<func::FuncOp>(function.getSymName());
  if (llvm::Error error = makePlain(function))
    return error;
  DenseMap<Value, Tensor> values;
  for (Operation &op : function.getBody().front().without_terminator()) {
    SmallVector<Tensor> operands;
    for (Value operand : op.getOperands())
      operands.push_back(values.find(operand)->second);
    std::vector<Tensor> results;
    if (auto grid = dyn_cast<RunParallelOp>(op)) {
      auto given = GridRun(grid, compiler).run(operands);
      if (!given)
        return given.takeError();
      results = std::move(*given);
    } else {
      DiagnosticCollector diagnostics(op.getContext());
      auto given = reference::evaluateOp(&op, operands);
      if (failed(given))
        return diagnostics.take(ErrorCode::Internal, "an expectation does not hold");
      results.assign(given->begin(), given->end());
    }
    if (results.size() != op.getNumResults())
      return makeError(ErrorCode::InvalidProgram, "a grid gives another number of results");
    for (auto [value, result] : llvm::zip_equal(op.getResults(), results))
      values.try_emplace(value, result);
  }
  return llvm::Error::success();
}
