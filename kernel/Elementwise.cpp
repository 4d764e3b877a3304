//===- Elementwise.cpp - StableHLO's elementwise operations ----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The exact operations; transcendental ones are in Math*.cpp, complex ones in
// Complex.cpp. Integers wrap; division by zero and of the most negative number
// by -1 do not trap; shifts by the width or more give 0 (or copies of the sign).
//
//===----------------------------------------------------------------------===//
#include "kernel/Elementwise.h"

#include "input/StablehloOps.h"
#include "kernel/Math.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

static Type elementOf(Value value) {
  return getElementTypeOrSelf(value.getType());
}

bool kernel::isElementwise(Operation *op) {
  if (auto composite = dyn_cast<hlo::CompositeOp>(op))
    return isMathComposite(composite.getName());
  return isa<hlo::SelectOp, hlo::ClampOp, hlo::CompareOp, hlo::ConvertOp, hlo::ReducePrecisionOp,
             hlo::ComplexOp>(op) ||
         (op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1 &&
          op->getNumRegions() == 0);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

static int64_t mostNegative(unsigned width) {
  return int64_t(~uint64_t(0) << (width - 1));
}

/// Quotient and remainder of integers, rounded towards zero.
static std::pair<Num, Num> divideIntegers(Num a, Num b, bool isUnsignedType) {
  Num byZero = eq(b, 0);
  Num overflow = isUnsignedType ? byZero : eq(a, mostNegative(a.bits())) & eq(b, -1);
  Num safe = select(isUnsignedType ? byZero : byZero | overflow, int64_t(1), b);
  Num quotient;
  if (isa<VectorType>(a.type()) && a.bits() <= 32) {
    // x86 divides integers one by one. Quotients of 32-bit numbers are right
    // after truncation of the f64 quotient.
    Type f64 = a.in().builder.getF64Type();
    Num x = isUnsignedType ? a.toUnsignedFloat(f64) : a.toFloat(f64);
    Num y = isUnsignedType ? safe.toUnsignedFloat(f64) : safe.toFloat(f64);
    Num real = x / y;
    Num whole = isUnsignedType && a.bits() == 32
                    ? real.cast<arith::FPToUIOp>(a.in().builder.getIntegerType(32))
                    : real.toInt(32);
    quotient = whole.lowBits(a.bits());
  } else {
    quotient = isUnsignedType ? a.binary<arith::DivUIOp>(safe) : a.binary<arith::DivSIOp>(safe);
  }
  Num remainder = a - quotient * safe;
  if (!isUnsignedType) {
    quotient = select(overflow, a, quotient);
    remainder = select(overflow, int64_t(0), remainder);
  }
  return {select(byZero, int64_t(-1), quotient), select(byZero, a, remainder)};
}

static Num shift(Operation *op, Num a, Num amount) {
  Num inRange = ult(amount, int64_t(a.bits()));
  Num safe = select(inRange, amount, int64_t(0));
  if (isa<hlo::ShiftLeftOp>(op))
    return select(inRange, a << safe, int64_t(0));
  if (isa<hlo::ShiftRightLogicalOp>(op))
    return select(inRange, shiftRight(a, safe), int64_t(0));
  return shiftRightSigned(a, select(inRange, amount, int64_t(a.bits() - 1)));
}

static Num integerPower(Num base, Num exponent, bool isUnsignedType) {
  ArithContext &in = base.in();
  OpBuilder &builder = in.builder;
  auto constant = [&](int64_t i) { return builder.create<arith::ConstantIndexOp>(in.loc, i); };
  // By squaring, one bit of the exponent per trip.
  auto loop = builder.create<scf::ForOp>(in.loc, constant(0), constant(exponent.bits()),
                                         constant(1), ValueRange{base.constant(1), base, exponent});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(loop.getBody());
  Num result(in, loop.getRegionIterArg(0)), power(in, loop.getRegionIterArg(1)),
      rest(in, loop.getRegionIterArg(2));
  Num next = select(ne(rest & 1, 0), result * power, result);
  builder.create<scf::YieldOp>(in.loc, ValueRange{next, power * power, shiftRight(rest, 1)});
  builder.setInsertionPointAfter(loop);
  Num value(in, loop.getResult(0));
  if (isUnsignedType)
    return value;
  // Negative exponents: 1 stays, -1 gives its sign by parity, the rest is 0.
  Num odd = ne(exponent & 1, 0);
  Num inverse = select(
      eq(base, 1), base.constant(1),
      select(eq(base, -1), select(odd, base.constant(-1), base.constant(1)), base.constant(0)));
  return select(lt(exponent, 0), inverse, value);
}

static FailureOr<Num> emitIntegerUnary(Operation *op, Num a, bool isUnsignedType) {
  return TypeSwitch<Operation *, FailureOr<Num>>(op)
      .Case([&](hlo::NegOp) { return 0 - a; })
      .Case([&](hlo::NotOp) { return ~a; })
      .Case([&](hlo::AbsOp) { return isUnsignedType ? a : select(lt(a, 0), 0 - a, a); })
      .Case([&](hlo::SignOp) {
        if (isUnsignedType)
          return select(ne(a, 0), a.constant(1), a.constant(0));
        return select(lt(a, 0), a.constant(-1), select(gt(a, 0), a.constant(1), a.constant(0)));
      })
      .Case([&](hlo::PopulationCountOp) { return a.unary<math::CtPopOp>(); })
      .Case([&](hlo::ClzOp) { return a.unary<math::CountLeadingZerosOp>(); })
      .Default([](Operation *) { return failure(); });
}

static FailureOr<Num> emitIntegerBinary(Operation *op, Num a, Num b, bool isUnsignedType) {
  bool isPredicate = a.bits() == 1;
  return TypeSwitch<Operation *, FailureOr<Num>>(op)
      .Case([&](hlo::AddOp) { return isPredicate ? a | b : a + b; })
      .Case([&](hlo::SubtractOp) { return a - b; })
      .Case([&](hlo::MulOp) { return isPredicate ? a & b : a * b; })
      .Case([&](hlo::DivOp) { return divideIntegers(a, b, isUnsignedType).first; })
      .Case([&](hlo::RemOp) { return divideIntegers(a, b, isUnsignedType).second; })
      .Case([&](hlo::MaxOp) {
        return isUnsignedType ? a.binary<arith::MaxUIOp>(b) : a.binary<arith::MaxSIOp>(b);
      })
      .Case([&](hlo::MinOp) {
        return isUnsignedType ? a.binary<arith::MinUIOp>(b) : a.binary<arith::MinSIOp>(b);
      })
      .Case([&](hlo::AndOp) { return a & b; })
      .Case([&](hlo::OrOp) { return a | b; })
      .Case([&](hlo::XorOp) { return a ^ b; })
      .Case([&](hlo::PowOp) { return integerPower(a, b, isUnsignedType); })
      .Case<hlo::ShiftLeftOp, hlo::ShiftRightArithmeticOp, hlo::ShiftRightLogicalOp>(
          [&](Operation *op) { return shift(op, a, b); })
      .Default([](Operation *) { return failure(); });
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

/// Operations whose result is a value of the operands' type without rounding.
static bool isExact(Operation *op) {
  return isa<hlo::MaxOp, hlo::MinOp, hlo::NegOp, hlo::AbsOp, hlo::SignOp, hlo::FloorOp, hlo::CeilOp,
             hlo::RoundOp, hlo::RoundNearestEvenOp, hlo::RemOp>(op);
}

static FailureOr<Num> emitFloatUnary(Operation *op, Num a) {
  return TypeSwitch<Operation *, FailureOr<Num>>(op)
      .Case([&](hlo::NegOp) { return -a; })
      .Case([&](hlo::AbsOp) { return abs(a); })
      .Case([&](hlo::SignOp) {
        // Zeros keep their sign, NaN stays.
        return select(gt(abs(a), 0.0), copySign(a.constant(1.0), a), a);
      })
      .Case([&](hlo::FloorOp) { return floor(a); })
      .Case([&](hlo::CeilOp) { return ceil(a); })
      .Case([&](hlo::RoundOp) { return roundAway(a); })
      .Case([&](hlo::RoundNearestEvenOp) { return roundEven(a); })
      .Case([&](hlo::SqrtOp) { return sqrt(a); })
      .Default([&](Operation *op) { return emitMath(op, a); });
}

static FailureOr<Num> emitFloatBinary(Operation *op, Num a, Num b) {
  return TypeSwitch<Operation *, FailureOr<Num>>(op)
      .Case([&](hlo::AddOp) { return a + b; })
      .Case([&](hlo::SubtractOp) { return a - b; })
      .Case([&](hlo::MulOp) { return a * b; })
      .Case([&](hlo::DivOp) { return a / b; })
      .Case([&](hlo::MaxOp) { return maximum(a, b); })
      .Case([&](hlo::MinOp) { return minimum(a, b); })
      .Case([&](hlo::RemOp) { return floatRemainder(a, b); })
      .Case([&](hlo::PowOp) { return power(a, b); })
      .Case([&](hlo::Atan2Op) { return atan2(a, b); })
      .Default([](Operation *) { return failure(); });
}

//===----------------------------------------------------------------------===//
// Comparison and selection
//===----------------------------------------------------------------------===//

static Num compareReal(hlo::ComparisonDirection direction, Num a, Num b, bool isUnsignedType) {
  using Direction = hlo::ComparisonDirection;
  if (isUnsignedType && !a.isFloat() && a.bits() > 1) {
    // Flipping the top bit maps the order of unsigned numbers to signed.
    if (direction != Direction::EQ && direction != Direction::NE)
      a = a ^ mostNegative(a.bits()), b = b ^ mostNegative(b.bits());
  } else if (!a.isFloat() && a.bits() == 1) {
    a = a.zeroExtended(8), b = b.zeroExtended(8);
  }
  switch (direction) {
  case Direction::EQ:
    return eq(a, b);
  case Direction::NE:
    return ne(a, b);
  case Direction::GE:
    return ge(a, b);
  case Direction::GT:
    return gt(a, b);
  case Direction::LE:
    return le(a, b);
  case Direction::LT:
    return lt(a, b);
  }
  return {};
}

/// -NaN < -inf < ... < -0 < +0 < ... < inf < NaN, as integers.
static Num totalOrder(Num value) {
  Num bits = value.asBits();
  Num sign = shiftRightSigned(bits, int64_t(bits.bits() - 1));
  return bits ^ shiftRight(sign, 1);
}

static FailureOr<Element> emitCompare(hlo::CompareOp op, Element a, Element b) {
  Type element = elementOf(op.getLhs());
  if (a.isComplex()) {
    bool equal = op.getComparisonDirection() == hlo::ComparisonDirection::EQ;
    if (!equal && op.getComparisonDirection() != hlo::ComparisonDirection::NE)
      return failure();
    if (equal)
      return Element{eq(a.re, b.re) & eq(a.im, b.im), {}};
    return Element{ne(a.re, b.re) | ne(a.im, b.im), {}};
  }
  Num x = a.re, y = b.re;
  if (x.isFloat() && op.getCompareType() == hlo::ComparisonType::TOTALORDER)
    x = totalOrder(x), y = totalOrder(y);
  return Element{compareReal(op.getComparisonDirection(), x, y, isUnsigned(element)), {}};
}

static Element emitSelect(Element condition, Element yes, Element no) {
  Element result{select(condition.re, yes.re, no.re), {}};
  if (yes.isComplex())
    result.im = select(condition.re, yes.im, no.im);
  return result;
}

static Num emitClamp(Num low, Num value, Num high, bool isUnsignedType) {
  if (value.isFloat())
    return minimum(maximum(value, low), high);
  if (isUnsignedType)
    return value.binary<arith::MaxUIOp>(low).binary<arith::MinUIOp>(high);
  return value.binary<arith::MaxSIOp>(low).binary<arith::MinSIOp>(high);
}

static FailureOr<Element> emitBitcast(Operation *op, Element value) {
  Type from = elementOf(op->getOperand(0)), to = elementOf(op->getResult(0));
  if (from == to)
    return value;
  if (isa<ComplexType>(from) || isa<ComplexType>(to))
    return failure();
  Num bits = value.re;
  if (isSmallFloat(from))
    bits = packFloat(bits, from);
  else if (isa<FloatType>(from))
    bits = bits.asBits();
  if (bits.bits() != to.getIntOrFloatBitWidth())
    return failure();
  if (isSmallFloat(to))
    return Element{unpackFloat(bits, to), {}};
  return Element{isa<FloatType>(to) ? bits.asFloat() : bits, {}};
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

static FailureOr<Element> emitArithmetic(ArithContext &context, Operation *op,
                                         ArrayRef<Element> operands) {
  Type element = elementOf(op->getResult(0));
  if (operands[0].isComplex() || isa<ComplexType>(element))
    return emitComplex(context, op, operands);
  FailureOr<Num> result = failure();
  if (isa<FloatType>(element)) {
    result = operands.size() == 1 ? emitFloatUnary(op, operands[0].re)
                                  : emitFloatBinary(op, operands[0].re, operands[1].re);
    if (succeeded(result) && isSmallFloat(element) && !isExact(op) && !context.wide)
      result = roundTo(*result, element);
  } else if (operands.size() == 1) {
    result = emitIntegerUnary(op, operands[0].re, isUnsigned(element));
  } else if (operands.size() == 2) {
    result = emitIntegerBinary(op, operands[0].re, operands[1].re, isUnsigned(element));
  }
  if (failed(result))
    return failure();
  return Element{*result, {}};
}

static FailureOr<Element> emitOne(ArithContext &context, Operation *op,
                                  ArrayRef<Element> operands) {
  using Result = FailureOr<Element>;
  return TypeSwitch<Operation *, Result>(op)
      .Case([&](hlo::ConvertOp convert) -> Result {
        return convertElement(operands[0], elementOf(convert.getOperand()), elementOf(convert));
      })
      .Case([&](hlo::CompareOp compare) { return emitCompare(compare, operands[0], operands[1]); })
      .Case([&](hlo::SelectOp) -> Result {
        return emitSelect(operands[0], operands[1], operands[2]);
      })
      .Case([&](hlo::ClampOp clamp) -> Result {
        if (operands[0].isComplex())
          return failure();
        return Element{
            emitClamp(operands[0].re, operands[1].re, operands[2].re, isUnsigned(elementOf(clamp))),
            {}};
      })
      .Case([&](hlo::IsFiniteOp) -> Result {
        return Element{lt(abs(operands[0].re), std::numeric_limits<double>::infinity()), {}};
      })
      .Case([&](hlo::ReducePrecisionOp reduce) -> Result {
        // A format's own exponents are no reduction: its subnormals stay.
        Type type = elementOf(reduce);
        unsigned exponents = reduce.getExponentBits();
        std::optional<int> subnormals;
        if (isSmallFloat(type) && !type.isBF16() &&
            exponents >=
                type.getIntOrFloatBitWidth() - cast<FloatType>(type).getFPMantissaWidth()) {
          exponents = 8;
          subnormals = APFloat::semanticsMinExponent(cast<FloatType>(type).getFloatSemantics());
        }
        return Element{
            reducePrecision(operands[0].re, exponents, reduce.getMantissaBits(), subnormals), {}};
      })
      .Case([&](hlo::RealOp) -> Result { return Element{operands[0].re, {}}; })
      .Case([&](hlo::ImagOp) -> Result {
        Element a = operands[0];
        return Element{a.isComplex() ? a.im : a.re.constant(0.0), {}};
      })
      .Case([&](hlo::ComplexOp) -> Result { return Element{operands[0].re, operands[1].re}; })
      .Case([&](hlo::BitcastConvertOp cast) { return emitBitcast(cast, operands[0]); })
      .Default([&](Operation *op) { return emitArithmetic(context, op, operands); });
}

FailureOr<Element> kernel::emitElementwise(ArithContext &context, Operation *op,
                                           ArrayRef<Element> operands) {
  FailureOr<Element> result = failure();
  if (!operands.empty())
    result = emitOne(context, op, operands);
  if (failed(result))
    op->emitOpError("is not supported in a kernel for these types");
  return result;
}

Element kernel::constantElement(ArithContext &context, Attribute value, Type element,
                                int64_t lanes) {
  auto make = [&](Attribute number) -> Num {
    Type type = registerType(element);
    TypedAttr scalar;
    if (auto real = dyn_cast<FloatAttr>(number)) {
      APFloat converted = real.getValue();
      bool lossy;
      converted.convert(cast<FloatType>(type).getFloatSemantics(), APFloat::rmNearestTiesToEven,
                        &lossy);
      scalar = FloatAttr::get(type, converted);
    } else {
      scalar = IntegerAttr::get(type, cast<IntegerAttr>(number).getValue());
    }
    if (lanes > 1)
      scalar = DenseElementsAttr::get(VectorType::get({lanes}, type), Attribute(scalar));
    return {context, context.builder.create<arith::ConstantOp>(context.loc, scalar)};
  };
  if (auto parts = dyn_cast<ArrayAttr>(value)) // a complex number
    return {make(parts[0]), make(parts[1])};
  return {make(value), {}};
}

FailureOr<SmallVector<Element>>
kernel::emitRegion(ArithContext &context, Region &region, ArrayRef<Element> arguments,
                   llvm::function_ref<FailureOr<Element>(Value)> captured) {
  llvm::DenseMap<Value, Element> values;
  for (auto [argument, element] : llvm::zip_equal(region.getArguments(), arguments))
    values[argument] = element;
  int64_t lanes = 1;
  if (!arguments.empty())
    if (auto vector = dyn_cast<VectorType>(arguments[0].re.type()))
      lanes = vector.getNumElements();
  for (Operation &op : region.front()) {
    SmallVector<Element> operands;
    for (Value operand : op.getOperands()) {
      if (!values.contains(operand)) {
        FailureOr<Element> outside = failure();
        if (captured)
          outside = captured(operand);
        else
          op.emitOpError("uses a value from outside its region");
        if (failed(outside))
          return failure();
        values[operand] = *outside;
      }
      operands.push_back(values[operand]);
    }
    if (op.hasTrait<OpTrait::IsTerminator>())
      return operands;
    if (auto constant = dyn_cast<hlo::ConstantOp>(op)) {
      auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
      if (!elements || !elements.isSplat())
        return op.emitOpError("is not a scalar constant");
      values[constant] =
          constantElement(context, elements.getSplatValue<Attribute>(), elementOf(constant), lanes);
      continue;
    }
    if (isa<hlo::ReshapeOp, hlo::BroadcastInDimOp, hlo::OptimizationBarrierOp>(op) &&
        op.getNumOperands() == 1) {
      values[op.getResult(0)] = operands[0];
      continue;
    }
    FailureOr<Element> result = emitElementwise(context, &op, operands);
    if (failed(result))
      return failure();
    values[op.getResult(0)] = *result;
  }
  return region.getParentOp()->emitOpError("has a region without terminator");
}
