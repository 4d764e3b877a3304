//===- Constants.cpp - the bytes of constants ------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "target/cpu/Constants.h"

#include "schedule/ScheduleDialect.h"

#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace spokeshave;

/// MLIR packs booleans eight to a byte.
static std::vector<char> unpackBooleans(DenseElementsAttr value) {
  std::vector<char> bytes;
  bytes.reserve(value.getNumElements());
  for (bool element : value.getValues<bool>())
    bytes.push_back(element);
  return bytes;
}

FailureOr<std::vector<char>> cpu::bytesOf(ElementsAttr value) {
  auto type = cast<ShapedType>(value.getType());
  size_t size = schedule::byteSizeOf(type);
  if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
    if (type.getElementType().isInteger(1))
      return unpackBooleans(dense);
    ArrayRef<char> raw = dense.getRawData();
    std::vector<char> bytes(size);
    if (size == 0)
      return bytes;
    if (raw.empty() || size % raw.size() != 0 || (!dense.isSplat() && raw.size() != size))
      return failure();
    for (size_t i = 0; i < size; i += raw.size())
      llvm::copy(raw, bytes.begin() + i);
    return bytes;
  }
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      if (blob->getData().size() == size)
        return std::vector<char>(blob->getData());
  return failure();
}

cpu::ValueSpec cpu::specOf(MemRefType type) {
  ValueSpec spec;
  llvm::raw_string_ostream(spec.elementType) << type.getElementType();
  spec.shape.assign(type.getShape().begin(), type.getShape().end());
  spec.byteSize = schedule::byteSizeOf(type);
  return spec;
}
