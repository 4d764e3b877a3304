//===- ChloInverse.cpp - inverse trigonometric and hyperbolic functions -----===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Within 3 ulp in each part, for every argument, infinities and subnormal numbers
// included. For real numbers the formulas are chosen to have no cancellation; for
// complex ones they are Kahan's, in which the terms of every sum have one sign.
//
//===----------------------------------------------------------------------===//
#include "input/ChloFormulas.h"

#include <cmath>

namespace spokeshave::chlo {

static const double kLn2 = std::log(2.0), kHalfPi = std::acos(0.0);

//===----------------------------------------------------------------------===//
// Real.
//===----------------------------------------------------------------------===//

/// cos of the angle whose sine is x, or the other way round; NaN beyond 1.
static Term other(Term x) {
  return sqrt((1.0 - x) * (1.0 + x));
}

Term acos(Term x) {
  return atan2(other(x), x);
}
Term asin(Term x) {
  return atan2(x, other(x));
}
Term atan(Term x) {
  return atan2(x, x.constant(1));
}

Term acosh(Term x) {
  // log(x + sqrt(x^2 - 1)), from x - 1, which is exact near 1.
  Term near = log1p((x - 1.0) + sqrt(x - 1.0) * sqrt(x + 1.0));
  return select(x > x.largest(-2), log(x) + kLn2, near);
}

Term asinh(Term x) {
  Term a = abs(x), square = a * a;
  Term near = log1p(a + square / (1.0 + sqrt(1.0 + square)));
  // Where a^2 might overflow, asinh is log(2a).
  Term large = a.constant(std::ldexp(1.0, a.largestExponent() / 2 - 2));
  return withSignOf(select(a > large, log(a) + kLn2, near), x);
}

Term atanh(Term x) {
  Term a = abs(x);
  return withSignOf(log1p(a * 2.0 / (1.0 - a)) * 0.5, x);
}

//===----------------------------------------------------------------------===//
// Complex.
//===----------------------------------------------------------------------===//

/// Whether sums and products below might overflow. There z counts as infinite.
static Term isHuge(Pair z) {
  return max(abs(z.re), abs(z.im)) > z.re.largest(-3);
}

/// log(2 |z|) of a huge z.
static Term logTwice(Pair z) {
  Term a = abs(z.re), b = abs(z.im), most = max(a, b), least = min(a, b);
  Term ratio = select(most == least, most.constant(1), least / most);
  return log(most) + log1p(ratio * ratio) * 0.5 + kLn2;
}

/// The roots of 1 - z and 1 + z.
static std::pair<Pair, Pair> roots(Pair z) {
  return {complexSqrt({1.0 - z.re, -z.im}), complexSqrt({1.0 + z.re, z.im})};
}

Pair acos(Pair z) {
  auto [p, r] = roots(z);
  Term huge = isHuge(z);
  Term re = select(huge, atan2(abs(z.im), z.re), atan2(p.re, r.re) * 2.0);
  Term im = select(huge, -withSignOf(logTwice(z), z.im), asinh(r.re * p.im - r.im * p.re));
  return {re, im};
}

Pair asin(Pair z) {
  auto [p, r] = roots(z);
  Term huge = isHuge(z);
  Term re = atan2(z.re, select(huge, abs(z.im), p.re * r.re - p.im * r.im));
  Term im = select(huge, withSignOf(logTwice(z), z.im), asinh(p.re * r.im - p.im * r.re));
  return {re, im};
}

Pair acosh(Pair z) {
  Pair p = complexSqrt({z.re - 1.0, z.im}), r = complexSqrt({z.re + 1.0, z.im});
  Term huge = isHuge(z);
  Term re = select(huge, logTwice(z), asinh(p.re * r.re + p.im * r.im));
  Term im = select(huge, atan2(z.im, z.re), atan2(p.im, r.re) * 2.0);
  return {re, im};
}

/// The real part of 1 / (a + ib) for large a, b >= 0, without overflow: halves
/// keep the sum finite.
static Term realOfReciprocal(Term a, Term b) {
  Term down = b / a, up = a / b;
  Term wide = 0.5 / (a * 0.5 + b * 0.5 * down);
  Term high = up * 0.5 / (b * 0.5 + a * 0.5 * up);
  Term infinite = max(a, b) > a.largest();
  return select(infinite, a.constant(0), select(a >= b, wide, high));
}

Pair atanh(Pair z) {
  Term a = abs(z.re), b = abs(z.im);
  Term below = 1.0 - a;
  Term general = log1p(a * 4.0 / (below * below + b * b)) * 0.25;
  // Beside the poles at 1 and -1 the square of b would vanish.
  int bits = a.precision();
  Term beside = (a == 1.0) & (b < std::ldexp(1.0, -(bits / 2 + 1)));
  Term re = select(beside, (kLn2 - log(b)) * 0.5, general);
  // Where squares would overflow, atanh(z) is 1/z and a quarter turn.
  Term huge = max(a, b) > std::ldexp(1.0, a.largestExponent() / 2 - 2);
  re = select(huge, realOfReciprocal(a, b), re);
  Term angle = atan2(z.im * 2.0, below * (1.0 + a) - b * b) * 0.5;
  Term im = select(huge, withSignOf(a.constant(kHalfPi), z.im), angle);
  return {withSignOf(re, z.re), im};
}

// f(z) = -i g(iz) for these two.
Pair atan(Pair z) {
  Pair turned = atanh(Pair{-z.im, z.re});
  return {turned.im, -turned.re};
}
Pair asinh(Pair z) {
  Pair turned = asin(Pair{-z.im, z.re});
  return {turned.im, -turned.re};
}

//===----------------------------------------------------------------------===//
// Their kin.
//===----------------------------------------------------------------------===//

Term square(Term x) {
  return x * x;
}
Pair square(Pair z) {
  // A difference of squares without cancellation or an early infinity.
  Term re = (z.re - z.im) * (z.re + z.im);
  Term a = abs(z.re), same = (a == abs(z.im)) & (a <= a.largest());
  return {select(same, re.constant(0), re), z.re * z.im * 2.0};
}

Term sinh(Term x) {
  // (e - 1/e) / 2 from e - 1, halves of the argument where e would overflow.
  Term a = abs(x), m = expm1(a);
  Term near = (m + m / (m + 1.0)) * 0.5;
  Term half = exp(a * 0.5);
  return withSignOf(select(a > std::log(2.0) * (a.largestExponent() - 1), half * 0.5 * half, near),
                    x);
}

Term cosh(Term x) {
  Term a = abs(x), e = exp(a);
  Term half = exp(a * 0.5);
  return select(a > std::log(2.0) * (a.largestExponent() - 1), half * 0.5 * half,
                e * 0.5 + 0.5 / e);
}

Pair sinh(Pair z) {
  return {sinh(z.re) * cos(z.im), cosh(z.re) * sin(z.im)};
}
Pair cosh(Pair z) {
  return {cosh(z.re) * cos(z.im), sinh(z.re) * sin(z.im)};
}

Term tan(Term x) {
  return x.make<stablehlo::TanOp>(x.element(), stablehlo::ResultAccuracyAttr());
}
Pair tan(Pair z) {
  return parts(tan(complex(z)));
}

} // namespace spokeshave::chlo
