//===- Transcendental.cpp - elementwise exp, log, sin and their kin --------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// atan2, cbrt, cosine, exponential, exponential_minus_one, log, log_plus_one,
// logistic, power, rsqrt, sine, sqrt, tan, tanh.
//
// The C library's functions have errors below one unit of double or of long
// double, so that the results here are the correctly rounded ones except where
// the exact value lies within 2^-10 units or less of a tie.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "reference/Kernel.h"

#include <cmath>

using namespace mlir;

namespace spokeshave::reference {

using Wide = long double;

//===----------------------------------------------------------------------===//
// Sums of squares without cancellation, for logarithms near 1.
//===----------------------------------------------------------------------===//

/// A sum kept as a leading part and the rounding errors so far.
struct CompensatedSum {
  Wide high = 0, low = 0;

  void add(Wide x) {
    Wide sum = high + x, part = sum - high;
    low += (high - (sum - part)) + (x - part);
    high = sum;
  }
  void addSquare(Wide x) {
    Wide square = x * x;
    add(square);
    add(std::fma(x, x, -square));
  }
  Wide value() const { return high + low; }
};

/// log(|re + i im|). Near the unit circle, where a rounded modulus would lose
/// everything, as log1p(re^2 + im^2 - 1) / 2.
static Wide logOfModulus(Wide re, Wide im) {
  Wide modulus = std::hypot(re, im);
  if (!(modulus > 0.5L && modulus < 2))
    return std::log(modulus);
  CompensatedSum sum;
  sum.add(-1);
  sum.addSquare(re);
  sum.addSquare(im);
  return std::log1p(sum.value()) / 2;
}

/// log(|1 + re + i im|), exact in the small as well.
static Wide logOfModulusPlusOne(Wide re, Wide im) {
  Wide modulus = std::hypot(re + 1, im);
  if (!(modulus > 0.5L && modulus < 2))
    return std::log(modulus);
  CompensatedSum sum;
  sum.add(2 * re);
  sum.addSquare(re);
  sum.addSquare(im);
  return std::log1p(sum.value()) / 2;
}

//===----------------------------------------------------------------------===//
// Definitions on floats. Each is one expression in double or long double.
//===----------------------------------------------------------------------===//

#define SPOKESHAVE_REAL_FUNCTION(name, expression)                                                 \
  static Scalar name(const Kernel &k, const Scalar *operands) {                                    \
    return realFunction(k, operands[0].re, [](auto x) { return expression; });                     \
  }
SPOKESHAVE_REAL_FUNCTION(realCbrt, std::cbrt(x))
SPOKESHAVE_REAL_FUNCTION(realCos, std::cos(x))
SPOKESHAVE_REAL_FUNCTION(realExp, std::exp(x))
SPOKESHAVE_REAL_FUNCTION(realExpm1, std::expm1(x))
SPOKESHAVE_REAL_FUNCTION(realLog, std::log(x))
SPOKESHAVE_REAL_FUNCTION(realLog1p, std::log1p(x))
SPOKESHAVE_REAL_FUNCTION(realLogistic, 1 / (1 + std::exp(-x)))
SPOKESHAVE_REAL_FUNCTION(realRsqrt, 1 / std::sqrt(x))
SPOKESHAVE_REAL_FUNCTION(realSin, std::sin(x))
SPOKESHAVE_REAL_FUNCTION(realTan, std::tan(x))
SPOKESHAVE_REAL_FUNCTION(realTanh, std::tanh(x))
#undef SPOKESHAVE_REAL_FUNCTION

static Scalar realSqrt(const Kernel &, const Scalar *x) {
  return Scalar::real(std::sqrt(x[0].re)); // IEEE rounds it correctly already
}
static Scalar realAtan2(const Kernel &k, const Scalar *x) {
  return realFunction(k, x[0].re, x[1].re, [](auto y, auto x) { return std::atan2(y, x); });
}
static Scalar realPow(const Kernel &k, const Scalar *x) {
  return realFunction(k, x[0].re, x[1].re, [](auto x, auto y) { return std::pow(x, y); });
}

//===----------------------------------------------------------------------===//
// Definitions on complex numbers, all in long double.
//===----------------------------------------------------------------------===//

#define SPOKESHAVE_COMPLEX_FUNCTION(name, expression)                                              \
  static Scalar name(const Kernel &, const Scalar *operands) {                                     \
    WideComplex z = wide(operands[0]);                                                             \
    return narrow(expression);                                                                     \
  }
SPOKESHAVE_COMPLEX_FUNCTION(complexCos, std::cos(z))
SPOKESHAVE_COMPLEX_FUNCTION(complexRsqrt, WideComplex(1) / std::sqrt(z))
SPOKESHAVE_COMPLEX_FUNCTION(complexSin, std::sin(z))
SPOKESHAVE_COMPLEX_FUNCTION(complexSqrt, std::sqrt(z))
SPOKESHAVE_COMPLEX_FUNCTION(complexTan, std::tan(z))
SPOKESHAVE_COMPLEX_FUNCTION(complexTanh, std::tanh(z))
SPOKESHAVE_COMPLEX_FUNCTION(complexLogistic, WideComplex(1) / (WideComplex(1) + std::exp(-z)))
SPOKESHAVE_COMPLEX_FUNCTION(complexLog, WideComplex(logOfModulus(z.real(), z.imag()),
                                                    std::atan2(z.imag(), z.real())))
SPOKESHAVE_COMPLEX_FUNCTION(complexLog1p, WideComplex(logOfModulusPlusOne(z.real(), z.imag()),
                                                      std::atan2(z.imag(), z.real() + 1)))
#undef SPOKESHAVE_COMPLEX_FUNCTION

/// exp(a) (cos(b) + i sin(b)); on the real axis that stays the real function,
/// where exp(a) is infinite as well.
static Scalar complexExp(const Kernel &, const Scalar *x) {
  Wide modulus = std::exp(Wide(x[0].re)), b = x[0].im;
  if (b == 0)
    return Scalar::complex(static_cast<double>(modulus), x[0].im);
  return narrow({modulus * std::cos(b), modulus * std::sin(b)});
}

/// exp(z) - 1, written so that no leading digits cancel:
/// expm1(a) cos(b) - 2 sin(b/2)^2 + i exp(a) sin(b).
static Scalar complexExpm1(const Kernel &, const Scalar *x) {
  Wide a = x[0].re, b = x[0].im;
  if (b == 0) // keeps the sign of zero, and infinities from meeting zeros
    return Scalar::complex(std::expm1(a), x[0].im);
  Wide half = std::sin(b / 2);
  return narrow({std::expm1(a) * std::cos(b) - 2 * half * half, std::exp(a) * std::sin(b)});
}

/// The principal root: modulus and argument divided by three in the exponent.
static Scalar complexCbrt(const Kernel &, const Scalar *x) {
  Wide modulus = std::cbrt(std::hypot(Wide(x[0].re), Wide(x[0].im)));
  return narrow(std::polar(modulus, std::atan2(Wide(x[0].im), Wide(x[0].re)) / 3));
}

static Scalar complexPow(const Kernel &, const Scalar *x) {
  bool zeroExponent = x[1].re == 0 && x[1].im == 0;
  if (zeroExponent)
    return Scalar::real(1);
  if (x[0].re == 0 && x[0].im == 0 && x[1].re > 0)
    return {};
  return narrow(std::pow(wide(x[0]), wide(x[1])));
}

/// -i log((x + i y) / sqrt(x^2 + y^2)), which is atan2 where y and x are real.
static Scalar complexAtan2(const Kernel &, const Scalar *operands) {
  WideComplex y = wide(operands[0]), x = wide(operands[1]), i(0, 1);
  return narrow(-i * std::log((x + i * y) / std::sqrt(x * x + y * y)));
}

void transcendentalKernel(Operation *op, Kernel &kernel) {
  auto define = [&](Kernel::Function real, Kernel::Function complex) {
    kernel.function = kernel.in.isFloat() ? real : kernel.in.isComplex() ? complex : nullptr;
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](stablehlo::Atan2Op) { define(realAtan2, complexAtan2); })
      .Case([&](stablehlo::CbrtOp) { define(realCbrt, complexCbrt); })
      .Case([&](stablehlo::CosineOp) { define(realCos, complexCos); })
      .Case([&](stablehlo::ExpOp) { define(realExp, complexExp); })
      .Case([&](stablehlo::Expm1Op) { define(realExpm1, complexExpm1); })
      .Case([&](stablehlo::LogOp) { define(realLog, complexLog); })
      .Case([&](stablehlo::Log1pOp) { define(realLog1p, complexLog1p); })
      .Case([&](stablehlo::LogisticOp) { define(realLogistic, complexLogistic); })
      .Case([&](stablehlo::PowOp) {
        if (!kernel.in.isInteger()) // integers: Arithmetic.cpp
          define(realPow, complexPow);
      })
      .Case([&](stablehlo::RsqrtOp) { define(realRsqrt, complexRsqrt); })
      .Case([&](stablehlo::SineOp) { define(realSin, complexSin); })
      .Case([&](stablehlo::SqrtOp) { define(realSqrt, complexSqrt); })
      .Case([&](stablehlo::TanOp) { define(realTan, complexTan); })
      .Case([&](stablehlo::TanhOp) { define(realTanh, complexTanh); });
}

} // namespace spokeshave::reference
