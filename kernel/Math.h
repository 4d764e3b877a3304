//===- Math.h - transcendental and complex functions on register tiles -----===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Polynomials on vectors of f32 or f64, without branches save for masked slow
// paths that are hardly ever taken. Errors are at most 2 ulp; tests/kernel/
// test_math.py measures them. Special values are those of C's annex F.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/Elementwise.h"

namespace spokeshave::kernel {

/// Whether a composite of this name ("chlo.erf") is computed by a function here.
bool isMathComposite(llvm::StringRef name);
/// One-operand operations on f32 or f64 (narrower floats as f32) that are
/// computed by the functions below; failure if `op` is none of these.
mlir::FailureOr<Num> emitMath(mlir::Operation *op, Num x);
/// Any operation with a complex operand or result that is not data movement.
mlir::FailureOr<Element> emitComplex(ArithContext &context, mlir::Operation *op,
                                     llvm::ArrayRef<Element> operands);

// MathExpLog.cpp. Arguments are f32 or f64.
Num exp(Num x);
/// Of x <= 0 or NaN, f32, as weight beside exp(0) = 1: what lies below the smallest
/// normal number may be zero.
Num expOfNegative(Num x);
Num exp(Num high, Num low); ///< of a sum whose second term is small; f64
Num expm1(Num x);
Num log(Num x);
Num log1p(Num x);
Num tanh(Num x);
Num logistic(Num x);

// MathUnit.cpp: the same through the machine's transcendental unit, which the
// functions above take for f32 where there is one.
bool hasMathUnit(Num x);
Num unitExp(Num x);
Num unitExpOfNegative(Num x);
Num unitExpm1(Num x);
Num unitLog(Num x);
Num unitLog1p(Num x);
Num unitTanh(Num x);
Num unitLogistic(Num x);
Num unitRsqrt(Num x);

// MathTrig.cpp.
struct SinCos {
  Num sin, cos;
};
SinCos sinCos(Num x);
Num tan(Num x);
Num atan2(Num y, Num x);

// MathPower.cpp.
Num cbrt(Num x);
Num power(Num x, Num y);
/// Exact: x - trunc(x / y) * y without rounding, the sign that of x.
Num floatRemainder(Num x, Num y);
/// sqrt(x^2 + y^2) without overflow between.
Num hypot(Num x, Num y);
/// high + low = a * b exactly (f64).
struct Pair {
  Num high, low;
};
Pair exactProduct(Num a, Num b);
Pair exactSum(Num a, Num b);

// MathErf.cpp.
Num erf(Num x);
Num erfc(Num x);

/// A function of f64 applied to f32 (and rounded back) or to f64.
template <typename Function> Num inDouble(Num x, Function function) {
  if (x.bits() == 64)
    return function(x);
  mlir::Type f64 = x.in().builder.getF64Type();
  return function(x.extended(f64)).truncated(x.element());
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

} // namespace spokeshave::kernel
