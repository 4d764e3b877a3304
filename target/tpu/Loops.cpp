//===- Loops.cpp - loops of one block that count ----------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "target/tpu/Loops.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace spokeshave::tpu {

/// The instruction of `code`, before `end`, that last writes `reg`.
static const Instruction *lastWriter(llvm::ArrayRef<Instruction> code, Reg reg) {
  for (const Instruction &instruction : llvm::reverse(code))
    if (instruction.dst == reg)
      return &instruction;
  return nullptr;
}

/// What `reg` holds at the end of `code`, followed through moves.
static std::optional<int64_t> constantAt(llvm::ArrayRef<Instruction> code, Reg reg) {
  while (const Instruction *writer = lastWriter(code, reg)) {
    if (writer->op == Opcode::Constant)
      return writer->imm;
    if (writer->op != Opcode::Move)
      return std::nullopt;
    code = code.take_front(writer - code.data());
    reg = writer->a;
  }
  return std::nullopt;
}

std::optional<CountedLoop> findCountedLoop(const Kernel &kernel, uint32_t number) {
  llvm::ArrayRef<Instruction> code = kernel.blocks[number].instructions;
  if (number == 0 || code.size() < 3)
    return std::nullopt;
  const Instruction &branch = code.back();
  if (branch.op != Opcode::BranchIf || branch.imm != number ||
      llvm::any_of(code.drop_back(), [](auto &i) { return isTerminator(i.op); }))
    return std::nullopt;
  const Instruction *compare = lastWriter(code, branch.a);
  if (!compare || compare->op != Opcode::CompareI || compare->type != ElementType::I64 ||
      compare->predicate != uint8_t(IntPredicate::Slt) || compare->immediate == 1)
    return std::nullopt;
  CountedLoop loop;
  loop.block = number;
  loop.counter = compare->a;
  loop.compare = compare - code.data();
  loop.branch = code.size() - 1;
  const Instruction *add = lastWriter(code, loop.counter);
  if (!add || add > compare || add->op != Opcode::Add || !(add->a == loop.counter) ||
      add->immediate != 2 || add->imm <= 0 || add->type != ElementType::I64)
    return std::nullopt;
  loop.step = add->imm;
  if (compare->immediate == 2)
    loop.last = compare->imm;
  else
    loop.bound = compare->b;
  // One writer each, none of the bound.
  auto writers = [&](Reg reg) {
    return llvm::count_if(code, [&](auto &i) { return i.dst == reg; });
  };
  if (writers(loop.counter) != 1 || writers(branch.a) != 1 || (loop.bound && writers(loop.bound)))
    return std::nullopt;
  for (uint32_t other = 0; other < kernel.blocks.size(); ++other)
    for (Successor successor : successorsOf(kernel, other))
      if (successor.block == number && other != number &&
          (other + 1 != number || successor.isTaken))
        return std::nullopt;
  llvm::ArrayRef<Instruction> entry = kernel.blocks[number - 1].instructions;
  loop.first = constantAt(entry, loop.counter);
  std::optional<int64_t> last = loop.last;
  if (loop.bound)
    last = constantAt(entry, loop.bound);
  if (loop.first && last)
    loop.trips = std::max<int64_t>(
        1, llvm::divideCeil(std::max<int64_t>(0, *last - *loop.first), uint64_t(loop.step)));
  return loop;
}

} // namespace spokeshave::tpu
