//===- MathExpLog.cpp - exponentials and logarithms ------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// exp: x = n ln2 + r, |r| <= ln2 / 2, a polynomial in r, then the exponent n in
// two steps so that subnormal results round once. log: x = 2^k m with m near 1,
// a polynomial in m - 1.
//
//===----------------------------------------------------------------------===//
#include "kernel/Math.h"
#include "kernel/MathCoefficients.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

// ln2 in two parts; the first has enough trailing zeros that a product with an
// exponent is exact.
static constexpr double kLn2High32 = 0x1.63p-1, kLn2Low32 = -0x1.bd0105c610ca8p-13;
static constexpr double kLn2High64 = 0x1.62e42feep-1, kLn2Low64 = 0x1.a39ef35793c76p-33;
static constexpr double kLog2E = 0x1.71547652b82fep+0;

/// 2^n for integers n (as a float) of the normal range.
static Num powerOfTwo(Num n) {
  unsigned width = n.bits();
  int mantissa = width == 64 ? 52 : 23, bias = width == 64 ? 1023 : 127;
  // Adding a large number puts n into the low bits without a conversion of f64
  // to i64, which only AVX-512 has.
  double magic = width == 64 ? 0x1.8p52 : 0x1.8p23;
  Num shifted = (n + (magic + bias)).asBits();
  return (shifted << mantissa).asFloat();
}

/// y 2^n, n in twice the normal range: two factors, the first rounding nothing.
static Num scale(Num y, Num n) {
  Num half = roundEven(n * 0.5);
  return (y * powerOfTwo(half)) * powerOfTwo(n - half);
}

namespace {
/// x = n ln2 + r.
struct Reduced {
  Num n, r;
};
} // namespace

static Reduced reduceExponent(Num x) {
  bool isDouble = x.bits() == 64;
  Num n = roundEven(x * kLog2E);
  Num r = fma(n, isDouble ? -kLn2High64 : -kLn2High32, x);
  return {n, fma(n, isDouble ? -kLn2Low64 : -kLn2Low32, r)};
}

/// exp(r) - 1 for a reduced argument.
static Num expm1Reduced(Num r) {
  Num tail = r.bits() == 64 ? estrin(r, kExp64) : horner(r, kExp32);
  return fma(tail, r * r, r);
}

Num kernel::exp(Num x) {
  if (hasMathUnit(x))
    return unitExp(x);
  // Beyond these the result is infinite or rounds to 0; NaN passes.
  bool isDouble = x.bits() == 64;
  double high = isDouble ? 710.0 : 89.0, low = isDouble ? -746.0 : -104.0;
  Num clamped = select(gt(x, high), high, select(lt(x, low), low, x));
  auto [n, r] = reduceExponent(clamped);
  return scale(expm1Reduced(r) + 1.0, n);
}

Num kernel::expOfNegative(Num x) {
  if (hasMathUnit(x))
    return unitExpOfNegative(x);
  // 2^-127 is written as zero, and so is the exponential of all that is clamped.
  auto [n, r] = reduceExponent(maximum(x, literal(x, -88.1)));
  return (expm1Reduced(r) + 1.0) * powerOfTwo(n);
}

Num kernel::exp(Num high, Num low) {
  Num clamped = select(gt(high, 710.0), 710.0, select(lt(high, -746.0), -746.0, high));
  Num correction = select(eq(clamped, high), low, 0.0);
  auto [n, r] = reduceExponent(clamped);
  return scale(expm1Reduced(r + correction) + 1.0, n);
}

static Num expm1Double(Num x) {
  // Beyond: infinity, or -1 to all places.
  Num clamped = select(gt(x, 710.0), 710.0, select(lt(x, -50.0), -50.0, x));
  Num n = roundEven(clamped * kLog2E);
  Num high = fma(n, -kLn2High64, clamped); // exact
  Num low = n * kLn2Low64;
  Num r = high - low;
  Num lost = (high - r) - low; // what rounding r lost
  Num p = fma(estrin(r, kExp64), r * r, r);
  p = p + fma(p, lost, lost);
  // 2^n (1 + p) - 1 = 2^n p + (2^n - 1); for large n the -1 vanishes, and 2^n may
  // be beyond the range.
  Num big = gt(n, 60.0);
  Num two = powerOfTwo(select(big, 0.0, n));
  Num near = fma(two, p, two - 1.0);
  Num far = scale(p + 1.0, n);
  Num result = select(big, far, near);
  return select(eq(x, 0.0), x, result); // -0
}

Num kernel::expm1(Num x) {
  if (hasMathUnit(x))
    return unitExpm1(x);
  return inDouble(x, expm1Double);
}

namespace {
/// x = 2^k (1 + f), 1 + f between sqrt(1/2) and sqrt(2), for positive normal x.
struct Split {
  Num k, f;
};
} // namespace

static Split splitExponent(Num x, Num offset) {
  bool isDouble = x.bits() == 64;
  int mantissa = isDouble ? 52 : 23;
  int64_t sqrtHalf = isDouble ? 0x3fe6a09e00000000 : 0x3f3504f3;
  int64_t fraction = (int64_t(1) << mantissa) - 1;
  Num bits = x.asBits() - sqrtHalf;
  Num m = ((bits & fraction) + sqrtHalf).asFloat();
  Num k = shiftRightSigned(bits, mantissa);
  if (isDouble) // AVX2 has no conversion of i64: the exponent fits 32 bits
    k = k.lowBits(32);
  return {k.toFloat(x.element()) + offset, m - 1.0};
}

/// Subnormals are scaled up; `offset` is then the exponent to add.
static std::pair<Num, Num> normalize(Num x) {
  bool isDouble = x.bits() == 64;
  Num tiny = lt(x, isDouble ? 0x1p-1022 : 0x1p-126);
  Num scaled = select(tiny, x * (isDouble ? 0x1p54 : 0x1p25), x);
  return {scaled, select(tiny, x.constant(isDouble ? -54.0 : -25.0), x.constant(0.0))};
}

/// log(0) = -inf, log(negative) = NaN, log(inf) = inf, log(NaN) = NaN.
static Num logSpecial(Num x, Num result) {
  result = select(lt(x, kInfinity), result, x); // inf and NaN themselves
  result = select(lt(x, 0.0), kNan, result);
  return select(eq(x, 0.0), -kInfinity, result);
}

static Num logDouble(Num x) {
  auto [scaled, offset] = normalize(x);
  auto [k, f] = splitExponent(scaled, offset);
  // With s = f / (2 + f): log(1 + f) = f - (f^2/2 - s (f^2/2 + R(s^2))).
  Num s = f / (f + 2.0);
  Num z = s * s;
  Num r = z * estrin(z, kLog64);
  Num half = f * f * 0.5;
  Num inner = fma(s, half + r, k * kLn2Low64);
  return logSpecial(x, k * kLn2High64 - ((half - inner) - f));
}

static Num logSingle(Num x) {
  auto [scaled, offset] = normalize(x);
  auto [k, f] = splitExponent(scaled, offset);
  Num z = f * f;
  Num tail = fma(horner(f, kLog32) * f, z, k * kLn2Low32);
  tail = fma(z, -0.5, tail);
  return logSpecial(x, fma(k, kLn2High32, f + tail));
}

Num kernel::log(Num x) {
  if (hasMathUnit(x))
    return unitLog(x);
  return x.bits() == 64 ? logDouble(x) : logSingle(x);
}

Num kernel::log1p(Num x) {
  if (hasMathUnit(x))
    return unitLog1p(x);
  return inDouble(x, [](Num x) {
    Num u = x + 1.0;
    // What rounding u lost, to first order.
    Num lost = select(ge(x, 1.0), 1.0 - (u - x), x - (u - 1.0));
    lost = select(lt(abs(x), kInfinity), lost / u, x.constant(0.0));
    Num result = log(u);
    // log(u) is finite exactly if the correction makes sense.
    result = select(lt(abs(result), kInfinity), result + lost, result);
    return select(lt(abs(x), 0x1p-54), x, result);
  });
}

static Num tanhSingle(Num x) {
  Num size = abs(x);
  Num z = x * x;
  Num small = fma(horner(z, kTanh32) * z, size, size);
  Num large = 1.0 - 2.0 / (exp(size + size) + 1.0);
  return copySign(select(lt(size, 0.625), small, large), x);
}

Num kernel::tanh(Num x) {
  if (hasMathUnit(x))
    return unitTanh(x);
  if (x.bits() == 32)
    return tanhSingle(x);
  Num size = abs(x);
  Num z = x * x;
  Num small = fma(estrin(z, kTanh64) * z, size, size);
  Num large = 1.0 - 2.0 / (exp(size + size) + 1.0);
  return copySign(select(lt(size, 0.55), small, large), x);
}

Num kernel::logistic(Num x) {
  if (hasMathUnit(x))
    return unitLogistic(x);
  // With exp of a negative number: no overflow, and small results stay exact.
  Num e = exp(-abs(x));
  Num d = e + 1.0;
  return select(lt(x, 0.0), e, select(isNan(x), x, x.constant(1.0))) / d;
}
