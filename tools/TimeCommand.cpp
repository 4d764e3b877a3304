//===- TimeCommand.cpp - spokeshave time -----------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Time without values: each distinct kernel is simulated once, scalars alone are
// computed. What data decides is assumed, and the assumptions are counted.
//
//===----------------------------------------------------------------------===//
#include "tools/Commands.h"
#include "tools/TpuTarget.h"

#include "support/Error.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace spokeshave;
using namespace spokeshave::tools;

static constexpr llvm::StringLiteral kHelp = R"(usage: spokeshave time [options] FILE

How long a StableHLO program (text or portable bytecode) takes on a simulated
TPU-class chip. Values are not computed: a loop that data ends runs once, of a
branch that data decides the first is taken, and both are counted.
A program that brings arguments for its next run is run again and again until two
runs take the same time: figures are of the last one, and the first run's are beside.

  --chip=CHIP   a chip's name or a chip file, with settings: v5e, v6e:vmem=64MiB
  --option NAME=VALUE  an option of the compiler: pipelining=off, buffers=3, ...
                (docs/options.md)
  --trace=FILE  a timeline for ui.perfetto.dev: Chrome's JSON, or protocol buffers if
                the name ends with .pftrace
  --xplane=FILE a profile for XProf and TensorBoard, FILE.xplane.pb
  --every-instruction   walk each instruction: slow, the same times
  --chips=N     the chips of a program for several, as a number or as the shape of
                their torus (2x4); collectives take what their links allow
  --no-overlap  collectives stand where the program has them, instead of early, with
                other work behind them
  --json        an object with "microseconds", "cycles" and a list of "kernels";
                docs/codesign.md has the fields
)";

/// Share of the kernel's time for which each unit's slots are taken.
static llvm::json::Object busyOf(const tpu::Timing &timing, const runtime::tpu::KernelTime &time) {
  using tpu::Unit;
  static constexpr std::pair<llvm::StringLiteral, Unit> kUnits[] = {
      {"scalar", Unit::Scalar},
      {"vector_alu", Unit::VectorAlu},
      {"vector_load", Unit::VectorLoad},
      {"vector_store", Unit::VectorStore},
      {"transcendental", Unit::Transcendental},
      {"cross_lane", Unit::CrossLane},
      {"matrix", Unit::MatrixPush},
      {"matrix_pop", Unit::MatrixPop},
  };
  double cycles = std::max<double>(1, double(time.cycles));
  llvm::json::Object busy;
  for (auto [name, unit] : kUnits) {
    // A push keeps a matrix unit busy, not its slot.
    double slots = unit == Unit::MatrixPush ? double(timing.matrixUnits)
                                            : std::max<double>(1, timing.slots[unsigned(unit)]);
    busy[name] = double(time.busy[unsigned(unit)]) / slots / cycles / time.cores();
  }
  busy["hbm"] = double(time.hbmBytes) / timing.hbmBytesPerCycle / cycles;
  return busy;
}

/// Which of the matrix units' rates bounds the kernel: of the type whose factors it
/// pushes. Empty: it pushes none.
static llvm::StringRef matrixTypeOf(const tpu::Kernel &kernel) {
  for (const tpu::Block &block : kernel.blocks)
    for (const tpu::Instruction &instruction : block.instructions)
      if (instruction.op == tpu::Opcode::MatrixPush)
        switch (instruction.from) {
        case tpu::ElementType::I8:
          return "int8";
        case tpu::ElementType::F8E4M3FN:
        case tpu::ElementType::F8E5M2:
          return "f8";
        default:
          return "bf16";
        }
  return "";
}

static llvm::json::Value toJson(const tpu::Program &program, const runtime::tpu::Torus &torus,
                                const runtime::tpu::Report &report) {
  double microseconds = 1e6 / program.timing.clock;
  llvm::json::Array kernels;
  for (auto &[number, time] : report.kernels) {
    llvm::json::Object kernel{
        {"name", program.kernels[number].name},
        {"kind", program.infos[number].kind},
        {"launches", report.launches.at(number)},
        {"cores", program.kernels[number].cores},
        {"cycles", time.cycles},
        {"microseconds", double(time.cycles) * microseconds},
        {"dma_stall_cycles", time.dmaStall},
        {"matrix_stall_cycles", time.matrixStall},
        {"hbm_bytes", time.hbmBytes},
        {"transfers", time.transfers},
        {"bundles", time.bundles},
        {"minimum_hbm_bytes", program.infos[number].bytes * report.launches.at(number)},
        {"matrix_type", matrixTypeOf(program.kernels[number])},
        {"flops", program.infos[number].flops * report.launches.at(number)},
        {"spills", program.kernels[number].spills},
        {"vmem_bytes", program.kernels[number].vmemBytes},
        {"busy", busyOf(program.timing, time)},
        {"bound", boundOf(program, time)},
        {"location", program.infos[number].location},
    };
    kernels.push_back(std::move(kernel));
  }
  llvm::json::Array collectives;
  for (auto &[number, time] : report.collectives)
    collectives.push_back(llvm::json::Object{
        {"name", program.collectives[number].name},
        {"times", time.count},
        {"cycles", time.cycles},
        {"microseconds", double(time.cycles) * microseconds},
        {"exposed_cycles", time.exposed},
        {"bytes", time.bytes},
        {"bound", boundOf(program, time)},
    });
  llvm::json::Array recomputed;
  for (const graph::Recomputed &value : program.recomputed)
    recomputed.push_back(llvm::json::Object{{"name", value.name},
                                            {"location", value.location},
                                            {"bytes", value.bytes},
                                            {"operations", value.operations}});
  return llvm::json::Object{
      {"chip", program.chip.name},
      {"arena_bytes", program.arenaBytes},
      {"recomputed", std::move(recomputed)},
      {"chips", torus.text()},
      {"collectives", std::move(collectives)},
      {"cycles", report.cycles},
      {"microseconds", double(report.cycles) * microseconds},
      {"assumed_decisions", report.assumed},
      {"copy_cycles", report.copyCycles},
      {"wait_cycles", report.waitCycles},
      {"meetings", report.meetings},
      {"meeting_cycles", report.meetingCycles},
      {"step_transfers", report.stepTransfers},
      {"step_bytes", report.stepBytes},
      {"first_run_cycles", report.firstRunCycles},
      {"next_run_bytes", report.nextRunBytes},
      {"runs", report.runs},
      {"cores", program.chip.coresOfDevice()},
      {"simulated_bundles", report.simulatedBundles},
      {"bundles_per_second", report.bundlesPerSecond()},
      {"launch_cycles", program.timing.launch},
      {"hbm_bytes_per_cycle", program.timing.hbmBytesPerCycle},
      {"kernels", std::move(kernels)},
  };
}

llvm::Error tools::timeCommand(Arguments arguments) {
  llvm::StringRef file, chip, chips, value;
  bool json = false;
  tpu::CompileOptions options;
  TraceFiles traces;
  runtime::tpu::SimulationOptions simulation;
  simulation.computeValues = false;
  simulation.repeats = true;
  ArgumentReader reader(arguments);
  while (reader.next()) {
    if (reader.isFlag("--help")) {
      llvm::outs() << kHelp;
      return llvm::Error::success();
    }
    llvm::Expected<bool> taken = reader.takeCompileOption(options);
    if (!taken)
      return taken.takeError();
    if (*taken)
      continue;
    if (reader.isFlag("--json"))
      json = true;
    else if (reader.isFlag("--every-instruction"))
      simulation.everyInstruction = true;
    else if (reader.isOption("--trace", value))
      traces.timeline = value.str();
    else if (reader.isOption("--xplane", value))
      traces.xplane = value.str();
    else if (reader.isFlag("--no-overlap"))
      options.overlap = false;
    else if (reader.isOption("--chip", chip) || reader.isOption("--chips", chips))
      continue;
    else if (reader.isPositional() && file.empty())
      file = reader.get();
    else
      return reader.unknown();
  }
  if (file.empty())
    return makeError(ErrorCode::BadOption, "name a file to time; see --help");
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = readProgramFile(file, context);
  if (!module)
    return module.takeError();
  options.chip = chip.str();
  auto program = tpu::compile(std::move(*module), options);
  if (!program)
    return program.takeError();
  runtime::tpu::Trace trace;
  simulation.trace = traces.any() ? &trace : nullptr;
  auto torus = torusFor(**program, chips);
  if (!torus)
    return torus.takeError();
  simulation.grid.torus = &*torus;
  auto report = runtime::tpu::simulate(**program, {}, {}, simulation);
  if (!report)
    return report.takeError();
  if (json)
    llvm::outs() << llvm::formatv("{0:2}\n", toJson(**program, *torus, *report));
  else
    printTpuReport(**program, *report, llvm::outs());
  return writeTraces(traces, **program, trace);
}
