//===- Compare.cpp - how far apart two tensors are -------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "reference/Compare.h"

#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;

namespace spokeshave::reference {

static bool samePart(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

bool sameValue(const ElementType &, const Scalar &a, const Scalar &b) {
  return a.i == b.i && samePart(a.re, b.re) && samePart(a.im, b.im);
}

bool almostEqual(const ElementType &type, const Scalar &a, const Scalar &b, double tolerance) {
  if (!type.isFloat() && !type.isComplex())
    return a.i == b.i;
  auto near = [&](double x, double y) { return samePart(x, y) || std::fabs(x - y) <= tolerance; };
  return near(a.re, b.re) && near(a.im, b.im);
}

/// Codes of one sign count upwards; below zero they are counted downwards.
static int64_t ordinal(const FloatFormat &format, double x) {
  uint64_t code = format.encode(std::fabs(x));
  return std::signbit(x) ? -static_cast<int64_t>(code) : static_cast<int64_t>(code);
}

static uint64_t ulpDifference(const FloatFormat &format, double a, double b) {
  if (samePart(a, b))
    return 0;
  if (!std::isfinite(a) || !std::isfinite(b))
    return std::numeric_limits<uint64_t>::max();
  int64_t x = ordinal(format, a), y = ordinal(format, b);
  return x > y ? static_cast<uint64_t>(x) - static_cast<uint64_t>(y)
               : static_cast<uint64_t>(y) - static_cast<uint64_t>(x);
}

uint64_t ulpDifference(const ElementType &type, const Scalar &a, const Scalar &b) {
  if (!type.isFloat() && !type.isComplex())
    return a.i > b.i ? a.u() - b.u() : b.u() - a.u();
  return std::max(ulpDifference(type.format(), a.re, b.re),
                  ulpDifference(type.format(), a.im, b.im));
}

std::optional<std::string>
firstDifference(const Tensor &actual, const Tensor &expected,
                llvm::function_ref<bool(const Scalar &, const Scalar &)> differs) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (actual.isTensor() != expected.isTensor() || actual.isTuple() != expected.isTuple())
    return "one is a tensor, the other is not";
  if (actual.isTuple()) {
    if (actual.tupleElements().size() != expected.tupleElements().size())
      return "tuples of different sizes";
    for (auto [a, e] : llvm::zip(actual.tupleElements(), expected.tupleElements()))
      if (auto difference = firstDifference(a, e, differs))
        return difference;
    return std::nullopt;
  }
  if (!actual.isTensor())
    return std::nullopt;
  if (actual.elementType() != expected.elementType() || actual.shape() != expected.shape()) {
    os << "types differ: " << actual.tensorType() << " and " << expected.tensorType();
    return text;
  }
  Index index(actual.rank(), 0);
  for (int64_t i = 0; i < actual.size(); ++i) {
    Scalar a = actual.at(i), e = expected.at(i);
    if (differs(a, e)) {
      os << "at [";
      llvm::interleaveComma(index, os);
      os << "] ";
      Tensor::scalar(actual.elementType(), a).print(os);
      os << ", expected ";
      Tensor::scalar(actual.elementType(), e).print(os);
      return text;
    }
    nextIndex(index, actual.shape());
  }
  return std::nullopt;
}

} // namespace spokeshave::reference
