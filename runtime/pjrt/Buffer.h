//===- Buffer.h - arrays as the framework holds them -----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A Value is an array that exists or will exist once a program has run; programs
// in flight and buffers share it. A Buffer is the framework's handle to a Value,
// which it loses when it is deleted or donated.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/HostBlock.h"
#include "runtime/pjrt/Client.h"
#include "runtime/pjrt/ElementTypes.h"
#include "runtime/pjrt/Event.h"

#include "llvm/ADT/SmallVector.h"

namespace spokeshave::pjrt {

struct Shape {
  ElementType type = ElementType::Invalid;
  llvm::SmallVector<int64_t, 4> dims;
  int64_t bytes = 0;

  std::string text() const { return shapeText(nameOf(type), dims); }
};

/// Checks type, rank and size.
Status makeShape(ElementType type, const int64_t *dims, size_t rank, Shape &shape);

/// [rank - 1, ..., 0]: row-major, the only layout of our buffers.
llvm::SmallVector<int64_t, 4> rowMajor(size_t rank);

class Value {
public:
  explicit Value(CompletionPtr ready, runtime::HostBlockRef storage = nullptr)
      : ready(std::move(ready)), bytes(std::move(storage)) {}

  const CompletionPtr ready;

  /// The storage; null as long as it is undecided.
  runtime::HostBlockRef storage() const;
  /// The storage, allocated now if it was undecided: its address may be handed
  /// out before the program that fills it has run.
  llvm::Expected<runtime::HostBlockRef> pin(int64_t size);
  /// Decides for `candidate` unless it was pinned; returns what it has.
  runtime::HostBlockRef settle(runtime::HostBlockRef candidate);
  /// Gives the storage to the caller if nobody else holds it and it is
  /// ours; for the one program that holds the only reference to this value.
  runtime::HostBlockRef takeOver();

private:
  mutable std::mutex mutex;
  runtime::HostBlockRef bytes;
};

using ValuePtr = std::shared_ptr<Value>;

struct Buffer {
  Buffer(Device *device, Memory *memory, Shape shape, ValuePtr value)
      : device(device), memory(memory), shape(std::move(shape)), current(std::move(value)) {}

  Device *const device;
  Memory *const memory;
  const Shape shape;
  /// The order of dimensions in memory, for the C API.
  const llvm::SmallVector<int64_t, 4> minorToMajor = rowMajor(shape.dims.size());

  /// Null once it is deleted or donated.
  ValuePtr value() const;
  bool isDeleted() const { return !value(); }
  /// Takes the value away; null if it was gone already. Memory that other
  /// libraries look at stays until they are done.
  ValuePtr release();

  Status addExternalReference();
  Status dropExternalReference();
  /// The address, valid while the buffer or an external reference lives.
  Status pointer(void *&address);

private:
  mutable std::mutex mutex;
  ValuePtr current;
  ValuePtr external; ///< what external references look at
  int64_t externalReferences = 0;
};

/// The value of a live buffer, or an error that says it was deleted.
Status liveValue(Buffer *buffer, llvm::StringRef what, ValuePtr &value);

} // namespace spokeshave::pjrt
