//===- Conversion.cpp - elementwise conversion between types ---------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// complex, convert, imag, real, reduce_precision.
//
// Where the specification leaves conversions open, they are what JAX users see:
// floats that do not fit an integer type saturate and NaN becomes 0; integers
// wrap around; what a float type cannot hold exactly is rounded to the nearest.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "reference/Kernel.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;

namespace spokeshave::reference {

/// A 64-bit integer as a double that rounds on to `out` as the integer itself
/// would: what double cannot hold is squeezed into its last bit.
static double integerToReal(const Scalar &x, bool isUnsigned, const FloatFormat &out) {
  bool negative = !isUnsigned && x.i < 0;
  uint64_t magnitude = negative ? -x.u() : x.u();
  if (!out.isDouble() && magnitude >> 53) {
    uint64_t lost = magnitude & 0x7FF;
    magnitude = (magnitude & ~uint64_t{0x7FF}) | (lost ? 0x800 : 0);
  }
  auto value = static_cast<double>(magnitude);
  return negative ? -value : value;
}

static int64_t realToInteger(double x, const ElementType &out) {
  if (std::isnan(x))
    return 0;
  double truncated = std::trunc(x);
  Scalar low = out.lowest(), high = out.highest();
  if (out.isUnsigned()) {
    if (truncated <= 0)
      return 0;
    return truncated >= std::ldexp(1.0, out.bits())
               ? high.i
               : static_cast<int64_t>(static_cast<uint64_t>(truncated));
  }
  double bound = std::ldexp(1.0, out.bits() - 1);
  if (truncated < -bound)
    return low.i;
  return truncated >= bound ? high.i : static_cast<int64_t>(truncated);
}

static Scalar convert(const Kernel &k, const Scalar *x) {
  bool fromReal = k.in.isFloat() || k.in.isComplex();
  if (k.out.isBoolean()) // a complex number's imaginary part does not count
    return Scalar::integer(fromReal ? x[0].re != 0 : x[0].i != 0);
  if (k.out.isInteger())
    return Scalar::integer(fromReal ? realToInteger(x[0].re, k.out) : x[0].i);
  if (!fromReal)
    return Scalar::real(integerToReal(x[0], k.in.isUnsigned(), k.out.format()));
  return Scalar::complex(x[0].re, k.in.isComplex() && k.out.isComplex() ? x[0].im : 0);
}

static Scalar makeComplex(const Kernel &, const Scalar *x) {
  return Scalar::complex(x[0].re, x[1].re);
}
static Scalar realPart(const Kernel &, const Scalar *x) {
  return Scalar::real(x[0].re);
}
static Scalar imaginaryPart(const Kernel &, const Scalar *x) {
  return Scalar::real(x[0].im);
}

/// `first` exponent bits and `second` mantissa bits. Subnormals of the narrow
/// format do not exist: they underflow to zero, as the specification has it.
static Scalar reducePrecision(const Kernel &k, const Scalar *x) {
  double value = x[0].re;
  if (!std::isfinite(value) || value == 0) {
    // With no mantissa left a NaN turns into an infinity.
    bool nanIsLost = std::isnan(value) && k.second == 0;
    return Scalar::real(nanIsLost ? std::copysign(HUGE_VAL, value) : value);
  }
  int exponent;
  std::frexp(value, &exponent);
  double rounded = value;
  // Where the source is subnormal its quantum stays what it was: rounding to
  // fewer bits works on the mantissa field, not on significant digits.
  int minSource = 2 - k.in.format().bias;
  int mantissaExponent = std::max(exponent, minSource);
  if (k.second < k.in.format().mantissaBits)
    rounded = std::ldexp(std::rint(std::ldexp(value, int(k.second) + 1 - mantissaExponent)),
                         mantissaExponent - int(k.second) - 1);
  if (k.first >= k.in.format().exponentBits)
    return Scalar::real(rounded);
  int bias = (1 << (k.first - 1)) - 1;
  std::frexp(rounded, &exponent);
  if (rounded == 0 || exponent - 1 < 1 - bias)
    return Scalar::real(std::copysign(0.0, value));
  if (exponent - 1 > bias)
    return Scalar::real(std::copysign(HUGE_VAL, value));
  return Scalar::real(rounded);
}

void conversionKernel(Operation *op, Kernel &kernel) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](stablehlo::ConvertOp) { kernel.function = convert; })
      .Case([&](stablehlo::ComplexOp) { kernel.function = makeComplex; })
      .Case([&](stablehlo::RealOp) { kernel.function = realPart; })
      .Case([&](stablehlo::ImagOp) { kernel.function = imaginaryPart; })
      .Case([&](stablehlo::ReducePrecisionOp precision) {
        kernel.function = kernel.in.isFloat() ? reducePrecision : nullptr;
        kernel.first = precision.getExponentBits();
        kernel.second = precision.getMantissaBits();
      });
}

} // namespace spokeshave::reference
