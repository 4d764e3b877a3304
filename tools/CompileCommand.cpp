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
  -o PATH              write there instead of standard output
  --isa=ISA            native, amx, avx512, avx2, x86-64
  --threads=N          0: as many as this process may use
  --option NAME=VALUE  any other option of the compiler
  --target=TARGET      cpu (the default); or tpu: a simulated TPU-class chip, with
                       the levels stablehlo, graph, schedule, kernel, tpu, bundles
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

llvm::Error tools::compileCommand(Arguments arguments) {
  cpu::CompileOptions options;
  tpu::CompileOptions tpuOptions;
  llvm::StringRef file, emit = "stats", output = "-", target = "cpu", chip = tpuOptions.chip;
  ArgumentReader reader(arguments);
  while (reader.next()) {
    if (reader.isFlag("--help")) {
      llvm::outs() << kHelp;
      return llvm::Error::success();
    }
    llvm::Expected<bool> taken = reader.takeCompileOption(options);
    if (!taken)
      return taken.takeError();
    if (*taken || reader.isOption("--emit", emit) || reader.isOption("-o", output) ||
        reader.isOption("--target", target) || reader.isOption("--chip", chip))
      continue;
    if (!reader.isPositional() || !file.empty())
      return reader.unknown();
    file = reader.get();
  }
  if (file.empty())
    return makeError(ErrorCode::BadOption, "name a file to compile; see --help");
  static constexpr llvm::StringLiteral kLevels[] = {"stablehlo", "graph", "schedule",   "kernel",
                                                    "llvm",      "asm",   "executable", "stats"};
  static constexpr llvm::StringLiteral kTpuLevels[] = {"stablehlo", "graph",   "schedule", "kernel",
                                                       "tpu",       "bundles", "stats"};
  if (target != "cpu" && target != "tpu")
    return makeError(ErrorCode::BadOption, "no target '" + target + "'; see --help");
  bool isTpu = target == "tpu";
  if (isTpu ? !llvm::is_contained(kTpuLevels, emit) : !llvm::is_contained(kLevels, emit))
    return makeError(ErrorCode::BadOption, "no level '" + emit + "'; see --help");

  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = readProgramFile(file, context);
  if (!module)
    return module.takeError();
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
    tpuOptions.chip = chip.str();
    auto program = tpu::compile(std::move(*module), tpuOptions, snapshot);
    if (program && emit == "stats")
      printTpuStats(**program, os);
    return program.takeError();
  }
  auto program = cpu::compile(std::move(*module), options, snapshot);
  if (!program)
    return program.takeError();
  if (emit == "stats")
    printStats(**program, os);
  else if (emit == "executable")
    os << runtime::serialize(**program);
  return llvm::Error::success();
}
