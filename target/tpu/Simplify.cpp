//===- Simplify.cpp - instructions that need not be there -------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "target/tpu/Simplify.h"

#include "target/tpu/Loops.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <map>

namespace spokeshave::tpu {

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

namespace {

/// How registers are used over the whole kernel.
class Simplifier {
public:
  Simplifier(Kernel &kernel, const Timing &timing) : kernel(kernel), timing(timing) {}
  void run();

private:
  /// An instruction by what it computes; registers with a count of their writers so far.
  using Key = std::tuple<Opcode, ElementType, ElementType, uint16_t, std::array<uint64_t, 4>,
                         int64_t, int64_t, uint8_t, uint8_t>;

  void countUses();
  static bool isPure(const Instruction &instruction);
  bool isOnce(Reg reg) const { return writers.lookup(reg.number) == 1; }
  void shareValues(uint32_t number, bool isLoop);
  void hoist(const CountedLoop &loop);

  Kernel &kernel;
  const Timing &timing;
  llvm::DenseMap<uint32_t, unsigned> writers;
  llvm::DenseMap<uint32_t, uint32_t> onlyBlock; ///< that reads a register; UINT32_MAX: several
};

void Simplifier::countUses() {
  for (auto [number, block] : llvm::enumerate(kernel.blocks))
    for (const Instruction &here : block.instructions) {
      if (here.dst)
        ++writers[here.dst.number];
      for (Reg source : here.sources())
        if (source) {
          auto [known, isNew] = onlyBlock.try_emplace(source.number, number);
          if (!isNew && known->second != number)
            known->second = UINT32_MAX;
        }
    }
}

/// Whether it may run once where it ran often, or in vain.
bool Simplifier::isPure(const Instruction &here) {
  switch (unitOf(here)) {
  case Unit::VectorLoad:
    return here.object == kConstantObject;
  case Unit::Scalar:
  case Unit::VectorAlu:
    return here.dst && !isTerminator(here.op) && latencyOf(here.op) != Latency::Divide;
  case Unit::CrossLane:
  case Unit::Transcendental:
    return true;
  default:
    return false;
  }
}

void Simplifier::shareValues(uint32_t number, bool isLoop) {
  std::map<Key, Reg> known;
  llvm::DenseMap<uint32_t, Reg> same;
  llvm::DenseMap<uint32_t, uint32_t> versions;
  llvm::DenseSet<uint32_t> read;
  std::vector<Instruction> code;
  for (Instruction here : kernel.blocks[number].instructions) {
    for (Reg *source : {&here.a, &here.b, &here.c, &here.mask})
      if (*source) {
        if (auto other = same.find(source->number); other != same.end())
          *source = other->second;
        read.insert(source->number);
      }
    // Masks, and the tables that they are made of, are few.
    bool isMask = here.dst.file == File::Mask ||
                  (unitOf(here) == Unit::VectorLoad && here.type == ElementType::I8);
    bool shares = here.dst && isPure(here) && isOnce(here.dst) && !read.contains(here.dst.number) &&
                  here.op != Opcode::Move &&
                  (here.dst.file == File::Scalar || isMask ||
                   (isLoop && (here.op == Opcode::Constant || here.op == Opcode::Splat ||
                               here.op == Opcode::Iota || unitOf(here) == Unit::VectorLoad)));
    if (shares) {
      std::array<uint64_t, 4> sources;
      for (auto [source, reg] : llvm::zip_equal(sources, here.sources()))
        source =
            uint64_t(reg.file) << 60 | uint64_t(versions.lookup(reg.number)) << 32 | reg.number;
      auto [first, isNew] =
          known.try_emplace(Key{here.op, here.type, here.from, here.lanes, sources, here.imm,
                                here.stride, here.predicate, here.immediate},
                            here.dst);
      auto only = onlyBlock.find(here.dst.number);
      if (!isNew && first->second.file == here.dst.file && only != onlyBlock.end() &&
          only->second == number) {
        same[here.dst.number] = first->second;
        continue;
      }
    }
    if (here.dst)
      ++versions[here.dst.number];
    code.push_back(here);
  }
  kernel.blocks[number].instructions = std::move(code);
}

void Simplifier::hoist(const CountedLoop &loop) {
  llvm::DenseSet<uint32_t> changing, read;
  Block &body = kernel.blocks[loop.block], &entry = kernel.blocks[loop.block - 1];
  for (const Instruction &here : body.instructions)
    if (here.dst)
      changing.insert(here.dst.number);
  std::map<File, int64_t> room = {{File::Vector, timing.vectorRegisters / 3},
                                  {File::Scalar, timing.scalarRegisters / 3},
                                  {File::Mask, timing.maskRegisters / 2}};
  std::vector<Instruction> code, moved;
  for (auto [number, here] : llvm::enumerate(body.instructions)) {
    bool moves = isPure(here) && isOnce(here.dst) && number != loop.compare &&
                 !read.contains(here.dst.number) && room[here.dst.file] > 0 &&
                 llvm::none_of(here.sources(), [&](Reg source) {
                   return source && changing.contains(source.number);
                 });
    for (Reg source : here.sources())
      if (source)
        read.insert(source.number);
    if (moves) {
      --room[here.dst.file];
      changing.erase(here.dst.number);
    }
    (moves ? moved : code).push_back(here);
  }
  body.instructions = std::move(code);
  auto end = llvm::find_if(entry.instructions, [](auto &here) { return isTerminator(here.op); });
  entry.instructions.insert(end, moved.begin(), moved.end());
}

void Simplifier::run() {
  countUses();
  for (uint32_t number = 0; number < kernel.blocks.size(); ++number) {
    shareValues(number, findCountedLoop(kernel, number).has_value());
    if (std::optional<CountedLoop> loop = findCountedLoop(kernel, number))
      hoist(*loop);
  }
}

} // namespace

void simplifyInstructions(Kernel &kernel, const Timing &timing) {
  Simplifier(kernel, timing).run();
  eliminateDeadCode(kernel);
}

} // namespace spokeshave::tpu
