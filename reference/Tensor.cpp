//===- Tensor.cpp - the values that the interpreter computes ---------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "reference/Tensor.h"

#include "input/NarrowFloats.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace mlir;

namespace spokeshave::reference {

int64_t elementCount(Shape shape) {
  int64_t count = 1;
  for (int64_t dim : shape)
    if (dim < 0 || llvm::MulOverflow(count, dim, count))
      return -1;
  return count;
}

Index stridesOf(Shape shape) {
  Index strides(shape.size(), 1);
  for (int64_t axis = static_cast<int64_t>(shape.size()) - 2; axis >= 0; --axis)
    strides[axis] = strides[axis + 1] * shape[axis + 1];
  return strides;
}

bool nextIndex(llvm::MutableArrayRef<int64_t> index, Shape shape) {
  for (int64_t axis = static_cast<int64_t>(shape.size()) - 1; axis >= 0; --axis) {
    if (++index[axis] < shape[axis])
      return true;
    index[axis] = 0;
  }
  return false;
}

Tensor::Tensor(ElementType type, Shape shape)
    : type(type), dims(shape.begin(), shape.end()),
      count(std::max<int64_t>(0, elementCount(shape))),
      bytes(std::make_shared<std::vector<char>>(static_cast<size_t>(count) * type.bytes())),
      valueKind(Kind::Array) {}

Tensor Tensor::splat(ElementType type, Shape shape, const Scalar &value) {
  Tensor result(type, shape);
  char *to = result.mutableData();
  for (int64_t i = 0; i < result.count; ++i)
    type.store(to + i * type.bytes(), value);
  return result;
}

Tensor Tensor::token() {
  Tensor result;
  result.valueKind = Kind::Token;
  return result;
}

Tensor Tensor::tuple(std::vector<Tensor> elements) {
  Tensor result;
  result.valueKind = Kind::Tuple;
  result.elements = std::make_shared<std::vector<Tensor>>(std::move(elements));
  return result;
}

llvm::ArrayRef<Tensor> Tensor::tupleElements() const {
  return elements ? llvm::ArrayRef<Tensor>(*elements) : llvm::ArrayRef<Tensor>();
}

RankedTensorType Tensor::tensorType() const {
  return RankedTensorType::get(dims, type.type());
}

char *Tensor::mutableData() {
  if (bytes.use_count() > 1)
    bytes = std::make_shared<std::vector<char>>(*bytes);
  return bytes ? bytes->data() : nullptr;
}

int64_t Tensor::linearIndex(llvm::ArrayRef<int64_t> index) const {
  int64_t linear = 0;
  for (auto [axis, i] : llvm::enumerate(index))
    linear = linear * dims[axis] + i;
  return linear;
}

Tensor Tensor::withShape(Shape shape) const {
  Tensor result = *this;
  result.dims.assign(shape.begin(), shape.end());
  return result;
}

Tensor Tensor::withType(ElementType newType) const {
  Tensor result = *this;
  result.type = newType;
  return result;
}

Index Tensor::toIndex() const {
  Index result(count);
  for (int64_t i = 0; i < count; ++i)
    result[i] = at(i).i;
  return result;
}

bool Tensor::bitEquals(const Tensor &other) const {
  if (valueKind != other.valueKind)
    return false;
  if (isTuple())
    return llvm::all_of_zip(tupleElements(), other.tupleElements(),
                            [](const Tensor &a, const Tensor &b) { return a.bitEquals(b); });
  if (!isTensor())
    return true;
  return type == other.type && dims == other.dims &&
         std::memcmp(data(), other.data(), byteSize()) == 0;
}

//===----------------------------------------------------------------------===//
// Attributes.
//===----------------------------------------------------------------------===//

/// The element type under which MLIR stores values of `type` in an attribute.
static Type attributeElementType(const ElementType &type) {
  if (!type.isQuantized())
    return type.type();
  return IntegerType::get(type.type().getContext(), type.bits());
}

static Scalar fromAPFloat(const llvm::APFloat &value) {
  llvm::APFloat wide = value;
  bool lossy;
  wide.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lossy);
  return Scalar::real(wide.convertToDouble());
}

static bool readDense(DenseElementsAttr dense, const ElementType &type, Tensor &result) {
  char *to = result.mutableData();
  unsigned step = type.bytes();
  int64_t count = result.size();
  if (type.isComplex()) {
    auto values = dense.tryGetValues<std::complex<llvm::APFloat>>();
    if (failed(values))
      return false;
    for (const std::complex<llvm::APFloat> &value : *values) {
      type.store(to, Scalar::complex(fromAPFloat(value.real()).re, fromAPFloat(value.imag()).re));
      to += step;
    }
    return true;
  }
  if (type.isFloat()) {
    auto values = dense.tryGetValues<llvm::APFloat>();
    if (failed(values))
      return false;
    if (dense.isSplat() && count) { // bits as they are, a NaN's payload included
      uint64_t bits = (*values->begin()).bitcastToAPInt().getZExtValue();
      for (int64_t i = 0; i < count; ++i)
        std::memcpy(to + i * step, &bits, step);
      return true;
    }
    if (dense.getRawData().size() == result.byteSize()) {
      std::memcpy(to, dense.getRawData().data(), result.byteSize());
      return true;
    }
    for (llvm::APFloat value : *values) {
      uint64_t bits = value.bitcastToAPInt().getZExtValue();
      std::memcpy(to, &bits, step);
      to += step;
    }
    return true;
  }
  auto values = dense.tryGetValues<llvm::APInt>();
  if (failed(values))
    return false;
  for (const llvm::APInt &value : *values) {
    type.store(to, type.fromBits(value.getZExtValue()));
    to += step;
  }
  return true;
}

FailureOr<Tensor> Tensor::fromBytes(RankedTensorType tensorType, llvm::ArrayRef<char> source) {
  auto type = ElementType::get(tensorType.getElementType());
  if (failed(type) || !tensorType.hasStaticShape() || elementCount(tensorType.getShape()) < 0)
    return failure();
  Tensor result(*type, tensorType.getShape());
  if (source.size() != result.byteSize())
    return failure();
  if (!source.empty())
    std::memcpy(result.mutableData(), source.data(), source.size());
  return result;
}

/// A resource holds packed bits where a boolean tensor takes bytes.
static FailureOr<Tensor> fromResource(DenseResourceElementsAttr attribute, RankedTensorType type) {
  AsmResourceBlob *blob = attribute.getRawHandle().getBlob();
  if (!blob)
    return failure();
  auto elementType = ElementType::get(type.getElementType());
  if (failed(elementType) || !type.hasStaticShape())
    return failure();
  llvm::ArrayRef<char> data = blob->getData();
  int64_t count = elementCount(type.getShape());
  if (!elementType->isBoolean() || static_cast<int64_t>(data.size()) == count)
    return Tensor::fromBytes(type, data);
  if (static_cast<int64_t>(data.size()) * 8 < count)
    return failure();
  Tensor result(*elementType, type.getShape());
  char *to = result.mutableData();
  for (int64_t i = 0; i < count; ++i)
    to[i] = (data[i / 8] >> (i % 8)) & 1;
  return result;
}

/// Strings are elements of the types that MLIR has no class for: numbers, or bits
/// in hexadecimal.
static FailureOr<Tensor> fromStrings(DenseStringElementsAttr attribute, const ElementType &type) {
  Tensor result(type, attribute.getType().getShape());
  ArrayRef<StringRef> texts = attribute.getRawStringData();
  if (!type.isFloat() || (texts.size() != 1 && static_cast<int64_t>(texts.size()) != result.size()))
    return failure();
  for (int64_t i = 0; i < result.size(); ++i) {
    StringRef text = texts[texts.size() == 1 ? 0 : i];
    uint64_t bits = 0;
    double value = 0;
    if (text.consume_front("0x") || text.consume_front("0X")) {
      if (text.getAsInteger(16, bits) || bits >> type.bits() != 0)
        return failure();
    } else if (!text.getAsDouble(value)) {
      bits = type.format().encode(value);
    } else {
      return failure();
    }
    result.set(i, type.fromBits(bits));
  }
  return result;
}

FailureOr<Tensor> Tensor::fromAttribute(ElementsAttr attribute) {
  auto tensorType = dyn_cast<RankedTensorType>(attribute.getType());
  if (!tensorType)
    return failure();
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute))
    return fromResource(resource, tensorType);
  auto dense = dyn_cast<DenseElementsAttr>(attribute);
  auto type = ElementType::get(tensorType.getElementType());
  if (!dense || failed(type))
    return failure();
  if (auto strings = dyn_cast<DenseStringElementsAttr>(dense))
    return fromStrings(strings, *type);
  Tensor result(*type, tensorType.getShape());
  if (!readDense(dense, *type, result))
    return failure();
  return result;
}

DenseElementsAttr Tensor::toAttribute() const {
  auto attributeType = RankedTensorType::get(dims, attributeElementType(type));
  if (type.isBoolean()) {
    SmallVector<bool> values(count);
    for (int64_t i = 0; i < count; ++i)
      values[i] = at(i).i;
    return DenseElementsAttr::get(attributeType, llvm::ArrayRef<bool>(values));
  }
  if (narrow::isNarrowFloat(type.type()))
    return narrow::constantFromBytes(attributeType, llvm::ArrayRef<char>(data(), byteSize()));
  unsigned width = type.bits();
  if (type.isComplex() || width % 8 == 0) // MLIR's layout is ours
    return DenseElementsAttr::getFromRawBuffer(attributeType,
                                               llvm::ArrayRef<char>(data(), byteSize()));
  SmallVector<llvm::APInt> values;
  for (int64_t i = 0; i < count; ++i)
    values.emplace_back(width, type.toBits(at(i)));
  return DenseElementsAttr::get(attributeType, values);
}

//===----------------------------------------------------------------------===//
// Printing, for messages of failed checks and for `run`.
//===----------------------------------------------------------------------===//

static void printScalar(llvm::raw_ostream &os, const ElementType &type, const Scalar &value) {
  auto real = [&](double x) { os << llvm::format("%.*g", type.format().isDouble() ? 17 : 9, x); };
  switch (type.kind()) {
  case ElementKind::Boolean:
    os << (value.i ? "true" : "false");
    return;
  case ElementKind::Signed:
    os << value.i;
    return;
  case ElementKind::Unsigned:
    os << value.u();
    return;
  case ElementKind::Float:
    real(value.re);
    return;
  case ElementKind::Complex:
    os << '(';
    real(value.re);
    os << ", ";
    real(value.im);
    os << ')';
    return;
  }
}

static void printSlice(llvm::raw_ostream &os, const Tensor &tensor, int64_t axis, int64_t &linear) {
  if (axis == tensor.rank()) {
    printScalar(os, tensor.elementType(), tensor.at(linear++));
    return;
  }
  os << '[';
  for (int64_t i = 0; i < tensor.dim(axis); ++i) {
    if (i)
      os << ", ";
    printSlice(os, tensor, axis + 1, linear);
  }
  os << ']';
}

void Tensor::print(llvm::raw_ostream &os) const {
  if (isToken()) {
    os << "token";
    return;
  }
  if (isTuple()) {
    os << "tuple<";
    llvm::interleaveComma(tupleElements(), os, [&](const Tensor &element) { element.print(os); });
    os << '>';
    return;
  }
  if (isNull()) {
    os << "null";
    return;
  }
  int64_t linear = 0;
  printSlice(os, *this, 0, linear);
  os << " : " << tensorType();
}

} // namespace spokeshave::reference
