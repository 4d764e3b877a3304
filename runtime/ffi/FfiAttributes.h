//===- FfiAttributes.h - attributes as handlers read them ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dictionary of MLIR attributes becomes the arrays of pointers of the FFI,
// built once per call site and shared by all its runs. It keeps nothing of MLIR.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/ffi/FfiAbi.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/Error.h"

namespace spokeshave::runtime::ffi {

/// The FFI's code for an element type as MLIR prints it; kInvalid if it has none.
DataType dataTypeOf(llvm::StringRef elementType);

class AttributeStorage {
public:
  /// Error UnsupportedProgram for an attribute that the FFI cannot express.
  llvm::Error build(mlir::DictionaryAttr dictionary);
  const Attributes &attributes() const { return top; }

private:
  llvm::Error fill(Attributes &into, mlir::DictionaryAttr dictionary);
  llvm::Expected<void *> convert(mlir::Attribute attribute, int32_t &type);
  llvm::Expected<void *> convertElements(mlir::DenseElementsAttr elements, int32_t &type);
  llvm::Expected<void *> convertList(mlir::ArrayAttr list, int32_t &type);
  template <typename T> T *allocate(size_t count) { return arena.Allocate<T>(count ? count : 1); }
  void *copy(const void *data, size_t bytes);
  void *makeArray(int32_t elementType, size_t length, void *data);
  void *makeScalar(int32_t elementType, void *value);

  llvm::BumpPtrAllocator arena;
  Attributes top = {{sizeof(Attributes), nullptr}, 0, nullptr, nullptr, nullptr};
};

} // namespace spokeshave::runtime::ffi
