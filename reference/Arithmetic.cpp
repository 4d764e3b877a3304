//===- Arithmetic.cpp - elementwise arithmetic -----------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// abs, add, ceil, clamp, divide, floor, maximum, minimum, multiply, negate,
// power (of integers), remainder, round_nearest_afz, round_nearest_even, sign,
// subtract.
//
// Where the specification leaves integer results open, they are what JAX users
// see: x / 0 has all bits set, x % 0 is x, and INT_MIN / -1 wraps.
//
// double + - * / and sqrt of values of at most 24 bits of precision, rounded
// again to such a format, is the correctly rounded result.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "reference/Kernel.h"

#include <cmath>

using namespace mlir;

namespace spokeshave::reference {

/// Integers add, subtract and multiply modulo 2^64 before they are wrapped.
static Scalar integer(uint64_t value) {
  return Scalar::integer(static_cast<int64_t>(value));
}

static Scalar add(const Kernel &k, const Scalar *x) {
  switch (k.in.kind()) {
  case ElementKind::Boolean:
    return Scalar::integer(x[0].i | x[1].i);
  case ElementKind::Signed:
  case ElementKind::Unsigned:
    return integer(x[0].u() + x[1].u());
  default:
    return Scalar::complex(x[0].re + x[1].re, x[0].im + x[1].im);
  }
}

static Scalar subtract(const Kernel &k, const Scalar *x) {
  if (k.in.isInteger())
    return integer(x[0].u() - x[1].u());
  return Scalar::complex(x[0].re - x[1].re, x[0].im - x[1].im);
}

static Scalar multiply(const Kernel &k, const Scalar *x) {
  switch (k.in.kind()) {
  case ElementKind::Boolean:
    return Scalar::integer(x[0].i & x[1].i);
  case ElementKind::Signed:
  case ElementKind::Unsigned:
    return integer(x[0].u() * x[1].u());
  case ElementKind::Float:
    return Scalar::real(x[0].re * x[1].re);
  case ElementKind::Complex: {
    long double a = x[0].re, b = x[0].im, c = x[1].re, d = x[1].im;
    return Scalar::complex(a * c - b * d, a * d + b * c);
  }
  }
  return {};
}

static Scalar divideIntegers(const Kernel &k, const Scalar *x) {
  if (x[1].i == 0)
    return Scalar::integer(-1);
  if (k.in.isUnsigned())
    return integer(x[0].u() / x[1].u());
  if (x[1].i == -1)
    return integer(-x[0].u());
  return Scalar::integer(x[0].i / x[1].i);
}

static Scalar divide(const Kernel &k, const Scalar *x) {
  if (k.in.isInteger())
    return divideIntegers(k, x);
  if (k.in.isFloat())
    return Scalar::real(x[0].re / x[1].re);
  return narrow(wide(x[0]) / wide(x[1]));
}

static Scalar remainder(const Kernel &k, const Scalar *x) {
  if (k.in.isFloat())
    return Scalar::real(std::fmod(x[0].re, x[1].re)); // exact
  if (x[1].i == 0)
    return x[0];
  if (k.in.isUnsigned())
    return integer(x[0].u() % x[1].u());
  return Scalar::integer(x[1].i == -1 ? 0 : x[0].i % x[1].i);
}

/// Integer exponentiation, modulo 2^64. To a negative power everything but 1
/// and -1 is less than one, hence zero.
static Scalar powerOfIntegers(const Kernel &k, const Scalar *x) {
  uint64_t base = x[0].u(), result = 1;
  if (k.in.isSigned() && x[1].i < 0) {
    if (x[0].i == 1)
      return Scalar::integer(1);
    if (x[0].i == -1)
      return Scalar::integer(x[1].i % 2 ? -1 : 1);
    return Scalar::integer(0);
  }
  for (uint64_t exponent = x[1].u(); exponent; exponent >>= 1, base *= base)
    if (exponent & 1)
      result *= base;
  return integer(result);
}

/// a < b: for floats with -0 below +0, for complex numbers lexicographic.
static bool less(const Kernel &k, const Scalar &a, const Scalar &b) {
  switch (k.in.kind()) {
  case ElementKind::Boolean:
  case ElementKind::Signed:
    return a.i < b.i;
  case ElementKind::Unsigned:
    return a.u() < b.u();
  case ElementKind::Float:
    return a.re < b.re || (a.re == b.re && std::signbit(a.re) && !std::signbit(b.re));
  case ElementKind::Complex:
    return a.re < b.re || (a.re == b.re && a.im < b.im);
  }
  return false;
}

static bool isNan(const Scalar &x) {
  return std::isnan(x.re) || std::isnan(x.im);
}

/// A NaN on either side is the result.
static Scalar maximum(const Kernel &k, const Scalar *x) {
  if (isNan(x[0]))
    return x[0];
  return isNan(x[1]) || less(k, x[0], x[1]) ? x[1] : x[0];
}

static Scalar minimum(const Kernel &k, const Scalar *x) {
  if (isNan(x[0]))
    return x[0];
  return isNan(x[1]) || less(k, x[1], x[0]) ? x[1] : x[0];
}

/// minimum(maximum(operand, min), max), with operands (min, operand, max).
static Scalar clamp(const Kernel &k, const Scalar *x) {
  Scalar lower[2] = {x[1], x[0]};
  Scalar upper[2] = {maximum(k, lower), x[2]};
  return minimum(k, upper);
}

static Scalar abs(const Kernel &k, const Scalar *x) {
  switch (k.in.kind()) {
  case ElementKind::Signed:
    return x[0].i < 0 ? integer(-x[0].u()) : x[0];
  case ElementKind::Float:
    return Scalar::real(std::fabs(x[0].re));
  case ElementKind::Complex:
    return Scalar::real(static_cast<double>(
        std::hypot(static_cast<long double>(x[0].re), static_cast<long double>(x[0].im))));
  default:
    return x[0];
  }
}

static Scalar negate(const Kernel &k, const Scalar *x) {
  if (k.in.isInteger())
    return integer(-x[0].u());
  return k.in.isFloat() ? Scalar::real(-x[0].re) : Scalar::complex(-x[0].re, -x[0].im);
}

static Scalar signOfComplex(const Scalar &x) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (isNan(x))
    return Scalar::complex(nan, nan);
  if (x.re == 0 && x.im == 0)
    return {};
  long double magnitude =
      std::hypot(static_cast<long double>(x.re), static_cast<long double>(x.im));
  return narrow(wide(x) / magnitude);
}

static Scalar sign(const Kernel &k, const Scalar *x) {
  if (k.in.isSigned())
    return Scalar::integer((x[0].i > 0) - (x[0].i < 0));
  if (k.in.isUnsigned())
    return Scalar::integer(x[0].i != 0);
  if (k.in.isComplex())
    return signOfComplex(x[0]);
  if (isNan(x[0]) || x[0].re == 0)
    return x[0];
  return Scalar::real(x[0].re < 0 ? -1 : 1);
}

static Scalar ceil(const Kernel &, const Scalar *x) {
  return Scalar::real(std::ceil(x[0].re));
}
static Scalar floor(const Kernel &, const Scalar *x) {
  return Scalar::real(std::floor(x[0].re));
}
static Scalar roundAwayFromZero(const Kernel &, const Scalar *x) {
  return Scalar::real(std::round(x[0].re));
}
static Scalar roundToEven(const Kernel &, const Scalar *x) {
  return Scalar::real(std::nearbyint(x[0].re));
}

void arithmeticKernel(Operation *op, Kernel &kernel) {
  bool boolean = kernel.in.isBoolean(), integer = kernel.in.isInteger();
  bool real = kernel.in.isFloat();
  auto define = [&](bool defined, Kernel::Function function) {
    kernel.function = defined ? function : nullptr;
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](stablehlo::AddOp) { define(true, add); })
      .Case([&](stablehlo::SubtractOp) { define(!boolean, subtract); })
      .Case([&](stablehlo::MulOp) { define(true, multiply); })
      .Case([&](stablehlo::DivOp) { define(!boolean, divide); })
      .Case([&](stablehlo::RemOp) { define(integer || real, remainder); })
      .Case([&](stablehlo::PowOp) { define(integer, powerOfIntegers); })
      .Case([&](stablehlo::MaxOp) { define(true, maximum); })
      .Case([&](stablehlo::MinOp) { define(true, minimum); })
      .Case([&](stablehlo::ClampOp) { define(true, clamp); })
      .Case([&](stablehlo::AbsOp) { define(!boolean, abs); })
      .Case([&](stablehlo::NegOp) { define(!boolean, negate); })
      .Case([&](stablehlo::SignOp) { define(!boolean, sign); })
      .Case([&](stablehlo::CeilOp) { define(real, ceil); })
      .Case([&](stablehlo::FloorOp) { define(real, floor); })
      .Case([&](stablehlo::RoundOp) { define(real, roundAwayFromZero); })
      .Case([&](stablehlo::RoundNearestEvenOp) { define(real, roundToEven); });
}

} // namespace spokeshave::reference
