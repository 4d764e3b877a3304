//===- Symbols.cpp - what generated code may call by name ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/Symbols.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/bit.h"

#include <cmath>
#include <cstring>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace spokeshave::runtime {
namespace {

//===----------------------------------------------------------------------===//
// Conversions that LLVM calls where the ISA has none. The compiler's own
// support library keeps them hidden or lacks them, so they are written out.
//===----------------------------------------------------------------------===//

/// Rounds to nearest even from a float with `Wide`'s layout to one with
/// `mantissa` bits, `exponent` bits of exponent. NaNs become quiet.
template <typename Bits>
uint16_t narrow(Bits bits, int wideMantissa, int wideExponent, int mantissa, int exponent) {
  const int shift = wideMantissa - mantissa;
  const int wideBias = (1 << (wideExponent - 1)) - 1, bias = (1 << (exponent - 1)) - 1;
  const Bits one = 1;
  const auto sign = static_cast<uint16_t>((bits >> (wideMantissa + wideExponent)) << 15);
  const int wideField = static_cast<int>((bits >> wideMantissa) & ((one << wideExponent) - 1));
  Bits fraction = bits & ((one << wideMantissa) - 1);
  const auto infinity = static_cast<uint16_t>(((1 << exponent) - 1) << mantissa);
  if (wideField == (1 << wideExponent) - 1) {
    if (fraction == 0)
      return sign | infinity;
    return sign | infinity | uint16_t(1 << (mantissa - 1)) | uint16_t(fraction >> shift);
  }
  int field = wideField - wideBias + bias;
  if (field >= (1 << exponent) - 1)
    return sign | infinity;
  int drop = shift;
  Bits value = fraction;
  if (wideField != 0)
    value |= one << wideMantissa;
  if (field <= 0) { // denormal in the narrow format
    drop += 1 - field;
    // A denormal of the wide format has the exponent of the first normal one.
    if (wideField == 0)
      drop -= 1;
    field = 0;
    if (drop > wideMantissa + 1)
      return sign; // below half of the smallest denormal
  } else {
    value &= (one << wideMantissa) - 1;
  }
  Bits kept = value >> drop, rest = value & ((one << drop) - 1), half = one << (drop - 1);
  if (rest > half || (rest == half && (kept & 1)))
    ++kept; // may carry into the exponent, which is what is wanted
  return sign | static_cast<uint16_t>((static_cast<uint32_t>(field) << mantissa) + kept);
}

float widenHalf(uint16_t half) {
  uint32_t sign = uint32_t(half & 0x8000) << 16, field = (half >> 10) & 31, fraction = half & 1023;
  if (field == 31) // NaNs become quiet
    return llvm::bit_cast<float>(sign | 0x7f800000u | (fraction << 13) |
                                 (fraction ? 0x400000u : 0u));
  if (field == 0) {
    float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  return llvm::bit_cast<float>(sign | ((field + 112) << 23) | (fraction << 13));
}

// Values of 16 bits travel in the low lane of a vector register. As C types they
// would make the compiler call the very functions defined here.
#if defined(__x86_64__)
using Lane = __m128i;
Lane toLane(uint16_t bits) {
  return _mm_cvtsi32_si128(bits);
}
uint16_t fromLane(Lane lane) {
  return static_cast<uint16_t>(_mm_cvtsi128_si32(lane));
}
#else
using Lane = _Float16; // the same register for both types
Lane toLane(uint16_t bits) {
  return llvm::bit_cast<Lane>(bits);
}
uint16_t fromLane(Lane lane) {
  return llvm::bit_cast<uint16_t>(lane);
}
#endif

uint16_t narrowFloat(float x, int mantissa, int exponent) {
  return narrow<uint32_t>(llvm::bit_cast<uint32_t>(x), 23, 8, mantissa, exponent);
}
uint16_t narrowDouble(double x, int mantissa, int exponent) {
  return narrow<uint64_t>(llvm::bit_cast<uint64_t>(x), 52, 11, mantissa, exponent);
}
Lane truncateFloatToHalf(float x) {
  return toLane(narrowFloat(x, 10, 5));
}
Lane truncateDoubleToHalf(double x) {
  return toLane(narrowDouble(x, 10, 5));
}
Lane truncateFloatToBrain(float x) {
  return toLane(narrowFloat(x, 7, 8));
}
Lane truncateDoubleToBrain(double x) {
  return toLane(narrowDouble(x, 7, 8));
}
float extendHalf(Lane x) {
  return widenHalf(fromLane(x));
}
uint16_t truncateFloatToHalfBits(float x) {
  return narrowFloat(x, 10, 5);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

using Table = llvm::StringMap<void *>;

template <typename Function> void put(Table &table, llvm::StringRef name, Function *function) {
  table[name] = reinterpret_cast<void *>(function);
}

using Unary32 = float(float);
using Unary64 = double(double);
using Binary32 = float(float, float);
using Binary64 = double(double, double);

// clang-format off
void putMathematics(Table &table) {
#define UNARY(name)                                                                                \
  put<Unary64>(table, #name, ::name);                                                              \
  put<Unary32>(table, #name "f", ::name##f);
  UNARY(sin) UNARY(cos) UNARY(tan) UNARY(asin) UNARY(acos) UNARY(atan)
  UNARY(sinh) UNARY(cosh) UNARY(tanh) UNARY(asinh) UNARY(acosh) UNARY(atanh)
  UNARY(exp) UNARY(exp2) UNARY(expm1) UNARY(log) UNARY(log2) UNARY(log10) UNARY(log1p)
  UNARY(cbrt) UNARY(sqrt) UNARY(erf) UNARY(erfc) UNARY(tgamma)
  UNARY(floor) UNARY(ceil) UNARY(trunc) UNARY(round) UNARY(rint) UNARY(nearbyint)
  UNARY(roundeven)
#undef UNARY
#define BINARY(name)                                                                               \
  put<Binary64>(table, #name, ::name);                                                             \
  put<Binary32>(table, #name "f", ::name##f);
  BINARY(atan2) BINARY(pow) BINARY(fmod) BINARY(remainder) BINARY(hypot)
  BINARY(fmin) BINARY(fmax) BINARY(nextafter) BINARY(copysign)
#undef BINARY
  put<double(double, double, double)>(table, "fma", ::fma);
  put<float(float, float, float)>(table, "fmaf", ::fmaf);
  put<double(double, int)>(table, "ldexp", ::ldexp);
  put<float(float, int)>(table, "ldexpf", ::ldexpf);
}
// clang-format on

extern "C" {
// 128-bit division and multiplication of the compiler's support library.
__int128 __divti3(__int128, __int128);
__int128 __modti3(__int128, __int128);
unsigned __int128 __udivti3(unsigned __int128, unsigned __int128);
unsigned __int128 __umodti3(unsigned __int128, unsigned __int128);
}

Table makeTable() {
  Table table;
  put<void *(void *, const void *, size_t)>(table, "memcpy", ::memcpy);
  put<void *(void *, const void *, size_t)>(table, "memmove", ::memmove);
  put<void *(void *, int, size_t)>(table, "memset", ::memset);
  put<int(const void *, const void *, size_t)>(table, "memcmp", ::memcmp);
  put(table, "__truncsfhf2", truncateFloatToHalf);
  put(table, "__truncdfhf2", truncateDoubleToHalf);
  put(table, "__extendhfsf2", extendHalf);
  put(table, "__truncsfbf2", truncateFloatToBrain);
  put(table, "__truncdfbf2", truncateDoubleToBrain);
  put(table, "__gnu_f2h_ieee", truncateFloatToHalfBits);
  put(table, "__gnu_h2f_ieee", widenHalf);
  put(table, "__divti3", __divti3);
  put(table, "__modti3", __modti3);
  put(table, "__udivti3", __udivti3);
  put(table, "__umodti3", __umodti3);
  putMathematics(table);
  return table;
}

} // namespace

void *lookupAllowedSymbol(llvm::StringRef name) {
  static const Table *table = new Table(makeTable());
  return table->lookup(name);
}

} // namespace spokeshave::runtime
