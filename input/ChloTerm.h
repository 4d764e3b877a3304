//===- ChloTerm.h - formulas as code ----------------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A Term is a value together with the place where operations on it are built, so
// that an expansion reads like the formula it computes. Terms of one formula have
// one shape; their element types are floats or booleans.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "input/StablehloOps.h"

#include "mlir/IR/Builders.h"

namespace spokeshave::chlo {

class Term {
public:
  Term(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value)
      : builder(&builder), location(location), term(value) {}

  mlir::Value value() const { return term; }
  mlir::RankedTensorType type() const { return llvm::cast<mlir::RankedTensorType>(term.getType()); }
  mlir::Type element() const { return type().getElementType(); }
  /// Bits of the mantissa, the hidden one too; 53 for f64.
  unsigned precision() const;
  /// The exponent of the largest binade's end; 1024 for f64.
  int largestExponent() const;

  /// Another value of the same formula.
  Term with(mlir::Value value) const { return {*builder, location, value}; }
  /// A constant of this shape and element type.
  Term constant(double value) const;
  Term constant(const llvm::APFloat &value) const;
  /// The largest finite number of the element type, times 2^exponent.
  Term largest(int exponent = 0) const;

  /// Builds `Op` on this term, and others if given, for this type or that element.
  template <typename Op, typename... Others> Term make(mlir::Type element, Others... others) const {
    auto resultType = mlir::RankedTensorType::get(type().getShape(), element);
    return with(builder->create<Op>(location, resultType, term, others...));
  }
  template <typename Op, typename... Others> Term apply(Others... others) const {
    return make<Op>(element(), others.value()...);
  }
  Term convert(mlir::Type element) const;

private:
  mlir::OpBuilder *builder;
  mlir::Location location;
  mlir::Value term;
};

Term operator+(Term a, Term b);
Term operator-(Term a, Term b);
Term operator*(Term a, Term b);
Term operator/(Term a, Term b);
Term operator-(Term a);
inline Term operator+(Term a, double b) {
  return a + a.constant(b);
}
inline Term operator-(Term a, double b) {
  return a - a.constant(b);
}
inline Term operator*(Term a, double b) {
  return a * a.constant(b);
}
inline Term operator/(Term a, double b) {
  return a / a.constant(b);
}
inline Term operator+(double a, Term b) {
  return b.constant(a) + b;
}
inline Term operator-(double a, Term b) {
  return b.constant(a) - b;
}
inline Term operator*(double a, Term b) {
  return b.constant(a) * b;
}
inline Term operator/(double a, Term b) {
  return b.constant(a) / b;
}

Term operator<(Term a, Term b);
Term operator<=(Term a, Term b);
Term operator>(Term a, Term b);
Term operator>=(Term a, Term b);
Term operator==(Term a, Term b);
Term operator!=(Term a, Term b);
inline Term operator<(Term a, double b) {
  return a < a.constant(b);
}
inline Term operator<=(Term a, double b) {
  return a <= a.constant(b);
}
inline Term operator>(Term a, double b) {
  return a > a.constant(b);
}
inline Term operator>=(Term a, double b) {
  return a >= a.constant(b);
}
inline Term operator==(Term a, double b) {
  return a == a.constant(b);
}
/// Of booleans.
Term operator&(Term a, Term b);
Term operator|(Term a, Term b);

Term select(Term condition, Term then, Term otherwise);
Term abs(Term x);
Term sqrt(Term x);
Term log(Term x);
Term log1p(Term x);
Term exp(Term x);
Term expm1(Term x);
Term floor(Term x);
Term sin(Term x);
Term cos(Term x);
Term tanh(Term x);
Term atan2(Term y, Term x);
Term pow(Term x, Term y);
Term max(Term a, Term b);
Term min(Term a, Term b);

/// The sum of coefficient[i] * x^i, by Horner's rule.
Term polynomial(Term x, llvm::ArrayRef<double> coefficients);
/// `magnitude` with the sign of `x`, also of a zero.
Term withSignOf(Term magnitude, Term x);

/// A complex term's parts, or a real one.
struct Pair {
  Term re, im;
};
Pair parts(Term z);
Term complex(Pair z);
Pair complexSqrt(Pair z);

} // namespace spokeshave::chlo
