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

/// A lane: the bits of an element, zero above its width. Scalars are one lane.
using Lane = uint64_t;

/// The operands of an arithmetic instruction: for each, a pointer to its lanes, which
/// are those of the result or lie apart from them; an immediate or scalar has step 0.
struct Operand {
  const Lane *lanes = nullptr;
  size_t step = 1;
};

/// Computes dst[0 .. lanes) of an instruction of Unit::Alu or the transcendental
/// unit (but Splat, Iota, Constant and Argument). `c` is select's condition or
/// fma's addend. False for an instruction that is not arithmetic.
bool compute(const spokeshave::tpu::Instruction &instruction, Operand a, Operand b, Operand c,
             Lane *dst);

/// bf16, f16 and f8 to f32 and back (to nearest even).
float toFloat(Lane bits, spokeshave::tpu::ElementType type);
Lane fromFloat(float value, spokeshave::tpu::ElementType type);

} // namespace spokeshave::runtime::tpu
