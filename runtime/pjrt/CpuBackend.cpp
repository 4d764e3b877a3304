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
#include "support/Error.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>
#include <set>

namespace spokeshave::pjrt {

namespace {
/// Below both, a program takes less time than waking another thread.
constexpr int64_t kTinyBytes = 64 << 10;
constexpr int64_t kTinyOperations = 64 << 10;

class CpuProgram;

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
  CpuProgram(std::unique_ptr<runtime::Executable> made, bool hasLoops)
      : executable(std::move(made)), hasLoops(hasLoops) {
    const cpu::Program &program = executable->program();
    name = program.name;
    arguments = program.arguments;
    results = program.results;
    stats = program.stats;
    callsOut = llvm::any_of(program.calls,
                            [](const cpu::CallSpec &call) { return !call.isLibrary; });
    // What a loop costs is known only if its trips are: run none on the caller.
    isTiny = !hasLoops && program.calls.empty() && stats.bytesAccessed <= kTinyBytes &&
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
    runtime::ExecuteArgs args;
    args.arguments = arguments;
    args.results = results;
    args.cancel = &cancel;
    return executable->execute(args);
  }

  int64_t codeBytes() const override { return executable->codeBytes(); }

  llvm::Expected<std::string> serialize() const override {
    return (hasLoops ? "L" : "-") + runtime::serialize(executable->program());
  }

  llvm::json::Object statistics() const {
    runtime::ExecuteCounters counters = executable->counters();
    int64_t libraryCalls = 0, customCalls = 0;
    for (const cpu::CallSpec &call : executable->program().calls)
      ++(call.isLibrary ? libraryCalls : customCalls);
    return llvm::json::Object{
        {"name", name},
        {"kernels", static_cast<int64_t>(stats.kernels.size())},
        {"library_calls", libraryCalls},
        {"custom_calls", customCalls},
        {"compile_ms", stats.millisecondsFront + stats.millisecondsCode},
        {"runs", counters.executions},
        {"run_ms", static_cast<double>(counters.nanoseconds) * 1e-6},
        {"arena_bytes", stats.arenaBytes},
        {"code_bytes", codeBytes()},
    };
  }

  runtime::ExecuteCounters counters() const { return executable->counters(); }

private:
  std::unique_ptr<runtime::Executable> executable;
  bool hasLoops;
};

llvm::Expected<std::shared_ptr<LoadedProgram>> load(std::unique_ptr<cpu::Program> program,
                                                    bool hasLoops) {
  llvm::Expected<std::unique_ptr<runtime::Executable>> executable =
      runtime::Executable::create(std::move(program));
  if (!executable)
    return executable.takeError();
  return std::make_shared<CpuProgram>(std::move(*executable), hasLoops);
}

llvm::Expected<std::shared_ptr<LoadedProgram>> compile(llvm::StringRef source,
                                                       const cpu::CompileOptions &options) {
  mlir::DialectRegistry registry;
  registerInputDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  DiagnosticCollector diagnostics(&context);
  mlir::OwningOpRef<mlir::ModuleOp> module = readProgram(source, "program", &context);
  if (!module)
    return diagnostics.take(ErrorCode::MalformedProgram, "the program could not be read");
  bool hasLoops = module->walk([](stablehlo::WhileOp) { return mlir::WalkResult::interrupt(); })
                      .wasInterrupted();
  llvm::Expected<std::unique_ptr<cpu::Program>> program =
      cpu::compile(std::move(module), options);
  if (!program)
    return program.takeError();
  return load(std::move(*program), hasLoops);
}

llvm::Expected<std::shared_ptr<LoadedProgram>> loadSerialized(llvm::StringRef bytes) {
  bool hasLoops = bytes.starts_with("L");
  if (!hasLoops && !bytes.starts_with("-"))
    return makeError(ErrorCode::ExecutableMismatch, "no serialized program");
  llvm::Expected<std::unique_ptr<cpu::Program>> program =
      runtime::deserialize(bytes.drop_front());
  if (!program)
    return program.takeError();
  return load(std::move(*program), hasLoops);
}
} // namespace

Backend cpuBackend() {
  // Ctrl-C reaches running programs from the first client on, not from the
  // moment that the library is loaded: it may be there and not be used.
  return {compile, loadSerialized, [] { installInterruptHandler(); }};
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
