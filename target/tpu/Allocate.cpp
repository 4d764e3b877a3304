//===- Allocate.cpp - register allocation ----------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linear scan (Poletto and Sarkar, 1999) over the blocks in their order. Live
// intervals come from a data flow over blocks, so that values that live around a
// loop keep their register in all of it. Where a file is full, the interval that
// ends last is spilled to VMEM: a load before each use, a store after each
// definition; then all is done once more. Free registers are taken in turn, to
// leave bundling few false dependences.
//
//===----------------------------------------------------------------------===//
#include "target/tpu/Backend.h"

#include "support/Error.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <deque>
#include <map>

namespace spokeshave::tpu {

namespace {

struct Interval {
  Reg reg;
  int64_t begin = INT64_MAX, end = -1;
  bool isSpillCode = false;
};

/// The blocks that may follow `number`.
llvm::SmallVector<uint32_t, 2> successorsOf(const Kernel &kernel, uint32_t number) {
  llvm::SmallVector<uint32_t, 2> successors;
  bool falls = true;
  for (const Instruction &instruction : kernel.blocks[number].instructions) {
    if (instruction.op == Opcode::Branch || instruction.op == Opcode::BranchIf)
      successors.push_back(instruction.imm);
    if (instruction.op == Opcode::Branch || instruction.op == Opcode::Halt)
      falls = false;
  }
  if (falls && number + 1 < kernel.blocks.size())
    successors.push_back(number + 1);
  return successors;
}

class Liveness {
public:
  explicit Liveness(const Kernel &kernel);
  std::vector<Interval> intervals; ///< by begin

private:
  void findLocal(const Kernel &kernel);
  void solve(const Kernel &kernel);

  unsigned numRegisters = 0;
  std::vector<llvm::BitVector> used, defined, liveIn, liveOut;
};

Liveness::Liveness(const Kernel &kernel) {
  for (const Block &block : kernel.blocks)
    for (const Instruction &instruction : block.instructions) {
      numRegisters = std::max(numRegisters, instruction.dst.number + 1);
      for (Reg source : instruction.sources())
        numRegisters = std::max(numRegisters, source.number + 1);
    }
  findLocal(kernel);
  solve(kernel);
  std::vector<Interval> all(numRegisters);
  int64_t at = 0;
  auto extend = [&](Reg reg, int64_t position) {
    Interval &interval = all[reg.number];
    interval.reg = reg;
    interval.begin = std::min(interval.begin, position);
    interval.end = std::max(interval.end, position);
  };
  for (auto [number, block] : llvm::enumerate(kernel.blocks)) {
    int64_t first = at;
    for (const Instruction &instruction : block.instructions) {
      for (Reg source : instruction.sources())
        if (source)
          extend(source, at);
      if (instruction.dst)
        extend(instruction.dst, at + 1);
      at += 2;
    }
    for (unsigned reg : liveIn[number].set_bits())
      all[reg].begin = std::min(all[reg].begin, first),
      all[reg].end = std::max(all[reg].end, first);
    for (unsigned reg : liveOut[number].set_bits())
      all[reg].begin = std::min(all[reg].begin, at), all[reg].end = std::max(all[reg].end, at);
  }
  for (Interval &interval : all)
    if (interval.reg)
      intervals.push_back(interval);
  llvm::sort(intervals, [](const Interval &a, const Interval &b) {
    return std::pair(a.begin, a.reg.number) < std::pair(b.begin, b.reg.number);
  });
}

void Liveness::findLocal(const Kernel &kernel) {
  for (const Block &block : kernel.blocks) {
    llvm::BitVector &uses = used.emplace_back(numRegisters);
    llvm::BitVector &definitions = defined.emplace_back(numRegisters);
    for (const Instruction &instruction : block.instructions) {
      for (Reg source : instruction.sources())
        if (source && !definitions.test(source.number))
          uses.set(source.number);
      if (instruction.dst)
        definitions.set(instruction.dst.number);
    }
  }
}

void Liveness::solve(const Kernel &kernel) {
  liveIn = used;
  liveOut.assign(kernel.blocks.size(), llvm::BitVector(numRegisters));
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t number = kernel.blocks.size(); number-- > 0;) {
      for (uint32_t successor : successorsOf(kernel, number))
        if (liveIn[successor].test(liveOut[number]))
          liveOut[number] |= liveIn[successor], changed = true;
      llvm::BitVector in = liveOut[number];
      in.reset(defined[number]);
      in |= used[number];
      if (in != liveIn[number])
        liveIn[number] = in, changed = true;
    }
  }
}

class Allocator {
public:
  Allocator(Kernel &kernel, const Timing &timing) : kernel(kernel), timing(timing) {}
  llvm::Error run();

private:
  int64_t sizeOf(File file) const {
    return file == File::Scalar   ? timing.scalarRegisters
           : file == File::Vector ? timing.vectorRegisters
                                  : timing.maskRegisters;
  }
  /// Assigns registers; returns those that must be spilled, by number.
  llvm::DenseSet<uint32_t> scan();
  void spill(const llvm::DenseSet<uint32_t> &victims);
  void rewrite();

  Kernel &kernel;
  const Timing &timing;
  llvm::DenseMap<uint32_t, uint32_t> assigned;
  llvm::DenseSet<uint32_t> spillCode; ///< short-lived registers that spilling made
  uint32_t next = 0;
};

llvm::DenseSet<uint32_t> Allocator::scan() {
  assigned.clear();
  llvm::DenseSet<uint32_t> victims;
  std::map<File, std::deque<uint32_t>> free;
  std::map<File, std::vector<Interval>> active;
  for (File file : {File::Scalar, File::Vector, File::Mask})
    for (uint32_t i = 0; i < sizeOf(file); ++i)
      free[file].push_back(i);
  Liveness liveness(kernel);
  next = 0;
  for (const Interval &interval : liveness.intervals)
    next = std::max(next, interval.reg.number + 1);
  for (const Interval &interval : liveness.intervals) {
    File file = interval.reg.file;
    std::vector<Interval> &living = active[file];
    llvm::erase_if(living, [&](const Interval &old) {
      if (old.end > interval.begin)
        return false;
      free[file].push_back(assigned[old.reg.number]);
      return true;
    });
    if (free[file].empty()) {
      auto last = living.end();
      for (auto it = living.begin(); it != living.end(); ++it)
        if (!spillCode.contains(it->reg.number) && (last == living.end() || it->end > last->end))
          last = it;
      bool spillSelf = !spillCode.contains(interval.reg.number) &&
                       (last == living.end() || interval.end >= last->end);
      if (spillSelf || last == living.end()) {
        victims.insert(interval.reg.number);
        continue;
      }
      victims.insert(last->reg.number);
      free[file].push_back(assigned[last->reg.number]);
      living.erase(last);
    }
    assigned[interval.reg.number] = free[file].front();
    free[file].pop_front();
    living.push_back(interval);
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

llvm::Error Allocator::run() {
  // Each round spills at least one long interval, and there are finitely many.
  for (int round = 0; round < 64; ++round) {
    llvm::DenseSet<uint32_t> victims = scan();
    if (victims.empty()) {
      rewrite();
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

llvm::Error allocateRegisters(Kernel &kernel, const Timing &timing) {
  return Allocator(kernel, timing).run();
}

static bool hasEffect(const Instruction &instruction) {
  switch (unitOf(instruction)) {
  case Unit::VectorStore:
  case Unit::MatrixPush:
  case Unit::MatrixPop:
  case Unit::Misc:
    return true;
  default:
    return isTerminator(instruction.op);
  }
}

void eliminateDeadCode(Kernel &kernel) {
  for (bool changed = true; changed;) {
    llvm::DenseSet<uint32_t> read;
    for (const Block &block : kernel.blocks)
      for (const Instruction &instruction : block.instructions)
        for (Reg source : instruction.sources())
          if (source && !(source == instruction.dst))
            read.insert(source.number);
    changed = false;
    for (Block &block : kernel.blocks) {
      size_t before = block.instructions.size();
      llvm::erase_if(block.instructions, [&](const Instruction &instruction) {
        return !hasEffect(instruction) && instruction.dst && !read.contains(instruction.dst.number);
      });
      changed |= block.instructions.size() != before;
    }
  }
}

} // namespace spokeshave::tpu
