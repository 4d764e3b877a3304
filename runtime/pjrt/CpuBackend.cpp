//===- CpuBackend.cpp - StableHLO through the compiler to the CPU ----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each compilation has an MLIR context of its own, because contexts never free
// what they unique: memory stays flat over any number of compilations.
//
//===----------------------------------------------------------------------===//
#include "runtime/pjrt/Backend.h"

#include "input/Dialects.h"
#include "input/Reader.h"
#include "input/StablehloOps.h"
#include "runtime/pjrt/Interrupt.h"
#include "runtime/pjrt/WarmUp.h"
#include "support/Error.h"
#include "target/cpu/Timing.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <mutex>
#include <set>

namespace spokeshave::pjrt {

namespace {
/// Below both, a program takes less time than waking another thread.
constexpr int64_t kTinyBytes = 64 << 10;
constexpr int64_t kTinyOperations = 64 << 10;

class CpuProgram;

/// What a program's own description no longer tells of the module.
struct Outline {
  bool hasLoops = false;
  /// Of each argument and result of @main: is it a token? Compiled programs have
  /// none, the framework counts them.
  llvm::SmallVector<bool> argumentTokens, resultTokens;

  static Outline of(mlir::ModuleOp module);
  std::string serialize() const;
  static std::optional<Outline> deserialize(llvm::StringRef &bytes);
};

/// The programs that are loaded now, and the counts of those that are not.
struct Loaded {
  std::mutex mutex;
  std::set<const CpuProgram *> programs;
  int64_t goneLibraryCalls = 0, goneCustomCalls = 0;

  static Loaded &global() {
    static Loaded *loaded = new Loaded; // programs may outlive static destruction
    return *loaded;
  }
};

class CpuProgram : public LoadedProgram {
public:
  CpuProgram(std::unique_ptr<runtime::Executable> made, Outline described)
      : executable(std::move(made)), outline(std::move(described)) {
    const cpu::Program &program = executable->program();
    name = program.name;
    arguments = withTokens(program.arguments, outline.argumentTokens);
    results = withTokens(program.results, outline.resultTokens);
    for (cpu::ValueSpec &result : results)
      if (result.alias >= 0)
        result.alias = withTokensBefore(result.alias);
    stats = program.stats;
    replicas = program.replicas;
    partitions = program.partitions;
    callsOut =
        llvm::any_of(program.calls, [](const cpu::CallSpec &call) { return !call.isLibrary; });
    // What a loop costs is known only if its trips are: run none on the caller.
    isTiny = !outline.hasLoops && program.calls.empty() && stats.bytesAccessed <= kTinyBytes &&
             stats.flops <= kTinyOperations && stats.transcendentals <= kTinyOperations / 16;
    std::lock_guard<std::mutex> lock(Loaded::global().mutex);
    Loaded::global().programs.insert(this);
  }

  ~CpuProgram() override {
    runtime::ExecuteCounters counters = executable->counters();
    Loaded &loaded = Loaded::global();
    std::lock_guard<std::mutex> lock(loaded.mutex);
    loaded.programs.erase(this);
    loaded.goneLibraryCalls += counters.libraryCalls;
    loaded.goneCustomCalls += counters.customCalls;
  }

  llvm::Error run(llvm::ArrayRef<runtime::ExecuteArgument> arguments,
                  llvm::ArrayRef<runtime::ExecuteResult> results,
                  const runtime::CancelToken &cancel) override {
    return execute(arguments, results, cancel, nullptr, 0);
  }

  llvm::Error runAsDevice(llvm::ArrayRef<runtime::ExecuteArgument> arguments,
                          llvm::ArrayRef<runtime::ExecuteResult> results,
                          const runtime::CancelToken &cancel, runtime::Exchange &exchange,
                          int64_t device) override {
    return execute(arguments, results, cancel, &exchange, device);
  }

private:
  llvm::Error execute(llvm::ArrayRef<runtime::ExecuteArgument> arguments,
                      llvm::ArrayRef<runtime::ExecuteResult> results,
                      const runtime::CancelToken &cancel, runtime::Exchange *exchange,
                      int64_t device) {
    auto withoutTokens = [](auto values, const llvm::SmallVector<bool> &tokens) {
      std::vector<std::remove_const_t<std::remove_reference_t<decltype(values[0])>>> kept;
      for (auto [value, isToken] : llvm::zip_equal(values, tokens))
        if (!isToken)
          kept.push_back(value);
      return kept;
    };
    auto inputs = withoutTokens(arguments, outline.argumentTokens);
    auto outputs = withoutTokens(results, outline.resultTokens);
    runtime::ExecuteArgs args;
    args.arguments = inputs;
    args.results = outputs;
    args.cancel = &cancel;
    args.deviceOrdinal = static_cast<int32_t>(device);
    args.exchange = exchange;
    args.device = device;
    return executable->execute(args);
  }

public:
  int64_t codeBytes() const override { return executable->codeBytes(); }

  llvm::Expected<std::string> serialize() const override {
    return outline.serialize() + runtime::serialize(executable->program());
  }

  llvm::json::Object statistics() const {
    runtime::ExecuteCounters counters = executable->counters();
    int64_t libraryCalls = 0, customCalls = 0;
    for (const cpu::CallSpec &call : executable->program().calls)
      ++(call.isLibrary ? libraryCalls : customCalls);
    return llvm::json::Object{
        {"id", number},
        {"name", name},
        {"kernels", static_cast<int64_t>(stats.kernels.size())},
        {"library_calls", libraryCalls},
        {"custom_calls", customCalls},
        {"objects", stats.objects},
        {"shared_objects", stats.sharedObjects},
        {"compile_ms", stats.millisecondsFront + stats.millisecondsCode},
        {"compile_phases", phases()},
        {"runs", counters.executions},
        {"run_ms", static_cast<double>(counters.nanoseconds) * 1e-6},
        {"arena_bytes", stats.arenaBytes},
        {"code_bytes", codeBytes()},
        {"calls", callsByTarget()},
        {"kernel_kinds", kernelsByKind()},
        {"structure", describe(stats.structure)},
        {"loops", describeLoops()},
        {"instructions", llvm::json::Object{{"before", stats.instructionsBefore},
                                            {"after", stats.instructionsAfter}}},
        {"work", llvm::json::Object{{"flops", stats.flops},
                                    {"transcendentals", stats.transcendentals},
                                    {"bytes", stats.bytesAccessed}}},
        {"run", llvm::json::Object{{"regions", counters.parallelRegions},
                                   {"inline_regions", counters.inlineRegions},
                                   {"launches", counters.launches},
                                   {"library_calls", counters.libraryCalls},
                                   {"custom_calls", counters.customCalls}}},
    };
  }

  runtime::ExecuteCounters counters() const { return executable->counters(); }

private:
  static llvm::json::Object describe(const cpu::Structure &structure) {
    return llvm::json::Object{
        {"regions", structure.regions},        {"launches", structure.launches},
        {"copies", structure.copies},          {"copied_bytes", structure.copiedBytes},
        {"moved_bytes", structure.movedBytes},
    };
  }

  /// Each loop with what one iteration is made of.
  llvm::json::Array describeLoops() const {
    llvm::json::Array list;
    for (const cpu::LoopInfo &loop : stats.loops) {
      llvm::json::Object one = describe(loop.iteration);
      one["location"] = loop.location;
      one["depth"] = loop.depth;
      one["trips"] = loop.trips < 0 ? llvm::json::Value(nullptr) : llvm::json::Value(loop.trips);
      list.push_back(std::move(one));
    }
    return list;
  }

  static llvm::json::Object count(llvm::ArrayRef<llvm::StringRef> names) {
    llvm::json::Object counts;
    for (llvm::StringRef name : names)
      counts[name] = counts.getInteger(name).value_or(0) + 1;
    return counts;
  }

  /// The places that leave compiled code, by what they call.
  llvm::json::Object callsByTarget() const {
    return count(llvm::map_to_vector(executable->program().calls, [](const cpu::CallSpec &call) {
      return llvm::StringRef(call.target);
    }));
  }

  llvm::json::Object kernelsByKind() const {
    return count(llvm::map_to_vector(
        stats.kernels, [](const cpu::KernelInfo &kernel) { return llvm::StringRef(kernel.kind); }));
  }

  /// [[name, milliseconds on the wall, milliseconds of processors], ...]
  llvm::json::Array phases() const {
    llvm::json::Array list;
    for (const cpu::PhaseTime &phase : stats.phases)
      list.push_back(llvm::json::Array{phase.name, phase.milliseconds, phase.processorMs});
    return list;
  }

  static std::vector<cpu::ValueSpec> withTokens(const std::vector<cpu::ValueSpec> &specs,
                                                const llvm::SmallVector<bool> &tokens) {
    std::vector<cpu::ValueSpec> all;
    auto next = specs.begin();
    for (bool isToken : tokens)
      all.push_back(isToken ? cpu::ValueSpec{"token", {}, 0, -1} : *next++);
    return all;
  }

  /// The number among all arguments of number `index` among those with memory.
  int64_t withTokensBefore(int64_t index) const {
    int64_t position = 0;
    for (bool isToken : outline.argumentTokens) {
      if (!isToken && index-- == 0)
        break;
      ++position;
    }
    return position;
  }

  /// Counts up from 0 in the order of loading.
  static int64_t nextNumber() {
    static std::atomic<int64_t> next{0};
    return next++;
  }

  std::unique_ptr<runtime::Executable> executable;
  Outline outline;
  const int64_t number = nextNumber();
};

Outline Outline::of(mlir::ModuleOp module) {
  Outline outline;
  outline.hasLoops = module.walk([](stablehlo::WhileOp) { return mlir::WalkResult::interrupt(); })
                         .wasInterrupted();
  // A module without @main is refused by the compiler.
  if (auto main = module.lookupSymbol<mlir::func::FuncOp>("main")) {
    for (mlir::Type type : main.getArgumentTypes())
      outline.argumentTokens.push_back(mlir::isa<stablehlo::TokenType>(type));
    for (mlir::Type type : main.getResultTypes())
      outline.resultTokens.push_back(mlir::isa<stablehlo::TokenType>(type));
  }
  return outline;
}

/// "L:0110:10;": loops, tokens among the arguments, among the results.
std::string Outline::serialize() const {
  std::string text = hasLoops ? "L:" : "-:";
  for (bool isToken : argumentTokens)
    text += isToken ? '1' : '0';
  text += ':';
  for (bool isToken : resultTokens)
    text += isToken ? '1' : '0';
  return text + ";";
}

std::optional<Outline> Outline::deserialize(llvm::StringRef &bytes) {
  Outline outline;
  llvm::StringRef text;
  std::tie(text, bytes) = bytes.split(';');
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ':');
  if (parts.size() != 3)
    return std::nullopt;
  outline.hasLoops = parts[0] == "L";
  for (char c : parts[1])
    outline.argumentTokens.push_back(c == '1');
  for (char c : parts[2])
    outline.resultTokens.push_back(c == '1');
  return outline;
}

llvm::Expected<std::shared_ptr<LoadedProgram>> load(std::unique_ptr<cpu::Program> program,
                                                    Outline outline) {
  std::vector<cpu::PhaseTime> phases;
  cpu::PhaseClock clock(phases);
  auto tokens = [](const llvm::SmallVector<bool> &list) { return llvm::count(list, true); };
  if (program->arguments.size() + tokens(outline.argumentTokens) != outline.argumentTokens.size() ||
      program->results.size() + tokens(outline.resultTokens) != outline.resultTokens.size())
    return makeError(ErrorCode::Internal, "a program whose signature is not its module's");
  llvm::Expected<std::unique_ptr<runtime::Executable>> executable =
      runtime::Executable::create(std::move(program));
  if (!executable)
    return executable.takeError();
  auto loaded = std::make_shared<CpuProgram>(std::move(*executable), std::move(outline));
  clock.end("load");
  loaded->stats.phases.push_back(phases[0]);
  return loaded;
}

llvm::Expected<std::shared_ptr<LoadedProgram>> compile(llvm::StringRef source, NamedOptions named) {
  llvm::Expected<cpu::CompileOptions> options = cpuOptions(named);
  if (!options)
    return options.takeError();
  std::vector<cpu::PhaseTime> phases;
  cpu::PhaseClock clock(phases);
  mlir::DialectRegistry registry;
  registerInputDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> module =
      readValidProgram(source, "program", context);
  if (!module)
    return module.takeError();
  Outline outline = Outline::of(**module);
  clock.end("read");
  llvm::Expected<std::unique_ptr<cpu::Program>> program =
      cpu::compile(std::move(*module), *options);
  if (!program)
    return program.takeError();
  (*program)->stats.phases.insert((*program)->stats.phases.begin(), phases[0]);
  return load(std::move(*program), std::move(outline));
}

llvm::Expected<std::shared_ptr<LoadedProgram>> loadSerialized(llvm::StringRef bytes) {
  std::optional<Outline> outline = Outline::deserialize(bytes);
  if (!outline)
    return makeError(ErrorCode::ExecutableMismatch, "no serialized program");
  llvm::Expected<std::unique_ptr<cpu::Program>> program = runtime::deserialize(bytes);
  if (!program)
    return program.takeError();
  return load(std::move(*program), std::move(*outline));
}
} // namespace

Backend cpuBackend() {
  // Ctrl-C reaches running programs from the first client on, not from the
  // moment that the library is loaded: it may be there and not be used.
  return {compile, loadSerialized, [] {
            installInterruptHandler();
            warmUp();
          }};
}

std::string cpuStatisticsJson() {
  llvm::json::Array list;
  {
    std::lock_guard<std::mutex> lock(Loaded::global().mutex);
    for (const CpuProgram *program : Loaded::global().programs)
      list.push_back(program->statistics());
  }
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(list));
  return text;
}

void cpuCallCounts(int64_t &libraryCalls, int64_t &customCalls) {
  Loaded &loaded = Loaded::global();
  std::lock_guard<std::mutex> lock(loaded.mutex);
  libraryCalls = loaded.goneLibraryCalls;
  customCalls = loaded.goneCustomCalls;
  for (const CpuProgram *program : loaded.programs) {
    libraryCalls += program->counters().libraryCalls;
    customCalls += program->counters().customCalls;
  }
}

} // namespace spokeshave::pjrt
