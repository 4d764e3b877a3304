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

llvm::SmallVector<int64_t, 4> rowMajor(size_t rank) {
  llvm::SmallVector<int64_t, 4> order(rank);
  for (size_t i = 0; i < rank; ++i)
    order[i] = static_cast<int64_t>(rank - 1 - i);
  return order;
}

runtime::HostBlockRef Value::storage() const {
  std::lock_guard<std::mutex> lock(mutex);
  return bytes;
}

llvm::Expected<runtime::HostBlockRef> Value::pin(int64_t size) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!bytes) {
    llvm::Expected<runtime::HostBlockRef> allocated = runtime::HostBlock::allocate(size);
    if (!allocated)
      return allocated.takeError();
    bytes = std::move(*allocated);
  }
  return bytes;
}

runtime::HostBlockRef Value::settle(runtime::HostBlockRef candidate) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!bytes)
    bytes = std::move(candidate);
  return bytes;
}

runtime::HostBlockRef Value::takeOver() {
  std::lock_guard<std::mutex> lock(mutex);
  if (!bytes || bytes.useCount() != 1 || !bytes->isOwned())
    return nullptr;
  // What the last other holder did with the memory happened before this.
  std::atomic_thread_fence(std::memory_order_acquire);
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

Status Buffer::addExternalReference() {
  std::lock_guard<std::mutex> lock(mutex);
  if (!current)
    return invalidArgument("the buffer was deleted or donated");
  if (externalReferences++ == 0)
    external = current;
  return {};
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
  llvm::Expected<runtime::HostBlockRef> storage = held->pin(shape.bytes);
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
