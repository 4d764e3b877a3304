//===- Arith.cpp - arithmetic on scalars and register tiles ----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Arith.h.
//
//===----------------------------------------------------------------------===//
#include "kernel/Arith.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

static Num makeConstant(const Num &like, Attribute number) {
  if (auto vector = dyn_cast<VectorType>(like.type()))
    number = DenseElementsAttr::get(vector, number);
  return {like.in(), like.in().builder.create<arith::ConstantOp>(like.in().loc,
                                                                 mlir::cast<TypedAttr>(number))};
}

Num Num::constant(double number) const {
  if (!isFloat())
    return constant(int64_t(number));
  return makeConstant(*this, FloatAttr::get(element(), number));
}

Num Num::constant(int64_t number) const {
  if (isFloat())
    return constant(double(number));
  APInt value(64, uint64_t(number));
  return makeConstant(*this, IntegerAttr::get(element(), value.sextOrTrunc(bits())));
}

Type Num::like(Type element) const {
  if (auto vector = dyn_cast<VectorType>(type()))
    return VectorType::get(vector.getShape(), element);
  return element;
}

Num Num::asBits() const {
  return cast<arith::BitcastOp>(context->builder.getIntegerType(bits()));
}

Num Num::asFloat() const {
  return cast<arith::BitcastOp>(bits() == 64 ? (Type)context->builder.getF64Type()
                                             : (Type)context->builder.getF32Type());
}

Num Num::toInt(unsigned width) const {
  return cast<arith::FPToSIOp>(context->builder.getIntegerType(width));
}
Num Num::toFloat(Type floatType) const {
  return cast<arith::SIToFPOp>(floatType);
}
Num Num::toUnsignedFloat(Type floatType) const {
  return cast<arith::UIToFPOp>(floatType);
}
Num Num::extended(Type floatType) const {
  return element() == floatType ? *this : cast<arith::ExtFOp>(floatType);
}
Num Num::truncated(Type floatType) const {
  return element() == floatType ? *this : cast<arith::TruncFOp>(floatType);
}
Num Num::zeroExtended(unsigned width) const {
  return bits() == width ? *this : cast<arith::ExtUIOp>(context->builder.getIntegerType(width));
}
Num Num::signExtended(unsigned width) const {
  return bits() == width ? *this : cast<arith::ExtSIOp>(context->builder.getIntegerType(width));
}
Num Num::lowBits(unsigned width) const {
  return bits() == width ? *this : cast<arith::TruncIOp>(context->builder.getIntegerType(width));
}

template <typename FloatOp, typename IntOp> static Num either(Num a, Num b) {
  return a.isFloat() ? a.binary<FloatOp>(b) : a.binary<IntOp>(b);
}

Num kernel::operator+(Num a, Num b) {
  return either<arith::AddFOp, arith::AddIOp>(a, b);
}
Num kernel::operator-(Num a, Num b) {
  return either<arith::SubFOp, arith::SubIOp>(a, b);
}
Num kernel::operator*(Num a, Num b) {
  return either<arith::MulFOp, arith::MulIOp>(a, b);
}
Num kernel::operator/(Num a, Num b) {
  return a.binary<arith::DivFOp>(b);
}
Num kernel::operator-(Num a) {
  return a.isFloat() ? a.unary<arith::NegFOp>() : 0 - a;
}
Num kernel::operator&(Num a, Num b) {
  return a.binary<arith::AndIOp>(b);
}
Num kernel::operator|(Num a, Num b) {
  return a.binary<arith::OrIOp>(b);
}
Num kernel::operator^(Num a, Num b) {
  return a.binary<arith::XOrIOp>(b);
}
Num kernel::operator~(Num a) {
  return a ^ -1;
}
Num kernel::operator<<(Num a, Num b) {
  return a.binary<arith::ShLIOp>(b);
}
Num kernel::shiftRight(Num a, Num b) {
  return a.binary<arith::ShRUIOp>(b);
}
Num kernel::shiftRightSigned(Num a, Num b) {
  return a.binary<arith::ShRSIOp>(b);
}

static Num compare(Num a, Num b, arith::CmpFPredicate floats, arith::CmpIPredicate integers) {
  ArithContext &in = a.in();
  if (a.isFloat())
    return {in, in.builder.createOrFold<arith::CmpFOp>(in.loc, floats, a, b)};
  return {in, in.builder.createOrFold<arith::CmpIOp>(in.loc, integers, a, b)};
}

using PF = arith::CmpFPredicate;
using PI = arith::CmpIPredicate;
Num kernel::eq(Num a, Num b) {
  return compare(a, b, PF::OEQ, PI::eq);
}
Num kernel::ne(Num a, Num b) {
  return compare(a, b, PF::UNE, PI::ne);
}
Num kernel::lt(Num a, Num b) {
  return compare(a, b, PF::OLT, PI::slt);
}
Num kernel::le(Num a, Num b) {
  return compare(a, b, PF::OLE, PI::sle);
}
Num kernel::gt(Num a, Num b) {
  return compare(a, b, PF::OGT, PI::sgt);
}
Num kernel::ge(Num a, Num b) {
  return compare(a, b, PF::OGE, PI::sge);
}
Num kernel::ult(Num a, Num b) {
  return compare(a, b, PF::OLT, PI::ult);
}
Num kernel::ugt(Num a, Num b) {
  return compare(a, b, PF::OGT, PI::ugt);
}
Num kernel::isNan(Num a) {
  return compare(a, a, PF::UNO, PI::ne);
}

Num kernel::select(Num condition, Num yes, Num no) {
  ArithContext &in = condition.in();
  return {in, in.builder.createOrFold<arith::SelectOp>(in.loc, condition, yes, no)};
}

Num kernel::fma(Num a, Num b, Num c) {
  if (!a.isFloat() || !a.in().machine.hasFma)
    return a * b + c;
  return {a.in(), a.in().builder.create<math::FmaOp>(a.in().loc, Value(a), Value(b), Value(c))};
}

Num kernel::abs(Num a) {
  return a.unary<math::AbsFOp>();
}
Num kernel::sqrt(Num a) {
  return a.unary<math::SqrtOp>();
}
Num kernel::copySign(Num magnitude, Num sign) {
  return magnitude.binary<math::CopySignOp>(sign);
}
Num kernel::maximum(Num a, Num b) {
  return a.binary<arith::MaximumFOp>(b);
}
Num kernel::minimum(Num a, Num b) {
  return a.binary<arith::MinimumFOp>(b);
}

//===----------------------------------------------------------------------===//
// Rounding to whole numbers. SSE2 has no instruction for it.
//===----------------------------------------------------------------------===//

static bool hasRounding(Num a) {
  return a.in().machine.isa != machine::Isa::X86_64;
}

/// Adding and subtracting 2^(mantissa bits) rounds to even in the default mode.
static Num roundEvenByAddition(Num a) {
  double magic = a.bits() == 64 ? 0x1p52 : 0x1p23;
  Num size = abs(a);
  Num rounded = (size + magic) - magic;
  // Large numbers are whole already, NaN stays; the sign of zero is kept.
  return copySign(select(lt(size, magic), rounded, size), a);
}

Num kernel::roundEven(Num a) {
  return hasRounding(a) ? a.unary<math::RoundEvenOp>() : roundEvenByAddition(a);
}

Num kernel::floor(Num a) {
  if (hasRounding(a))
    return a.unary<math::FloorOp>();
  Num near = roundEvenByAddition(a);
  return copySign(select(gt(near, a), near - 1.0, near), a);
}

Num kernel::ceil(Num a) {
  if (hasRounding(a))
    return a.unary<math::CeilOp>();
  Num near = roundEvenByAddition(a);
  return copySign(select(lt(near, a), near + 1.0, near), a);
}

Num kernel::truncate(Num a) {
  if (hasRounding(a))
    return a.unary<math::TruncOp>();
  Num size = abs(a);
  return copySign(floor(size), a);
}

Num kernel::roundAway(Num a) {
  // floor(|a| + 1/2) is wrong just below 1/2 and for large odd numbers; so look
  // at the fraction that truncation leaves, which is exact.
  Num size = abs(a);
  Num whole = truncate(size);
  return copySign(select(ge(size - whole, 0.5), whole + 1.0, whole), a);
}

//===----------------------------------------------------------------------===//
// Polynomials
//===----------------------------------------------------------------------===//

Num kernel::horner(Num x, ArrayRef<double> coefficients) {
  Num sum = x.constant(coefficients.back());
  for (double c : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, c);
  return sum;
}

Num kernel::estrin(Num x, ArrayRef<double> coefficients) {
  SmallVector<Num> level;
  for (double c : coefficients)
    level.push_back(x.constant(c));
  for (Num power = x; level.size() > 1; power = power * power) {
    SmallVector<Num> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2)
      next.push_back(fma(level[i + 1], power, level[i]));
    if (level.size() % 2)
      next.push_back(level.back());
    level = std::move(next);
    if (level.size() == 1)
      break;
  }
  return level.front();
}

Value kernel::anyLane(Num condition) {
  if (!isa<VectorType>(condition.type()))
    return condition;
  ArithContext &in = condition.in();
  return in.builder.create<vector::ReductionOp>(in.loc, vector::CombiningKind::OR,
                                                Value(condition));
}
