//===- SelectHalf.cpp - f16 on ALUs that do not know it ---------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The chip's vector unit works on f32. f16 becomes it, and comes of it, by integer
// operations: 8 to unpack a register, 17 to pack one. Published times of additions
// and normalisations of f16 on v4 fit such sequences (docs/tpu-validation.md).
//
//===----------------------------------------------------------------------===//
#include "target/tpu/Selector.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::tpu;

/// Whether both are vectors, one of f16 and one of f32.
bool Selector::isHalf(Type to, Type from) {
  Type elements[] = {getElementTypeOrSelf(to), getElementTypeOrSelf(from)};
  return isa<VectorType>(to) && ((elements[0].isF16() && elements[1].isF32()) ||
                                 (elements[0].isF32() && elements[1].isF16()));
}

Reg Selector::alu(Opcode opcode, Type type, Reg a, int64_t immediate) {
  Reg dst = newReg(File::Vector);
  Instruction &made = emit(opcode, type, dst, a);
  made.immediate = 2, made.imm = immediate;
  return dst;
}

Reg Selector::compare(Type type, Reg a, IntPredicate predicate, int64_t immediate) {
  Reg dst = newReg(File::Mask);
  Instruction &made = emit(Opcode::CompareI, type, dst, a);
  made.predicate = uint8_t(predicate), made.immediate = 2, made.imm = immediate;
  return dst;
}

Reg Selector::select(Type type, Reg condition, int64_t immediate, Reg otherwise) {
  Reg dst = newReg(File::Vector);
  Instruction &made = emit(Opcode::Select, type, dst, {}, otherwise, condition);
  made.immediate = 1, made.imm = immediate;
  return dst;
}

/// The exponent moves by shifting and is rebased by scaling, which normalises what is
/// subnormal; infinities and NaN have all bits of theirs set.
Reg Selector::unpackHalf(Type f32, Reg half) {
  Type i32 = cast<VectorType>(f32).clone(IntegerType::get(f32.getContext(), 32));
  constexpr int64_t kScale = int64_t(127 + 112) << 23; // 2^112
  Reg high = alu(Opcode::Shl, i32, half, 16);
  Reg spread = alu(Opcode::And, i32, alu(Opcode::ShrS, i32, high, 3), 0x8fffe000);
  Reg value = alu(Opcode::MulF, f32, spread, kScale);
  Reg size = alu(Opcode::And, i32, high, 0x7fffffff);
  Reg special = compare(i32, size, IntPredicate::Uge, 0x7c000000);
  Reg wide = alu(Opcode::Or, i32, value, 0x7f800000), dst = newReg(File::Vector);
  emit(Opcode::Select, f32, dst, wide, value, special);
  return dst;
}

/// To the nearest, ties to even: half of the last place less one and its lowest bit
/// are added before it is cut. Adding a half puts the last place of a subnormal f16
/// at the last place of the sum.
Reg Selector::packHalf(Type f32, Reg value) {
  Type i32 = cast<VectorType>(f32).clone(IntegerType::get(f32.getContext(), 32));
  constexpr int64_t kRebase = 0x100000000 - (int64_t(112) << 23), kHalf = 0x3f000000;
  Reg size = alu(Opcode::And, i32, value, 0x7fffffff);
  Reg odd = alu(Opcode::And, i32, alu(Opcode::ShrU, i32, size, 13), 1);
  Reg sum = newReg(File::Vector);
  emit(Opcode::Add, i32, sum, alu(Opcode::Add, i32, size, kRebase + 0xfff), odd);
  Reg code = alu(Opcode::ShrU, i32, sum, 13);
  Reg small = alu(Opcode::Sub, i32, alu(Opcode::AddF, f32, size, kHalf), kHalf);
  Reg rounded = newReg(File::Vector);
  emit(Opcode::Select, i32, rounded, small, code,
       compare(i32, size, IntPredicate::Ult, int64_t(127 - 14) << 23));
  Reg bounded =
      select(i32, compare(i32, size, IntPredicate::Uge, int64_t(127 + 16) << 23), 0x7c00, rounded);
  Reg known = select(i32, compare(i32, size, IntPredicate::Ugt, 0x7f800000), 0x7e00, bounded);
  Reg sign = alu(Opcode::And, i32, alu(Opcode::ShrU, i32, value, 16), 0x8000);
  Reg dst = newReg(File::Vector);
  emit(Opcode::Or, i32, dst, known, sign);
  return dst;
}
