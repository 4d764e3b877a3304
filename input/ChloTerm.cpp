//===- ChloTerm.cpp - formulas as code --------------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "input/ChloTerm.h"

using namespace mlir;

namespace spokeshave::chlo {

namespace sh = spokeshave::stablehlo;

unsigned Term::precision() const {
  return cast<FloatType>(element()).getFPMantissaWidth();
}

int Term::largestExponent() const {
  return APFloat::semanticsMaxExponent(cast<FloatType>(element()).getFloatSemantics()) + 1;
}

Term Term::constant(const APFloat &value) const {
  return with(builder->create<sh::ConstantOp>(location, DenseElementsAttr::get(type(), value)));
}

Term Term::constant(double value) const {
  APFloat rounded(value);
  bool losesInfo = false;
  rounded.convert(cast<FloatType>(element()).getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
  return constant(rounded);
}

Term Term::largest(int exponent) const {
  APFloat value = APFloat::getLargest(cast<FloatType>(element()).getFloatSemantics());
  return constant(scalbn(value, exponent, APFloat::rmNearestTiesToEven));
}

Term Term::convert(Type to) const {
  return to == element() ? *this : make<sh::ConvertOp>(to);
}

Term operator+(Term a, Term b) {
  return a.apply<sh::AddOp>(b);
}
Term operator-(Term a, Term b) {
  return a.apply<sh::SubtractOp>(b);
}
Term operator*(Term a, Term b) {
  return a.apply<sh::MulOp>(b);
}
Term operator/(Term a, Term b) {
  return a.apply<sh::DivOp>(b);
}
Term operator-(Term a) {
  return a.apply<sh::NegOp>();
}

static Term compare(Term a, Term b, sh::ComparisonDirection direction) {
  MLIRContext *context = a.type().getContext();
  return a.make<sh::CompareOp>(IntegerType::get(context, 1), b.value(),
                               sh::ComparisonDirectionAttr::get(context, direction),
                               sh::ComparisonTypeAttr());
}
Term operator<(Term a, Term b) {
  return compare(a, b, sh::ComparisonDirection::LT);
}
Term operator<=(Term a, Term b) {
  return compare(a, b, sh::ComparisonDirection::LE);
}
Term operator>(Term a, Term b) {
  return compare(a, b, sh::ComparisonDirection::GT);
}
Term operator>=(Term a, Term b) {
  return compare(a, b, sh::ComparisonDirection::GE);
}
Term operator==(Term a, Term b) {
  return compare(a, b, sh::ComparisonDirection::EQ);
}
Term operator!=(Term a, Term b) {
  return compare(a, b, sh::ComparisonDirection::NE);
}
Term operator&(Term a, Term b) {
  return a.apply<sh::AndOp>(b);
}
Term operator|(Term a, Term b) {
  return a.apply<sh::OrOp>(b);
}

Term select(Term condition, Term then, Term otherwise) {
  return condition.make<sh::SelectOp>(then.element(), then.value(), otherwise.value());
}
Term abs(Term x) {
  return x.apply<sh::AbsOp>();
}

/// Functions with an accuracy that can be asked for; none is.
template <typename Op> static Term function(Term x) {
  return x.make<Op>(x.element(), sh::ResultAccuracyAttr());
}
Term sqrt(Term x) {
  return function<sh::SqrtOp>(x);
}
Term log(Term x) {
  return function<sh::LogOp>(x);
}
Term log1p(Term x) {
  return function<sh::Log1pOp>(x);
}
Term exp(Term x) {
  return function<sh::ExpOp>(x);
}
Term expm1(Term x) {
  return function<sh::Expm1Op>(x);
}
Term sin(Term x) {
  return function<sh::SineOp>(x);
}
Term cos(Term x) {
  return function<sh::CosineOp>(x);
}
Term tanh(Term x) {
  return function<sh::TanhOp>(x);
}
Term floor(Term x) {
  return x.apply<sh::FloorOp>();
}
Term atan2(Term y, Term x) {
  return y.apply<sh::Atan2Op>(x);
}
Term pow(Term x, Term y) {
  return x.apply<sh::PowOp>(y);
}
Term max(Term a, Term b) {
  return a.apply<sh::MaxOp>(b);
}
Term min(Term a, Term b) {
  return a.apply<sh::MinOp>(b);
}

Term polynomial(Term x, ArrayRef<double> coefficients) {
  Term sum = x.constant(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = sum * x + coefficient;
  return sum;
}

Term withSignOf(Term magnitude, Term x) {
  // 1/x tells the zeros apart; its sign at -infinity is lost, where x < 0 has it.
  return select((x < 0.0) | (1.0 / x < 0.0), -magnitude, magnitude);
}

Pair parts(Term z) {
  Type real = cast<ComplexType>(z.element()).getElementType();
  return {z.make<sh::RealOp>(real), z.make<sh::ImagOp>(real)};
}

Term complex(Pair z) {
  return z.re.make<sh::ComplexOp>(ComplexType::get(z.re.element()), z.im.value());
}

Pair complexSqrt(Pair z) {
  return parts(sqrt(complex(z)));
}

} // namespace spokeshave::chlo
