//===- Simulator.cpp - the sequencer of the simulated chip -----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/tpu/Simulator.h"

#include "runtime/tpu/Cores.h"
#include "support/Error.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/FormatVariadic.h"

#include <chrono>
#include <cstring>
#include <memory>

namespace spokeshave::runtime::tpu {

using namespace spokeshave::tpu;

KernelTime &KernelTime::operator+=(const KernelTime &other) {
  cycles += other.cycles;
  coreCycles += other.coreCycles;
  dmaStall += other.dmaStall;
  matrixStall += other.matrixStall;
  bundles += other.bundles;
  for (unsigned unit = 0; unit < kNumUnits; ++unit)
    busy[unit] += other.busy[unit];
  hbmBytes += other.hbmBytes;
  transfers += other.transfers;
  hbmWritten += other.hbmWritten;
  return *this;
}

namespace {

class Sequencer {
public:
  Sequencer(const Program &program, const SimulationOptions &options)
      : program(program), options(options), cores(program, hbm, options),
        port(program, options.grid) {}

  llvm::Error begin(llvm::ArrayRef<const char *> arguments);
  llvm::Error runSteps(const std::vector<Step> &steps);
  void end(llvm::ArrayRef<char *> results);

  Report report;

private:
  std::string doesNotFit() const;
  int64_t addressOf(const BufferRef &buffer) const;
  IciPort::Range rangeOf(const BufferRef &buffer) const {
    int64_t begin = addressOf(buffer);
    return {begin, begin + buffer.bytes};
  }
  llvm::Error collective(const Step &step);
  llvm::Error enter(const Step &step) {
    return cores.enter(step, [&](const BufferRef &buffer) { return addressOf(buffer); });
  }
  void waitForLinks(const Step &step);
  llvm::Error run(const Step &step);
  void traceStep(StepSlice::Kind kind, const Step &step, int64_t cycles);
  llvm::Error launch(const Step &step);
  llvm::Error loop(const Step &step);

  const Program &program;
  const SimulationOptions &options;
  Hbm hbm;
  Cores cores;
  IciPort port;
  std::vector<int64_t> argumentAt, resultAt, constantAt;
  int64_t arenaAt = 0;
};

llvm::Error Sequencer::begin(llvm::ArrayRef<const char *> arguments) {
  for (const Kernel &kernel : program.kernels)
    if (llvm::Error error =
            options.verify ? verifyBundles(kernel, program.timing) : llvm::Error::success())
      return error;
  for (const ValueSpec &spec : program.arguments)
    argumentAt.push_back(hbm.allocate(spec.byteSize));
  for (const ValueSpec &spec : program.results)
    resultAt.push_back(spec.alias >= 0 ? argumentAt[spec.alias] : hbm.allocate(spec.byteSize));
  for (const std::vector<char> &constant : program.constants)
    constantAt.push_back(hbm.allocate(constant.size()));
  arenaAt = hbm.allocate(program.arenaBytes);
  if (hbm.size() > program.chip.hbmOfDevice())
    return makeError(ErrorCode::OutOfMemory, doesNotFit());
  if (!options.computeValues)
    return llvm::Error::success();
  hbm.bytes.resize(hbm.size());
  auto fill = [&](int64_t address, const char *data, int64_t size) {
    if (data && size)
      std::memcpy(&hbm.bytes[address], data, size);
  };
  for (auto [address, spec, data] : llvm::zip_equal(argumentAt, program.arguments, arguments))
    fill(address, data, spec.byteSize);
  for (auto [address, constant] : llvm::zip_equal(constantAt, program.constants))
    fill(address, constant.data(), constant.size());
  return llvm::Error::success();
}

/// What needs how much of HBM.
std::string Sequencer::doesNotFit() const {
  auto sum = [](const std::vector<ValueSpec> &specs) {
    int64_t bytes = 0;
    for (const ValueSpec &spec : specs)
      bytes += spec.byteSize;
    return bytes;
  };
  int64_t constants = 0;
  for (const std::vector<char> &constant : program.constants)
    constants += constant.size();
  return llvm::formatv("the program needs {0} bytes of HBM, {1} has {2}: arguments {3}, results "
                       "{4}, temporaries {5}, constants {6}",
                       hbm.size(), program.chip.name, program.chip.hbmOfDevice(),
                       sum(program.arguments), sum(program.results), program.arenaBytes, constants);
}

int64_t Sequencer::addressOf(const BufferRef &buffer) const {
  switch (buffer.base) {
  case BufferRef::Base::Argument:
    return argumentAt[buffer.index] + buffer.offset;
  case BufferRef::Base::Result:
    return resultAt[buffer.index] + buffer.offset;
  case BufferRef::Base::Constant:
    return constantAt[buffer.index] + buffer.offset;
  case BufferRef::Base::Vmem:
    return buffer.offset;
  case BufferRef::Base::Arena:
    break;
  }
  return arenaAt + buffer.offset;
}

/// A step that took `cycles` until now.
void Sequencer::traceStep(StepSlice::Kind kind, const Step &step, int64_t cycles) {
  if (!options.trace || cycles == 0)
    return;
  int64_t bytes = step.buffers.empty() ? 0 : step.buffers[0].bytes;
  options.trace->steps.push_back(
      {kind, cores.now() - cycles, cores.now(), bytes, step.location, 0});
}

llvm::Error Sequencer::launch(const Step &step) {
  llvm::SmallVector<int64_t> addresses;
  for (const BufferRef &buffer : step.buffers)
    addresses.push_back(addressOf(buffer));
  int64_t before = cores.now();
  llvm::Expected<KernelTime> time = cores.launch(step.kernel, addresses);
  if (!time)
    return time.takeError();
  const Kernel &kernel = program.kernels[step.kernel];
  time->coreCycles = time->cycles + kernel.cores * program.timing.launch;
  time->cycles = cores.now() - before;
  if (Trace *trace = options.trace) {
    if (trace->launches.size() < trace->mostLaunches)
      trace->launches.push_back({step.kernel, before, cores.now(), *time});
    else
      ++trace->dropped;
  }
  report.kernels[step.kernel] += *time;
  ++report.launches[step.kernel];
  return llvm::Error::success();
}

llvm::Error Sequencer::loop(const Step &step) {
  for (int64_t trip = 0; step.trips < 0 || trip < step.trips; ++trip) {
    if (step.trips < 0) {
      if (llvm::Error error = runSteps(step.blocks[0]))
        return error;
      if (llvm::Error error = enter(step))
        return error;
      // Without values such a loop runs once.
      if (options.computeValues ? !hbm.bytes[addressOf(step.buffers[0])] : trip > 0)
        break;
      report.assumed += !options.computeValues;
    }
    if (llvm::Error error = runSteps(step.blocks[1]))
      return error;
  }
  return llvm::Error::success();
}

/// Until what the step touches is no part of a collective that still runs.
void Sequencer::waitForLinks(const Step &step) {
  if (!options.grid.torus)
    return;
  int64_t count = step.kind == Step::Kind::Launch ? program.kernels[step.kernel].cores : 1;
  for (auto [index, buffer] : llvm::enumerate(step.buffers)) {
    if (buffer.base == BufferRef::Base::Vmem)
      continue;
    bool isWritten = step.kind == Step::Kind::Launch ? index >= step.inputs
                     : step.kind == Step::Kind::Copy || step.kind == Step::Kind::Collective
                         ? index + 1 == step.buffers.size()
                         : step.kind == Step::Kind::Start && index == 1;
    cores.waitUntil(port.readyAt(cores.now(), rangeOf(buffer), isWritten), count);
  }
}

llvm::Error Sequencer::collective(const Step &step) {
  if (!options.grid.torus)
    return makeError(ErrorCode::BadArgument, "the program is for several chips");
  bool hasOperand = step.buffers.size() > 1, hasValues = options.computeValues;
  auto dataOf = [&](const BufferRef &buffer) {
    return hasValues ? &hbm.bytes[addressOf(buffer)] : nullptr;
  };
  const BufferRef &result = step.buffers.back();
  int64_t now = cores.now();
  if (llvm::Error error =
          port.start(step.collective, step.location, now,
                     hasOperand ? rangeOf(step.buffers[0]) : IciPort::Range(), rangeOf(result),
                     hasOperand ? dataOf(step.buffers[0]) : nullptr, dataOf(result), nullptr))
    return error;
  if (options.trace && port.linksFreeAt() > now)
    options.trace->steps.push_back({StepSlice::Kind::Collective, now, port.linksFreeAt(),
                                    step.buffers[0].bytes, step.location, step.collective});
  return llvm::Error::success();
}

llvm::Error Sequencer::run(const Step &step) {
  bool isLoop = step.kind == Step::Kind::While;
  if (!isLoop)
    if (llvm::Error error = enter(step))
      return error;
  waitForLinks(step);
  switch (step.kind) {
  case Step::Kind::Launch:
    return launch(step);
  case Step::Kind::Copy: {
    int64_t cycles = cores.first().copyCycles(step.buffers[0].bytes), before = cores.now();
    cores.first().copy(cycles);
    cycles = cores.now() - before;
    report.copyCycles += cycles;
    traceStep(StepSlice::Kind::Copy, step, cycles);
    if (options.computeValues)
      std::memmove(&hbm.bytes[addressOf(step.buffers[1])], &hbm.bytes[addressOf(step.buffers[0])],
                   step.buffers[0].bytes);
    return llvm::Error::success();
  }
  case Step::Kind::Collective:
    return collective(step);
  case Step::Kind::While:
    return loop(step);
  case Step::Kind::Start:
    ++report.stepTransfers;
    report.stepBytes += step.parts.empty() ? step.buffers[0].bytes : 0;
    for (const Kernel::Part &part : step.parts)
      report.stepBytes += part.end - part.begin;
    return cores.startTransfer(step, addressOf(step.buffers[0]), addressOf(step.buffers[1]));
  case Step::Kind::Wait: {
    int64_t cycles = cores.waitForStep(step.semaphore);
    report.waitCycles += cycles;
    traceStep(StepSlice::Kind::Wait, step, cycles);
    return llvm::Error::success();
  }
  case Step::Kind::Meet:
    return llvm::Error::success(); // they have
  case Step::Kind::Case:
    break;
  }
  int64_t last = int64_t(step.blocks.size()) - 1, branch;
  if (!options.computeValues) { // the first branch stands for all
    ++report.assumed;
    return runSteps(step.blocks[0]);
  }
  const char *at = &hbm.bytes[addressOf(step.buffers[0])];
  if (step.isIf) {
    branch = *at ? 0 : 1;
  } else {
    int32_t index;
    std::memcpy(&index, at, 4);
    branch = index < 0 || index > last ? last : index;
  }
  return runSteps(step.blocks[branch]);
}

llvm::Error Sequencer::runSteps(const std::vector<Step> &steps) {
  for (const Step &step : steps)
    if (llvm::Error error = run(step))
      return error;
  return llvm::Error::success();
}

void Sequencer::end(llvm::ArrayRef<char *> results) {
  cores.end();
  report.cycles = port.allDone(cores.now());
  report.meetings = cores.meetings;
  report.meetingCycles = cores.meetingCycles;
  report.simulatedBundles = cores.simulatedBundles;
  report.collectives = port.times;
  if (!options.computeValues)
    return;
  for (auto [address, spec, data] : llvm::zip_equal(resultAt, program.results, results))
    if (data && spec.byteSize)
      std::memcpy(data, &hbm.bytes[address], spec.byteSize);
}

} // namespace

llvm::Expected<Report> simulate(const Program &program, llvm::ArrayRef<const char *> arguments,
                                llvm::ArrayRef<char *> results, const SimulationOptions &options) {
  Sequencer sequencer(program, options);
  if (llvm::Error error = sequencer.begin(arguments))
    return error;
  auto begin = std::chrono::steady_clock::now();
  if (llvm::Error error = sequencer.runSteps(program.steps))
    return error;
  sequencer.end(results);
  std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  sequencer.report.seconds = taken.count();
  return std::move(sequencer.report);
}

} // namespace spokeshave::runtime::tpu
