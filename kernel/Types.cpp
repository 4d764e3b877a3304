//===- Types.cpp - element types in memory and in registers ----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Types.h.
//
//===----------------------------------------------------------------------===//
#include "kernel/Types.h"

using namespace mlir;
using namespace spokeshave;

bool kernel::isUnsigned(Type element) {
  return element.isUnsignedInteger() || element.isInteger(1);
}

bool kernel::isSmallFloat(Type element) {
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
}

Type kernel::memoryType(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return complex.getElementType();
  if (auto integer = dyn_cast<IntegerType>(element))
    return IntegerType::get(element.getContext(), std::max(8u, integer.getWidth()));
  return element;
}

Type kernel::registerType(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return complex.getElementType();
  if (auto integer = dyn_cast<IntegerType>(element))
    return IntegerType::get(element.getContext(), integer.getWidth());
  if (isSmallFloat(element))
    return Float32Type::get(element.getContext());
  return element;
}

MemRefType kernel::bufferType(RankedTensorType tensor) {
  SmallVector<int64_t> shape(tensor.getShape());
  if (isa<ComplexType>(tensor.getElementType()))
    shape.push_back(2);
  return MemRefType::get(shape, memoryType(tensor.getElementType()));
}
