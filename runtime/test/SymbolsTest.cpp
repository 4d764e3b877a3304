//===- SymbolsTest.cpp - the functions that generated code may call ---===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/Symbols.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"
#include "gtest/gtest.h"

#include <random>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace spokeshave::runtime::test {
namespace {

/// The register that values of 16 bits travel in.
#if defined(__x86_64__)
using Lane = __m128i;
uint16_t bitsOf(Lane lane) {
  return static_cast<uint16_t>(_mm_cvtsi128_si32(lane));
}
Lane laneOf(uint32_t bits) {
  return _mm_cvtsi32_si128(static_cast<int>(bits));
}
#else
using Lane = _Float16;
uint16_t bitsOf(Lane lane) {
  return llvm::bit_cast<uint16_t>(lane);
}
Lane laneOf(uint32_t bits) {
  return llvm::bit_cast<Lane>(static_cast<uint16_t>(bits));
}
#endif

template <typename Function> Function *find(const char *name) {
  return reinterpret_cast<Function *>(lookupAllowedSymbol(name));
}

/// What LLVM's software floating point makes of the same conversion.
uint16_t expected(const llvm::fltSemantics &semantics, llvm::APFloat value) {
  bool lost;
  value.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &lost);
  return static_cast<uint16_t>(value.bitcastToAPInt().getZExtValue());
}

TEST(Symbols, NarrowingConversions) {
  auto *floatToHalf = find<Lane(float)>("__truncsfhf2");
  auto *doubleToHalf = find<Lane(double)>("__truncdfhf2");
  auto *floatToBrain = find<Lane(float)>("__truncsfbf2");
  auto *doubleToBrain = find<Lane(double)>("__truncdfbf2");
  ASSERT_TRUE(floatToHalf && doubleToHalf && floatToBrain && doubleToBrain);
  std::mt19937_64 random(11);
  for (int i = 0; i < 300000; ++i) {
    uint64_t bits = random();
    // Half of the exponents near the range of the narrow types.
    if (i & 1)
      bits = (bits & 0x800fffffffffffff) | ((1023 - 30 + random() % 60) << 52);
    if (i % 7 == 0)
      bits &= 0xfffffffff0000000; // ties
    auto d = llvm::bit_cast<double>(bits);
    auto f = i & 2 ? static_cast<float>(d) : llvm::bit_cast<float>(static_cast<uint32_t>(bits));
    if (d != d || f != f)
      continue;
    ASSERT_EQ(bitsOf(floatToHalf(f)), expected(llvm::APFloat::IEEEhalf(), llvm::APFloat(f))) << f;
    ASSERT_EQ(bitsOf(doubleToHalf(d)), expected(llvm::APFloat::IEEEhalf(), llvm::APFloat(d))) << d;
    ASSERT_EQ(bitsOf(floatToBrain(f)), expected(llvm::APFloat::BFloat(), llvm::APFloat(f))) << f;
    ASSERT_EQ(bitsOf(doubleToBrain(d)), expected(llvm::APFloat::BFloat(), llvm::APFloat(d))) << d;
  }
  float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(bitsOf(floatToHalf(nan)), 0x7e00);
  EXPECT_EQ(bitsOf(floatToBrain(nan)), 0x7fc0);
}

TEST(Symbols, EveryHalfWidens) {
  auto *widen = find<float(Lane)>("__extendhfsf2");
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float value = widen(laneOf(bits));
    llvm::APFloat half(llvm::APFloat::IEEEhalf(), llvm::APInt(16, bits));
    bool lost;
    half.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &lost);
    ASSERT_EQ(llvm::bit_cast<uint32_t>(value), half.bitcastToAPInt().getZExtValue()) << bits;
  }
}

TEST(Symbols, NothingElse) {
  EXPECT_NE(lookupAllowedSymbol("memcpy"), nullptr);
  EXPECT_NE(lookupAllowedSymbol("tanhf"), nullptr);
  for (const char *name : {"malloc", "system", "exit", "", "printf"})
    EXPECT_EQ(lookupAllowedSymbol(name), nullptr);
}

} // namespace
} // namespace spokeshave::runtime::test
