//===- Simulator.cpp - the sequencer of the simulated chip -----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/tpu/Simulator.h"

#include "runtime/tpu/Cores.h"
#include "support/Error.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FormatVariadic.h"

#include <chrono>
#include <cstring>
#include <memory>
#include <optional>

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

  /// `before`: what the run that has just ended left.
  llvm::Error begin(llvm::ArrayRef<const char *> arguments, std::optional<Cores::Left> before);
  Cores::Left left() { return cores.left(); }
  llvm::Error runSteps(const std::vector<Step> &steps);
  void end(llvm::ArrayRef<char *> results);

  Report report;

private:
  std::string doesNotFit() const;
  int64_t baseOf(const MemoryRef &buffer) const;
  int64_t valueOf(const SliceStart &start) const;
  int64_t addressOf(const BufferRef &buffer) const;
  char *dataOf(const BufferRef &buffer) const { return hbm.bytes.data() + addressOf(buffer); }
  /// All that it may be.
  IciPort::Range rangeOf(const BufferRef &buffer) const {
    int64_t begin = baseOf(buffer);
    return {begin, begin + buffer.reach() + buffer.extent()};
  }
  void readStarts(const Step &step);
  void copyBytes(const Step &step);
  llvm::Error collective(const Step &step);
  llvm::Error enter(const Step &step) {
    return cores.enter(step, [&](const BufferRef &buffer) {
      int64_t address = addressOf(buffer);
      return HbmPlace{address, address};
    });
  }
  llvm::Error transfer(const Step &step);
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
  bool isFirst = true;        ///< no run has just ended
  std::vector<int64_t> trips; ///< of the loops that run, innermost last
  bool isLastTrip = false;    ///< of the innermost one, if its trips are known
  /// The cores that have read a scalar, by its address.
  std::map<int64_t, int64_t> inScalarMemory;
  std::vector<int64_t> argumentAt, resultAt, constantAt;
  int64_t arenaAt = 0;
};

llvm::Error Sequencer::begin(llvm::ArrayRef<const char *> arguments,
                             std::optional<Cores::Left> before) {
  isFirst = !before;
  if (before)
    cores.continueFrom(std::move(*before));
  for (const Kernel &kernel : program.kernels)
    if (llvm::Error error = options.verify && isFirst ? verifyBundles(kernel, program.timing)
                                                      : llvm::Error::success())
      return error;
  for (const ValueSpec &spec : program.arguments)
    argumentAt.push_back(hbm.allocate(spec.byteSize));
  for (const ValueSpec &spec : program.results)
    resultAt.push_back(spec.alias >= 0 ? argumentAt[spec.alias] : hbm.allocate(spec.byteSize));
  for (const std::vector<char> &constant : program.constants)
    constantAt.push_back(hbm.allocate(constant.size()));
  arenaAt = hbm.allocate(program.arenaBytes);
  if (program.hbmBytes > 0 && hbm.size() > program.hbmBytes)
    return makeError(ErrorCode::OutOfMemory, doesNotFit());
  if (!options.computeValues)
    return llvm::Error::success();
  hbm.bytes.allocate(hbm.size());
  auto fill = [&](int64_t address, const char *data, int64_t size) {
    if (data && size)
      std::memcpy(hbm.bytes.data() + address, data, size);
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
                       hbm.size(), program.chip.name, program.hbmBytes, sum(program.arguments),
                       sum(program.results), program.arenaBytes, constants);
}

/// Without values what is in memory may be anything.
int64_t Sequencer::valueOf(const SliceStart &start) const {
  if (!start.at)
    return start.begin + start.step * (trips.empty() ? 0 : trips.back());
  if (!options.computeValues)
    return 0;
  uint64_t value = 0;
  std::memcpy(&value, hbm.bytes.data() + baseOf(*start.at), start.at->bytes);
  unsigned unused = 64 - 8 * unsigned(start.at->bytes);
  if (start.isSigned)
    return int64_t(value << unused) >> unused;
  return int64_t(std::min<uint64_t>(value, INT64_MAX));
}

int64_t Sequencer::addressOf(const BufferRef &buffer) const {
  int64_t address = baseOf(buffer);
  for (const SliceStart &start : buffer.starts) {
    int64_t value = valueOf(start);
    value += value < 0 ? start.wrap : 0;
    address += std::clamp<int64_t>(value, 0, start.limit) * start.stride;
  }
  return address;
}

/// The cores that do the step wait for the scalars that tell where its buffers are.
/// Those that the program does not write each reads once, to scalar memory.
void Sequencer::readStarts(const Step &step) {
  int64_t before = cores.now(), count = coresOf(program, step), waiting = 0;
  for (const BufferRef &buffer : step.buffers)
    for (const SliceStart &start : buffer.starts) {
      if (!start.at)
        continue;
      bool isWritten = start.at->base != BufferRef::Base::Argument &&
                       start.at->base != BufferRef::Base::Constant;
      int64_t &have = inScalarMemory[baseOf(*start.at)];
      if (isWritten || have < count)
        waiting = count;
      have = std::max(have, count);
    }
  cores.advance(program.timing.dmaLatency, waiting);
  report.waitCycles += cores.now() - before;
}

int64_t Sequencer::baseOf(const MemoryRef &buffer) const {
  switch (buffer.base) {
  case MemoryRef::Base::Argument:
    return argumentAt[buffer.index] + buffer.offset;
  case MemoryRef::Base::Result:
    return resultAt[buffer.index] + buffer.offset;
  case MemoryRef::Base::Constant:
    return constantAt[buffer.index] + buffer.offset;
  case MemoryRef::Base::Vmem:
    return buffer.offset;
  case MemoryRef::Base::Arena:
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
  trips.push_back(0);
  auto leave = llvm::make_scope_exit([&, outer = isLastTrip] {
    trips.pop_back();
    isLastTrip = outer;
  });
  for (int64_t trip = 0; step.trips < 0 || trip < step.trips; ++trip) {
    trips.back() = trip;
    isLastTrip = trip + 1 == step.trips;
    if (step.trips < 0) {
      if (llvm::Error error = runSteps(step.blocks[0]))
        return error;
      if (llvm::Error error = enter(step))
        return error;
      waitForLinks(step);
      // Without values such a loop runs once.
      if (options.computeValues ? !*dataOf(step.buffers[0]) : trip > 0)
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
  int64_t count = coresOf(program, step);
  auto wait = [&](const BufferRef &buffer, bool isWritten) {
    cores.waitUntil(port.readyAt(cores.now(), rangeOf(buffer), isWritten), count);
  };
  for (auto [index, buffer] : llvm::enumerate(step.buffers)) {
    for (const SliceStart &start : buffer.starts)
      if (start.at)
        wait(BufferRef{*start.at}, false);
    if (buffer.base == BufferRef::Base::Vmem)
      continue;
    bool isWritten = step.kind == Step::Kind::Launch || step.kind == Step::Kind::Collective
                         ? index >= step.inputs
                     : step.kind == Step::Kind::Copy ? index + 1 == step.buffers.size()
                                                     : step.kind == Step::Kind::Start && index == 1;
    wait(buffer, isWritten);
  }
}

llvm::Error Sequencer::collective(const Step &step) {
  if (program.collectives[step.collective].isTransfer())
    return transfer(step);
  if (!options.grid.torus)
    return makeError(ErrorCode::BadArgument, "the program is for several chips");
  bool hasOperand = step.buffers.size() > 1, hasValues = options.computeValues;
  auto valuesOf = [&](const BufferRef &buffer) { return hasValues ? dataOf(buffer) : nullptr; };
  const BufferRef &result = step.buffers.back();
  int64_t now = cores.now();
  if (llvm::Error error =
          port.start(step.collective, step.location, now,
                     hasOperand ? rangeOf(step.buffers[0]) : IciPort::Range(), rangeOf(result),
                     hasOperand ? valuesOf(step.buffers[0]) : nullptr, valuesOf(result), nullptr))
    return error;
  if (options.trace && port.linksFreeAt() > now)
    options.trace->steps.push_back({StepSlice::Kind::Collective, now, port.linksFreeAt(),
                                    step.buffers[0].bytes, step.location, step.collective});
  return llvm::Error::success();
}

/// The core waits for what it receives.
llvm::Error Sequencer::transfer(const Step &step) {
  Exchange::Values operands;
  llvm::SmallVector<llvm::MutableArrayRef<char>> results;
  int64_t now = cores.now(), bytes = 0;
  for (auto [index, buffer] : llvm::enumerate(step.buffers)) {
    bytes += buffer.bytes;
    if (!options.computeValues)
      continue;
    char *at = dataOf(buffer);
    if (index < step.inputs)
      operands.emplace_back(at, buffer.bytes);
    else
      results.push_back({at, size_t(buffer.bytes)});
  }
  llvm::Expected<int64_t> end = port.transfer(step.collective, step.location, now, bytes,
                                              std::move(operands), results, nullptr);
  if (!end)
    return end.takeError();
  cores.waitUntil(*end, 1);
  return llvm::Error::success();
}

void Sequencer::copyBytes(const Step &step) {
  char *source = dataOf(step.buffers[0]), *target = dataOf(step.buffers[1]);
  forRuns(step.buffers[0], step.buffers[1], [&](int64_t at, int64_t there, int64_t bytes) {
    std::memmove(target + there, source + at, bytes);
  });
}

llvm::Error Sequencer::run(const Step &step) {
  bool isLoop = step.kind == Step::Kind::While;
  if (!isLoop)
    if (llvm::Error error = enter(step))
      return error;
  waitForLinks(step);
  readStarts(step);
  switch (step.kind) {
  case Step::Kind::Launch:
    return launch(step);
  case Step::Kind::Copy: {
    int64_t rows = std::max(step.buffers[0].rows, step.buffers[1].rows);
    int64_t cycles = cores.first().copyCycles(step.buffers[0].bytes, rows), before = cores.now();
    cores.first().copy(cycles);
    cycles = cores.now() - before;
    report.copyCycles += cycles;
    traceStep(StepSlice::Kind::Copy, step, cycles);
    if (options.computeValues)
      copyBytes(step);
    return llvm::Error::success();
  }
  case Step::Kind::Collective:
    return collective(step);
  case Step::Kind::While:
    return loop(step);
  case Step::Kind::Start: {
    if ((step.when == Step::When::FirstRun && !isFirst) ||
        (step.when == Step::When::NextTrip && isLastTrip))
      return llvm::Error::success();
    int64_t bytes = step.parts.empty() ? step.buffers[0].bytes : 0;
    for (const Kernel::Part &part : step.parts)
      bytes += part.end - part.begin;
    report.nextRunBytes += step.when == Step::When::NextRun ? bytes : 0;
    ++report.stepTransfers;
    report.stepBytes += bytes;
    return cores.startTransfer(step, addressOf(step.buffers[0]), addressOf(step.buffers[1]));
  }
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
  const char *at = dataOf(step.buffers[0]);
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
      std::memcpy(data, hbm.bytes.data() + address, spec.byteSize);
}

} // namespace

/// Runs until two in a row take the same, which soon happens: what a run leaves behind
/// is in flight, and depends on how it ended. Returns the last one.
llvm::Expected<Report> simulate(const Program &program, llvm::ArrayRef<const char *> arguments,
                                llvm::ArrayRef<char *> results, const SimulationOptions &options) {
  constexpr int64_t kMostRuns = 8;
  auto begin = std::chrono::steady_clock::now();
  std::optional<Cores::Left> left;
  int64_t firstRun = 0, before = -1;
  for (int64_t run = 1;; ++run) {
    if (options.trace)
      options.trace->clear();
    Sequencer sequencer(program, options);
    if (llvm::Error error = sequencer.begin(arguments, std::move(left)))
      return error;
    if (llvm::Error error = sequencer.runSteps(program.steps))
      return error;
    sequencer.end(results);
    Report &report = sequencer.report;
    firstRun = run == 1 ? report.cycles : firstRun;
    if (!options.repeats || report.nextRunBytes == 0 || report.cycles == before ||
        run == kMostRuns) {
      std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
      report.seconds = taken.count();
      report.firstRunCycles = firstRun;
      report.runs = run;
      return std::move(report);
    }
    before = report.cycles;
    left = sequencer.left();
  }
}

} // namespace spokeshave::runtime::tpu
