//===- Simulator.cpp - the sequencer of the simulated chip -----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/tpu/Simulator.h"

#include "runtime/tpu/Core.h"
#include "support/Error.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FormatVariadic.h"

#include <chrono>
#include <cstring>
#include <memory>
#include <set>

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
      : program(program), options(options), port(program, options.grid) {
    for (int64_t i = 0; i < program.chip.coresOfDevice(); ++i)
      cores.push_back(std::make_unique<Core>(program, hbm, channel, options, int32_t(i)));
  }

  /// What a run leaves for the next one: transfers in flight, and VMEM.
  struct Left {
    std::vector<int64_t> transfers;
    std::vector<char> vmem;
  };
  llvm::Error begin(llvm::ArrayRef<const char *> arguments, const Left *before);
  Left left() {
    Left state;
    first().transfers().save(first().now(), state.transfers);
    state.vmem = std::move(first().vmemBytesHeld());
    return state;
  }
  llvm::Error runSteps(const std::vector<Step> &steps);
  void end(llvm::ArrayRef<char *> results);

  Report report;

private:
  std::string doesNotFit() const;
  int64_t baseOf(const MemoryRef &buffer) const;
  int64_t valueOf(const SliceStart &start) const;
  int64_t addressOf(const BufferRef &buffer) const;
  /// All that it may be.
  IciPort::Range rangeOf(const BufferRef &buffer) const {
    int64_t begin = baseOf(buffer), end = begin + buffer.extent();
    for (const SliceStart &start : buffer.starts)
      end += start.limit * start.stride;
    return {begin, end};
  }
  void readStarts(const Step &step);
  void copyBytes(const Step &step);
  llvm::Error collective(const Step &step);
  void waitForLinks(const Step &step);
  llvm::Error run(const Step &step);
  void traceStep(StepSlice::Kind kind, const Step &step, int64_t cycles);
  llvm::Error launch(const Step &step);
  llvm::Expected<KernelTime> timeOf(uint32_t kernel, llvm::ArrayRef<int64_t> addresses);
  llvm::Expected<KernelTime> simulateKernel(const Kernel &kernel,
                                            llvm::ArrayRef<int64_t> addresses);
  llvm::Error loop(const Step &step);

  const Program &program;
  const SimulationOptions &options;
  Hbm hbm;
  HbmChannel channel;
  std::vector<std::unique_ptr<Core>> cores;
  Core &first() { return *cores.front(); } ///< what steps do is done there
  /// Without values a kernel is timed once for each state of the transfers in flight
  /// when it starts; how long it takes, and the state that it leaves.
  struct Known {
    KernelTime time;
    std::vector<int64_t> after;
  };
  IciPort port;
  bool isFirst = true;              ///< no run has just ended
  std::vector<int64_t> trips;       ///< of the loops that run, innermost last
  bool isLastTrip = false;          ///< of the innermost one, if its trips are known
  std::set<int64_t> inScalarMemory; ///< addresses of scalars that were read
  std::map<std::pair<uint32_t, std::vector<int64_t>>, Known> known;
  std::vector<int64_t> argumentAt, resultAt, constantAt;
  int64_t arenaAt = 0;
};

llvm::Error Sequencer::begin(llvm::ArrayRef<const char *> arguments, const Left *before) {
  isFirst = !before;
  if (before) {
    first().transfers().restore(0, before->transfers);
    first().vmemBytesHeld() = before->vmem;
  }
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
  std::memcpy(&value, &hbm.bytes[baseOf(*start.at)], start.at->bytes);
  unsigned unused = 64 - 8 * unsigned(start.at->bytes);
  return start.isSigned ? int64_t(value << unused) >> unused : int64_t(value);
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

/// The sequencer waits for the scalars that tell where the step's buffers are. Those
/// that the program does not write are read once, to scalar memory.
void Sequencer::readStarts(const Step &step) {
  bool waits = false;
  for (const BufferRef &buffer : step.buffers)
    for (const SliceStart &start : buffer.starts) {
      if (!start.at)
        continue;
      bool isWritten = start.at->base != BufferRef::Base::Argument &&
                       start.at->base != BufferRef::Base::Constant;
      waits |= isWritten || inScalarMemory.insert(baseOf(*start.at)).second;
    }
  if (!waits)
    return;
  first().advance(program.timing.dmaLatency);
  report.waitCycles += program.timing.dmaLatency;
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
      {kind, first().now() - cycles, first().now(), bytes, step.location, 0});
}

llvm::Error Sequencer::launch(const Step &step) {
  llvm::SmallVector<int64_t> addresses;
  for (const BufferRef &buffer : step.buffers)
    addresses.push_back(addressOf(buffer));
  llvm::Expected<KernelTime> time = timeOf(step.kernel, addresses);
  if (!time)
    return time.takeError();
  time->cycles += program.timing.launch;
  time->coreCycles = program.kernels[step.kernel].cores * time->cycles;
  if (Trace *trace = options.trace) {
    if (trace->launches.size() < trace->mostLaunches)
      trace->launches.push_back({step.kernel, first().now() - time->cycles, first().now(), *time});
    else
      ++trace->dropped;
  }
  report.kernels[step.kernel] += *time;
  ++report.launches[step.kernel];
  return llvm::Error::success();
}

llvm::Expected<KernelTime> Sequencer::timeOf(uint32_t kernel, llvm::ArrayRef<int64_t> addresses) {
  first().advance(program.timing.launch);
  if (options.computeValues)
    return simulateKernel(program.kernels[kernel], addresses);
  std::vector<int64_t> before;
  first().transfers().save(first().now(), before);
  auto [found, isNew] = known.try_emplace({kernel, std::move(before)});
  Known &entry = found->second;
  if (!isNew) {
    first().advance(entry.time.cycles);
    first().transfers().restore(first().now(), entry.after);
    return entry.time;
  }
  llvm::Expected<KernelTime> time = simulateKernel(program.kernels[kernel], addresses);
  if (time) {
    entry.time = *time;
    first().transfers().save(first().now(), entry.after);
  }
  return time;
}

/// All cores that share the kernel, each up to its next transfer: these happen in the
/// order of time, for they share HBM's bandwidth.
llvm::Expected<KernelTime> Sequencer::simulateKernel(const Kernel &kernel,
                                                     llvm::ArrayRef<int64_t> addresses) {
  if (kernel.cores > int64_t(cores.size()) || (kernel.cores > 1 && !kernel.kept.empty()))
    return makeError(ErrorCode::Internal,
                     "kernel @" + kernel.name + " cannot run on " + llvm::Twine(kernel.cores) +
                         " cores: there are fewer, or it uses what one core's VMEM holds");
  llvm::SmallVector<int64_t> arguments(addresses);
  arguments.push_back(0);
  llvm::SmallVector<Core *> running;
  int64_t begin = first().now();
  for (int64_t number = 0; number < kernel.cores; ++number) {
    Core &core = *cores[number];
    core.advance(first().now() - core.now());
    arguments.back() = number;
    if (llvm::Error error = core.begin(kernel, arguments))
      return error;
    running.push_back(&core);
  }
  while (!running.empty()) {
    auto next = std::min_element(running.begin(), running.end(),
                                 [](Core *a, Core *b) { return a->now() < b->now(); });
    llvm::Expected<bool> ended = (*next)->resume(/*pauses=*/running.size() > 1);
    if (!ended)
      return ended.takeError();
    if (*ended)
      running.erase(next);
  }
  KernelTime time;
  for (int64_t number = 0; number < kernel.cores; ++number) {
    KernelTime part = cores[number]->finish();
    int64_t longest = std::max(time.cycles, part.cycles);
    time += part;
    time.cycles = longest;
  }
  // Stalls are of the kernel's time, not of all cores'.
  time.dmaStall /= kernel.cores;
  time.matrixStall /= kernel.cores;
  if (kernel.cores > 1)
    time.cycles += program.timing.coreSync;
  first().advance(begin + time.cycles - first().now());
  report.simulatedBundles += time.bundles;
  return time;
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
  for (auto [index, buffer] : llvm::enumerate(step.buffers)) {
    if (buffer.base == BufferRef::Base::Vmem)
      continue;
    bool isWritten = step.kind == Step::Kind::Launch ? index >= step.inputs
                     : step.kind == Step::Kind::Copy || step.kind == Step::Kind::Collective
                         ? index + 1 == step.buffers.size()
                         : step.kind == Step::Kind::Start && index == 1;
    first().advance(port.readyAt(first().now(), rangeOf(buffer), isWritten) - first().now());
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
  int64_t now = first().now();
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

void Sequencer::copyBytes(const Step &step) {
  const BufferRef &from = step.buffers[0], &to = step.buffers[1];
  int64_t source = addressOf(from), target = addressOf(to);
  forRuns(from, to, [&](int64_t at, int64_t there, int64_t bytes) {
    std::memmove(&hbm.bytes[target + there], &hbm.bytes[source + at], bytes);
  });
}

llvm::Error Sequencer::run(const Step &step) {
  waitForLinks(step);
  readStarts(step);
  switch (step.kind) {
  case Step::Kind::Launch:
    return launch(step);
  case Step::Kind::Copy: {
    int64_t cycles = first().copyCycles(step.buffers[0].bytes,
                                        std::max(step.buffers[0].rows, step.buffers[1].rows));
    first().transfers().occupy(first().now(), first().now() + cycles);
    first().advance(cycles);
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
  case Step::Kind::Start:
    if ((step.when == Step::When::FirstRun && !isFirst) ||
        (step.when == Step::When::NextTrip && isLastTrip))
      return llvm::Error::success();
    report.nextRunBytes += step.when == Step::When::NextRun ? step.buffers[0].bytes : 0;
    ++report.stepTransfers;
    report.stepBytes += step.buffers[0].bytes;
    return first().startTransfer(step, addressOf(step.buffers[0]), addressOf(step.buffers[1]));
  case Step::Kind::Wait: {
    int64_t cycles = first().waitForStep(step.semaphore);
    report.waitCycles += cycles;
    traceStep(StepSlice::Kind::Wait, step, cycles);
    return llvm::Error::success();
  }
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
  report.cycles = port.allDone(first().now());
  report.collectives = port.times;
  if (!options.computeValues)
    return;
  for (auto [address, spec, data] : llvm::zip_equal(resultAt, program.results, results))
    if (data && spec.byteSize)
      std::memcpy(data, &hbm.bytes[address], spec.byteSize);
}

} // namespace

/// Runs until two in a row take the same, which soon happens: what a run leaves behind
/// is in flight, and depends on how it ended. Returns the last one.
llvm::Expected<Report> simulate(const Program &program, llvm::ArrayRef<const char *> arguments,
                                llvm::ArrayRef<char *> results, const SimulationOptions &options) {
  constexpr int64_t kMostRuns = 8;
  auto begin = std::chrono::steady_clock::now();
  std::optional<Sequencer::Left> left;
  int64_t firstRun = 0, before = -1;
  for (int64_t run = 1;; ++run) {
    if (options.trace)
      options.trace->clear();
    Sequencer sequencer(program, options);
    if (llvm::Error error = sequencer.begin(arguments, left ? &*left : nullptr))
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
