//===- FloatFormat.h - the floating-point formats, one row each ------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every floating-point element type of StableHLO is a row of one table, from
// f4E2M1FN to f64. All of them are subsets of double, so that a value is held
// as a double and only has to be rounded when it is written. The rounding is
// one function, to nearest with ties to even, driven by the row.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace spokeshave::reference {

/// How a format spends its encodings on what is not a finite number.
enum class Specials {
  Ieee,        ///< infinities and NaNs at the largest exponent
  NanOnly,     ///< "FN": all magnitude bits set is NaN, no infinity
  NanIsMinus0, ///< "FNUZ": the code of -0 is the NaN, no infinity, no -0
  None,        ///< "FN" of the 4 and 6 bit formats: finite numbers only
  Scale,       ///< f8E8M0FNU: a power of two, no sign, no zero, 0xFF is NaN
};

struct FloatFormat {
  const char *name;
  uint8_t exponentBits;
  uint8_t mantissaBits;
  int16_t bias;
  Specials specials;

  unsigned bits() const {
    return exponentBits + mantissaBits + (specials == Specials::Scale ? 0 : 1);
  }
  /// The exact value of the code `bits`.
  double decode(uint64_t bits) const;
  /// The code nearest to `value`, ties to even. What overflows becomes infinity,
  /// else NaN, else the largest number, whichever the format has first.
  uint64_t encode(double value) const;
  /// `value` rounded to this format.
  double round(double value) const;

  bool isDouble() const { return mantissaBits == 52; }
  bool isSingle() const { return mantissaBits == 23; }

  /// The row called `name` ("f8E5M2", "bf16", ...), or null.
  static const FloatFormat *find(llvm::StringRef name);
};

} // namespace spokeshave::reference
