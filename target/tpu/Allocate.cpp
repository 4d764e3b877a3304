//===- Allocate.cpp - register allocation ----------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linear scan (Poletto and Sarkar, 1999) with holes: a register may hold another
// value where an interval has no need of it. Where a file is full, the interval that
// ends last is spilled to VMEM: a load before each use, a store after each
// definition; then all is done once more. Registers that are equally free are taken
// in turn, to leave bundling few false dependences.
//
// The steady states of pipelined loops have their bundles already: only registers
// are filled in. Intervals that they use are never spilled; where that leaves too few
// registers, the loops are named, and the caller does without their pipelines.
//
//===----------------------------------------------------------------------===//
#include "target/tpu/Backend.h"
#include "target/tpu/Liveness.h"

#include "support/Error.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <map>

namespace spokeshave::tpu {

namespace {

class Allocator {
public:
  Allocator(Kernel &kernel, const Timing &timing) : kernel(kernel), timing(timing) {}
  llvm::Error run(llvm::SmallVectorImpl<uint32_t> &crowded);

private:
  /// A register of the machine: what is taken of it, by the begin of the stretch.
  struct Place {
    std::map<int64_t, std::pair<int64_t, uint32_t>> taken; ///< end, and interval
    int64_t lastEnd = -1;                                  ///< of all that was ever there
  };

  int64_t sizeOf(File file) const {
    return file == File::Scalar   ? timing.scalarRegisters
           : file == File::Vector ? timing.vectorRegisters
                                  : timing.maskRegisters;
  }
  /// Assigns registers; returns those that must be spilled, by number.
  llvm::DenseSet<uint32_t> scan();
  void findFixed();
  /// Where an interval is between others: the end of the last stretch before it, the
  /// begin of the first one behind it.
  struct Gap {
    int64_t before = -1, behind = INT64_MAX;
  };
  /// Intervals that are in the way of `interval` at a place.
  llvm::SmallVector<uint32_t, 4> conflicts(const Place &place, const Interval &interval,
                                           Gap &gap) const;
  void occupy(Place &place, uint32_t number);
  void release(Place &place, uint32_t number);
  bool maySpill(uint32_t reg) const { return !spillCode.contains(reg) && !fixed.contains(reg); }
  static bool uses(const Block &block, const llvm::DenseSet<uint32_t> &registers);
  void spill(const llvm::DenseSet<uint32_t> &victims);
  void rewrite();

  Kernel &kernel;
  const Timing &timing;
  std::vector<Interval> intervals;
  llvm::DenseMap<uint32_t, uint32_t> assigned;
  llvm::DenseSet<uint32_t> spillCode; ///< short-lived registers that spilling made
  llvm::DenseSet<uint32_t> fixed;     ///< used in steady states, where there is no room
  uint32_t next = 0;
};

llvm::SmallVector<uint32_t, 4> Allocator::conflicts(const Place &place, const Interval &interval,
                                                    Gap &gap) const {
  llvm::SmallVector<uint32_t, 4> found;
  gap = {place.lastEnd, INT64_MAX};
  if (place.lastEnd < interval.begin())
    return found;
  gap.before = -1;
  for (auto [number, segment] : llvm::enumerate(interval.segments)) {
    auto it = place.taken.upper_bound(segment.begin);
    if (it != place.taken.begin()) {
      auto before = std::prev(it);
      if (before->second.first >= segment.begin)
        it = before;
      else if (number == 0)
        gap.before = before->second.first;
    }
    for (; it != place.taken.end() && it->first <= segment.end; ++it)
      if (!llvm::is_contained(found, it->second.second))
        found.push_back(it->second.second);
    if (number + 1 == interval.segments.size() && it != place.taken.end())
      gap.behind = it->first;
  }
  return found;
}

void Allocator::occupy(Place &place, uint32_t number) {
  for (const Segment &segment : intervals[number].segments)
    place.taken[segment.begin] = {segment.end, number};
  place.lastEnd = std::max(place.lastEnd, intervals[number].end());
}

void Allocator::release(Place &place, uint32_t number) {
  for (const Segment &segment : intervals[number].segments)
    place.taken.erase(segment.begin);
}

void Allocator::findFixed() {
  fixed.clear();
  for (const Block &block : kernel.blocks)
    if (block.isPipelined())
      for (const Instruction &instruction : block.instructions) {
        if (instruction.dst)
          fixed.insert(instruction.dst.number);
        for (Reg source : instruction.sources())
          if (source)
            fixed.insert(source.number);
      }
}

llvm::DenseSet<uint32_t> Allocator::scan() {
  assigned.clear();
  llvm::DenseSet<uint32_t> victims;
  std::map<File, std::vector<Place>> files;
  for (File file : {File::Scalar, File::Vector, File::Mask})
    files[file].resize(sizeOf(file));
  Liveness liveness(kernel);
  next = liveness.numRegisters;
  intervals = findIntervals(kernel, liveness);
  for (uint32_t number = 0; number < intervals.size(); ++number) {
    const Interval &interval = intervals[number];
    std::vector<Place> &places = files[interval.reg.file];
    // The register that is next needed soonest (so that long stretches stay free for
    // values around a loop's back edge), of these the one that has been idle for
    // longest; else the one whose only value here ends last, if after this one's end.
    std::pair<int64_t, int64_t> tightest{INT64_MAX, INT64_MAX};
    int64_t latest = maySpill(interval.reg.number) ? interval.end() : -1;
    uint32_t best = UINT32_MAX, victim = UINT32_MAX, victimPlace = 0;
    for (uint32_t p = 0; p < places.size(); ++p) {
      Gap gap;
      auto found = conflicts(places[p], interval, gap);
      if (found.empty()) {
        if (std::pair(gap.behind, gap.before) < tightest)
          tightest = {gap.behind, gap.before}, best = p;
        continue;
      }
      const Interval &other = intervals[found[0]];
      if (found.size() == 1 && maySpill(other.reg.number) && other.end() > latest)
        latest = other.end(), victim = found[0], victimPlace = p;
    }
    if (best == UINT32_MAX) {
      if (victim == UINT32_MAX) {
        victims.insert(interval.reg.number);
        continue;
      }
      victims.insert(intervals[victim].reg.number);
      release(places[victimPlace], victim);
      best = victimPlace;
    }
    assigned[interval.reg.number] = best;
    occupy(places[best], number);
  }
  return victims;
}

/// Bytes that hold one register of a file.
int64_t spillBytes(File file) {
  return file == File::Vector ? 2 * kRegisterBytes : file == File::Mask ? kRegisterLanes : 64;
}

void Allocator::spill(const llvm::DenseSet<uint32_t> &victims) {
  llvm::DenseMap<uint32_t, int64_t> slots;
  auto slotOf = [&](Reg reg) {
    auto [slot, isNew] = slots.try_emplace(reg.number, kernel.vmemBytes);
    if (isNew)
      kernel.vmemBytes += spillBytes(reg.file);
    return slot->second;
  };
  auto access = [&](Opcode op, Reg reg, const Instruction &user) {
    Instruction instruction;
    instruction.op = op;
    instruction.type = instruction.from =
        reg.file == File::Mask ? ElementType::I1 : ElementType::I64;
    instruction.lanes = reg.file == File::Scalar ? 1 : kRegisterLanes;
    instruction.stride = reg.file == File::Mask ? 1 : 8;
    instruction.location = user.location;
    return instruction;
  };
  for (Block &block : kernel.blocks) {
    std::vector<Instruction> code;
    for (Instruction instruction : block.instructions) {
      llvm::DenseMap<uint32_t, Reg> here; // a use twice is loaded once
      for (Reg *source : {&instruction.a, &instruction.b, &instruction.c, &instruction.mask}) {
        if (!*source || !victims.contains(source->number))
          continue;
        Reg old = *source;
        auto [loaded, isNew] = here.try_emplace(old.number, Reg{old.file, next});
        if (isNew) {
          spillCode.insert(next++);
          Instruction load = access(Opcode::Load, old, instruction);
          load.dst = loaded->second, load.imm = slotOf(old);
          load.object = UINT16_MAX;
          code.push_back(load);
        }
        *source = loaded->second;
      }
      if (!instruction.dst || !victims.contains(instruction.dst.number)) {
        code.push_back(instruction);
        continue;
      }
      Reg old = instruction.dst, made{old.file, next};
      spillCode.insert(next++);
      instruction.dst = made;
      code.push_back(instruction);
      Instruction store = access(Opcode::Store, old, instruction);
      store.b = made, store.imm = slotOf(old);
      store.object = UINT16_MAX;
      code.push_back(store);
    }
    block.instructions = std::move(code);
  }
  kernel.spills += victims.size();
}

bool Allocator::uses(const Block &block, const llvm::DenseSet<uint32_t> &registers) {
  return llvm::any_of(block.instructions, [&](const Instruction &instruction) {
    return (instruction.dst && registers.contains(instruction.dst.number)) ||
           llvm::any_of(instruction.sources(),
                        [&](Reg source) { return source && registers.contains(source.number); });
  });
}

void Allocator::rewrite() {
  auto assign = [&](Reg &reg) {
    if (!reg)
      return;
    reg.number = assigned.lookup(reg.number);
    int64_t &most = reg.file == File::Scalar ? kernel.scalarRegisters : kernel.vectorRegisters;
    if (reg.file != File::Mask)
      most = std::max<int64_t>(most, reg.number + 1);
  };
  for (Block &block : kernel.blocks)
    for (Instruction &instruction : block.instructions)
      for (Reg *reg :
           {&instruction.dst, &instruction.a, &instruction.b, &instruction.c, &instruction.mask})
        assign(*reg);
}

llvm::Error Allocator::run(llvm::SmallVectorImpl<uint32_t> &crowded) {
  findFixed();
  // Each round spills at least one long interval, and there are finitely many.
  for (int round = 0; round < 64; ++round) {
    llvm::DenseSet<uint32_t> victims = scan();
    if (victims.empty()) {
      rewrite();
      return llvm::Error::success();
    }
    if (llvm::any_of(victims, [&](uint32_t victim) { return fixed.contains(victim); })) {
      for (const Block &block : kernel.blocks)
        if (block.isPipelined() && uses(block, victims))
          crowded.push_back(block.steady.loop);
      return llvm::Error::success();
    }
    for (uint32_t victim : victims)
      if (spillCode.contains(victim))
        return makeError(ErrorCode::Internal,
                         "kernel @" + kernel.name + " needs more registers than the chip has");
    spill(victims);
  }
  return makeError(ErrorCode::Internal, "register allocation of @" + kernel.name + " does not end");
}

} // namespace

llvm::Error allocateRegisters(Kernel &kernel, const Timing &timing,
                              llvm::SmallVectorImpl<uint32_t> &crowded) {
  return Allocator(kernel, timing).run(crowded);
}

} // namespace spokeshave::tpu
