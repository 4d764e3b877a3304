//===- Arith.h - arithmetic on scalars and register tiles ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thin handle on an SSA value with operators, so that a polynomial reads like
// one. Works alike on scalars and on vectors. Operators follow the type: float
// or integer; comparisons of integers are signed unless named otherwise.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "machine/Machine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

namespace spokeshave::kernel {

/// Where arithmetic is written, and what the machine has.
struct ArithContext {
  mlir::OpBuilder &builder;
  mlir::Location loc;
  const machine::Machine &machine;
  /// Narrow floats stay f32 between operations: sums in reductions.
  bool wide = false;
};

class Num {
public:
  Num() = default;
  Num(ArithContext &context, mlir::Value value) : context(&context), value(value) {}

  operator mlir::Value() const { return value; }
  explicit operator bool() const { return bool(value); }
  mlir::Type type() const { return value.getType(); }
  mlir::Type element() const { return mlir::getElementTypeOrSelf(type()); }
  bool isFloat() const { return mlir::isa<mlir::FloatType>(element()); }
  unsigned bits() const { return element().getIntOrFloatBitWidth(); }
  ArithContext &in() const { return *context; }

  /// A constant of the same type; integers take the low bits of `number`.
  Num constant(double number) const;
  Num constant(int64_t number) const;
  Num constant(int number) const { return constant(int64_t(number)); }
  Num constant(uint64_t number) const { return constant(int64_t(number)); }
  /// The same shape with another element type.
  mlir::Type like(mlir::Type element) const;

  template <typename Op> Num unary() const {
    return {*context, context->builder.createOrFold<Op>(context->loc, value)};
  }
  template <typename Op> Num binary(Num other) const {
    return {*context, context->builder.createOrFold<Op>(context->loc, value, other.value)};
  }
  template <typename Op> Num cast(mlir::Type element) const {
    return {*context, context->builder.createOrFold<Op>(context->loc, like(element), value)};
  }

  /// The bits of a float as an integer of the same width, and back.
  Num asBits() const;
  Num asFloat() const;
  /// Conversions that know no corner cases.
  Num toInt(unsigned width) const;
  Num toFloat(mlir::Type floatType) const; ///< from signed integers
  Num toUnsignedFloat(mlir::Type floatType) const;
  Num extended(mlir::Type floatType) const;  ///< f32 to f64
  Num truncated(mlir::Type floatType) const; ///< f64 to f32
  Num zeroExtended(unsigned width) const;
  Num signExtended(unsigned width) const;
  Num lowBits(unsigned width) const; ///< truncates

private:
  ArithContext *context = nullptr;
  mlir::Value value;
};

Num operator+(Num a, Num b);
Num operator-(Num a, Num b);
Num operator*(Num a, Num b);
Num operator/(Num a, Num b); ///< floats only
Num operator-(Num a);
Num operator&(Num a, Num b);
Num operator|(Num a, Num b);
Num operator^(Num a, Num b);
Num operator~(Num a);
Num operator<<(Num a, Num b);
Num shiftRight(Num a, Num b);       ///< zeros enter
Num shiftRightSigned(Num a, Num b); ///< copies of the sign enter

/// With a number on one side: a constant of the other's type.
template <typename T>
concept Number = std::is_arithmetic_v<T>;
template <Number T> auto literal(Num like, T number) {
  if constexpr (std::is_floating_point_v<T>)
    return like.constant(double(number));
  else
    return like.isFloat() ? like.constant(double(number)) : like.constant(int64_t(number));
}
template <Number T> Num operator+(Num a, T b) {
  return a + literal(a, b);
}
template <Number T> Num operator-(Num a, T b) {
  return a - literal(a, b);
}
template <Number T> Num operator*(Num a, T b) {
  return a * literal(a, b);
}
template <Number T> Num operator/(Num a, T b) {
  return a / literal(a, b);
}
template <Number T> Num operator+(T a, Num b) {
  return literal(b, a) + b;
}
template <Number T> Num operator-(T a, Num b) {
  return literal(b, a) - b;
}
template <Number T> Num operator*(T a, Num b) {
  return literal(b, a) * b;
}
template <Number T> Num operator/(T a, Num b) {
  return literal(b, a) / b;
}
template <Number T> Num operator&(Num a, T b) {
  return a & literal(a, b);
}
template <Number T> Num operator|(Num a, T b) {
  return a | literal(a, b);
}
template <Number T> Num operator^(Num a, T b) {
  return a ^ literal(a, b);
}
template <Number T> Num operator<<(Num a, T b) {
  return a << literal(a, b);
}
template <Number T> Num shiftRight(Num a, T b) {
  return shiftRight(a, literal(a, b));
}
template <Number T> Num shiftRightSigned(Num a, T b) {
  return shiftRightSigned(a, literal(a, b));
}

// Comparisons give i1. Of floats: ordered, except `ne`, which is true for NaN.
Num eq(Num a, Num b);
Num ne(Num a, Num b);
Num lt(Num a, Num b);
Num le(Num a, Num b);
Num gt(Num a, Num b);
Num ge(Num a, Num b);
Num ult(Num a, Num b);
Num ugt(Num a, Num b);
template <Number T> Num eq(Num a, T b) {
  return eq(a, literal(a, b));
}
template <Number T> Num ne(Num a, T b) {
  return ne(a, literal(a, b));
}
template <Number T> Num lt(Num a, T b) {
  return lt(a, literal(a, b));
}
template <Number T> Num le(Num a, T b) {
  return le(a, literal(a, b));
}
template <Number T> Num gt(Num a, T b) {
  return gt(a, literal(a, b));
}
template <Number T> Num ge(Num a, T b) {
  return ge(a, literal(a, b));
}
template <Number T> Num ult(Num a, T b) {
  return ult(a, literal(a, b));
}
template <Number T> Num ugt(Num a, T b) {
  return ugt(a, literal(a, b));
}
Num isNan(Num a);

Num select(Num condition, Num yes, Num no);
template <Number T> Num select(Num c, T yes, Num no) {
  return select(c, literal(no, yes), no);
}
template <Number T> Num select(Num c, Num yes, T no) {
  return select(c, yes, literal(yes, no));
}

/// a * b + c: fused where the machine has it, else rounded twice.
Num fma(Num a, Num b, Num c);
template <Number T> Num fma(Num a, Num b, T c) {
  return fma(a, b, literal(a, c));
}
template <Number T> Num fma(Num a, T b, Num c) {
  return fma(a, literal(a, b), c);
}

Num abs(Num a); ///< of floats
Num sqrt(Num a);
Num copySign(Num magnitude, Num sign);
/// NaN if either is; -0 is less than 0.
Num maximum(Num a, Num b);
Num minimum(Num a, Num b);
Num floor(Num a);
Num ceil(Num a);
Num truncate(Num a);
Num roundEven(Num a);
Num roundAway(Num a); ///< halves away from zero

/// Value of the polynomial c[0] + c[1] x + ..., by Horner's rule with fma.
Num horner(Num x, llvm::ArrayRef<double> coefficients);
/// The same by Estrin's scheme: more parallel, for long polynomials.
Num estrin(Num x, llvm::ArrayRef<double> coefficients);

/// Whether any lane holds (an i1 scalar).
mlir::Value anyLane(Num condition);

} // namespace spokeshave::kernel
