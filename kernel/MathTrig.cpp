//===- MathTrig.cpp - sine, cosine, tangent, arc tangent -------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Angles are reduced to x = q pi/2 + r with pi/2 in three parts, each short
// enough that its product with q is exact. Angles too large for that go through
// kernel.reduce_angle, on a branch that tiles without such an angle skip.
//
//===----------------------------------------------------------------------===//
#include "kernel/Math.h"

#include "kernel/KernelDialect.h"
#include "kernel/MathCoefficients.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

static constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
// pi/2: 33 bits, 33 bits, the rest.
static constexpr double kHalfPi1 = 0x1.921fb544p+0, kHalfPi2 = 0x1.0b4611a6p-34,
                        kHalfPi3 = 0x1.3198a2e037073p-69;
// For f32 with fma: 24 bits each.
static constexpr double kHalfPiA = 0x1.921fb6p+0, kHalfPiB = -0x1.777a5cp-25,
                        kHalfPiC = -0x1.ee59dap-50;

namespace {
/// An angle of at most pi/4 and the quarter turns (mod 4, as a float) beside it.
struct Angle {
  Num quadrant, high, low;
};
} // namespace

/// Replaces the lanes of `fast` where `large` holds by the exact remainder of
/// `x`. Infinities and NaN give NaN.
static Angle withSlowPath(Num x, Num large, Angle fast) {
  ArithContext &in = x.in();
  OpBuilder &builder = in.builder;
  Type type = x.type();
  auto branch = builder.create<scf::IfOp>(in.loc, TypeRange{type, type, type}, anyLane(large),
                                          /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Type f64 = builder.getF64Type(), element = x.element();
  Num wide = x.extended(f64);
  auto exact = builder.create<ReduceAngleOp>(
      in.loc, TypeRange{wide.type(), wide.type(), wide.type()}, Value(wide));
  auto narrow = [&](Value value) { return Num(in, value).truncated(element); };
  Num invalid = x - x; // NaN for infinities
  Num high = narrow(exact.getHigh()) + invalid;
  Num low = x.bits() == 64 ? Num(in, exact.getLow()) : fast.low;
  builder.create<scf::YieldOp>(
      in.loc, ValueRange{select(large, narrow(exact.getQuadrant()), fast.quadrant),
                         select(large, high, fast.high), select(large, low, fast.low)});
  builder.setInsertionPointToStart(branch.elseBlock());
  builder.create<scf::YieldOp>(in.loc, ValueRange{fast.quadrant, fast.high, fast.low});
  return {{in, branch.getResult(0)}, {in, branch.getResult(1)}, {in, branch.getResult(2)}};
}

/// High and low parts of f64 angles.
static Angle reduceDouble(Num x) {
  Num q = roundEven(x * kTwoOverPi);
  Num t = x - q * kHalfPi1; // exact: both products fit
  auto [high, lost] = exactSum(t, -(q * kHalfPi2));
  Num low = lost - q * kHalfPi3;
  auto [y0, y1] = exactSum(high, low);
  return withSlowPath(x, ~lt(abs(x), 0x1p20), {q, y0, y1});
}

/// f32 angles need no low part.
static Angle reduceSingle(Num x) {
  Num zero = x.constant(0.0);
  if (x.in().machine.hasFma) {
    Num q = roundEven(x * kTwoOverPi);
    Num r = fma(q, -kHalfPiC, fma(q, -kHalfPiB, fma(q, -kHalfPiA, x)));
    return withSlowPath(x, ~lt(abs(x), 0x1p15), {q, r, zero});
  }
  Num wide = x.extended(x.in().builder.getF64Type());
  Num q = roundEven(wide * kTwoOverPi);
  Num r = (wide - q * kHalfPi1) - q * (kHalfPi2);
  return withSlowPath(x, ~lt(abs(x), 0x1p15),
                      {q.truncated(x.element()), r.truncated(x.element()), zero});
}

/// Sine and cosine of |x| <= pi/4.
static SinCos reducedSinCos(Num x, Num low) {
  Num z = x * x;
  if (x.bits() == 32) {
    Num sine = fma(horner(z, kSin32) * z, x, x);
    Num cosine = fma(z * z, horner(z, kCos32), fma(z, -0.5, x.constant(1.0)));
    return {sine, cosine};
  }
  // sin(x + low) = sin(x) + low cos(x), with cos(x) = 1 - z/2.
  Num half = z * 0.5;
  Num tail = fma(x * z, estrin(z, kSin64), low * (1.0 - half));
  Num sine = x + tail;
  // cos: 1 - z/2 with what its rounding lost.
  Num whole = 1.0 - half;
  Num rest = (1.0 - whole) - half;
  Num cosine = whole + (rest + fma(z * z, estrin(z, kCos64), -(x * low)));
  return {sine, cosine};
}

static SinCos sinCosAt(const Angle &angle) {
  auto [sine, cosine] = reducedSinCos(angle.high, angle.low);
  // The quadrant's low two bits, through the mantissa of a large float.
  double magic = angle.quadrant.bits() == 64 ? 0x1.8p52 : 0x1.8p23;
  Num q = (angle.quadrant + magic).asBits();
  Num swaps = ne(q & 1, 0);
  unsigned top = q.bits() - 2;
  auto flip = [&](Num value, Num turns) {
    return (value.asBits() ^ ((turns & 2) << int64_t(top))).asFloat();
  };
  return {flip(select(swaps, cosine, sine), q), flip(select(swaps, sine, cosine), q + 1)};
}

SinCos kernel::sinCos(Num x) {
  SinCos result = sinCosAt(x.bits() == 64 ? reduceDouble(x) : reduceSingle(x));
  result.sin = select(eq(x, 0.0), x, result.sin); // -0
  return result;
}

Num kernel::tan(Num x) {
  return inDouble(x, [](Num x) {
    auto [sine, cosine] = sinCos(x);
    return sine / cosine;
  });
}

Num kernel::atan2(Num y, Num x) {
  if (x.bits() == 32) {
    Type f64 = x.in().builder.getF64Type();
    return atan2(y.extended(f64), x.extended(f64)).truncated(x.element());
  }
  Num ax = abs(x), ay = abs(y);
  Num swap = gt(ay, ax);
  Num large = select(swap, ay, ax), small = select(swap, ax, ay);
  // Two infinities stand like two ones; extremes are scaled so that neither the
  // sum below overflows nor the quotient loses bits.
  Num bothInfinite = eq(small, kInfinity);
  small = select(bothInfinite, 1.0, small);
  large = select(bothInfinite, 1.0, large);
  Num factor = select(gt(large, 0x1p1000), large.constant(0x1p-60),
                      select(lt(large, 0x1p-900), large.constant(0x1p100), large.constant(1.0)));
  small = small * factor;
  large = large * factor;
  // Beyond tan(pi/8): atan(t) = pi/4 + atan((t - 1) / (t + 1)).
  Num beyond = gt(small, large * 0.41421356237309503);
  Num top = select(beyond, small - large, small), bottom = select(beyond, small + large, large);
  Num t = top / bottom;
  t = select(eq(top, 0.0), top.constant(0.0), t); // 0/0
  Num z = t * t;
  constexpr double quarterHigh = 0x1.921fb54442d18p-1, quarterLow = 0x1.1a62633145c07p-55;
  Num low = select(beyond, t.constant(quarterLow), t.constant(0.0));
  Num high = select(beyond, t.constant(quarterHigh), t.constant(0.0));
  Num angle = high + (t + fma(t * z, estrin(z, kAtan64), low));
  angle = select(swap, (2 * quarterHigh) - (angle - 2 * quarterLow), angle);
  // The sign bit counts: atan2(0, -0) is pi.
  Num negative = lt(x.asBits(), 0);
  angle = select(negative, (4 * quarterHigh) - (angle - 4 * quarterLow), angle);
  angle = copySign(angle, y);
  return select(isNan(x) | isNan(y), x + y, angle);
}
