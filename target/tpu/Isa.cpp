//===- Isa.cpp - names of instructions, and their text ---------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "target/tpu/Isa.h"

#include "llvm/ADT/STLExtras.h"

namespace spokeshave::tpu {

namespace {
struct Description {
  llvm::StringLiteral mnemonic;
  Unit unit;
  Latency latency;
};
constexpr Description kDescriptions[] = {
#define TPU_OPCODE(name, mnemonic, unit, latency) {mnemonic, Unit::unit, Latency::latency},
#include "target/tpu/Isa.def"
};

const Description &describe(Opcode op) {
  return kDescriptions[unsigned(op)];
}
} // namespace

Unit unitOf(const Instruction &instruction) {
  Unit unit = describe(instruction.op).unit;
  if (unit != Unit::Alu)
    return unit;
  // What makes a scalar of masks or scalars is done by the scalar unit.
  return instruction.dst.file == File::Scalar ? Unit::Scalar : Unit::VectorAlu;
}

Latency latencyOf(Opcode op) {
  return describe(op).latency;
}

llvm::StringRef mnemonicOf(Opcode op) {
  return describe(op).mnemonic;
}

bool isTerminator(Opcode op) {
  return op == Opcode::Branch || op == Opcode::BranchIf || op == Opcode::Halt;
}

int64_t bitsOf(ElementType type) {
  static constexpr uint8_t bits[] = {1, 8, 16, 32, 64, 16, 16, 32, 64, 8, 8, 2, 4};
  return bits[unsigned(type)];
}

llvm::StringRef nameOf(ElementType type) {
  static constexpr llvm::StringLiteral names[] = {
      "i1", "i8", "i16", "i32", "i64", "bf16", "f16", "f32", "f64", "f8e4m3", "f8e5m2", "i2", "i4"};
  return names[unsigned(type)];
}

static void print(Reg reg, llvm::raw_ostream &os) {
  os << (reg.file == File::Scalar ? "s" : reg.file == File::Vector ? "v" : "m") << reg.number;
}

void print(const Instruction &instruction, llvm::raw_ostream &os) {
  if (instruction.dst) {
    print(instruction.dst, os);
    os << " = ";
  }
  os << mnemonicOf(instruction.op) << '.' << nameOf(instruction.type);
  if (instruction.lanes > 1)
    os << 'x' << instruction.lanes;
  llvm::StringRef separator = " ";
  const Reg sources[] = {instruction.a, instruction.b, instruction.c};
  for (auto [i, source] : llvm::enumerate(sources)) {
    if (!source && instruction.immediate != i + 1)
      continue;
    os << separator;
    separator = ", ";
    if (source)
      print(source, os);
    else
      os << '#' << instruction.imm;
  }
  if (instruction.op == Opcode::CompareI || instruction.op == Opcode::CompareF)
    os << " ?" << unsigned(instruction.predicate);
  if (instruction.imm && !instruction.immediate)
    os << separator << '#' << instruction.imm;
  if (instruction.stride)
    os << " stride " << instruction.stride;
  if (instruction.mask) {
    os << " if ";
    print(instruction.mask, os);
  }
}

static void print(const SteadyState &steady, llvm::raw_ostream &os) {
  os << "  // pipelined: an iteration every " << steady.interval << " cycles, " << steady.stages
     << " stages, " << steady.copies << " copies; bound by ";
  if (steady.interval > std::max(steady.resourceBound, steady.recurrenceBound))
    os << "registers or the search, before ";
  if (steady.resourceBound >= steady.recurrenceBound)
    os << steady.resource << " (" << steady.resourceBound << "), recurrence "
       << steady.recurrenceBound << '\n';
  else
    os << "recurrence (" << steady.recurrenceBound << "), " << steady.resource << ' '
       << steady.resourceBound << '\n';
}

void Kernel::print(llvm::raw_ostream &os) const {
  os << "kernel @" << name << ": " << vmemBytes << " bytes of VMEM, " << vectorRegisters
     << " vector and " << scalarRegisters << " scalar registers, " << spills << " spills\n";
  for (auto [number, block] : llvm::enumerate(blocks)) {
    os << "b" << number << ":  // " << block.cycles() << " cycles\n";
    if (block.isPipelined())
      tpu::print(block.steady, os);
    if (block.bundles.empty())
      for (const Instruction &instruction : block.instructions) {
        os << "  ";
        tpu::print(instruction, os);
        os << '\n';
      }
    for (const Bundle &bundle : block.bundles) {
      os << "  {";
      for (unsigned i = 0; i < bundle.count; ++i) {
        os << (i ? "; " : " ");
        tpu::print(block.instructions[bundle.begin + i], os);
      }
      os << " }";
      if (bundle.idle)
        os << " +" << bundle.idle;
      os << '\n';
    }
  }
}

llvm::SmallVector<Successor, 2> successorsOf(const Kernel &kernel, uint32_t number) {
  llvm::SmallVector<Successor, 2> successors;
  bool falls = true;
  for (const Instruction &instruction : kernel.blocks[number].instructions) {
    if (instruction.op == Opcode::Branch || instruction.op == Opcode::BranchIf)
      successors.push_back({uint32_t(instruction.imm), true});
    if (instruction.op == Opcode::Branch || instruction.op == Opcode::Halt)
      falls = false;
  }
  if (falls && number + 1 < kernel.blocks.size())
    successors.push_back({number + 1, false});
  return successors;
}

uint32_t addLocation(Kernel &kernel, llvm::StringRef location) {
  if (!kernel.locations.empty() && kernel.locations.back() == location)
    return kernel.locations.size() - 1;
  kernel.locations.push_back(location.str());
  return kernel.locations.size() - 1;
}

} // namespace spokeshave::tpu
