//===- Element.h - element types and the scalar values they hold -----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interpreter computes on one plain value type, Scalar, wide enough to hold
// any element of any type exactly. An ElementType says how such a value lies in
// memory and how the result of an operation is brought back into the type:
// integers wrap around, floats round once, to nearest with ties to even.
//
// A quantized element is held as its storage integer.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "reference/FloatFormat.h"

#include "mlir/IR/Types.h"
#include "mlir/Support/LogicalResult.h"

#include <cstdint>

namespace spokeshave::reference {

/// One element. Which fields count depends on the kind of its type: `i` for
/// booleans and integers (zero-extended where unsigned), `re` for floats, `re`
/// and `im` for complex numbers; the others stay zero.
struct Scalar {
  int64_t i = 0;
  double re = 0;
  double im = 0;

  static Scalar integer(int64_t value) { return {value, 0, 0}; }
  static Scalar real(double value) { return {0, value, 0}; }
  static Scalar complex(double re, double im) { return {0, re, im}; }
  uint64_t u() const { return static_cast<uint64_t>(i); }
};

enum class ElementKind : uint8_t { Boolean, Signed, Unsigned, Float, Complex };

class ElementType {
public:
  ElementType() = default;
  /// The element type for an MLIR type; fails where StableHLO has no such type.
  static mlir::FailureOr<ElementType> get(mlir::Type type);

  mlir::Type type() const { return mlirType; }
  ElementKind kind() const { return elementKind; }
  bool isBoolean() const { return elementKind == ElementKind::Boolean; }
  bool isSigned() const { return elementKind == ElementKind::Signed; }
  bool isUnsigned() const { return elementKind == ElementKind::Unsigned; }
  /// A signed or unsigned integer; a boolean is none.
  bool isInteger() const { return isSigned() || isUnsigned(); }
  bool isFloat() const { return elementKind == ElementKind::Float; }
  bool isComplex() const { return elementKind == ElementKind::Complex; }
  bool isQuantized() const { return quantized; }

  /// Value bits: of the whole element, both parts of a complex number.
  unsigned bits() const { return elementBits; }
  /// Bytes in a Tensor, where every element begins at a byte of its own.
  unsigned bytes() const { return elementBytes; }
  /// The format of a float or of a complex number's parts.
  const FloatFormat &format() const { return *floatFormat; }

  Scalar load(const char *from) const;
  void store(char *to, const Scalar &value) const;
  /// `value` brought into this type: wrapped or rounded.
  Scalar round(const Scalar &value) const;

  /// The raw bits of a value, and back; complex numbers have the real part low.
  uint64_t toBits(const Scalar &value) const; // not for complex<f64>
  Scalar fromBits(uint64_t bits) const;

  Scalar zero() const { return {}; }
  Scalar one() const;
  /// The largest and the smallest value; infinities where the type has them.
  Scalar lowest() const;
  Scalar highest() const;

  bool operator==(const ElementType &other) const { return mlirType == other.mlirType; }
  bool operator!=(const ElementType &other) const { return mlirType != other.mlirType; }

private:
  int64_t wrap(int64_t value) const;

  mlir::Type mlirType;
  const FloatFormat *floatFormat = nullptr;
  ElementKind elementKind = ElementKind::Boolean;
  bool quantized = false;
  uint8_t elementBits = 0;
  uint8_t elementBytes = 0;
};

} // namespace spokeshave::reference
