//===- Logic.cpp - elementwise comparison, logic and bits ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// and, compare, count_leading_zeros, is_finite, not, or, popcnt, select,
// shift_left, shift_right_arithmetic, shift_right_logical, xor.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "reference/Kernel.h"

#include "llvm/ADT/bit.h"

#include <cmath>

using namespace mlir;

namespace spokeshave::reference {

using Direction = stablehlo::ComparisonDirection;

template <typename T> static bool holds(Direction direction, T a, T b) {
  switch (direction) {
  case Direction::EQ:
    return a == b;
  case Direction::NE:
    return a != b;
  case Direction::GE:
    return a >= b;
  case Direction::GT:
    return a > b;
  case Direction::LE:
    return a <= b;
  case Direction::LT:
    return a < b;
  }
  return false;
}

/// IEEE-754's total order as integers: negative NaN, -inf, ..., -0, +0, ...,
/// +inf, positive NaN.
static int64_t totalOrderKey(double x) {
  auto bits = llvm::bit_cast<int64_t>(x);
  return bits < 0 ? bits ^ std::numeric_limits<int64_t>::max() : bits;
}

/// Equal where both parts are; else ordered by the first part that differs.
static bool compareComplex(Direction direction, const Scalar &a, const Scalar &b) {
  if (direction == Direction::EQ)
    return a.re == b.re && a.im == b.im;
  if (direction == Direction::NE)
    return a.re != b.re || a.im != b.im;
  return a.re == b.re ? holds(direction, a.im, b.im) : holds(direction, a.re, b.re);
}

/// `first` is the direction, `second` whether the total order is asked for.
static Scalar compare(const Kernel &k, const Scalar *x) {
  auto direction = static_cast<Direction>(k.first);
  bool result = false;
  switch (k.in.kind()) {
  case ElementKind::Boolean:
  case ElementKind::Signed:
    result = holds(direction, x[0].i, x[1].i);
    break;
  case ElementKind::Unsigned:
    result = holds(direction, x[0].u(), x[1].u());
    break;
  case ElementKind::Float:
    result = k.second ? holds(direction, totalOrderKey(x[0].re), totalOrderKey(x[1].re))
                      : holds(direction, x[0].re, x[1].re);
    break;
  case ElementKind::Complex:
    result = compareComplex(direction, x[0], x[1]);
    break;
  }
  return Scalar::integer(result);
}

static Scalar bitAnd(const Kernel &, const Scalar *x) {
  return Scalar::integer(x[0].i & x[1].i);
}
static Scalar bitOr(const Kernel &, const Scalar *x) {
  return Scalar::integer(x[0].i | x[1].i);
}
static Scalar bitXor(const Kernel &, const Scalar *x) {
  return Scalar::integer(x[0].i ^ x[1].i);
}
static Scalar bitNot(const Kernel &k, const Scalar *x) {
  return Scalar::integer(k.in.isBoolean() ? !x[0].i : ~x[0].i);
}

/// The amount of a shift is unsigned; by the width or more, every bit is out.
static bool shiftsOut(const Kernel &k, const Scalar &amount) {
  return k.in.toBits(amount) >= k.in.bits();
}
static Scalar shiftLeft(const Kernel &k, const Scalar *x) {
  return Scalar::integer(shiftsOut(k, x[1]) ? 0 : static_cast<int64_t>(x[0].u() << x[1].i));
}
static Scalar shiftRightLogical(const Kernel &k, const Scalar *x) {
  return Scalar::integer(shiftsOut(k, x[1]) ? 0
                                            : static_cast<int64_t>(k.in.toBits(x[0]) >> x[1].i));
}
/// The sign that comes in is the highest bit, for unsigned types as well.
static Scalar shiftRightArithmetic(const Kernel &k, const Scalar *x) {
  int64_t value = llvm::SignExtend64(k.in.toBits(x[0]), k.in.bits());
  return Scalar::integer(value >> (shiftsOut(k, x[1]) ? 63 : x[1].i));
}

static Scalar countLeadingZeros(const Kernel &k, const Scalar *x) {
  return Scalar::integer(llvm::countl_zero(k.in.toBits(x[0])) - (64 - int(k.in.bits())));
}
static Scalar populationCount(const Kernel &k, const Scalar *x) {
  return Scalar::integer(llvm::popcount(k.in.toBits(x[0])));
}

static Scalar isFinite(const Kernel &, const Scalar *x) {
  return Scalar::integer(std::isfinite(x[0].re));
}

static Scalar select(const Kernel &, const Scalar *x) {
  return x[0].i ? x[1] : x[2];
}

void logicKernel(Operation *op, Kernel &kernel) {
  bool integer = kernel.in.isInteger(), bits = integer || kernel.in.isBoolean();
  auto define = [&](bool defined, Kernel::Function function) {
    kernel.function = defined ? function : nullptr;
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](stablehlo::CompareOp compareOp) {
        define(true, compare);
        kernel.first = static_cast<int64_t>(compareOp.getComparisonDirection());
        kernel.second = compareOp.getCompareType() == stablehlo::ComparisonType::TOTALORDER;
      })
      .Case([&](stablehlo::AndOp) { define(bits, bitAnd); })
      .Case([&](stablehlo::OrOp) { define(bits, bitOr); })
      .Case([&](stablehlo::XorOp) { define(bits, bitXor); })
      .Case([&](stablehlo::NotOp) { define(bits, bitNot); })
      .Case([&](stablehlo::ShiftLeftOp) { define(integer, shiftLeft); })
      .Case([&](stablehlo::ShiftRightLogicalOp) { define(integer, shiftRightLogical); })
      .Case([&](stablehlo::ShiftRightArithmeticOp) { define(integer, shiftRightArithmetic); })
      .Case([&](stablehlo::ClzOp) { define(integer, countLeadingZeros); })
      .Case([&](stablehlo::PopulationCountOp) { define(integer, populationCount); })
      .Case([&](stablehlo::IsFiniteOp) { define(kernel.in.isFloat(), isFinite); })
      .Case([&](stablehlo::SelectOp) { define(kernel.in.isBoolean(), select); });
}

} // namespace spokeshave::reference
