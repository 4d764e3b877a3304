//===- Buffer.cpp - arrays as the framework holds them ---------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/pjrt/Buffer.h"

namespace spokeshave::pjrt {

Status makeShape(ElementType type, const int64_t *dims, size_t rank, Shape &shape) {
  shape.type = type;
  shape.dims.assign(dims, dims + rank);
  if (!bytesOf(type))
    return invalidArgument("unknown element type " + llvm::Twine(static_cast<uint32_t>(type)));
  std::optional<int64_t> bytes = bytesOf(type, shape.dims);
  if (!bytes)
    return invalidArgument("no array has the shape " + shape.text());
  shape.bytes = *bytes;
  return {};
}

StoragePtr Value::storage() const {
  std::lock_guard<std::mutex> lock(mutex);
  return bytes;
}

llvm::Expected<StoragePtr> Value::pin(Allocator &allocator, int64_t size) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!bytes) {
    llvm::Expected<StoragePtr> allocated = allocator.allocate(size);
    if (!allocated)
      return allocated.takeError();
    bytes = std::move(*allocated);
  }
  return bytes;
}

StoragePtr Value::settle(StoragePtr candidate) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!bytes)
    bytes = std::move(candidate);
  return bytes;
}

StoragePtr Value::takeOver() {
  std::lock_guard<std::mutex> lock(mutex);
  if (!bytes || bytes.use_count() != 1 || !bytes->isWritable())
    return nullptr;
  return std::move(bytes);
}

ValuePtr Buffer::value() const {
  std::lock_guard<std::mutex> lock(mutex);
  return current;
}

ValuePtr Buffer::release() {
  std::lock_guard<std::mutex> lock(mutex);
  return std::move(current);
}

void Buffer::addExternalReference() {
  std::lock_guard<std::mutex> lock(mutex);
  if (externalReferences++ == 0)
    external = current;
}

Status Buffer::dropExternalReference() {
  ValuePtr last; // freed outside of the lock
  std::lock_guard<std::mutex> lock(mutex);
  if (externalReferences == 0)
    return invalidArgument("the buffer has no external reference to drop");
  if (--externalReferences == 0)
    last = std::move(external);
  return {};
}

Status Buffer::pointer(void *&address) {
  ValuePtr held;
  {
    std::lock_guard<std::mutex> lock(mutex);
    held = current ? current : external;
  }
  if (!held)
    return invalidArgument("the buffer was deleted or donated");
  llvm::Expected<StoragePtr> storage = held->pin(*memory->allocator, shape.bytes);
  if (!storage)
    return toStatus(storage.takeError());
  address = (*storage)->data();
  return {};
}

Status liveValue(Buffer *buffer, llvm::StringRef what, ValuePtr &value) {
  if (!buffer)
    return invalidArgument(what + " is null");
  value = buffer->value();
  if (!value)
    return invalidArgument(what + " was deleted or donated");
  return {};
}

} // namespace spokeshave::pjrt
