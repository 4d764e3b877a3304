//===- Compile.cpp - from a StableHLO module to a CPU program --------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The road in one place: each level is one step of Compilation::run, and each
// can be looked at through the snapshot.
//
//===----------------------------------------------------------------------===//
#include "target/cpu/Compile.h"

#include "graph/GraphDialect.h"
#include "graph/Pipeline.h"
#include "graph/Processes.h"
#include "input/NarrowFloats.h"
#include "input/StablehloOps.h"
#include "kernel/KernelDialect.h"
#include "kernel/Lowering.h"
#include "machine/Machine.h"
#include "schedule/Passes.h"
#include "support/Error.h"
#include "support/Location.h"
#include "target/cpu/Constants.h"
#include "target/cpu/Driver.h"
#include "target/cpu/EmitKernel.h"
#include "target/cpu/KernelCompiler.h"
#include "target/cpu/Statistics.h"
#include "target/cpu/Timing.h"

#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::cpu;

namespace {

class Compilation {
public:
  Compilation(ModuleOp module, const CompileOptions &options, const Snapshot &snapshot)
      : module(module), options(options), snapshot(snapshot), diagnostics(module.getContext()),
        clock(program->stats.phases) {}

  llvm::Expected<std::unique_ptr<Program>> run();

private:
  llvm::Error findMachine();
  llvm::Error checkInput();
  llvm::Error lowerToGraph();
  llvm::Error lowerToSchedule();
  llvm::Error lowerToKernels();
  llvm::Error emitKernel(kernel::FuncOp kernel, KernelInfo &info);
  llvm::Error emitCode();
  void describeDevices();
  llvm::Error describeBuffers();
  llvm::Error describeCalls();

  llvm::Error runPasses(llvm::function_ref<void(PassManager &)> build, llvm::StringRef level);
  llvm::Error fail(ErrorCode code, llvm::StringRef fallback) {
    return diagnostics.take(code, fallback);
  }
  void show(llvm::StringRef level);

  ModuleOp module;
  const CompileOptions &options;
  const Snapshot &snapshot;
  DiagnosticCollector diagnostics;
  machine::Machine machine;
  DriverLayout layout;
  std::unique_ptr<Program> program = std::make_unique<Program>();
  PhaseClock clock;
  std::vector<std::vector<int64_t>> argumentParts, resultParts; ///< ValueSpec::parts
  std::vector<kernel::FuncOp> lowered;
  std::unique_ptr<KernelCompiler> kernels;
};

llvm::Expected<std::unique_ptr<Program>> Compilation::run() {
  double begin = wallMilliseconds();
  if (llvm::Error error = findMachine())
    return error;
  if (llvm::Error error = checkInput())
    return error;
  if (llvm::Error error = lowerToGraph())
    return error;
  if (llvm::Error error = lowerToSchedule())
    return error;
  program->stats.millisecondsFront = wallMilliseconds() - begin;

  begin = wallMilliseconds();
  if (llvm::Error error = lowerToKernels())
    return error;
  if (llvm::Error error = emitCode())
    return error;
  // Last: the driver has decided which constants and calls there are.
  if (llvm::Error error = describeBuffers())
    return error;
  if (llvm::Error error = describeCalls())
    return error;
  clock.end("describe");
  mergePhases(program->stats.phases);
  program->stats.millisecondsCode = wallMilliseconds() - begin;
  return std::move(program);
}

llvm::Error Compilation::findMachine() {
  llvm::Expected<machine::Machine> described = machine::describe(options.isa);
  if (!described)
    return described.takeError();
  machine = std::move(*described);
  if (options.threads > 0)
    machine.threads = options.threads;
  program->isa = machine::nameOf(machine.isa).str();
  return llvm::Error::success();
}

void Compilation::show(llvm::StringRef level) {
  if (snapshot)
    snapshot(level, [&](llvm::raw_ostream &os) { module->print(os); });
}

llvm::Error Compilation::runPasses(llvm::function_ref<void(PassManager &)> build,
                                   llvm::StringRef level) {
  PassManager manager(module.getContext(), ModuleOp::getOperationName());
  manager.enableVerifier(options.verifyEachPass);
  build(manager);
  manager.addInstrumentation(timePasses(clock, level));
  clock.end("passes");
  if (failed(manager.run(module)))
    return fail(ErrorCode::UnsupportedProgram, ("the " + level + " level failed").str());
  clock.end("passes");
  show(level);
  clock.restart();
  return llvm::Error::success();
}

/// The first operation, or owner of a block, with a value whose elements have no
/// form in code.
static Operation *findNarrowFloat(ModuleOp module, Type &found) {
  Operation *where = nullptr;
  auto isNarrow = [&](Type type) {
    found = getElementTypeOrSelf(type);
    return narrow::isNarrowFloat(found);
  };
  module.walk([&](Operation *op) {
    bool has = llvm::any_of(op->getResultTypes(), isNarrow);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        has = has || llvm::any_of(block.getArgumentTypes(), isNarrow);
    where = has ? op : nullptr;
    return has ? WalkResult::interrupt() : WalkResult::advance();
  });
  return where;
}

llvm::Error Compilation::checkInput() {
  program->name = module.getName().value_or("program").str();
  show("stablehlo");
  if (failed(verify(module)))
    return fail(ErrorCode::InvalidProgram, "the program is against the specification");
  Type narrowType;
  if (Operation *op = findNarrowFloat(module, narrowType)) {
    op->emitOpError("has elements of type ") << narrowType << ", which code has no form for";
    return fail(ErrorCode::UnsupportedProgram, "a type is not supported");
  }
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal())
    return makeError(ErrorCode::InvalidProgram, "the program has no function @main");
  clock.end("verify");
  return llvm::Error::success();
}

llvm::Error Compilation::lowerToGraph() {
  graph::GraphOptions graphOptions;
  graphOptions.fusion = options.fusion;
  graphOptions.attention = options.attention;
  // Scores that no second cache holds. Of shapes alone: sums have one order everywhere.
  graphOptions.fewestScoreBytes = 1 << 20;
  auto build = [&](PassManager &manager) { graph::buildGraphPipeline(manager, graphOptions); };
  if (llvm::Error error = runPasses(build, "graph"))
    return error;
  auto count = [&](llvm::StringRef name) -> int64_t {
    auto attribute = module->getAttrOfType<IntegerAttr>(name);
    return attribute ? attribute.getInt() : 0;
  };
  program->stats.instructionsBefore = count("graph.instructions_before");
  program->stats.instructionsAfter = count("graph.instructions_after");
  describeDevices();
  return llvm::Error::success();
}

/// How the program is spread over devices, which the schedule does not say.
void Compilation::describeDevices() {
  graph::Processes processes = graph::Processes::of(module);
  program->replicas = processes.replicas;
  program->partitions = processes.partitions;
  auto main = module.lookupSymbol<func::FuncOp>("main");
  auto partsOf = [](Attribute attribute) {
    auto numbers = dyn_cast_or_null<DenseI64ArrayAttr>(attribute);
    return numbers ? std::vector<int64_t>(numbers.asArrayRef()) : std::vector<int64_t>();
  };
  // Tokens have no buffers.
  for (auto [index, type] : llvm::enumerate(main.getArgumentTypes()))
    if (isa<RankedTensorType>(type))
      argumentParts.push_back(partsOf(main.getArgAttr(index, "graph.parts")));
  for (auto [index, type] : llvm::enumerate(main.getResultTypes()))
    if (isa<RankedTensorType>(type))
      resultParts.push_back(partsOf(main.getResultAttr(index, "graph.parts")));
}

llvm::Error Compilation::lowerToSchedule() {
  llvm::Error error = runPasses(
      [&](PassManager &manager) {
        schedule::buildSchedulePipeline(manager, options.verifyEachPass);
      },
      "schedule");
  if (error)
    return error;
  countSchedule(module, program->stats);
  clock.end("count");
  return llvm::Error::success();
}

llvm::Error Compilation::lowerToKernels() {
  DialectRegistry registry;
  kernel::registerKernelDialects(registry);
  module.getContext()->appendDialectRegistry(registry);
  module.getContext()->loadAllAvailableDialects();
  clock.end("kernel.dialects");
  EmissionOptions emission;
  emission.threads = machine.threads;
  emission.wantIr = emission.wantAssembly = bool(snapshot);
  kernels = std::make_unique<KernelCompiler>(machine, emission, options.shareKernels && !snapshot,
                                             /*isOne=*/bool(snapshot));
  // The statistics list the kernels in the module's order.
  auto scheduled = llvm::to_vector(module.getOps<schedule::KernelOp>());
  for (auto [op, info] : llvm::zip_equal(scheduled, program->stats.kernels)) {
    FailureOr<kernel::FuncOp> kernel = kernels->lower(op, info);
    if (failed(kernel))
      return fail(ErrorCode::UnsupportedProgram, "a kernel cannot be lowered");
    lowered.push_back(*kernel);
  }
  clock.end("kernel.lower");
  show("kernel");
  kernels->shareLoops(lowered);
  clock.end("kernel.share-loops");
  return llvm::Error::success();
}

llvm::Error Compilation::emitKernel(kernel::FuncOp kernel, KernelInfo &info) {
  if (options.verifyEachPass && failed(verify(kernel)))
    return fail(ErrorCode::Internal, "an invalid kernel");
  if (failed(kernels->emit(kernel, info)))
    return fail(ErrorCode::Internal, "a kernel cannot be emitted");
  clock.end("llvm.emit");
  return llvm::Error::success();
}

llvm::Error Compilation::emitCode() {
  // LLVM works on one kernel while the next is emitted.
  for (auto [kernel, info] : llvm::zip_equal(lowered, program->stats.kernels))
    if (llvm::Error error = emitKernel(kernel, info))
      return error;
  auto programs = module.getOps<schedule::ProgramOp>();
  if (failed(emitDriver(*programs.begin(), module, kernels->driverModule(), machine, layout)))
    return fail(ErrorCode::Internal, "the driver cannot be emitted");
  clock.end("llvm.emit");
  if (llvm::Error error = kernels->finish(*program))
    return error;
  // Of all threads; this one's part of it is in no other phase.
  clock.end("llvm.wait");
  CompileStats &stats = program->stats;
  stats.phases.back().processorMs = 0;
  stats.phases.push_back({"llvm.optimize", 0, kernels->optimizeMs});
  stats.phases.push_back({"llvm.generate", 0, kernels->generateMs});
  if (snapshot) {
    snapshot("llvm", [&](llvm::raw_ostream &os) { os << kernels->ir; });
    snapshot("asm", [&](llvm::raw_ostream &os) { os << kernels->assembly; });
  }
  program->driverSymbol = layout.symbol;
  stats.arenaBytes = layout.arenaBytes;
  stats.scratchBytes = layout.scratchBytes;
  return llvm::Error::success();
}

llvm::Error Compilation::describeBuffers() {
  schedule::ProgramOp driver = *module.getOps<schedule::ProgramOp>().begin();
  for (BlockArgument argument : driver.getProgramArguments())
    program->arguments.push_back(specOf(cast<MemRefType>(argument.getType())));
  for (auto [result, alias] : llvm::zip_equal(driver.getProgramResults(), driver.getAliases())) {
    program->results.push_back(specOf(cast<MemRefType>(result.getType())));
    program->results.back().alias = alias;
  }
  for (auto [spec, parts] : llvm::zip_equal(program->arguments, argumentParts))
    spec.parts = std::move(parts);
  for (auto [spec, parts] : llvm::zip_equal(program->results, resultParts))
    spec.parts = std::move(parts);
  for (ElementsAttr constant : layout.constants) {
    FailureOr<std::vector<char>> bytes = bytesOf(constant);
    if (failed(bytes))
      return makeError(ErrorCode::UnsupportedProgram, "a constant of the program has no data");
    program->constants.push_back(std::move(*bytes));
  }
  return llvm::Error::success();
}

llvm::Error Compilation::describeCalls() {
  for (Operation *op : layout.calls) {
    CallSpec &spec = program->calls.emplace_back();
    DictionaryAttr config;
    uint64_t inputs;
    if (auto library = dyn_cast<schedule::LibraryOp>(op)) {
      spec.target = library.getRoutine().str();
      spec.isLibrary = true;
      config = library.getConfig();
      inputs = library.getNumInputs();
    } else {
      auto call = cast<schedule::CustomCallOp>(op);
      spec.target = call.getTarget().str();
      spec.apiVersion = call.getApiVersion();
      config = call.getConfig();
      inputs = call.getNumInputs();
    }
    llvm::raw_string_ostream(spec.config) << config;
    spec.location = describeLocation(op->getLoc());
    for (auto [index, type] : llvm::enumerate(op->getOperandTypes()))
      (index < inputs ? spec.inputs : spec.outputs).push_back(specOf(cast<MemRefType>(type)));
  }
  return llvm::Error::success();
}

} // namespace

llvm::Expected<std::unique_ptr<Program>> cpu::compile(OwningOpRef<ModuleOp> module,
                                                      const CompileOptions &options,
                                                      const Snapshot &snapshot) {
  // The compilation, whose diagnostics end with it, goes before the module.
  return Compilation(*module, options, snapshot).run();
}
