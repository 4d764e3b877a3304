//===- TpuBackend.cpp - StableHLO through the compiler to a simulated chip -===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The platform spokeshave_tpu: programs run in the simulator, so that a user of
// JAX gets the chip's numbers, and its cycles through cost_analysis.
//
//===----------------------------------------------------------------------===//
#include "runtime/pjrt/TpuBackend.h"

#include "input/Dialects.h"
#include "input/Reader.h"
#include "input/StablehloOps.h"
#include "runtime/pjrt/Interrupt.h"
#include "runtime/tpu/Simulator.h"
#include "support/Error.h"
#include "target/tpu/Compile.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FormatVariadic.h"

namespace spokeshave::pjrt {

namespace {

class TpuProgram : public LoadedProgram {
public:
  explicit TpuProgram(std::unique_ptr<tpu::Program> made)
      : program(std::move(made)), torus(program->chip, program->replicas * program->partitions) {
    name = program->name;
    arguments = program->arguments;
    results = program->results;
    stats = program->stats;
    replicas = program->replicas;
    partitions = program->partitions;
    estimate();
  }

  llvm::Error run(llvm::ArrayRef<runtime::ExecuteArgument> arguments,
                  llvm::ArrayRef<runtime::ExecuteResult> results,
                  const runtime::CancelToken &cancel) override {
    return simulate(arguments, results, cancel, nullptr, 0);
  }

  llvm::Error runAsDevice(llvm::ArrayRef<runtime::ExecuteArgument> arguments,
                          llvm::ArrayRef<runtime::ExecuteResult> results,
                          const runtime::CancelToken &cancel, runtime::Exchange &exchange,
                          int64_t device) override {
    return simulate(arguments, results, cancel, &exchange, device);
  }

  llvm::Expected<std::string> serialize() const override {
    return makeError(ErrorCode::UnsupportedProgram,
                     "programs of the simulated chip cannot be serialized");
  }

private:
  llvm::Error simulate(llvm::ArrayRef<runtime::ExecuteArgument> arguments,
                       llvm::ArrayRef<runtime::ExecuteResult> results,
                       const runtime::CancelToken &cancel, runtime::Exchange *exchange,
                       int64_t chip) {
    llvm::SmallVector<const char *> inputs;
    for (const runtime::ExecuteArgument &argument : arguments)
      inputs.push_back(static_cast<const char *>(argument.data));
    llvm::SmallVector<char *> outputs;
    for (const runtime::ExecuteResult &result : results)
      outputs.push_back(static_cast<char *>(result.data));
    runtime::tpu::SimulationOptions options;
    options.isCancelled = [&cancel] { return cancel.cancelled(); };
    options.grid = {&torus, exchange, chip};
    options.verify = !isVerified;
    return runtime::tpu::simulate(*program, inputs, outputs, options).takeError();
  }

  /// The cycles of a run, of loops and branches that data decides one each.
  void estimate() {
    runtime::tpu::SimulationOptions options;
    options.computeValues = false;
    options.grid.torus = &torus;
    auto report = runtime::tpu::simulate(*program, {}, {}, options);
    if (!report)
      return llvm::consumeError(report.takeError()); // a run will say it
    isVerified = true;
    extraCosts.push_back({"cycles", double(report->cycles)});
    extraCosts.push_back({"optimal_seconds", double(report->cycles) / program->timing.clock});
  }

  std::unique_ptr<tpu::Program> program;
  bool isVerified = false; ///< its bundles
  runtime::tpu::Torus torus;
};

llvm::Error refuseTokens(mlir::ModuleOp module) {
  auto main = module.lookupSymbol<mlir::func::FuncOp>("main");
  auto isToken = [](mlir::Type type) { return mlir::isa<stablehlo::TokenType>(type); };
  if (main && (llvm::any_of(main.getArgumentTypes(), isToken) ||
               llvm::any_of(main.getResultTypes(), isToken)))
    return makeError(ErrorCode::UnsupportedProgram,
                     "the simulated chip runs no programs with ordered effects");
  return llvm::Error::success();
}

llvm::Expected<tpu::CompileOptions> optionsFor(llvm::StringRef chip, NamedOptions named) {
  tpu::CompileOptions options;
  options.chip = chip.str();
  for (const auto &[name, value] : named)
    if (llvm::Error error = options.set(name, value))
      return std::move(error);
  return options;
}

llvm::Expected<std::shared_ptr<LoadedProgram>> compile(llvm::StringRef source, llvm::StringRef chip,
                                                       NamedOptions named) {
  llvm::Expected<tpu::CompileOptions> options = optionsFor(chip, named);
  if (!options)
    return options.takeError();
  mlir::DialectRegistry registry;
  registerInputDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  DiagnosticCollector diagnostics(&context);
  mlir::OwningOpRef<mlir::ModuleOp> module = readProgram(source, "program", &context);
  if (!module)
    return diagnostics.take(ErrorCode::MalformedProgram, "the program could not be read");
  if (llvm::Error error = refuseTokens(*module))
    return error;
  auto program = tpu::compile(std::move(module), *options);
  if (!program)
    return program.takeError();
  return std::make_shared<TpuProgram>(std::move(*program));
}

} // namespace

llvm::Expected<Backend> tpuBackend(llvm::StringRef chipName) {
  llvm::Expected<machine::Chip> chip = machine::loadChip(chipName);
  if (!chip)
    return chip.takeError();
  Backend backend;
  backend.platform = "spokeshave_tpu";
  backend.machineHash = chip->hash();
  backend.deviceKind = llvm::formatv("tpu {0} {1:x-16}", chip->name, chip->hash()).str();
  backend.compile = [name = chipName.str()](llvm::StringRef source, NamedOptions options) {
    return compile(source, name, options);
  };
  backend.hashOptions = [name = chipName.str()](NamedOptions named) -> llvm::Expected<uint64_t> {
    llvm::Expected<tpu::CompileOptions> options = optionsFor(name, named);
    if (!options)
      return options.takeError();
    return options->hash();
  };
  backend.load = [](llvm::StringRef) -> llvm::Expected<std::shared_ptr<LoadedProgram>> {
    return makeError(ErrorCode::UnsupportedProgram,
                     "programs of the simulated chip cannot be loaded from bytes");
  };
  backend.start = [] { installInterruptHandler(); };
  return backend;
}

} // namespace spokeshave::pjrt
