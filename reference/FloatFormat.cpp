//===- FloatFormat.cpp - rounding to and decoding from small floats --------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "reference/FloatFormat.h"

#include "llvm/ADT/bit.h"

#include <cmath>
#include <limits>

namespace spokeshave::reference {

static constexpr FloatFormat kFormats[] = {
    // name, exponent bits, mantissa bits, bias, specials
    {"f64", 11, 52, 1023, Specials::Ieee},
    {"f32", 8, 23, 127, Specials::Ieee},
    {"tf32", 8, 10, 127, Specials::Ieee},
    {"f16", 5, 10, 15, Specials::Ieee},
    {"bf16", 8, 7, 127, Specials::Ieee},
    {"f8E5M2", 5, 2, 15, Specials::Ieee},
    {"f8E4M3", 4, 3, 7, Specials::Ieee},
    {"f8E3M4", 3, 4, 3, Specials::Ieee},
    {"f8E4M3FN", 4, 3, 7, Specials::NanOnly},
    {"f8E5M2FNUZ", 5, 2, 16, Specials::NanIsMinus0},
    {"f8E4M3FNUZ", 4, 3, 8, Specials::NanIsMinus0},
    {"f8E4M3B11FNUZ", 4, 3, 11, Specials::NanIsMinus0},
    {"f8E8M0FNU", 8, 0, 127, Specials::Scale},
    {"f6E2M3FN", 2, 3, 1, Specials::None},
    {"f6E3M2FN", 3, 2, 3, Specials::None},
    {"f4E2M1FN", 2, 1, 1, Specials::None},
};

const FloatFormat *FloatFormat::find(llvm::StringRef name) {
  for (const FloatFormat &format : kFormats)
    if (name == format.name)
      return &format;
  return nullptr;
}

static double withSign(double magnitude, bool negative) {
  return negative ? -magnitude : magnitude;
}

double FloatFormat::decode(uint64_t code) const {
  if (isDouble())
    return llvm::bit_cast<double>(code);
  if (isSingle())
    return llvm::bit_cast<float>(static_cast<uint32_t>(code));
  if (specials == Specials::Scale)
    return code == 0xFF ? std::numeric_limits<double>::quiet_NaN()
                        : std::ldexp(1.0, static_cast<int>(code) - bias);

  uint64_t signBit = uint64_t{1} << (exponentBits + mantissaBits);
  bool negative = code & signBit;
  uint64_t magnitude = code & (signBit - 1);
  uint64_t mantissa = magnitude & ((uint64_t{1} << mantissaBits) - 1);
  uint64_t exponent = magnitude >> mantissaBits;
  uint64_t maxExponent = (uint64_t{1} << exponentBits) - 1;
  double nan = withSign(std::numeric_limits<double>::quiet_NaN(), negative);

  if (specials == Specials::Ieee && exponent == maxExponent)
    return mantissa ? nan : withSign(std::numeric_limits<double>::infinity(), negative);
  if (specials == Specials::NanOnly && magnitude == signBit - 1)
    return nan;
  if (specials == Specials::NanIsMinus0 && code == signBit)
    return std::numeric_limits<double>::quiet_NaN();

  if (exponent == 0) // subnormal, no hidden bit
    return withSign(std::ldexp(static_cast<double>(mantissa), 1 - bias - mantissaBits), negative);
  mantissa |= uint64_t{1} << mantissaBits;
  return withSign(
      std::ldexp(static_cast<double>(mantissa), static_cast<int>(exponent) - bias - mantissaBits),
      negative);
}

/// f8E8M0FNU has neither sign nor zero: the nearest power of two, ties to the
/// even code; what is smaller than all of them becomes the smallest.
static uint64_t encodeScale(const FloatFormat &format, double value) {
  if (std::isnan(value) || value < 0 || std::isinf(value))
    return 0xFF;
  int exponent;
  double fraction = std::frexp(value, &exponent); // in [0.5, 1)
  int code = exponent - 1 + format.bias;
  if (value == 0 || code < 0)
    return 0;
  if (fraction > 0.75 || (fraction == 0.75 && (code & 1)))
    ++code;
  return code > 0xFE ? 0xFF : code;
}

uint64_t FloatFormat::encode(double value) const {
  if (isDouble())
    return llvm::bit_cast<uint64_t>(value);
  if (isSingle())
    return llvm::bit_cast<uint32_t>(static_cast<float>(value));
  if (specials == Specials::Scale)
    return encodeScale(*this, value);

  uint64_t signBit = uint64_t{1} << (exponentBits + mantissaBits);
  uint64_t sign = std::signbit(value) ? signBit : 0;
  uint64_t infinity = ((uint64_t{1} << exponentBits) - 1) << mantissaBits;
  uint64_t largest = signBit - 1;
  if (specials == Specials::Ieee)
    largest = infinity - 1;
  else if (specials == Specials::NanOnly)
    largest = signBit - 2;

  if (std::isnan(value)) {
    if (specials == Specials::Ieee)
      return sign | infinity | (uint64_t{1} << (mantissaBits - 1));
    if (specials == Specials::NanOnly)
      return sign | (signBit - 1);
    return signBit; // FNUZ's NaN; the finite formats have only -0 to offer
  }

  auto overflow = [&]() -> uint64_t {
    if (specials == Specials::Ieee)
      return sign | infinity;
    if (specials == Specials::NanOnly)
      return sign | (signBit - 1);
    return specials == Specials::NanIsMinus0 ? signBit : sign | largest;
  };
  if (std::isinf(value))
    return overflow();

  // Codes of one sign count up in steps of the quantum, also across a binade's
  // end, so rounding the quotient by the quantum rounds the code.
  int exponent;
  std::frexp(value, &exponent);
  int minExponent = 1 - bias;
  exponent = value == 0 ? minExponent : std::max(exponent - 1, minExponent);
  double steps = std::rint(std::ldexp(std::fabs(value), mantissaBits - exponent));
  if (exponent - minExponent > static_cast<int>((uint64_t{1} << exponentBits)))
    return overflow();
  uint64_t magnitude = (static_cast<uint64_t>(exponent - minExponent) << mantissaBits) +
                       static_cast<uint64_t>(steps);
  if (magnitude > largest)
    return overflow();
  if (magnitude == 0 && specials == Specials::NanIsMinus0)
    return 0;
  return sign | magnitude;
}

double FloatFormat::round(double value) const {
  if (isDouble())
    return value;
  if (isSingle())
    return static_cast<float>(value);
  return decode(encode(value));
}

} // namespace spokeshave::reference
