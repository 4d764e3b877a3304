//===- FfiAttributes.cpp - attributes as handlers read them ----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/ffi/FfiAttributes.h"

#include "support/Error.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cstring>

using namespace mlir;

namespace spokeshave::runtime::ffi {

DataType dataTypeOf(llvm::StringRef type) {
  if (type.contains("token"))
    return kToken;
  return llvm::StringSwitch<DataType>(type)
      .Case("i1", kPred)
      .Cases("i2", "si2", kS2)
      .Cases("i4", "si4", kS4)
      .Cases("i8", "si8", kS8)
      .Cases("i16", "si16", kS16)
      .Cases("i32", "si32", kS32)
      .Cases("i64", "si64", kS64)
      .Case("ui2", kU2)
      .Case("ui4", kU4)
      .Case("ui8", kU8)
      .Case("ui16", kU16)
      .Case("ui32", kU32)
      .Case("ui64", kU64)
      .Case("f16", kF16)
      .Case("bf16", kBF16)
      .Case("f32", kF32)
      .Case("f64", kF64)
      .Case("complex<f32>", kC64)
      .Case("complex<f64>", kC128)
      .Case("f8E5M2", kF8E5M2)
      .Case("f8E4M3FN", kF8E4M3FN)
      .Case("f8E4M3B11FNUZ", kF8E4M3B11FNUZ)
      .Case("f8E5M2FNUZ", kF8E5M2FNUZ)
      .Case("f8E4M3FNUZ", kF8E4M3FNUZ)
      .Case("f8E4M3", kF8E4M3)
      .Case("f8E3M4", kF8E3M4)
      .Case("f4E2M1FN", kF4E2M1FN)
      .Case("f8E8M0FNU", kF8E8M0FNU)
      .Default(kInvalid);
}

namespace {

std::string printed(llvm::function_ref<void(llvm::raw_ostream &)> print) {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

llvm::Expected<int32_t> dataTypeOf(Type type) {
  std::string text = printed([&](llvm::raw_ostream &os) { type.print(os); });
  DataType result = ffi::dataTypeOf(llvm::StringRef(text));
  if (result == kInvalid)
    return makeError(ErrorCode::UnsupportedProgram,
                     "custom call attributes cannot have elements of type " + text);
  return result;
}

llvm::Error unsupported(Attribute attribute) {
  return makeError(ErrorCode::UnsupportedProgram,
                   "custom call attribute is of a kind that handlers cannot read: " +
                       printed([&](llvm::raw_ostream &os) { attribute.print(os); }));
}

/// The bytes of a number in memory, little-endian, a byte at least.
void appendNumber(llvm::SmallVectorImpl<char> &bytes, const llvm::APInt &bits) {
  unsigned count = std::max(1u, bits.getBitWidth() / 8);
  const char *data = reinterpret_cast<const char *>(bits.getRawData());
  bytes.append(data, data + count);
}

/// False if `attribute` is no number.
bool appendNumber(llvm::SmallVectorImpl<char> &bytes, Attribute attribute) {
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    appendNumber(bytes, integer.getValue());
  else if (auto number = dyn_cast<FloatAttr>(attribute))
    appendNumber(bytes, number.getValue().bitcastToAPInt());
  else
    return false;
  return true;
}

} // namespace

void *AttributeStorage::copy(const void *data, size_t bytes) {
  // 16 bytes fit any element type, complex numbers included.
  void *target = arena.Allocate(bytes ? bytes : 1, llvm::Align(16));
  if (bytes)
    std::memcpy(target, data, bytes);
  return target;
}

void *AttributeStorage::makeArray(int32_t elementType, size_t length, void *data) {
  return new (allocate<Array>(1)) Array{elementType, length, data};
}

void *AttributeStorage::makeScalar(int32_t elementType, void *value) {
  return new (allocate<Scalar>(1)) Scalar{elementType, value};
}

llvm::Expected<void *> AttributeStorage::convertElements(DenseElementsAttr elements,
                                                         int32_t &type) {
  llvm::Expected<int32_t> elementType = dataTypeOf(elements.getElementType());
  if (!elementType)
    return elementType.takeError();
  // Element by element: MLIR packs bits and stores splats once.
  llvm::SmallVector<char> bytes;
  if (isa<ComplexType>(elements.getElementType())) {
    if (!isa<FloatType>(cast<ComplexType>(elements.getElementType()).getElementType()))
      return unsupported(elements);
    for (std::complex<llvm::APFloat> value : elements.getValues<std::complex<llvm::APFloat>>()) {
      appendNumber(bytes, value.real().bitcastToAPInt());
      appendNumber(bytes, value.imag().bitcastToAPInt());
    }
  } else if (isa<FloatType>(elements.getElementType())) {
    for (const llvm::APFloat &value : elements.getValues<llvm::APFloat>())
      appendNumber(bytes, value.bitcastToAPInt());
  } else {
    for (const llvm::APInt &value : elements.getValues<llvm::APInt>())
      appendNumber(bytes, value);
  }
  void *data = copy(bytes.data(), bytes.size());
  bool single = elements.getType().getRank() == 0;
  type = single ? kScalar : kArray;
  return single ? makeScalar(*elementType, data)
                : makeArray(*elementType, static_cast<size_t>(elements.getNumElements()), data);
}

/// A list of numbers of one type is an array; nothing else can be expressed.
llvm::Expected<void *> AttributeStorage::convertList(ArrayAttr list, int32_t &type) {
  type = kArray;
  if (list.empty())
    return makeArray(kS64, 0, copy(nullptr, 0));
  auto first = dyn_cast<TypedAttr>(list[0]);
  llvm::SmallVector<char> bytes;
  for (Attribute element : list) {
    auto typed = dyn_cast<TypedAttr>(element);
    if (!typed || typed.getType() != first.getType() || !appendNumber(bytes, element))
      return unsupported(list);
  }
  llvm::Expected<int32_t> elementType = dataTypeOf(first.getType());
  if (!elementType)
    return elementType.takeError();
  return makeArray(*elementType, list.size(), copy(bytes.data(), bytes.size()));
}

llvm::Expected<void *> AttributeStorage::convert(Attribute attribute, int32_t &type) {
  if (auto text = dyn_cast<StringAttr>(attribute)) {
    type = kString;
    void *data = copy(text.data(), text.size());
    return new (allocate<Span>(1)) Span{static_cast<char *>(data), text.size()};
  }
  if (auto dictionary = dyn_cast<DictionaryAttr>(attribute)) {
    type = kDictionary;
    auto *nested = new (allocate<Attributes>(1)) Attributes(top);
    if (llvm::Error error = fill(*nested, dictionary))
      return std::move(error);
    return nested;
  }
  if (auto array = dyn_cast<DenseArrayAttr>(attribute)) {
    llvm::Expected<int32_t> elementType = dataTypeOf(array.getElementType());
    if (!elementType)
      return elementType.takeError();
    type = kArray;
    return makeArray(*elementType, static_cast<size_t>(array.size()),
                     copy(array.getRawData().data(), array.getRawData().size()));
  }
  if (auto elements = dyn_cast<DenseElementsAttr>(attribute))
    return convertElements(elements, type);
  if (auto list = dyn_cast<ArrayAttr>(attribute))
    return convertList(list, type);
  llvm::SmallVector<char> bytes;
  if (!appendNumber(bytes, attribute))
    return unsupported(attribute);
  llvm::Expected<int32_t> elementType = dataTypeOf(cast<TypedAttr>(attribute).getType());
  if (!elementType)
    return elementType.takeError();
  type = kScalar;
  return makeScalar(*elementType, copy(bytes.data(), bytes.size()));
}

llvm::Error AttributeStorage::fill(Attributes &into, DictionaryAttr dictionary) {
  size_t count = dictionary.size();
  auto *types = allocate<int32_t>(count);
  auto **names = allocate<const Span *>(count);
  auto **values = allocate<void *>(count);
  size_t index = 0;
  for (NamedAttribute entry : dictionary) { // sorted by name, as handlers expect
    llvm::Expected<void *> value = convert(entry.getValue(), types[index]);
    if (!value)
      return value.takeError();
    llvm::StringRef name = entry.getName().strref();
    names[index] = new (allocate<Span>(1))
        Span{static_cast<char *>(copy(name.data(), name.size())), name.size()};
    values[index] = *value;
    ++index;
  }
  into.count = static_cast<int64_t>(count);
  into.types = types;
  into.names = names;
  into.values = values;
  return llvm::Error::success();
}

llvm::Error AttributeStorage::build(DictionaryAttr dictionary) {
  return fill(top, dictionary);
}

} // namespace spokeshave::runtime::ffi
