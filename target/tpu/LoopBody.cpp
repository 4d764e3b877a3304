//===- LoopBody.cpp - a loop's instructions, ready to be overlapped ---------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "target/tpu/LoopBody.h"

#include "target/tpu/LinearForms.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace spokeshave::tpu {

int64_t LoopBody::invariants(File file) const {
  llvm::DenseSet<uint32_t> found;
  for (auto [here, from] : llvm::zip_equal(code, sources))
    for (auto [reg, source] : llvm::zip_equal(here.sources(), from))
      if (reg.file == file && source.writer < 0)
        found.insert(reg.number);
  return found.size();
}

int64_t LoopBody::addressLead(uint32_t number, const ModuloSchedule &schedule) const {
  Source address = sources[number][0];
  if (!slopes[number] || address.writer < 0)
    return 0;
  int64_t spare = schedule.cycles[number] + schedule.interval * int64_t(address.distance) -
                  schedule.cycles[address.writer] - latencies[address.writer];
  return std::max<int64_t>(0, spare) / schedule.interval;
}

std::vector<int64_t> LoopBody::lifetimes(const ModuloSchedule &schedule) const {
  std::vector<int64_t> lifetimes(code.size(), 1);
  for (auto [number, from] : llvm::enumerate(sources)) {
    int64_t lead = addressLead(number, schedule);
    for (auto [place, source] : llvm::enumerate(from))
      if (source.writer >= 0) {
        int64_t &lifetime = lifetimes[source.writer];
        int64_t distance = int64_t(source.distance) - (place == 0 ? lead : 0);
        lifetime = std::max(lifetime, schedule.cycles[number] + schedule.interval * distance -
                                          schedule.cycles[source.writer]);
      }
  }
  return lifetimes;
}

int64_t LoopBody::pressure(const ModuloSchedule &schedule, File file) const {
  int64_t interval = schedule.interval, always = 0;
  std::vector<int64_t> change(interval + 1);
  for (auto [here, lifetime, cycle] : llvm::zip_equal(code, lifetimes(schedule), schedule.cycles)) {
    if (here.dst.file != file)
      continue;
    always += lifetime / interval;
    int64_t begin = cycle % interval, end = begin + lifetime % interval;
    ++change[begin], --change[std::min(end, interval)];
    if (end > interval)
      ++change[0], --change[end - interval];
  }
  int64_t now = 0, most = 0;
  for (int64_t here : change)
    most = std::max(most, now += here);
  return always + most;
}

namespace {

class BodyMaker {
public:
  BodyMaker(const Kernel &kernel, const CountedLoop &loop, const Timing &timing)
      : all(kernel.blocks[loop.block].instructions), loop(loop), timing(timing) {}
  std::optional<LoopBody> run();

private:
  bool findWriters();
  bool isHandedOn(uint32_t number) const;
  void findSources();
  void addRegisterEdges();

  llvm::ArrayRef<Instruction> all;
  const CountedLoop &loop;
  const Timing &timing;
  LoopBody body;
  llvm::DenseMap<uint32_t, uint32_t> writers; ///< in `all`, by register
  llvm::DenseSet<uint32_t> readFirst;         ///< registers read before they are written
  llvm::DenseMap<uint32_t, uint32_t> numbers; ///< of `all` in the body
  llvm::DenseMap<uint32_t, Reg> handedOn;     ///< target of a move: what it takes on
};

bool BodyMaker::findWriters() {
  Reg test = all[loop.branch].a;
  for (auto [number, here] : llvm::enumerate(all)) {
    // Transfers do not overlap; what goes through matrix units is pipelined already.
    Unit unit = unitOf(here);
    if (unit == Unit::Misc || unit == Unit::MatrixPush || unit == Unit::MatrixPop)
      return false;
    for (Reg source : here.sources()) {
      if (source == test && number != loop.branch)
        return false;
      if (source && !writers.contains(source.number))
        readFirst.insert(source.number);
    }
    if (here.dst && !writers.try_emplace(here.dst.number, number).second)
      return false;
  }
  return true;
}

/// A move that the next iteration alone reads, of a value of this iteration that the
/// next one does not read by its own name.
bool BodyMaker::isHandedOn(uint32_t number) const {
  const Instruction &move = all[number];
  // Scalars keep their moves, from which addresses are known to move by constants.
  if (move.op != Opcode::Move || move.a.file != move.dst.file || move.mask ||
      move.dst.file == File::Scalar || handedOn.contains(move.a.number))
    return false;
  auto writer = writers.find(move.a.number);
  if (writer == writers.end() || writer->second > number || readFirst.contains(move.a.number))
    return false;
  for (uint32_t later = number + 1; later < all.size(); ++later)
    if (llvm::is_contained(all[later].sources(), move.dst))
      return false;
  return llvm::none_of(handedOn, [&](auto &other) { return other.second == move.a; });
}

void BodyMaker::findSources() {
  for (uint32_t i = 0; i < all.size(); ++i) {
    if (i == loop.compare || i == loop.branch)
      continue;
    if (isHandedOn(i)) {
      handedOn[all[i].dst.number] = all[i].a;
      continue;
    }
    numbers[i] = body.code.size();
    body.code.push_back(all[i]);
  }
  llvm::DenseSet<uint32_t> known;
  for (auto [number, here] : llvm::enumerate(body.code)) {
    std::array<LoopBody::Source, 4> from;
    for (auto [reg, source] : llvm::zip_equal(here.sources(), from)) {
      if (!reg)
        continue;
      Reg origin = reg;
      if (auto other = handedOn.find(reg.number); other != handedOn.end())
        origin = other->second, source.distance = 1;
      auto writer = writers.find(origin.number);
      if (writer == writers.end())
        continue;
      source.writer = numbers.lookup(writer->second);
      if (source.writer >= int64_t(number))
        source.distance = 1;
      if (source.distance > 0 && known.insert(reg.number).second)
        body.initial.push_back({reg, uint32_t(source.writer)});
    }
    body.sources.push_back(from);
    if (here.dst)
      body.written.push_back({here.dst, uint32_t(number)});
  }
  for (auto [target, origin] : handedOn)
    body.written.push_back({Reg{origin.file, target}, numbers.lookup(writers[origin.number])});
  llvm::sort(body.written, [](auto &a, auto &b) { return a.reg.number < b.reg.number; });
}

void BodyMaker::addRegisterEdges() {
  for (auto [number, from] : llvm::enumerate(body.sources))
    for (LoopBody::Source source : from)
      if (source.writer >= 0)
        body.graph.add(source.writer, number, timing.latency(body.code[source.writer]),
                       source.distance);
}

std::optional<LoopBody> BodyMaker::run() {
  if (!findWriters())
    return std::nullopt;
  findSources();
  if (body.code.empty())
    return std::nullopt;
  body.graph = DependenceGraph(body.code.size());
  addRegisterEdges();
  addMemoryDependences(body.code, timing, true, body.graph);
  LinearForms forms(body.code);
  for (auto [number, here] : llvm::enumerate(body.code)) {
    Unit unit = unitOf(here);
    bool accesses = unit == Unit::VectorLoad || unit == Unit::VectorStore;
    body.slopes.push_back(accesses ? forms.of(number).slope : std::nullopt);
    body.latencies.push_back(timing.latency(here));
  }
  return std::move(body);
}

} // namespace

std::optional<LoopBody> makeLoopBody(const Kernel &kernel, const CountedLoop &loop,
                                     const Timing &timing) {
  return BodyMaker(kernel, loop, timing).run();
}

} // namespace spokeshave::tpu
