//===- Lanes.h - arithmetic of instructions, lane by lane ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to runtime/tpu/.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "target/tpu/Isa.h"

namespace spokeshave::runtime::tpu {

/// A scalar: the bits of an element, zero above its width.
using Lane = uint64_t;
/// A lane of a vector or mask: the same of elements of up to 32 bits. A register of
/// wider ones has lanes of 64.
using VectorLane = uint32_t;

inline bool isWide(spokeshave::tpu::ElementType type) {
  return spokeshave::tpu::bitsOf(type) > 32;
}

/// Calls function(VectorLane()) or function(Lane()), by the width of the type's lanes.
template <typename Fn> auto withLanesOf(spokeshave::tpu::ElementType type, Fn function) {
  return isWide(type) ? function(Lane()) : function(VectorLane());
}

/// An operand of an arithmetic instruction: the lanes of a register, which is the
/// result's or lies apart from it, or a scalar or immediate; or nothing.
struct Operand {
  const void *lanes = nullptr;
  bool isScalar = false;
};

/// Computes dst[0 .. lanes) of an instruction of Unit::Alu or the transcendental
/// unit (but Splat, Iota, Constant and Argument). `c` is select's condition or
/// fma's addend. False for an instruction that is not arithmetic.
bool compute(const spokeshave::tpu::Instruction &instruction, Operand a, Operand b, Operand c,
             void *dst);

/// Floats of up to 32 bits, as f32.
float toFloat(Lane bits, spokeshave::tpu::ElementType type);

} // namespace spokeshave::runtime::tpu
