//===- Decode.cpp - what of a kernel decides its time ----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/tpu/Decode.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <optional>

namespace spokeshave::runtime::tpu {

using namespace spokeshave::tpu;
using Kind = WalkedOp::Kind;

namespace {

/// Whether the instruction matters for time by itself.
bool isTimed(const Instruction &instruction) {
  Unit unit = unitOf(instruction);
  return unit == Unit::MatrixPush || unit == Unit::MatrixPop || unit == Unit::Misc ||
         isTerminator(instruction.op);
}

Kind kindOf(const Instruction &instruction) {
  switch (instruction.op) {
  case Opcode::Branch:
    return Kind::Branch;
  case Opcode::BranchIf:
    return Kind::BranchIf;
  case Opcode::Halt:
    return Kind::Halt;
  case Opcode::DmaCount:
    return Kind::DmaCount;
  case Opcode::DmaStart:
    return Kind::DmaStart;
  case Opcode::DmaWait:
    return Kind::DmaWait;
  default:
    break;
  }
  Unit unit = unitOf(instruction);
  if (unit == Unit::MatrixPush || unit == Unit::MatrixPop)
    return Kind::Matrix;
  bool ofScalars = llvm::all_of(instruction.sources(),
                                [](Reg source) { return !source || source.file == File::Scalar; });
  if (unit != Unit::Scalar || !ofScalars)
    return Kind::Unknown;
  switch (instruction.op) {
  case Opcode::Constant:
    return Kind::Constant;
  case Opcode::Argument:
    return Kind::Argument;
  case Opcode::Add:
    return Kind::Add;
  case Opcode::Sub:
    return Kind::Sub;
  case Opcode::Mul:
    return Kind::Mul;
  case Opcode::And:
    return Kind::And;
  case Opcode::Or:
    return Kind::Or;
  case Opcode::Xor:
    return Kind::Xor;
  case Opcode::Shl:
    return Kind::Shl;
  case Opcode::ShrU:
    return Kind::ShrU;
  case Opcode::DivU:
    return Kind::DivU;
  case Opcode::RemU:
    return Kind::RemU;
  case Opcode::Move:
    return instruction.a ? Kind::Move : Kind::Compute;
  case Opcode::CompareI:
    return Kind::Compare;
  default:
    return Kind::Compute;
  }
}

/// The scalars that are read later by what is walked, at each point of the kernel.
class Liveness {
public:
  explicit Liveness(const Kernel &kernel) : kernel(kernel) {
    for (const Block &block : kernel.blocks)
      for (const Instruction &instruction : block.instructions) {
        auto see = [&](Reg reg) {
          if (reg.file == File::Scalar)
            registers = std::max(registers, reg.number + 1);
        };
        see(instruction.dst);
        for (Reg source : instruction.sources())
          see(source);
      }
    atEntry.assign(kernel.blocks.size(), llvm::BitVector(registers));
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t b = kernel.blocks.size(); b-- > 0;) {
        llvm::BitVector live = atExit(b);
        for (const Instruction &instruction : llvm::reverse(kernel.blocks[b].instructions))
          step(b, instruction, live);
        if (live != atEntry[b])
          atEntry[b] = live, changed = true;
      }
    }
  }

  llvm::BitVector atExit(size_t block) const {
    llvm::BitVector live(registers);
    if (block + 1 < kernel.blocks.size())
      live |= atEntry[block + 1];
    for (const Instruction &instruction : kernel.blocks[block].instructions)
      if (instruction.op == Opcode::Branch || instruction.op == Opcode::BranchIf)
        live |= atEntry[instruction.imm];
    return live;
  }

  /// From after the instruction to before it. Returns whether it is walked.
  bool step(size_t block, const Instruction &instruction, llvm::BitVector &live) const {
    bool walked = isTimed(instruction) ||
                  (instruction.dst.file == File::Scalar && live.test(instruction.dst.number));
    if (!walked)
      return false;
    if (instruction.dst.file == File::Scalar)
      live.reset(instruction.dst.number);
    if (kindOf(instruction) == Kind::Unknown)
      return true;
    for (Reg source : instruction.sources())
      if (source.file == File::Scalar)
        live.set(source.number);
    return true;
  }

private:
  const Kernel &kernel;
  uint32_t registers = 0;
  std::vector<llvm::BitVector> atEntry;
};

WalkedOp decodeOp(const Instruction &instruction, int64_t at) {
  WalkedOp op;
  op.kind = kindOf(instruction);
  op.bits = uint8_t(bitsOf(instruction.type));
  op.predicate = instruction.predicate;
  op.dst = uint16_t(instruction.dst.number);
  op.a = uint16_t(instruction.a.number), op.b = uint16_t(instruction.b.number);
  op.aImm = instruction.immediate == 1, op.useImm = instruction.immediate == 2;
  op.at = uint32_t(at);
  op.imm = Lane(instruction.imm);
  op.instruction = &instruction;
  bool binary = (op.kind >= Kind::Add && op.kind <= Kind::RemU) || op.kind == Kind::Compare;
  // A source that is neither a register nor the immediate: left to the general way.
  if (binary && ((!instruction.a && !op.aImm) || (!instruction.b && !op.useImm)))
    op.kind = Kind::Compute;
  return op;
}

/// How a scalar changes from trip to trip of a loop of one block.
struct Form {
  enum Which : uint8_t { Invariant, Shifted, Linear, Other } which = Other;
  uint16_t root = 0; ///< Shifted: an invariant amount away from this scalar at entry
  bool isLinear() const { return which != Other; }
};

/// Finds loops whose scalars change by constant amounts; see DecodedBlock.
class LoopFinder {
public:
  LoopFinder(DecodedBlock &block, uint32_t number) : block(block), number(number) {}
  void run();

private:
  static bool hasResult(const WalkedOp &op) { return op.kind <= Kind::Unknown; }
  bool isWritten(uint16_t reg) const {
    return llvm::any_of(block.written, [&](auto &written) { return written.reg == reg; });
  }
  /// The form of a source, which is a register or nothing (an immediate).
  Form of(Reg source);
  Form formOf(const WalkedOp &op);

  DecodedBlock &block;
  uint32_t number;
  llvm::DenseMap<uint16_t, Form> forms; ///< of what this trip has written so far
  llvm::DenseSet<uint16_t> carried;     ///< read before they are written
};

Form LoopFinder::of(Reg source) {
  uint16_t reg = uint16_t(source.number);
  if (!source || !isWritten(reg))
    return {Form::Invariant};
  if (auto found = forms.find(reg); found != forms.end())
    return found->second;
  carried.insert(reg);
  return {Form::Shifted, reg};
}

Form LoopFinder::formOf(const WalkedOp &op) {
  if (op.kind == Kind::Constant || op.kind == Kind::Argument)
    return {Form::Invariant};
  Form a = of(op.instruction->a), b = of(op.instruction->b), c = of(op.instruction->c);
  auto isInvariant = [](Form form) { return form.which == Form::Invariant; };
  if (isInvariant(a) && isInvariant(b) && isInvariant(c))
    return {Form::Invariant};
  if (!a.isLinear() || !b.isLinear())
    return {};
  switch (op.kind) {
  case Kind::Move:
    return a;
  case Kind::Add:
    return isInvariant(b) ? a : isInvariant(a) ? b : Form{Form::Linear};
  case Kind::Sub:
    return isInvariant(b) ? a : Form{Form::Linear};
  case Kind::Mul:
    return isInvariant(a) || isInvariant(b) ? Form{Form::Linear} : Form{};
  default:
    return {};
  }
}

void LoopFinder::run() {
  if (block.ops.empty() || block.ops.back().kind != Kind::BranchIf ||
      block.ops.back().imm != number)
    return;
  uint16_t condition = block.ops.back().a;
  for (const WalkedOp &op : block.ops)
    if (hasResult(op) && !isWritten(op.dst))
      block.written.push_back({op.dst, op.bits});
  int32_t compare = -1;
  for (auto [i, op] : llvm::enumerate(llvm::ArrayRef(block.ops).drop_back())) {
    if (op.kind == Kind::Matrix)
      continue;
    if (!hasResult(op) || op.kind == Kind::Unknown)
      return;
    if (op.dst != condition) {
      forms[op.dst] = formOf(op);
      continue;
    }
    if (op.kind != Kind::Compare || !of(op.instruction->a).isLinear() ||
        !of(op.instruction->b).isLinear())
      return;
    compare = int32_t(i);
    forms[op.dst] = {};
  }
  for (auto [reg, bits] : block.written) {
    Form end = forms.lookup(reg);
    if (reg == condition ? carried.contains(reg) : !end.isLinear())
      return;
    if (carried.contains(reg) && (end.which != Form::Shifted || end.root != reg))
      return;
  }
  block.loopCompare = compare;
}

} // namespace

/// Backwards, what nothing reads goes away.
static void dropUnread(std::vector<WalkedOp> &ops, const Liveness &liveness, size_t block) {
  llvm::BitVector live = liveness.atExit(block);
  std::vector<WalkedOp> kept;
  for (const WalkedOp &op : llvm::reverse(ops))
    if (liveness.step(block, *op.instruction, live))
      kept.push_back(op);
  ops.assign(kept.rbegin(), kept.rend());
}

static DecodedBlock decodeBlock(const Block &block, const Timing &timing) {
  DecodedBlock made;
  made.ops.reserve(block.instructions.size());
  for (const Bundle &bundle : block.bundles) {
    for (unsigned i = 0; i < bundle.count; ++i) {
      const Instruction &instruction = block.instructions[bundle.begin + i];
      made.busy[unsigned(unitOf(instruction))] += timing.occupancy(instruction);
      made.ops.push_back(decodeOp(instruction, made.cycles));
    }
    ++made.bundles;
    made.cycles += 1 + bundle.idle;
  }
  return made;
}

DecodedKernel decode(const Kernel &kernel, const Timing &timing, bool values) {
  DecodedKernel decoded;
  std::optional<Liveness> liveness;
  if (!values)
    liveness.emplace(kernel);
  for (auto [number, block] : llvm::enumerate(kernel.blocks)) {
    DecodedBlock &made = decoded.blocks.emplace_back(decodeBlock(block, timing));
    if (values)
      continue;
    dropUnread(made.ops, *liveness, number);
    made.hasMatrix = llvm::any_of(made.ops, [](auto &op) { return op.kind == Kind::Matrix; });
    LoopFinder(made, number).run();
  }
  return decoded;
}

} // namespace spokeshave::runtime::tpu
