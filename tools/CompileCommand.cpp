//===- CompileCommand.cpp - spokeshave compile -----------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shows every level of the road: what a program looks like after each phase.
//
//===----------------------------------------------------------------------===//
#include "tools/Commands.h"
#include "tools/TpuTarget.h"

#include "runtime/Executable.h"
#include "support/Error.h"
#include "target/cpu/Timing.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace spokeshave;
using namespace spokeshave::tools;

static constexpr llvm::StringLiteral kHelp =
    R"(usage: spokeshave compile [options] FILE

Compiles a StableHLO program (text or portable bytecode; - is standard input).

  --emit=LEVEL         print that level: stablehlo, graph, schedule, kernel,
                       llvm, asm; or executable (bytes, with -o); or stats
  --timing             print where the time went: phases, and the slowest kernels
  --repeat=N           with --timing: compile N times, the last one counts
  -o PATH              write there instead of standard output
  --isa=ISA            native, amx, avx512, avx2, x86-64
  --threads=N          0: as many as this process may use
  --option NAME=VALUE  any other option of the compiler
  --target=TARGET      cpu (the default); or tpu: a simulated TPU-class chip, with
                       the levels stablehlo, graph, schedule, slices (launches of
                       layers), near (values in VMEM), kernel, tpu, bundles
  --chip=CHIP          of that target: a chip's name or a chip file (default v5e)
)";

static void printStructure(const llvm::Twine &what, const cpu::Structure &structure,
                           llvm::raw_ostream &os) {
  os << what << ": " << structure.launches << " launches in " << structure.regions << " regions, "
     << structure.copies << " copies of " << structure.copiedBytes << " bytes, "
     << structure.movedBytes << " bytes moved by kernels\n";
}

static void printStats(const cpu::Program &program, llvm::raw_ostream &os) {
  const cpu::CompileStats &stats = program.stats;
  os << "program " << program.name << " for " << program.isa << ": " << stats.kernels.size()
     << " kernels, " << stats.libraryCalls << " library calls, " << stats.customCalls
     << " custom calls\n"
     << "arena " << stats.arenaBytes << " bytes, scratch " << stats.scratchBytes << ", code "
     << stats.codeBytes << "\n"
     << llvm::formatv("compiled in {0:F1} ms to kernels, {1:F1} ms to code\n",
                      stats.millisecondsFront, stats.millisecondsCode);
  printStructure("program", stats.structure, os);
  for (const cpu::LoopInfo &loop : stats.loops) {
    std::string trips = loop.trips < 0 ? "unknown" : std::to_string(loop.trips);
    printStructure("an iteration of the loop at " + loop.location + " (trips " + trips + ")",
                   loop.iteration, os);
  }
  os << llvm::formatv("{0,-32} {1,-10} {2,8} {3,8} {4,12} {5,12} {6,8}\n", "kernel", "kind",
                      "launches", "tasks", "flops", "bytes", "instrs");
  for (const cpu::KernelInfo &kernel : stats.kernels)
    os << llvm::formatv("{0,-32} {1,-10} {2,8} {3,8} {4,12} {5,12} {6,8}\n", kernel.symbol,
                        kernel.kind, kernel.launches, kernel.tasks, kernel.flops, kernel.bytes,
                        kernel.instructions);
}

/// The phases, then the kernels that took longest.
static void printTiming(const cpu::CompileStats &stats, llvm::raw_ostream &os) {
  constexpr size_t kMostKernels = 20;
  os << llvm::formatv("{0,-32} {1,10} {2,10}\n", "phase", "wall ms", "cpu ms");
  double wall = 0, processor = 0;
  for (const cpu::PhaseTime &phase : stats.phases) {
    os << llvm::formatv("{0,-32} {1,10:F2} {2,10:F2}\n", phase.name, phase.milliseconds,
                        phase.processorMs);
    wall += phase.milliseconds, processor += phase.processorMs;
  }
  os << llvm::formatv("{0,-32} {1,10:F2} {2,10:F2}\n", "all", wall, processor);
  std::vector<const cpu::KernelInfo *> slowest;
  for (const cpu::KernelInfo &kernel : stats.kernels)
    slowest.push_back(&kernel);
  llvm::sort(slowest, [](auto *a, auto *b) { return a->compileMs > b->compileMs; });
  os << llvm::formatv("{0} kernels in {1} objects, {2} of them shared\n", stats.kernels.size(),
                      stats.objects, stats.sharedObjects)
     << llvm::formatv("{0,-48} {1,-12} {2,10} {3,8}\n", "kernel", "kind", "cpu ms", "instrs");
  for (const cpu::KernelInfo *kernel : llvm::ArrayRef(slowest).take_front(kMostKernels))
    os << llvm::formatv("{0,-48} {1,-12} {2,10:F2} {3,8}\n", kernel->symbol, kernel->kind,
                        kernel->compileMs, kernel->instructions);
}

/// Compiles `file` in a context of its own, as each program of a framework is.
static llvm::Expected<std::unique_ptr<cpu::Program>> compileFile(llvm::StringRef file,
                                                                 const cpu::CompileOptions &options,
                                                                 const cpu::Snapshot &snapshot) {
  std::vector<cpu::PhaseTime> phases;
  cpu::PhaseClock clock(phases);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = readProgramFile(file, context);
  if (!module)
    return module.takeError();
  clock.end("read");
  auto program = cpu::compile(std::move(*module), options, snapshot);
  if (program)
    (*program)->stats.phases.insert((*program)->stats.phases.begin(), phases[0]);
  return program;
}

llvm::Error tools::compileCommand(Arguments arguments) {
  cpu::CompileOptions options;
  tpu::CompileOptions tpuOptions;
  llvm::StringRef file, emit = "stats", output = "-", target = "cpu", chip = tpuOptions.chip,
                        repeat = "1";
  bool timing = false;
  ArgumentReader reader(arguments);
  while (reader.next()) {
    if (reader.isFlag("--help")) {
      llvm::outs() << kHelp;
      return llvm::Error::success();
    }
    llvm::Expected<bool> taken = reader.takeCompileOption(options, tpuOptions);
    if (!taken)
      return taken.takeError();
    if (reader.isFlag("--timing")) {
      timing = true;
      continue;
    }
    if (*taken || reader.isOption("--emit", emit) || reader.isOption("-o", output) ||
        reader.isOption("--target", target) || reader.isOption("--chip", chip) ||
        reader.isOption("--repeat", repeat))
      continue;
    if (!reader.isPositional() || !file.empty())
      return reader.unknown();
    file = reader.get();
  }
  if (file.empty())
    return makeError(ErrorCode::BadOption, "name a file to compile; see --help");
  static constexpr llvm::StringLiteral kLevels[] = {"stablehlo", "graph", "schedule",   "kernel",
                                                    "llvm",      "asm",   "executable", "stats"};
  static constexpr llvm::StringLiteral kTpuLevels[] = {
      "stablehlo", "graph", "schedule", "slices", "near", "kernel", "tpu", "bundles", "stats"};
  if (target != "cpu" && target != "tpu")
    return makeError(ErrorCode::BadOption, "no target '" + target + "'; see --help");
  bool isTpu = target == "tpu";
  if (isTpu ? !llvm::is_contained(kTpuLevels, emit) : !llvm::is_contained(kLevels, emit))
    return makeError(ErrorCode::BadOption, "no level '" + emit + "'; see --help");

  unsigned times = 1;
  if (repeat.getAsInteger(10, times) || times == 0)
    return makeError(ErrorCode::BadOption, "--repeat is a positive number, not '" + repeat + "'");
  std::error_code problem;
  llvm::raw_fd_ostream os(output, problem);
  if (problem)
    return makeError(ErrorCode::BadArgument, "cannot write '" + output + "': " + problem.message());
  cpu::Snapshot snapshot;
  if (emit != "stats" && emit != "executable")
    snapshot = [&](llvm::StringRef level, llvm::function_ref<void(llvm::raw_ostream &)> print) {
      if (level == emit)
        print(os);
    };
  if (isTpu) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    auto module = readProgramFile(file, context);
    if (!module)
      return module.takeError();
    tpuOptions.chip = chip.str();
    tpuOptions.fusion = options.fusion;
    tpuOptions.attention = options.attention;
    auto program = tpu::compile(std::move(*module), tpuOptions, snapshot);
    if (program && emit == "stats")
      printTpuStats(**program, os);
    return program.takeError();
  }
  auto program = compileFile(file, options, snapshot);
  while (program && --times > 0)
    program = compileFile(file, options, snapshot);
  if (!program)
    return program.takeError();
  if (timing)
    printTiming((*program)->stats, os);
  else if (emit == "stats")
    printStats(**program, os);
  else if (emit == "executable")
    os << runtime::serialize(**program);
  return llvm::Error::success();
}
