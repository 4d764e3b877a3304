//===- Complex.cpp - complex functions on register tiles -------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums and products are the textbook's in the type itself. The other functions
// are written for f64; complex<f32> goes through them and is rounded once, so
// that neither squares nor exponentials overflow on the way.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "kernel/Math.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

using Complex = Element;

static Complex multiply(const Complex &a, const Complex &b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static Complex chooseBetween(Num condition, const Complex &yes, const Complex &no) {
  return {select(condition, yes.re, no.re), select(condition, yes.im, no.im)};
}

static Num isInfinite(Num x) {
  return eq(abs(x), kInfinity);
}

static Complex divide(const Complex &a, const Complex &b) {
  // Smith's rule: divide by the larger part first.
  Num realLarger = ge(abs(b.re), abs(b.im));
  Num large = select(realLarger, b.re, b.im), small = select(realLarger, b.im, b.re);
  Num ratio = small / large;
  Num denominator = fma(small, ratio, large);
  Num x = select(realLarger, a.re, a.im), y = select(realLarger, a.im, a.re);
  Num re = fma(y, ratio, x) / denominator;
  // (im - re r) or (-(re - im r)), by which part was larger.
  Num im = fma(-x, ratio, y) / denominator;
  im = select(realLarger, im, -im);
  Complex plain{re, im};
  // Division by zero and by infinity, as C's annex G has it.
  Num byZero = eq(b.re, 0.0) & eq(b.im, 0.0);
  Num infinity = copySign(b.re.constant(kInfinity), b.re);
  plain = chooseBetween(byZero, {infinity * a.re, infinity * a.im}, plain);
  Num byInfinity =
      (isInfinite(b.re) | isInfinite(b.im)) & lt(abs(a.re), kInfinity) & lt(abs(a.im), kInfinity);
  auto unit = [](Num v) {
    return copySign(select(isInfinite(v), v.constant(1.0), v.constant(0.0)), v);
  };
  Num c = unit(b.re), d = unit(b.im);
  Complex zero{(a.re * c + a.im * d) * 0.0, (a.im * c - a.re * d) * 0.0};
  return chooseBetween(byInfinity, zero, plain);
}

static Complex complexExp(const Complex &z) {
  // exp may overflow where the product with a small cosine does not.
  Num big = gt(z.re, 700.0);
  Num size = exp(select(big, z.re - 100.0, z.re));
  Num factor = select(big, z.re.constant(0x1.3494a9b171bf5p+144), z.re.constant(1.0)); // e^100
  auto [sine, cosine] = sinCos(z.im);
  Complex result{size * cosine * factor, size * sine * factor};
  Num real = eq(z.im, 0.0);
  result = {select(real, size * factor, result.re), select(real, z.im, result.im)};
  Num vanishes = eq(z.re, -kInfinity);
  auto zero = [&](Num like) { return copySign(like.constant(0.0), like); };
  // Zero of no angle is no number.
  Num finiteAngle = lt(abs(z.im), kInfinity);
  Num nan = z.re.constant(kNan);
  Complex nothing{select(finiteAngle, zero(cosine), nan), select(finiteAngle, zero(sine), nan)};
  return chooseBetween(vanishes, nothing, result);
}

/// log|z|, also close to |z| = 1.
static Num logAbsolute(const Complex &z) {
  Num ax = abs(z.re), ay = abs(z.im);
  Num swap = gt(ay, ax);
  Num large = select(swap, ay, ax), small = select(swap, ax, ay);
  // |z|^2 - 1 = (large - 1)(large + 1) + small^2.
  Num close = gt(large, 0.5) & lt(large, 2.0);
  Num near = select(close, large, 1.0);
  Pair low = exactProduct(select(close, small, 0.0), select(close, small, 0.0));
  Pair high = exactProduct(near - 1.0, near + 1.0);
  Pair sum = exactSum(high.high, low.high);
  Num nearly = log1p(sum.high + (sum.low + (high.low + low.low))) * 0.5;
  // Elsewhere, scaled.
  Num factor = select(gt(large, 0x1p500), large.constant(0x1p-600),
                      select(lt(large, 0x1p-500), large.constant(0x1p600), large.constant(1.0)));
  constexpr double shift = 415.88830833596718; // 600 ln2
  Num back = select(gt(large, 0x1p500), large.constant(shift),
                    select(lt(large, 0x1p-500), large.constant(-shift), large.constant(0.0)));
  Num a = large * factor, b = small * factor;
  Num far = fma(log(fma(a, a, b * b)), large.constant(0.5), back);
  Num result = select(close, nearly, far);
  result = select(isNan(z.re) | isNan(z.im), z.re + z.im, result);
  return select(eq(large, kInfinity) | eq(small, kInfinity), kInfinity, result);
}

static Complex complexLog(const Complex &z) {
  return {logAbsolute(z), atan2(z.im, z.re)};
}

static Complex complexSqrt(const Complex &z) {
  Num ax = abs(z.re), ay = abs(z.im);
  Num large = select(gt(ay, ax), ay, ax);
  Num huge = gt(large, 0x1p1000), tiny = lt(large, 0x1p-900);
  Num one = ax.constant(1.0);
  Num factor = select(huge, ax.constant(0x1p-40), select(tiny, ax.constant(0x1p200), one));
  Num back = select(huge, ax.constant(0x1p20), select(tiny, ax.constant(0x1p-100), one));
  Num x = ax * factor, y = ay * factor;
  Num t = sqrt((x + hypot(x, y)) * 0.5);
  Num other = y / (t + t);
  t = t * back;
  other = other * back;
  Num right = lt(z.re.asBits(), 0);
  Complex result{select(right, other, t), copySign(select(right, t, other), z.im)};
  Num zero = eq(large, 0.0);
  result = chooseBetween(zero, {abs(z.re), z.im}, result);
  // An infinite imaginary part wins over everything, then an infinite real part.
  Num infiniteReal = isInfinite(z.re);
  Num rest = select(isNan(z.im), z.im, z.im.constant(0.0));
  Complex alongReal{select(right, abs(rest), ax), copySign(select(right, ax, rest), z.im)};
  result = chooseBetween(infiniteReal, alongReal, result);
  return chooseBetween(eq(ay, kInfinity), {ay, z.im}, result);
}

namespace {
struct Hyperbolic {
  Num sinh, cosh;
  Num factor; ///< both are to be multiplied by it, last
};
} // namespace

static Hyperbolic hyperbolic(Num x) {
  Num size = abs(x);
  Num big = gt(size, 700.0);
  Num e = exp(select(big, size - 100.0, 0.0)) * 0.5;
  Num m = expm1(select(big, 0.0, size));
  Num sinh = (m + m / (m + 1.0)) * 0.5;
  Num cosh = fma(m * m / (m + 1.0), x.constant(0.5), x.constant(1.0));
  return {copySign(select(big, e, sinh), x), select(big, e, cosh),
          select(big, x.constant(0x1.3494a9b171bf5p+144), x.constant(1.0))};
}

/// A product in which an exact zero wins over infinity.
static Num productOrZero(Num zero, Num other) {
  return select(eq(zero, 0.0), zero, zero * other);
}

static Complex complexSin(const Complex &z) {
  auto [sine, cosine] = sinCos(z.re);
  Hyperbolic h = hyperbolic(z.im);
  Num re = productOrZero(sine, h.cosh) * h.factor;
  Num im = productOrZero(h.sinh, cosine) * h.factor;
  return {select(eq(z.re, 0.0), z.re, re), select(eq(z.im, 0.0), z.im, im)};
}

static Complex complexCos(const Complex &z) {
  auto [sine, cosine] = sinCos(z.re);
  Hyperbolic h = hyperbolic(z.im);
  Num im = productOrZero(sine, h.sinh) * h.factor;
  im = select(eq(z.im, 0.0) | eq(z.re, 0.0), copySign(z.re.constant(0.0), sine) * h.sinh, im);
  im = select(eq(z.re, 0.0) & isInfinite(z.im), 0.0, im);
  return {cosine * h.cosh * h.factor, -im};
}

static Complex complexTanh(const Complex &z) {
  // With t = tan y and s = sinh x: (s c (1 + t^2) + i t) / (1 + s^2 (1 + t^2)).
  Num size = abs(z.re);
  Num inner = select(lt(size, 20.0), z.re, 0.0);
  Num t = tan(z.im);
  Hyperbolic h = hyperbolic(inner);
  Num beta = fma(t, t, t.constant(1.0));
  Num denominator = fma(h.sinh * h.sinh, beta, t.constant(1.0));
  Complex plain{h.sinh * h.cosh * beta / denominator, t / denominator};
  // Far out: sign x + 4 i sin y cos y exp(-2|x|).
  auto [sine, cosine] = sinCos(z.im);
  Num one = copySign(t.constant(1.0), z.re);
  Num small = sine * cosine * exp(size * -2.0) * 4.0;
  small = select(isInfinite(z.re),
                 copySign(t.constant(0.0), select(isNan(sine), z.im, sine * cosine)), small);
  // An angle that is no number leaves no limit, but for infinite x.
  one = select(isNan(sine) & ~isInfinite(z.re), t.constant(kNan), one);
  Complex result = chooseBetween(ge(size, 20.0), {one, small}, plain);
  return {select(eq(z.re, 0.0) & ~isNan(t), z.re, result.re),
          select(eq(z.im, 0.0), z.im, result.im)};
}

static Complex complexTan(const Complex &z) {
  Complex turned = complexTanh({-z.im, z.re}); // tan z = -i tanh(i z)
  return {turned.im, -turned.re};
}

static Complex complexExpm1(const Complex &z) {
  auto [sine, cosine] = sinCos(z.im);
  auto [halfSine, unused] = sinCos(z.im * 0.5);
  Num m = expm1(z.re);
  Complex near{fma(m, cosine, halfSine * halfSine * -2.0), fma(m, sine, sine)};
  Complex far = complexExp(z);
  far.re = far.re - 1.0;
  Complex result = chooseBetween(lt(abs(z.re), 1.0), near, far);
  // exp vanishes at -infinity whatever the angle; expm1 has no limit there.
  result = chooseBetween(isNan(sine), {sine, sine}, result);
  return {result.re, select(eq(z.im, 0.0), z.im, result.im)};
}

static Complex complexLog1p(const Complex &z) {
  Num x1 = z.re + 1.0;
  Num inner = lt(abs(z.re), 4.0) & lt(abs(z.im), 4.0) & gt(z.re, -0.6);
  Num x = select(inner, z.re, 0.0), y = select(inner, z.im, 0.0);
  // |1 + z|^2 - 1 = x (2 + x) + y^2 = 2x + (x^2 + y^2), with what is lost.
  Pair xx = exactProduct(x, x), yy = exactProduct(y, y);
  Pair sum = exactSum(x + x, xx.high);
  Pair all = exactSum(sum.high, yy.high);
  Num near = log1p(all.high + (all.low + (sum.low + (xx.low + yy.low)))) * 0.5;
  Num far = logAbsolute({x1, z.im});
  return {select(inner, near, far), atan2(z.im, x1)};
}

static Complex complexPower(const Complex &a, const Complex &b) {
  Complex logarithm = complexLog(a);
  Complex result = complexExp(multiply(b, logarithm));
  Num zeroBase = eq(a.re, 0.0) & eq(a.im, 0.0);
  Num zeroPower = eq(b.re, 0.0) & eq(b.im, 0.0);
  Num zero = a.re.constant(0.0), one = a.re.constant(1.0);
  Num atZero = select(gt(b.re, 0.0), zero, zero.constant(kNan));
  result = chooseBetween(zeroBase, {atZero, atZero}, result);
  return chooseBetween(zeroPower, {one, zero}, result);
}

static FailureOr<Complex> emitInDouble(Operation *op, const Complex &z, const Complex &w) {
  using Result = FailureOr<Complex>;
  Num one = z.re.constant(1.0), zero = z.re.constant(0.0);
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](hlo::DivOp) { return divide(z, w); })
      .Case([&](hlo::PowOp) { return complexPower(z, w); })
      .Case([&](hlo::ExpOp) { return complexExp(z); })
      .Case([&](hlo::Expm1Op) { return complexExpm1(z); })
      .Case([&](hlo::LogOp) { return complexLog(z); })
      .Case([&](hlo::Log1pOp) { return complexLog1p(z); })
      .Case([&](hlo::SqrtOp) { return complexSqrt(z); })
      .Case([&](hlo::RsqrtOp) { return divide({one, zero}, complexSqrt(z)); })
      .Case([&](hlo::CbrtOp) { return complexPower(z, {z.re.constant(1.0 / 3.0), zero}); })
      .Case([&](hlo::SineOp) { return complexSin(z); })
      .Case([&](hlo::CosineOp) { return complexCos(z); })
      .Case([&](hlo::TanOp) { return complexTan(z); })
      .Case([&](hlo::TanhOp) { return complexTanh(z); })
      .Case([&](hlo::LogisticOp) {
        Complex e = complexExp({-z.re, -z.im});
        return divide({one, zero}, {e.re + 1.0, e.im});
      })
      .Case([&](hlo::Atan2Op) {
        // -i log((x + i y) / sqrt(x^2 + y^2)), of complex y and x.
        Complex top{w.re - z.im, w.im + z.re};
        Complex xx = multiply(w, w), yy = multiply(z, z);
        Complex bottom = complexSqrt({xx.re + yy.re, xx.im + yy.im});
        Complex l = complexLog(divide(top, bottom));
        return Complex{l.im, -l.re};
      })
      .Case([&](hlo::SignOp) {
        // The modulus of the largest numbers overflows, that of the smallest has few bits.
        Num large = select(gt(abs(z.re), abs(z.im)), abs(z.re), abs(z.im));
        Num one = z.re.constant(1.0), down = z.re.constant(0x1p-10), up = z.re.constant(0x1p200);
        Num factor = select(gt(large, 0x1p1000), down, select(lt(large, 0x1p-900), up, one));
        Num re = z.re * factor, im = z.im * factor, size = hypot(re, im);
        Num isZero = eq(size, 0.0);
        return Complex{select(isZero, z.re, re / size), select(isZero, z.im, im / size)};
      })
      .Case([&](hlo::AbsOp) { return Complex{hypot(z.re, z.im), {}}; })
      .Default([](Operation *) { return failure(); });
}

static Num lexicographic(const Complex &a, const Complex &b, bool greater) {
  Num first = greater ? gt(a.re, b.re) : lt(a.re, b.re);
  Num second = greater ? gt(a.im, b.im) : lt(a.im, b.im);
  return first | (eq(a.re, b.re) & second) | isNan(a.re) | isNan(a.im);
}

FailureOr<Element> kernel::emitComplex(ArithContext &context, Operation *op,
                                       ArrayRef<Element> operands) {
  using Result = FailureOr<Element>;
  const Element &a = operands[0];
  const Element b = operands.size() > 1 ? operands[1] : a;
  Result simple =
      llvm::TypeSwitch<Operation *, Result>(op)
          .Case([&](hlo::AddOp) { return Element{a.re + b.re, a.im + b.im}; })
          .Case([&](hlo::SubtractOp) { return Element{a.re - b.re, a.im - b.im}; })
          .Case([&](hlo::MulOp) { return multiply(a, b); })
          .Case([&](hlo::NegOp) { return Element{-a.re, -a.im}; })
          .Case([&](hlo::MaxOp) { return chooseBetween(lexicographic(a, b, true), a, b); })
          .Case([&](hlo::MinOp) { return chooseBetween(lexicographic(a, b, false), a, b); })
          .Default([](Operation *) { return failure(); });
  if (succeeded(simple))
    return simple;
  Type part = a.re.element(), f64 = context.builder.getF64Type();
  auto widen = [&](const Element &z) { return Element{z.re.extended(f64), z.im.extended(f64)}; };
  Result wide = emitInDouble(op, widen(a), widen(b));
  if (failed(wide))
    return failure();
  return Element{wide->re.truncated(part), wide->im ? wide->im.truncated(part) : Num()};
}
