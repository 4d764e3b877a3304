//===- Element.cpp - how elements lie in memory and how they round ---------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "reference/Element.h"

#include "mlir/Dialect/Quant/QuantTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>
#include <limits>
#include <string>

using namespace mlir;

namespace spokeshave::reference {

/// The format behind a float type. Types that MLIR 19 has no class for are
/// named by their dialect's mnemonic, as in !narrow.f4E2M1FN.
static const FloatFormat *formatOf(Type type) {
  static const FloatFormat *f32 = FloatFormat::find("f32"), *f64 = FloatFormat::find("f64"),
                           *f16 = FloatFormat::find("f16"), *bf16 = FloatFormat::find("bf16");
  if (type.isF32()) // the frequent ones without printing
    return f32;
  if (type.isF64())
    return f64;
  if (type.isF16())
    return f16;
  if (type.isBF16())
    return bf16;
  if (isa<IntegerType, ComplexType, IndexType, ShapedType>(type))
    return nullptr;
  std::string name;
  llvm::raw_string_ostream(name) << type;
  StringRef mnemonic = name;
  mnemonic.consume_front("!narrow.");
  return FloatFormat::find(mnemonic);
}

FailureOr<ElementType> ElementType::get(Type type) {
  ElementType result;
  result.mlirType = type;
  if (auto quantizedType = dyn_cast<quant::QuantizedType>(type)) {
    auto storage = dyn_cast<IntegerType>(quantizedType.getStorageType());
    if (!storage || storage.getWidth() > 64)
      return failure();
    result.quantized = true;
    result.elementKind = quantizedType.isSigned() ? ElementKind::Signed : ElementKind::Unsigned;
    result.elementBits = storage.getWidth();
  } else if (auto integer = dyn_cast<IntegerType>(type)) {
    if (integer.getWidth() > 64 || integer.getWidth() == 0)
      return failure();
    result.elementBits = integer.getWidth();
    result.elementKind = integer.isUnsigned()      ? ElementKind::Unsigned
                         : integer.getWidth() == 1 ? ElementKind::Boolean
                                                   : ElementKind::Signed;
  } else if (isa<IndexType>(type)) {
    result.elementKind = ElementKind::Signed;
    result.elementBits = 64;
  } else if (auto complexType = dyn_cast<ComplexType>(type)) {
    result.floatFormat = formatOf(complexType.getElementType());
    if (!result.floatFormat || result.floatFormat->bits() < 32)
      return failure();
    result.elementKind = ElementKind::Complex;
    result.elementBits = 2 * result.floatFormat->bits();
  } else {
    result.floatFormat = formatOf(type);
    if (!result.floatFormat)
      return failure();
    result.elementKind = ElementKind::Float;
    result.elementBits = result.floatFormat->bits();
  }
  result.elementBytes = llvm::PowerOf2Ceil(llvm::divideCeil(result.elementBits, 8));
  return result;
}

int64_t ElementType::wrap(int64_t value) const {
  if (elementBits == 64)
    return value;
  if (elementKind == ElementKind::Signed)
    return llvm::SignExtend64(value, elementBits);
  return value & ((int64_t{1} << elementBits) - 1);
}

static uint64_t readBytes(const char *from, unsigned bytes) {
  uint64_t bits = 0; // little-endian hosts only, as is all of Spokeshave
  std::memcpy(&bits, from, bytes);
  return bits;
}

Scalar ElementType::fromBits(uint64_t bits) const {
  switch (elementKind) {
  case ElementKind::Boolean:
    return Scalar::integer(bits & 1);
  case ElementKind::Signed:
  case ElementKind::Unsigned:
    return Scalar::integer(wrap(static_cast<int64_t>(bits)));
  case ElementKind::Float:
    return Scalar::real(floatFormat->decode(bits));
  case ElementKind::Complex:
    return Scalar::complex(floatFormat->decode(bits & 0xFFFFFFFF), floatFormat->decode(bits >> 32));
  }
  return {};
}

uint64_t ElementType::toBits(const Scalar &value) const {
  switch (elementKind) {
  case ElementKind::Boolean:
    return value.i != 0;
  case ElementKind::Signed:
  case ElementKind::Unsigned: {
    uint64_t mask = elementBits == 64 ? ~uint64_t{0} : (uint64_t{1} << elementBits) - 1;
    return value.u() & mask;
  }
  case ElementKind::Float:
    return floatFormat->encode(value.re);
  case ElementKind::Complex:
    return floatFormat->encode(value.re) | floatFormat->encode(value.im) << 32;
  }
  return 0;
}

Scalar ElementType::load(const char *from) const {
  if (elementKind == ElementKind::Complex) {
    unsigned half = elementBytes / 2;
    return Scalar::complex(floatFormat->decode(readBytes(from, half)),
                           floatFormat->decode(readBytes(from + half, half)));
  }
  return fromBits(readBytes(from, elementBytes));
}

void ElementType::store(char *to, const Scalar &value) const {
  if (elementKind == ElementKind::Complex) {
    unsigned half = elementBytes / 2;
    uint64_t re = floatFormat->encode(value.re), im = floatFormat->encode(value.im);
    std::memcpy(to, &re, half);
    std::memcpy(to + half, &im, half);
    return;
  }
  uint64_t bits = toBits(value);
  std::memcpy(to, &bits, elementBytes);
}

Scalar ElementType::round(const Scalar &value) const {
  switch (elementKind) {
  case ElementKind::Boolean:
    return Scalar::integer(value.i != 0);
  case ElementKind::Signed:
  case ElementKind::Unsigned:
    return Scalar::integer(wrap(value.i));
  case ElementKind::Float:
    return Scalar::real(floatFormat->round(value.re));
  case ElementKind::Complex:
    return Scalar::complex(floatFormat->round(value.re), floatFormat->round(value.im));
  }
  return {};
}

Scalar ElementType::one() const {
  return isFloat() || isComplex() ? Scalar::real(1) : Scalar::integer(1);
}

Scalar ElementType::lowest() const {
  if (isFloat() || isComplex())
    return Scalar::real(-std::numeric_limits<double>::infinity());
  if (isSigned())
    return Scalar::integer(llvm::minIntN(elementBits));
  return {};
}

Scalar ElementType::highest() const {
  if (isFloat() || isComplex())
    return Scalar::real(std::numeric_limits<double>::infinity());
  if (isSigned())
    return Scalar::integer(llvm::maxIntN(elementBits));
  return Scalar::integer(static_cast<int64_t>(llvm::maxUIntN(elementBits)));
}

} // namespace spokeshave::reference
