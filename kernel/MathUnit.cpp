//===- MathUnit.cpp - functions through a transcendental unit --------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For machines with a unit that gives 2^x, log2 x and tanh x of f32, correctly
// rounded. What is made of them is within 2 ulp of the exact function, 3 ulp for
// expm1, log1p and the logistic function; see docs/tpu-support.md.
//
// log1p and expm1 are Kahan's: with u = 1 + x rounded, log(u) x / (u - 1) has small
// errors only, since log(u) / (u - 1) varies slowly (Goldberg, What Every Computer
// Scientist Should Know About Floating-Point Arithmetic, 1991, theorem 4).
//
//===----------------------------------------------------------------------===//
#include "kernel/Math.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

static constexpr double kLn2High = 0x1.63p-1, kLn2Low = -0x1.bd0105c610ca8p-13;
static constexpr double kLog2E = 0x1.71547652b82fep+0, kLn2 = 0x1.62e42fefa39efp-1;

bool kernel::hasMathUnit(Num x) {
  return x.in().machine.hasTranscendentals && x.isFloat() && x.bits() == 32;
}

/// exp(x) = 2^n 2^f, x = (n + f) ln2 with 0 <= f < 1: 2^n is exact (or 0 or infinity
/// where the result is), and f is small enough that its rounding is below an ulp.
Num kernel::unitExp(Num x) {
  Num clamped = maximum(minimum(x, x.constant(89.0)), x.constant(-104.0));
  Num n = floor(clamped * kLog2E);
  Num rest = (clamped - n * kLn2High) - n * kLn2Low; // the first product is exact
  return (rest * kLog2E).unary<math::Exp2Op>() * n.unary<math::Exp2Op>();
}

/// The product's rounding moves results by at most 2^-24 |x|: where that is more than
/// a few ulp, they are too small to count beside exp(0).
Num kernel::unitExpOfNegative(Num x) {
  return (x * kLog2E).unary<math::Exp2Op>();
}

Num kernel::unitLog(Num x) {
  return x.unary<math::Log2Op>() * kLn2;
}

Num kernel::unitTanh(Num x) {
  return x.unary<math::TanhOp>();
}

Num kernel::unitRsqrt(Num x) {
  return x.unary<math::RsqrtOp>();
}

/// With exp of a negative number: no overflow, and small results stay accurate.
Num kernel::unitLogistic(Num x) {
  Num e = unitExp(-abs(x));
  return select(lt(x, 0.0), e, x.constant(1.0)) * (1.0 / (e + 1.0));
}

Num kernel::unitExpm1(Num x) {
  Num u = unitExp(x), near = u - 1.0;
  Num result = near * (x / unitLog(u));
  // exp(x) rounds to 1, or is so small or large that 1 or x say it all.
  result = select(eq(u, 1.0), x, result);
  result = select(eq(near, -1.0), near, result);
  return select(eq(u, kInfinity), u, result);
}

Num kernel::unitLog1p(Num x) {
  Num u = x + 1.0, far = unitLog(u);
  Num result = far * (x / (u - 1.0));
  result = select(eq(u, 1.0), x, result);
  return select(eq(x, kInfinity), x, select(eq(x, -1.0), far, result));
}
