//===- FloatFormatTest.cpp - the float formats against LLVM's --------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "reference/FloatFormat.h"

#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>

using llvm::APFloat;

namespace spokeshave::reference {
namespace {

struct Pair {
  const char *name;
  const llvm::fltSemantics &semantics;
};

const Pair kPairs[] = {
    {"f16", APFloat::IEEEhalf()},
    {"bf16", APFloat::BFloat()},
    {"tf32", APFloat::FloatTF32()},
    {"f8E5M2", APFloat::Float8E5M2()},
    {"f8E4M3", APFloat::Float8E4M3()},
    {"f8E4M3FN", APFloat::Float8E4M3FN()},
    {"f8E5M2FNUZ", APFloat::Float8E5M2FNUZ()},
    {"f8E4M3FNUZ", APFloat::Float8E4M3FNUZ()},
    {"f8E4M3B11FNUZ", APFloat::Float8E4M3B11FNUZ()},
    {"f6E2M3FN", APFloat::Float6E2M3FN()},
    {"f6E3M2FN", APFloat::Float6E3M2FN()},
    {"f4E2M1FN", APFloat::Float4E2M1FN()},
};

double toDouble(APFloat value) {
  bool lossy;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
  return value.convertToDouble();
}

TEST(FloatFormat, DecodesEveryCode) {
  for (const Pair &pair : kPairs) {
    const FloatFormat *format = FloatFormat::find(pair.name);
    ASSERT_TRUE(format) << pair.name;
    ASSERT_EQ(format->bits(), APFloat::getSizeInBits(pair.semantics)) << pair.name;
    if (format->bits() > 16)
      continue;
    for (uint64_t code = 0; code < (uint64_t{1} << format->bits()); ++code) {
      APFloat expected(pair.semantics, llvm::APInt(format->bits(), code));
      double ours = format->decode(code);
      if (expected.isNaN()) {
        EXPECT_TRUE(std::isnan(ours)) << pair.name << ' ' << code;
        continue;
      }
      EXPECT_EQ(ours, toDouble(expected)) << pair.name << ' ' << code;
      EXPECT_EQ(std::signbit(ours), expected.isNegative()) << pair.name << ' ' << code;
      EXPECT_EQ(format->encode(ours), code) << pair.name;
    }
  }
}

/// Numbers of every size, and the ties between neighbours and what is next to them.
std::vector<double> samples(const FloatFormat &format) {
  std::mt19937_64 random(7);
  std::vector<double> values = {0.0, -0.0, 1e-320, 1e300, -1e300};
  for (int i = 0; i < 20000; ++i) {
    int exponent = static_cast<int>(random() % 60) - 40;
    double value = std::ldexp(static_cast<double>(random() >> 11), exponent - 40);
    values.push_back(random() & 1 ? value : -value);
  }
  for (uint64_t code = 0; code + 1 < (uint64_t{1} << (format.bits() - 1)) && code < 4096; ++code) {
    double middle = (format.decode(code) + format.decode(code + 1)) / 2;
    values.insert(values.end(), {middle, std::nextafter(middle, 0), std::nextafter(middle, 1e9)});
  }
  return values;
}

TEST(FloatFormat, RoundsAsLlvmDoes) {
  for (const Pair &pair : kPairs) {
    const FloatFormat &format = *FloatFormat::find(pair.name);
    for (double value : samples(format)) {
      if (!std::isfinite(value))
        continue;
      APFloat expected(value);
      bool lossy;
      expected.convert(pair.semantics, APFloat::rmNearestTiesToEven, &lossy);
      double ours = format.round(value);
      if (expected.isNaN())
        EXPECT_TRUE(std::isnan(ours)) << pair.name << ' ' << value;
      else
        EXPECT_EQ(ours, toDouble(expected)) << pair.name << ' ' << value;
    }
  }
}

TEST(FloatFormat, FormatsThatLlvmLacks) {
  const FloatFormat &e3m4 = *FloatFormat::find("f8E3M4");
  EXPECT_EQ(e3m4.decode(0x6F), 15.5); // the largest number
  EXPECT_EQ(e3m4.decode(0x01), 0.015625);
  EXPECT_TRUE(std::isinf(e3m4.round(15.75)));
  const FloatFormat &scale = *FloatFormat::find("f8E8M0FNU");
  EXPECT_EQ(scale.decode(127), 1.0);
  EXPECT_TRUE(std::isnan(scale.decode(0xFF)));
  EXPECT_EQ(scale.round(3.0), 2.0); // a tie goes to the even code
  EXPECT_EQ(scale.round(6.0), 8.0);
  EXPECT_TRUE(std::isnan(scale.round(-1.0)));
}

} // namespace
} // namespace spokeshave::reference
