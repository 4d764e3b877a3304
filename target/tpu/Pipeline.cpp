//===- Pipeline.cpp - loops pipelined over their iterations -----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses an interval and copies for each loop, and puts blocks in its place.
//
//===----------------------------------------------------------------------===//
#include "target/tpu/Pipeline.h"

#include "target/tpu/Backend.h"
#include "target/tpu/Order.h"
#include "target/tpu/OverlappedLoop.h"

#include "llvm/ADT/STLExtras.h"

namespace spokeshave::tpu {

namespace {

class Pipeliner {
public:
  Pipeliner(Kernel &kernel, const Timing &timing, const llvm::DenseMap<uint32_t, unsigned> &crowded)
      : kernel(kernel), timing(timing), crowded(crowded), liveness(kernel) {}
  void run();

private:
  std::optional<std::vector<Block>> overlap(uint32_t number);
  struct Choice {
    ModuloSchedule schedule;
    int64_t copies = 0;
  };
  std::optional<Choice> choose(const LoopBody &body, const CountedLoop &loop,
                               const IntervalBounds &bounds, unsigned timesCrowded) const;
  bool hasRegisters(const LoopBody &body, const ModuloSchedule &schedule,
                    unsigned timesCrowded) const;
  int64_t chooseCopies(const LoopBody &body, const CountedLoop &loop,
                       const ModuloSchedule &schedule, const IntervalBounds &bounds) const;
  void replace(std::vector<std::vector<Block>> &replacements);

  Kernel &kernel;
  const Timing &timing;
  const llvm::DenseMap<uint32_t, unsigned> &crowded;
  Liveness liveness;
};

bool Pipeliner::hasRegisters(const LoopBody &body, const ModuloSchedule &schedule,
                             unsigned timesCrowded) const {
  const std::tuple<File, int64_t, int64_t> files[] = {
      {File::Vector, timing.vectorRegisters, timing.vectorRegisters / 16},
      {File::Scalar, timing.scalarRegisters, 3}, // the passes' counter, and a bound
      {File::Mask, timing.maskRegisters, 1}};
  return llvm::all_of(files, [&](auto &entry) {
    auto [file, size, spare] = entry;
    spare += timesCrowded * size / 8;
    return body.invariants(file) + body.pressure(schedule, file) + spare <= size;
  });
}

/// The least interval for which a schedule is found that does with the registers and
/// has no more stages than there are iterations.
std::optional<Pipeliner::Choice> Pipeliner::choose(const LoopBody &body, const CountedLoop &loop,
                                                   const IntervalBounds &bounds,
                                                   unsigned timesCrowded) const {
  int64_t least = std::max(bounds.resource, bounds.recurrence);
  for (int64_t interval = least; interval < bounds.sequential;
       interval += std::max<int64_t>(1, (interval - least) / 4)) {
    std::optional<ModuloSchedule> schedule =
        scheduleModulo(body.code, body.graph, timing, interval);
    if (!schedule || !hasRegisters(body, *schedule, timesCrowded))
      continue;
    if (int64_t copies = chooseCopies(body, loop, *schedule, bounds))
      return Choice{std::move(*schedule), copies};
  }
  return std::nullopt;
}

/// 0 if the loop is no faster for it.
int64_t Pipeliner::chooseCopies(const LoopBody &body, const CountedLoop &loop,
                                const ModuloSchedule &schedule,
                                const IntervalBounds &bounds) const {
  constexpr int64_t kMostInstructions = 4096, kMostCycles = 256, kUnknownTrips = 64;
  int64_t usual = kernel.blocks[loop.block].usualTrips;
  int64_t interval = schedule.interval, ahead = schedule.stages() - 1, least = 1;
  for (int64_t lifetime : body.lifetimes(schedule))
    least = std::max<int64_t>(least, llvm::divideCeil(lifetime, interval));
  int64_t most = std::max(least, std::min<int64_t>(kMostInstructions / int64_t(body.code.size()),
                                                   kMostCycles / interval));
  int64_t trips = loop.trips.value_or(usual ? usual : kUnknownTrips),
          alone = bounds.sequential + timing.branchDelay;
  int64_t bestTime = trips * alone, best = 0;
  for (int64_t copies = least; copies <= most; ++copies) {
    int64_t passes = (trips - ahead) / copies;
    if (passes < 1)
      break;
    if (!loop.trips && copies > least && !llvm::isPowerOf2_64(copies))
      continue; // a division by it would be slow
    int64_t rest = trips - ahead - passes * copies;
    int64_t time = (ahead + 1) * interval + bounds.sequential +
                   passes * (copies * interval + timing.branchDelay) + rest * alone;
    if (time < bestTime)
      bestTime = time, best = copies;
  }
  return best;
}

std::optional<std::vector<Block>> Pipeliner::overlap(uint32_t number) {
  constexpr unsigned kTimesCrowded = 7; // each time with an eighth of the file less
  constexpr size_t kMostInstructions = 3000;
  unsigned timesCrowded = crowded.lookup(number);
  std::optional<CountedLoop> loop = findCountedLoop(kernel, number);
  if (!loop || timesCrowded >= kTimesCrowded || number + 1 >= kernel.blocks.size() ||
      kernel.blocks[number].instructions.size() > kMostInstructions)
    return std::nullopt;
  std::optional<LoopBody> body = makeLoopBody(kernel, *loop, timing);
  if (!body)
    return std::nullopt;
  IntervalBounds bounds = boundsOf(body->code, body->graph, timing);
  std::optional<Choice> choice = choose(*body, *loop, bounds, timesCrowded);
  if (!choice)
    return std::nullopt;
  OverlappedLoop made(kernel, *loop, *body, choice->schedule, choice->copies, liveness, timing);
  std::vector<Block> blocks = made.run();
  for (Block &block : blocks)
    if (block.isPipelined()) {
      block.steady.resourceBound = bounds.resource;
      block.steady.recurrenceBound = bounds.recurrence;
      block.steady.resource = bounds.unit;
    }
  // Names of later loops' registers come after these.
  liveness.numRegisters = made.nextRegister();
  return blocks;
}

/// Targets of branches are numbers of blocks before; of blocks in a replacement,
/// -1 - their place in it.
void Pipeliner::replace(std::vector<std::vector<Block>> &replacements) {
  std::vector<int64_t> first;
  int64_t count = 0;
  for (auto &blocks : replacements) {
    first.push_back(count);
    count += blocks.size();
  }
  kernel.blocks.clear();
  for (auto [number, blocks] : llvm::enumerate(replacements))
    for (Block &block : blocks) {
      for (Instruction &here : block.instructions)
        if (here.op == Opcode::Branch || here.op == Opcode::BranchIf)
          here.imm = here.imm < 0 ? first[number] - 1 - here.imm : first[here.imm];
      kernel.blocks.push_back(std::move(block));
    }
}

void Pipeliner::run() {
  std::vector<std::vector<Block>> replacements(kernel.blocks.size());
  bool changed = false;
  for (uint32_t number = 0; number < kernel.blocks.size(); ++number) {
    if (std::optional<std::vector<Block>> blocks = overlap(number)) {
      replacements[number] = std::move(*blocks);
      changed = true;
    } else {
      replacements[number].push_back(kernel.blocks[number]);
    }
  }
  if (changed)
    replace(replacements);
}

} // namespace

void pipelineLoops(Kernel &kernel, const Timing &timing,
                   const llvm::DenseMap<uint32_t, unsigned> &crowded) {
  Pipeliner(kernel, timing, crowded).run();
}

llvm::Error overlapAndAllocate(Kernel &kernel, const Timing &timing, bool pipelining) {
  const Kernel before = kernel;
  llvm::DenseMap<uint32_t, unsigned> timesCrowded;
  for (;;) {
    if (pipelining)
      pipelineLoops(kernel, timing, timesCrowded);
    orderCode(kernel, timing);
    llvm::SmallVector<uint32_t> crowded;
    if (llvm::Error error = allocateRegisters(kernel, timing, crowded))
      return error;
    if (crowded.empty())
      return llvm::Error::success();
    for (uint32_t loop : crowded)
      ++timesCrowded[loop];
    kernel = before;
  }
}

} // namespace spokeshave::tpu
