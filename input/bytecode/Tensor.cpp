//===- Tensor.cpp - the values of tensors from their bytes -----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights can be large. Attributes live as long as their context and are
// hashed over all their bytes, so a constant from 4 KiB on becomes a resource:
// a blob that is copied once out of the program's bytes, whose owner may free
// those as soon as the program has been read.
//
//===----------------------------------------------------------------------===//
#include "input/bytecode/Decoder.h"

#include "input/NarrowFloats.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace spokeshave::bytecode {

static constexpr uint64_t resourceThreshold = 4096;
static constexpr size_t blobAlignment = 64;

/// Bytes of one element as they are stored: complex numbers are two, and
/// everything below a byte takes one.
static uint64_t storedSize(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * storedSize(complex.getElementType());
  if (element.isIndex())
    return 8;
  return element.isIntOrFloat() ? llvm::divideCeil(element.getIntOrFloatBitWidth(), 8) : 0;
}

static Attribute makeResource(ShapedType type, ArrayRef<char> bytes) {
  AsmResourceBlob blob = HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, blobAlignment);
  return DenseResourceElementsAttr::get(type, "constant", std::move(blob));
}

/// Bools are packed, the first in the lowest bit; old writers gave each a byte.
static Attribute boolsFromBytes(ShapedType type, uint64_t numElements, StringRef bytes,
                                bool asConstant) {
  if (bytes.size() == 1 && static_cast<uint8_t>(bytes[0]) == 0xFF)
    return DenseElementsAttr::get(type, true);
  if (bytes.size() == 1 && bytes[0] == 0)
    return DenseElementsAttr::get(type, false);
  bool isPacked = bytes.size() == llvm::divideCeil(numElements, 8) && bytes.size() != numElements;
  if (!isPacked && bytes.size() == 1 && numElements > 0)
    return DenseElementsAttr::get(type, bytes[0] != 0);
  if (!isPacked && bytes.size() != numElements)
    return {};
  SmallVector<bool> values;
  values.reserve(numElements);
  for (uint64_t i = 0; i < numElements; ++i)
    values.push_back(isPacked ? (bytes[i / 8] >> (i % 8)) & 1 : bytes[i] != 0);
  if (asConstant && values.size() >= resourceThreshold)
    return makeResource(type, {reinterpret_cast<const char *>(values.data()), values.size()});
  return DenseElementsAttr::get(type, values);
}

Attribute tensorFromBytes(ShapedType type, StringRef bytes, bool asConstant) {
  if (!type.hasStaticShape())
    return {};
  uint64_t numElements = type.getNumElements();
  Type element = type.getElementType();
  uint64_t size = storedSize(element);
  // A writer that folded a program may leave the one element of a splat that has none.
  if (numElements == 0 && size != 0 && (bytes.size() == size || bytes.empty()))
    return DenseElementsAttr::getFromRawBuffer(type, {});
  if (element.isSignlessInteger(1))
    return boolsFromBytes(type, numElements, bytes, asConstant);
  if (narrow::isNarrowFloat(element))
    return bytes.size() == numElements || (bytes.size() == 1 && numElements > 0)
               ? narrow::constantFromBytes(type, {bytes.data(), bytes.size()})
               : DenseElementsAttr();
  bool isSplat = bytes.size() == size && numElements > 0;
  if (size == 0 || (!isSplat && (numElements > bytes.size() || bytes.size() != numElements * size)))
    return {};
  ArrayRef<char> data(bytes.data(), bytes.size());
  if (asConstant && !isSplat && bytes.size() >= resourceThreshold)
    return makeResource(type, data);
  return DenseElementsAttr::getFromRawBuffer(type, data);
}

Attribute asConstantValue(DenseElementsAttr elements) {
  if (isa<DenseStringElementsAttr>(elements)) // narrow floats
    return elements;
  ArrayRef<char> raw = elements.getRawData();
  bool isBool = elements.getElementType().isSignlessInteger(1);
  if (elements.isSplat() || raw.size() < (isBool ? resourceThreshold / 8 : resourceThreshold))
    return elements;
  if (!isBool)
    return makeResource(elements.getType(), raw);
  auto values = llvm::to_vector(elements.getValues<bool>());
  return makeResource(elements.getType(),
                      {reinterpret_cast<const char *>(values.data()), values.size()});
}

} // namespace spokeshave::bytecode
