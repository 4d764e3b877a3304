//===- ChloSpecial.cpp - error, gamma, zeta and Bessel functions ------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All in f64, whatever the type asked for: one set of approximations, and results
// of f32 that are right but for the last rounding.
//
//===----------------------------------------------------------------------===//
#include "input/ChloFormulas.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace spokeshave::chlo {

static const double kPi = std::acos(-1.0);
static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

static Term wide(Term x) {
  return x.convert(FloatType::getF64(x.type().getContext()));
}

//===----------------------------------------------------------------------===//
// erf and its kin, by the rational approximations of fdlibm.
//===----------------------------------------------------------------------===//

namespace {

constexpr double kErfSmall[2][6] = {
    {1.28379167095512558561e-01, -3.25042107247001499370e-01, -2.84817495755985104766e-02,
     -5.77027029648944159157e-03, -2.37630166566501626084e-05, 0},
    {1, 3.97917223959155352819e-01, 6.50222499887672944485e-02, 5.08130628187576562776e-03,
     1.32494738004321644526e-04, -3.96022827877536812320e-06}};
constexpr double kErfAtOne = 8.45062911510467529297e-01;
constexpr double kErfOne[2][7] = {
    {-2.36211856075265944077e-03, 4.14856118683748331666e-01, -3.72207876035701323847e-01,
     3.18346619901161753674e-01, -1.10894694282396677476e-01, 3.54783043256182359371e-02,
     -2.16637559486879084300e-03},
    {1, 1.06420880400844228286e-01, 5.40397917702171048937e-01, 7.18286544141962662868e-02,
     1.26171219808761642112e-01, 1.36370839120290507362e-02, 1.19844998467991074170e-02}};
constexpr double kErfcMiddle[2][9] = {
    {-9.86494403484714822705e-03, -6.93858572707181764372e-01, -1.05586262253232909814e+01,
     -6.23753324503260060396e+01, -1.62396669462573470355e+02, -1.84605092906711035994e+02,
     -8.12874355063065934246e+01, -9.81432934416914548592e+00, 0},
    {1, 1.96512716674392571292e+01, 1.37657754143519042600e+02, 4.34565877475229228821e+02,
     6.45387271733267880336e+02, 4.29008140027567833386e+02, 1.08635005541779435134e+02,
     6.57024977031928170135e+00, -6.04244152148580987438e-02}};
constexpr double kErfcTail[2][8] = {
    {-9.86494292470009928597e-03, -7.99283237680523006574e-01, -1.77579549177547519889e+01,
     -1.60636384855821916062e+02, -6.37566443368389627722e+02, -1.02509513161107724954e+03,
     -4.83519191608651397019e+02, 0},
    {1, 3.03380607434824582924e+01, 3.25792512996573918826e+02, 1.53672958608443695994e+03,
     3.19985821950859553908e+03, 2.55305040643316442583e+03, 4.74528541206955367215e+02,
     -2.24409524465858183362e+01}};

template <size_t size> Term quotient(Term x, const double (&coefficients)[2][size]) {
  return polynomial(x, coefficients[0]) / polynomial(x, coefficients[1]);
}

/// (erf(a) - a) / a below 0.84.
Term erfSmall(Term a) {
  return quotient(a * a, kErfSmall);
}
/// erf(a) - kErfAtOne between 0.84 and 1.25.
Term erfOne(Term a) {
  return quotient(a - 1.0, kErfOne);
}

/// erfc(a) from 1.25 on. The square in exp(-a^2) is split, or its rounding would
/// be multiplied by a.
Term erfcLarge(Term a) {
  a = max(a, a.constant(1));
  Term inverse = 1.0 / (a * a);
  Term series = select(a < 1 / 0.35, quotient(inverse, kErfcMiddle), quotient(inverse, kErfcTail));
  Term head = a.make<stablehlo::ReducePrecisionOp>(a.element(), 11u, 20u);
  return exp(-head * head - 0.5625) * exp((head - a) * (head + a) + series) / a;
}

} // namespace

Term erf(Term x) {
  x = wide(x);
  Term a = abs(x);
  Term large = select(a < 1.25, erfOne(a) + kErfAtOne, 1.0 - erfcLarge(a));
  Term far = select(a < 6.0, large, a.constant(1));
  Term result = select(a < 0.84375, x + x * erfSmall(a), withSignOf(far, x));
  return select(x == x, result, x);
}

Term erfc(Term x) {
  x = wide(x);
  Term a = abs(x);
  Term product = x * erfSmall(a);
  Term small = select(x < 0.25, 1.0 - (x + product), 0.5 - (product + (x - 0.5)));
  Term one = erfOne(a);
  Term middle = select(x >= 0.0, (1 - kErfAtOne) - one, 1.0 + (kErfAtOne + one));
  Term tail = select(a < 28.0, erfcLarge(min(a, a.constant(28))), a.constant(0));
  Term large = select(x >= 0.0, tail, 2.0 - tail);
  Term result = select(a < 0.84375, small, select(a < 1.25, middle, large));
  return select(x == x, result, x);
}

Term erfInv(Term y) {
  y = wide(y);
  Term a = abs(y), below = 1.0 - a;
  // Giles' approximation to seven digits, then twice Halley's method.
  Term w = -log(below * (1.0 + a));
  Term near =
      polynomial(w - 2.5, {1.50140941, 0.246640727, -0.00417768164, -0.00125372503, 0.00021858087,
                           -4.39150654e-06, -3.5233877e-06, 3.43273939e-07, 2.81022636e-08});
  Term far = polynomial(sqrt(w) - 3.0,
                        {2.83297682, 1.00167406, 0.00943887047, -0.0076224613, 0.00573950773,
                         -0.00367342844, 0.00134934322, 0.000100950558, -0.000200214257});
  Term x = select(w < 5.0, near, far) * a;
  for (int round = 0; round < 2; ++round) {
    Term error = select(a < 0.5, erf(x) - a, below - erfc(x));
    Term step = error * exp(x * x) * (std::sqrt(kPi) / 2);
    x = x - step / (1.0 + x * step);
  }
  x = select(a == 1.0, a.constant(kInfinity), x);
  return withSignOf(select(a <= 1.0, x, a.constant(kNan)), y);
}

//===----------------------------------------------------------------------===//
// gamma and its kin.
//===----------------------------------------------------------------------===//

/// x less the integer nearest to it, in [-1/2, 1/2].
static Term fraction(Term x) {
  return x - floor(x + 0.5);
}

Term lgamma(Term x) {
  x = wide(x);
  Term reflected = x < 0.5;
  Term z = select(reflected, -x, x - 1.0);
  // Lanczos' sum for g = 7.
  static constexpr double kLanczos[] = {676.520368121885098567,    -1259.13921672240287047,
                                        771.323428777653078849,    -176.615029162140599066,
                                        12.5073432786869048145,    -0.138571095265720116896,
                                        9.98436957801957085956e-6, 1.50563273514931155834e-7};
  Term sum = z.constant(0.99999999999980993227684700473478);
  for (auto [i, coefficient] : llvm::enumerate(kLanczos))
    sum = sum + coefficient / (z + double(i + 1));
  Term logT = log1p(z / 7.5) + std::log(7.5);
  Term general = (z + 0.5 - (z + 7.5) / logT) * logT + (log(sum) + std::log(2 * kPi) / 2);
  Term mirror = (std::log(kPi) - log(abs(sin(fraction(x) * kPi)))) - general;
  Term result = select(reflected, mirror, general);
  return select(abs(x) == kInfinity, x.constant(kInfinity), result);
}

Term digamma(Term x) {
  x = wide(x);
  Term reflected = x < 0.5;
  Term a = select(reflected, 1.0 - x, x), sum = x.constant(0);
  // Up to where the asymptotic series is exact.
  for (int step = 0; step < 12; ++step) {
    Term small = a < 12.0;
    sum = select(small, sum - 1.0 / a, sum);
    a = select(small, a + 1.0, a);
  }
  Term square = 1.0 / (a * a);
  Term series = polynomial(
      square, {-1.0 / 12, 1.0 / 120, -1.0 / 252, 1.0 / 240, -1.0 / 132, 691.0 / 32760, -1.0 / 12});
  Term general = sum + (log(a) - 0.5 / a) + select(a == kInfinity, a.constant(0), square * series);
  Term angle = fraction(x) * kPi;
  Term mirror = general - kPi * cos(angle) / sin(angle);
  Term result = select(reflected, mirror, general);
  // Poles: the one at zero has a side, the others none.
  Term isPole = (x < 0.0) & (x == floor(x));
  result = select(isPole, x.constant(kNan), result);
  return select(x == 0.0, -withSignOf(x.constant(kInfinity), x), result);
}

Term zeta(Term x, Term q) {
  x = wide(x);
  q = wide(q);
  // Euler and Maclaurin: some terms, the integral of the rest, its corrections.
  Term sum = pow(q, -x), a = q;
  for (int step = 0; step < 12; ++step) {
    a = a + 1.0;
    sum = sum + pow(a, -x);
  }
  Term last = pow(a, -x);
  sum = sum + last * a / (x - 1.0) - last * 0.5;
  static constexpr double kBernoulli[] = {12.0,          -720.0,
                                          30240.0,       -1209600.0,
                                          47900160.0,    -1.8924375803183791606e9,
                                          7.47242496e10, -2.950130727918164224e12};
  Term factor = x * last / a;
  for (auto [i, divisor] : llvm::enumerate(kBernoulli)) {
    sum = sum + factor / divisor;
    factor = factor * (x + double(2 * i + 1)) * (x + double(2 * i + 2)) / (a * a);
  }
  Term isPole = (q <= 0.0) & (q == floor(q));
  Term undefined = (x < 1.0) | ((q < 0.0) & (x != floor(x)));
  sum = select(isPole | (x == 1.0), x.constant(kInfinity), sum);
  return select(undefined, x.constant(kNan), sum);
}

Term polygamma(Term n, Term x) {
  n = wide(n);
  x = wide(x);
  Term half = n * 0.5;
  Term isOdd = half != floor(half);
  Term size = exp(lgamma(n + 1.0)) * zeta(n + 1.0, x);
  Term general = select(isOdd, size, -size);
  Term undefined = (n < 0.0) | (n != floor(n));
  return select(n == 0.0, digamma(x), select(undefined, n.constant(kNan), general));
}

//===----------------------------------------------------------------------===//
// Bessel.
//===----------------------------------------------------------------------===//

Term besselI1e(Term x) {
  x = wide(x);
  Term a = abs(x);
  // Up to 30 the power series, all of whose terms are positive.
  SmallVector<double> powers = {0.5};
  for (int k = 1; k < 64; ++k)
    powers.push_back(powers.back() / (4.0 * k * (k + 1)));
  Term small = min(a, a.constant(30));
  Term near = small * polynomial(small * small, powers) * exp(-small);
  // Beyond, Hankel's expansion, whose terms shrink below a rounding there.
  SmallVector<double> inverse = {1};
  for (int k = 1; k < 20; ++k)
    inverse.push_back(-inverse.back() * (4.0 - (2.0 * k - 1) * (2.0 * k - 1)) / (8.0 * k));
  Term large = max(a, a.constant(30));
  Term far = polynomial(1.0 / large, inverse) / sqrt(large * (2 * kPi));
  return withSignOf(select(a < 30.0, near, far), x);
}

} // namespace spokeshave::chlo
