//===- Simulator.cpp - the sequencer of the simulated chip -----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/tpu/Simulator.h"

#include "runtime/tpu/Core.h"
#include "support/Error.h"

#include <cstring>

namespace spokeshave::runtime::tpu {

using namespace spokeshave::tpu;

KernelTime &KernelTime::operator+=(const KernelTime &other) {
  cycles += other.cycles;
  dmaStall += other.dmaStall;
  matrixStall += other.matrixStall;
  bundles += other.bundles;
  for (unsigned unit = 0; unit < kNumUnits; ++unit)
    busy[unit] += other.busy[unit];
  hbmBytes += other.hbmBytes;
  transfers += other.transfers;
  return *this;
}

namespace {

class Sequencer {
public:
  Sequencer(const Program &program, const SimulationOptions &options)
      : program(program), core(program, hbm, DmaTiming(), options) {}

  llvm::Error begin(llvm::ArrayRef<const char *> arguments);
  llvm::Error runSteps(const std::vector<Step> &steps);
  void end(llvm::ArrayRef<char *> results);

  Report report;

private:
  int64_t addressOf(const BufferRef &buffer) const;
  llvm::Error run(const Step &step);
  llvm::Error launch(const Step &step);
  llvm::Error loop(const Step &step);

  const Program &program;
  Hbm hbm;
  Core core;
  std::vector<int64_t> argumentAt, resultAt, constantAt;
  int64_t arenaAt = 0;
};

llvm::Error Sequencer::begin(llvm::ArrayRef<const char *> arguments) {
  for (const Kernel &kernel : program.kernels)
    if (llvm::Error error = verifyBundles(kernel, program.timing))
      return error;
  auto place = [&](const char *data, int64_t size) {
    int64_t address = hbm.allocate(size);
    if (data && size)
      std::memcpy(&hbm.bytes[address], data, size);
    return address;
  };
  for (auto [spec, data] : llvm::zip_equal(program.arguments, arguments))
    argumentAt.push_back(place(data, spec.byteSize));
  for (const ValueSpec &spec : program.results)
    resultAt.push_back(spec.alias >= 0 ? argumentAt[spec.alias] : place(nullptr, spec.byteSize));
  for (const std::vector<char> &constant : program.constants)
    constantAt.push_back(place(constant.data(), constant.size()));
  arenaAt = place(nullptr, program.arenaBytes);
  return llvm::Error::success();
}

int64_t Sequencer::addressOf(const BufferRef &buffer) const {
  switch (buffer.base) {
  case BufferRef::Base::Argument:
    return argumentAt[buffer.index] + buffer.offset;
  case BufferRef::Base::Result:
    return resultAt[buffer.index] + buffer.offset;
  case BufferRef::Base::Constant:
    return constantAt[buffer.index] + buffer.offset;
  case BufferRef::Base::Arena:
    break;
  }
  return arenaAt + buffer.offset;
}

llvm::Error Sequencer::launch(const Step &step) {
  llvm::SmallVector<int64_t> addresses;
  for (const BufferRef &buffer : step.buffers)
    addresses.push_back(addressOf(buffer));
  llvm::Expected<KernelTime> time = core.run(program.kernels[step.kernel], addresses);
  if (!time)
    return time.takeError();
  report.kernels[step.kernel] += *time;
  ++report.launches[step.kernel];
  report.cycles += time->cycles;
  return llvm::Error::success();
}

llvm::Error Sequencer::loop(const Step &step) {
  for (int64_t trip = 0; step.trips < 0 || trip < step.trips; ++trip) {
    if (step.trips < 0) {
      if (llvm::Error error = runSteps(step.blocks[0]))
        return error;
      if (!hbm.bytes[addressOf(step.buffers[0])])
        break;
    }
    if (llvm::Error error = runSteps(step.blocks[1]))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error Sequencer::run(const Step &step) {
  switch (step.kind) {
  case Step::Kind::Launch:
    return launch(step);
  case Step::Kind::Copy: {
    int64_t cycles = core.copyCycles(step.buffers[0].bytes);
    report.cycles += cycles;
    report.copyCycles += cycles;
    std::memmove(&hbm.bytes[addressOf(step.buffers[1])], &hbm.bytes[addressOf(step.buffers[0])],
                 step.buffers[0].bytes);
    return llvm::Error::success();
  }
  case Step::Kind::While:
    return loop(step);
  case Step::Kind::Case:
    break;
  }
  int64_t last = int64_t(step.blocks.size()) - 1, branch;
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
  if (llvm::Error error = sequencer.runSteps(program.steps))
    return error;
  sequencer.end(results);
  return std::move(sequencer.report);
}

} // namespace spokeshave::runtime::tpu
