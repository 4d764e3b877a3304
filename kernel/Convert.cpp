//===- Convert.cpp - conversions between element types ---------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floats narrower than f32 are rounded, packed and unpacked with integer
// arithmetic on vectors; f16 with instructions where the machine has them.
// Conversions to integers saturate, NaN gives 0.
//
//===----------------------------------------------------------------------===//
#include "kernel/Elementwise.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

//===----------------------------------------------------------------------===//
// Narrow floats
//===----------------------------------------------------------------------===//

namespace {

/// What there is to know of a format.
struct Format {
  explicit Format(Type type) {
    const llvm::fltSemantics &semantics = cast<FloatType>(type).getFloatSemantics();
    width = type.getIntOrFloatBitWidth();
    mantissa = APFloat::semanticsPrecision(semantics) - 1;
    minExponent = APFloat::semanticsMinExponent(semantics);
    bias = 1 - minExponent;
    largest = APFloat::getLargest(semantics).convertToFloat();
    finiteOnly =
        isa<Float8E4M3FNType, Float8E4M3FNUZType, Float8E5M2FNUZType, Float8E4M3B11FNUZType>(type);
    unsignedZero = isa<Float8E4M3FNUZType, Float8E5M2FNUZType, Float8E4M3B11FNUZType>(type);
    nan = APFloat::getNaN(semantics).bitcastToAPInt().getZExtValue() & ((1u << width) - 1);
    infinity = ((1 << (width - 1 - mantissa)) - 1) << mantissa;
  }
  int width, mantissa, minExponent, bias;
  float largest;
  bool finiteOnly;   ///< no infinities: overflow gives NaN
  bool unsignedZero; ///< no -0: its code is the NaN
  int64_t nan, infinity;
};

} // namespace

static double powerOfTwo(int exponent) {
  return std::ldexp(1.0, exponent);
}

static bool isNativeHalf(const Num &value, Type type) {
  const machine::Machine &machine = value.in().machine;
  return (type.isF16() && machine.hasF16c) || (type.isBF16() && machine.convertsBf16);
}

/// f64 to f32 such that rounding once more to fewer bits gives the nearest: the
/// last bit is set where the conversion was not exact (round to odd).
static Num narrowToOdd(Num value) {
  Type f32 = value.in().builder.getF32Type();
  Num near = value.truncated(f32);
  Num back = near.extended(value.element());
  Num bits = near.asBits();
  // Step towards zero if rounding went away from it, then set the last bit.
  Num away = gt(abs(back), abs(value));
  Num toward = select(away, bits - 1, bits);
  Num inexact = lt(abs(back), abs(value)) | away;
  return select(inexact, toward | 1, bits).asFloat();
}

Num kernel::roundTo(Num value, Type type) {
  if (value.bits() == 64)
    value = narrowToOdd(value);
  Type f32 = value.element();
  if (isNativeHalf(value, type))
    return value.cast<arith::TruncFOp>(type).cast<arith::ExtFOp>(f32);
  Format format(type);
  int drop = 23 - format.mantissa;
  Num bits = value.asBits();
  // To even: add half of the last kept place less one, and its lowest bit.
  Num odd = shiftRight(bits, drop) & 1;
  Num rounded = ((bits + odd + ((int64_t(1) << (drop - 1)) - 1)) & -(int64_t(1) << drop)).asFloat();
  if (format.minExponent > -126) {
    // Below the normal range the places are those of the smallest normal number:
    // adding a number whose last place is that one rounds there.
    double magic = 1.5 * powerOfTwo(format.minExponent - format.mantissa + 23);
    Num size = abs(value);
    Num small = copySign((size + magic) - magic, value);
    rounded = select(lt(size, powerOfTwo(format.minExponent)), small, rounded);
  }
  float infinity = std::numeric_limits<float>::infinity();
  Num overflow = value.constant(format.finiteOnly ? std::nan("") : double(infinity));
  if (format.minExponent > -126) // bf16 overflows by itself
    rounded = select(gt(abs(rounded), double(format.largest)), copySign(overflow, value), rounded);
  if (format.unsignedZero)
    rounded = rounded + 0.0;
  Num quiet = (bits | 0x400000).asFloat();
  if (!type.isBF16())
    quiet = copySign(value.constant(std::nan("")), value);
  else
    quiet = (quiet.asBits() & -65536).asFloat();
  return select(isNan(value), quiet, rounded);
}

Num kernel::packFloat(Num value, Type type) {
  if (isNativeHalf(value, type)) {
    // What has just been rounded need not be so again.
    auto wide = Value(value).getDefiningOp<arith::ExtFOp>();
    bool isRounded = wide && getElementTypeOrSelf(wide.getIn()) == type;
    Num half = isRounded ? Num(value.in(), wide.getIn()) : value.cast<arith::TruncFOp>(type);
    return half.cast<arith::BitcastOp>(value.in().builder.getIntegerType(16));
  }
  if (type.isBF16())
    return shiftRight(value.asBits(), 16).lowBits(16);
  Format format(type);
  Num sign = shiftRight(value.asBits(), 32 - format.width) & (int64_t(1) << (format.width - 1));
  // Scaling moves the exponent to the format's bias; subnormals come out right.
  Num scaled = abs(value) * powerOfTwo(format.bias - 127);
  Num code = shiftRight(scaled.asBits(), 23 - format.mantissa);
  if (!format.finiteOnly)
    code = select(eq(abs(value), std::numeric_limits<double>::infinity()), format.infinity, code);
  code = select(isNan(value), format.nan & ~(int64_t(1) << (format.width - 1)), code) | sign;
  if (format.unsignedZero)
    code = select(isNan(value), format.nan, select(eq(value, 0.0), int64_t(0), code));
  return code.lowBits(format.width);
}

Num kernel::unpackFloat(Num bits, Type type) {
  Type f32 = bits.in().builder.getF32Type();
  if (isNativeHalf(bits, type))
    return bits.cast<arith::BitcastOp>(type).cast<arith::ExtFOp>(f32);
  Num code = bits.zeroExtended(32);
  if (type.isBF16())
    return (code << 16).asFloat();
  Format format(type);
  int64_t signBit = int64_t(1) << (format.width - 1);
  Num size = code & (signBit - 1);
  Num value = (size << (23 - format.mantissa)).asFloat() * powerOfTwo(127 - format.bias);
  if (!format.finiteOnly) {
    Num special = ((size << (23 - format.mantissa)) | 0x7f800000).asFloat();
    value = select(lt(size, format.infinity), value, special);
  } else if (!format.unsignedZero) {
    value = select(eq(size, format.nan & (signBit - 1)), std::nan(""), value);
  }
  value = ((value.asBits()) | ((code & signBit) << (32 - format.width))).asFloat();
  if (format.unsignedZero)
    value = select(eq(code, format.nan), std::nan(""), value);
  return value;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Type kernel::loadType(Type element) {
  Type memory = memoryType(element);
  if (isSmallFloat(memory))
    return IntegerType::get(element.getContext(), memory.getIntOrFloatBitWidth());
  return memory;
}

Num kernel::toMemory(Num value, Type element) {
  if (isSmallFloat(element))
    return packFloat(value, element);
  if (auto integer = dyn_cast<IntegerType>(element); integer && integer.getWidth() < 8)
    return isUnsigned(element) ? value.zeroExtended(8) : value.signExtended(8);
  return value;
}

Num kernel::fromMemory(Num value, Type element) {
  if (isSmallFloat(element))
    return unpackFloat(value, element);
  if (element.isInteger(1))
    return ne(value, 0);
  if (auto integer = dyn_cast<IntegerType>(element); integer && integer.getWidth() < 8)
    return value.lowBits(integer.getWidth());
  return value;
}

//===----------------------------------------------------------------------===//
// stablehlo.convert
//===----------------------------------------------------------------------===//

static Num integerToFloat(Num value, bool fromUnsigned, Type to) {
  auto convert = [&](Type type) {
    return fromUnsigned ? value.toUnsignedFloat(type) : value.toFloat(type);
  };
  if (!isSmallFloat(to))
    return convert(to);
  // Through f32 if that is exact, else through f64, so as to round once.
  OpBuilder &builder = value.in().builder;
  bool exact = value.bits() <= 16;
  return roundTo(convert(exact ? (Type)builder.getF32Type() : (Type)builder.getF64Type()), to);
}

static Num floatToInteger(Num value, bool toUnsigned, unsigned width) {
  // Limits as powers of two, exact in every float type.
  double high = powerOfTwo(toUnsigned ? width : width - 1);
  double low = toUnsigned ? 0.0 : -high;
  Num below = toUnsigned ? le(value, -1.0) : lt(value, low);
  Num above = ge(value, high);
  Num inRange = ~(below | above | isNan(value));
  Num safe = select(inRange, value, 0.0);
  unsigned wide = std::max(32u, width);
  Num converted = toUnsigned && width >= 32
                      ? safe.cast<arith::FPToUIOp>(value.in().builder.getIntegerType(wide))
                      : safe.toInt(wide);
  Num result = converted.lowBits(width);
  int64_t most = toUnsigned ? -1 : int64_t((uint64_t(1) << (width - 1)) - 1);
  int64_t least = toUnsigned ? 0 : int64_t(~((uint64_t(1) << (width - 1)) - 1));
  return select(above, most, select(below, least, result));
}

static Num convertReal(Num value, Type from, Type to) {
  if (to.isInteger(1))
    return from.isInteger(1) ? value : ne(value, literal(value, 0));
  auto toInteger = dyn_cast<IntegerType>(to);
  if (isa<FloatType>(from)) {
    if (toInteger)
      return floatToInteger(value, isUnsigned(to), toInteger.getWidth());
    if (isSmallFloat(to))
      return from == to ? value : roundTo(value, to);
    return value.bits() > to.getIntOrFloatBitWidth() ? value.truncated(to) : value.extended(to);
  }
  if (!toInteger)
    return integerToFloat(value, isUnsigned(from), to);
  if (toInteger.getWidth() <= value.bits())
    return value.lowBits(toInteger.getWidth());
  return isUnsigned(from) ? value.zeroExtended(toInteger.getWidth())
                          : value.signExtended(toInteger.getWidth());
}

Element kernel::convertElement(Element value, Type from, Type to) {
  auto fromComplex = dyn_cast<ComplexType>(from), toComplex = dyn_cast<ComplexType>(to);
  if (fromComplex)
    from = fromComplex.getElementType();
  if (toComplex) {
    Type part = toComplex.getElementType();
    Num re = convertReal(value.re, from, part);
    return {re, fromComplex ? convertReal(value.im, from, part) : re.constant(0.0)};
  }
  return {convertReal(value.re, from, to), {}};
}

Num kernel::reducePrecision(Num value, unsigned exponentBits, unsigned mantissaBits,
                            std::optional<int> subnormals) {
  bool isDouble = value.bits() == 64;
  int mantissa = isDouble ? 52 : 23, exponent = isDouble ? 11 : 8;
  Num bits = value.asBits();
  Num result = value;
  if (int drop = mantissa - int(mantissaBits); drop > 0) {
    Num odd = shiftRight(bits, drop) & 1;
    result = ((bits + odd + ((int64_t(1) << (drop - 1)) - 1)) & -(int64_t(1) << drop)).asFloat();
  }
  if (subnormals) {
    double magic = 1.5 * powerOfTwo(*subnormals - int(mantissaBits) + mantissa);
    Num small = copySign((abs(value) + magic) - magic, value);
    result = select(lt(abs(value), powerOfTwo(*subnormals)), small, result);
  }
  if (int(exponentBits) < exponent) {
    // Out of the range: infinity; below the smallest normal number: zero.
    int limit = 1 << (exponentBits - 1);
    Num size = abs(result);
    result =
        select(ge(size, powerOfTwo(limit)),
               copySign(value.constant(std::numeric_limits<double>::infinity()), value), result);
    result = select(lt(size, powerOfTwo(2 - limit)), copySign(value.constant(0.0), value), result);
  }
  // Without bits for it there is no NaN; the specification's is infinity then.
  if (mantissaBits == 0)
    return select(isNan(value),
                  copySign(value.constant(std::numeric_limits<double>::infinity()), value), result);
  return select(isNan(value), value, result);
}
