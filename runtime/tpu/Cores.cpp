//===- Cores.cpp - the cores of a simulated device -------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/tpu/Cores.h"

#include "support/Error.h"

#include "llvm/ADT/Twine.h"

namespace spokeshave::runtime::tpu {

using namespace spokeshave::tpu;

Cores::Cores(const Program &program, Hbm &hbm, const SimulationOptions &options)
    : program(program), options(options) {
  channel.writeCost = program.chip.cost.writeCost;
  for (int64_t i = 0; i < program.chip.coresOfDevice(); ++i)
    cores.push_back(std::make_unique<Core>(program, hbm, channel, options, int32_t(i)));
}

int64_t Cores::now() const {
  int64_t latest = 0;
  for (auto &core : cores)
    latest = std::max(latest, core->now());
  return latest;
}

void Cores::waitUntil(int64_t cycle, int64_t count) {
  for (auto &core : llvm::MutableArrayRef(cores).take_front(count))
    core->advance(std::max<int64_t>(0, cycle - core->now()));
}

void Cores::advance(int64_t cycles, int64_t count) {
  for (auto &core : llvm::MutableArrayRef(cores).take_front(count))
    core->advance(cycles);
}

void Cores::meet(const std::string &location) {
  int64_t begin = now();
  waitUntil(begin + program.timing.coreSync, cores.size());
  if (options.trace)
    options.trace->steps.push_back({StepSlice::Kind::Meeting, begin, now(), 0, location, 0});
  ++meetings;
  meetingCycles += program.timing.coreSync;
  uses.clear();
  areApart = false;
}

void Cores::end() {
  if (areApart)
    meet("");
}

Cores::Left Cores::left() {
  Left left;
  waitUntil(now(), cores.size());
  save(all(), now(), left.state);
  for (auto &core : cores)
    left.vmem.push_back(std::move(core->memory()));
  return left;
}

void Cores::continueFrom(Left before) {
  restore(all(), 0, before.state);
  for (auto [core, vmem] : llvm::zip_equal(cores, before.vmem))
    core->memory() = std::move(vmem);
}

llvm::Error Cores::enter(const Step &step, PlaceOf placeOf) {
  if (cores.size() == 1)
    return llvm::Error::success();
  if (step.meets)
    meet(step.location);
  llvm::SmallVector<HbmUse> next = usesOf(program, step, placeOf);
  if (!uses.allows(next))
    return makeError(ErrorCode::Internal,
                     "a core uses what another one has used since they met, at " + step.location);
  if (step.blocks.empty())
    uses.add(next);
  areApart |= llvm::any_of(llvm::drop_begin(step.parts, step.parts.empty() ? 0 : 1),
                           [](Kernel::Part part) { return part.begin < part.end; }) ||
              (step.kind == Step::Kind::Launch && program.kernels[step.kernel].cores > 1);
  return llvm::Error::success();
}

llvm::SmallVector<Core *> Cores::involved(int64_t count) {
  llvm::SmallVector<Core *> found;
  for (auto [number, core] : llvm::enumerate(cores))
    if (int64_t(number) < count || !core->transfers().inFlight().empty())
      found.push_back(core.get());
  return found;
}

void Cores::save(llvm::ArrayRef<Core *> of, int64_t base, std::vector<int64_t> &state) const {
  int64_t waiting = INT64_MAX;
  for (Core *core : of)
    waiting = std::min(waiting, core->transfers().waitingSince());
  channel.save(base, waiting, state);
  for (Core *core : of) {
    state.push_back(core->now() - base);
    core->transfers().save(core->now(), state);
  }
}

void Cores::restore(llvm::ArrayRef<Core *> of, int64_t base, llvm::ArrayRef<int64_t> state) {
  channel.restore(base, state);
  for (Core *core : of) {
    core->advance(base + state.front() - core->now());
    state = state.drop_front();
    core->transfers().restore(core->now(), state);
  }
}

llvm::Expected<KernelTime> Cores::launch(uint32_t number, llvm::ArrayRef<int64_t> addresses) {
  const Kernel &kernel = program.kernels[number];
  if (kernel.cores > int64_t(cores.size()))
    return makeError(ErrorCode::Internal, "kernel @" + kernel.name + " cannot run on " +
                                              llvm::Twine(kernel.cores) +
                                              " cores: there are fewer");
  for (int64_t i = 0; i < kernel.cores; ++i)
    cores[i]->advance(program.timing.launch);
  if (options.computeValues)
    return simulate(kernel, addresses);
  llvm::SmallVector<Core *> of = involved(kernel.cores);
  int64_t base = INT64_MAX;
  for (Core *core : of)
    base = std::min(base, core->now());
  std::vector<int64_t> before;
  save(of, base, before);
  auto [found, isNew] = known.try_emplace({number, std::move(before)});
  Known &entry = found->second;
  if (!isNew) {
    restore(of, base, entry.after);
    return entry.time;
  }
  llvm::Expected<KernelTime> time = simulate(kernel, addresses);
  if (time) {
    entry.time = *time;
    save(of, base, entry.after);
  }
  return time;
}

/// All cores that share the kernel, each up to its next transfer: these happen in the
/// order of time, for they share HBM's bandwidth.
llvm::Expected<KernelTime> Cores::simulate(const Kernel &kernel,
                                           llvm::ArrayRef<int64_t> addresses) {
  llvm::SmallVector<int64_t> arguments(addresses);
  arguments.push_back(0);
  llvm::SmallVector<Core *> running;
  for (int64_t number = 0; number < kernel.cores; ++number) {
    arguments.back() = number;
    if (llvm::Error error = cores[number]->begin(kernel, arguments))
      return error;
    running.push_back(cores[number].get());
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
  for (int64_t number = 0; number < kernel.cores; ++number)
    time += cores[number]->finish();
  // Stalls are of the kernel's time, not of all cores'.
  time.dmaStall /= kernel.cores;
  time.matrixStall /= kernel.cores;
  simulatedBundles += time.bundles;
  return time;
}

llvm::Error Cores::startTransfer(const Step &step, int64_t source, int64_t target) {
  if (step.parts.empty())
    return first().startTransfer(step, {0, step.buffers[0].bytes}, source, target);
  for (auto [number, part] : llvm::enumerate(step.parts))
    if (part.begin < part.end)
      if (llvm::Error error = cores[number]->startTransfer(step, part, source, target))
        return error;
  return llvm::Error::success();
}

int64_t Cores::waitForStep(int64_t semaphore) {
  int64_t before = now();
  for (auto &core : cores)
    core->waitForStep(semaphore);
  return now() - before;
}

} // namespace spokeshave::runtime::tpu
