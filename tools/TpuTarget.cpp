//===- TpuTarget.cpp - the TPU-class chip in the tools ---------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/TpuTarget.h"

#include "support/Error.h"
#include "tools/Timeline.h"

#include "llvm/Support/FormatVariadic.h"

using namespace spokeshave;
using namespace spokeshave::tools;

void tools::printTpuStats(const tpu::Program &program, llvm::raw_ostream &os) {
  os << "program " << program.name << " for " << program.chip.name << ": " << program.kernels.size()
     << " kernels, arena " << program.arenaBytes << " bytes\n"
     << llvm::formatv("{0,-32} {1,10} {2,8} {3,8} {4,8} {5,12}\n", "kernel", "bundles", "vregs",
                      "sregs", "spills", "vmem");
  for (const tpu::Kernel &kernel : program.kernels) {
    size_t bundles = 0;
    for (const tpu::Block &block : kernel.blocks)
      bundles += block.bundles.size();
    os << llvm::formatv("{0,-32} {1,10} {2,8} {3,8} {4,8} {5,12}\n", kernel.name, bundles,
                        kernel.vectorRegisters, kernel.scalarRegisters, kernel.spills,
                        kernel.vmemBytes);
  }
}

llvm::StringRef tools::boundOf(const tpu::Program &program, const runtime::tpu::KernelTime &time) {
  using tpu::Unit;
  const tpu::Timing &timing = program.timing;
  double cores = time.cores();                          // slots are of one
  auto share = [&](std::initializer_list<Unit> units) { // of the fullest unit's slots
    double most = 0;
    for (Unit unit : units)
      most = std::max(most, double(time.busy[unsigned(unit)]) / timing.slots[unsigned(unit)]);
    return most / cores;
  };
  double pushes = double(time.busy[unsigned(Unit::MatrixPush)]) / double(timing.matrixUnits);
  std::pair<double, llvm::StringRef> candidates[] = {
      {double(time.hbmBytes) / timing.hbmBytesPerCycle, "HBM"},
      {pushes / cores, "MXU"},
      {share({Unit::VectorAlu, Unit::Transcendental}), "VPU"},
      {share({Unit::CrossLane}), "XLU"},
      {share({Unit::VectorLoad, Unit::VectorStore}), "VMEM ports"},
      {share({Unit::Scalar, Unit::Misc}), "scalar core"},
      {double(timing.launch), "launch"},
  };
  auto most = *std::max_element(std::begin(candidates), std::end(candidates));
  // Nothing is busy for half of the time: what is waited for is latency.
  return most.first * 2 < double(time.cycles) ? "latency" : most.second;
}

llvm::StringRef tools::boundOf(const tpu::Program &program,
                               const runtime::tpu::CollectiveTime &time) {
  double bytesPerCycle = program.chip.ici.bandwidth / program.timing.clock;
  double hop = program.chip.ici.hopLatency * program.timing.clock;
  // What the operands take on one link, against one hop each time.
  return double(time.bytes) / bytesPerCycle > double(time.count) * hop ? "ICI" : "ICI latency";
}

llvm::Expected<runtime::tpu::Torus> tools::torusFor(const tpu::Program &program,
                                                    llvm::StringRef shape) {
  int64_t chips = program.replicas * program.partitions;
  if (shape.empty())
    return runtime::tpu::Torus(program.chip, chips);
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::SmallVector<int64_t> sizes;
  int64_t count = 1;
  shape.split(parts, 'x');
  for (llvm::StringRef part : parts) {
    int64_t size = 0;
    if (part.getAsInteger(10, size) || size < 1 || size > 65536 || count > 65536)
      return makeError(ErrorCode::BadOption, "'" + shape + "' is no number or shape of chips");
    count *= size;
    sizes.push_back(size);
  }
  if (count != chips)
    return makeError(ErrorCode::BadOption,
                     "the program is for " + llvm::Twine(chips) + " chips, not for " + shape);
  return sizes.size() == 1 ? runtime::tpu::Torus(program.chip, chips)
                           : runtime::tpu::Torus(program.chip, sizes);
}

void tools::printTpuReport(const tpu::Program &program, const runtime::tpu::Report &report,
                           llvm::raw_ostream &os) {
  os << llvm::formatv("{0} cycles on {1}, {2:F2} us\n", report.cycles, program.chip.name,
                      double(report.cycles) / program.timing.clock * 1e6)
     << llvm::formatv("{0,-32} {1,8} {2,12} {3,12} {4,12} {5,14} {6}\n", "kernel", "launches",
                      "cycles", "dma stall", "mxu stall", "HBM bytes", "bound by");
  for (auto &[number, time] : report.kernels)
    os << llvm::formatv("{0,-32} {1,8} {2,12} {3,12} {4,12} {5,14} {6}\n",
                        program.kernels[number].name, report.launches.at(number), time.cycles,
                        time.dmaStall, time.matrixStall, time.hbmBytes, boundOf(program, time));
  if (!report.collectives.empty())
    os << llvm::formatv("{0,-32} {1,8} {2,12} {3,12} {4,27} {5}\n", "between chips", "times",
                        "cycles", "exposed", "bytes", "bound by");
  for (auto &[number, time] : report.collectives)
    os << llvm::formatv("{0,-32} {1,8} {2,12} {3,12} {4,27} {5}\n",
                        program.collectives[number].name, time.count, time.cycles, time.exposed,
                        time.bytes, boundOf(program, time));
  if (report.meetings)
    os << llvm::formatv("the cores met {0} times, {1} cycles\n", report.meetings,
                        report.meetingCycles);
  if (report.stepTransfers)
    os << llvm::formatv("{0} transfers between kernels, {1} bytes, {2} cycles waited for\n",
                        report.stepTransfers, report.stepBytes, report.waitCycles);
  if (report.runs > 1)
    os << llvm::formatv("steady state, run {0} in a row: the run before has brought {1} bytes; the "
                        "first one takes {2} cycles, {3} more\n",
                        report.runs, report.nextRunBytes, report.firstRunCycles,
                        report.firstRunCycles - report.cycles);
  for (const graph::Recomputed &value : program.recomputed)
    os << llvm::formatv("{0} of {1} is computed again: {2} bytes of HBM for {3} operations\n",
                        value.name, value.location, value.bytes, value.operations);
  if (report.assumed)
    os << report.assumed << " loops or branches that data decides were assumed\n";
  os << llvm::formatv("{0} bundles simulated in {1:F3} s, {2:F1} million a second\n",
                      report.simulatedBundles, report.seconds, report.bundlesPerSecond() * 1e-6);
}

llvm::Error tools::writeTraces(const TraceFiles &files, const tpu::Program &program,
                               const runtime::tpu::Trace &trace) {
  if (files.any() && trace.dropped)
    llvm::errs() << "the first " << trace.launches.size() << " launches are in the timeline, "
                 << trace.dropped << " later ones are not\n";
  if (!files.timeline.empty())
    if (llvm::Error error = writeTimeline(files.timeline, program, trace))
      return error;
  return files.xplane.empty() ? llvm::Error::success() : writeXplane(files.xplane, program, trace);
}

llvm::Expected<runtime::tpu::Report>
tools::simulateOnTensors(const tpu::Program &program, const runtime::tpu::ChipGrid &grid,
                         const std::vector<reference::Tensor> &arguments,
                         std::vector<reference::Tensor> &results, runtime::tpu::Trace *trace) {
  llvm::SmallVector<const char *> ins;
  for (const reference::Tensor &argument : arguments)
    ins.push_back(argument.data());
  llvm::SmallVector<char *> outs;
  for (reference::Tensor &result : results)
    outs.push_back(result.mutableData());
  runtime::tpu::SimulationOptions simulation;
  simulation.grid = grid;
  simulation.trace = trace;
  return runtime::tpu::simulate(program, ins, outs, simulation);
}

llvm::Error tools::runOnTpu(mlir::OwningOpRef<mlir::ModuleOp> module,
                            const tpu::CompileOptions &options, const TraceFiles &files,
                            std::vector<reference::Tensor> &arguments,
                            std::vector<reference::Tensor> &results, llvm::raw_ostream &os) {
  auto program = tpu::compile(std::move(module), options);
  if (!program)
    return program.takeError();
  runtime::tpu::Trace trace;
  auto report =
      simulateOnTensors(**program, {}, arguments, results, files.any() ? &trace : nullptr);
  if (!report)
    return report.takeError();
  printTpuReport(**program, *report, os);
  return writeTraces(files, **program, trace);
}
