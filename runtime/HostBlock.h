//===- HostBlock.h - reference-counted memory of a buffer ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes behind a buffer: our own allocation, or someone else's memory used
// in place (zero-copy from numpy or dlpack) with a callback when the last
// reference goes. Buffers, views of buffers (dlpack out) and executions in
// flight each hold a reference.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/Memory.h"

#include "llvm/ADT/FunctionExtras.h"
#include "llvm/ADT/IntrusiveRefCntPtr.h"

namespace spokeshave::runtime {

class HostBlock;
using HostBlockRef = llvm::IntrusiveRefCntPtr<HostBlock>;

class HostBlock : public llvm::ThreadSafeRefCountedBase<HostBlock> {
public:
  using ReleaseFunction = llvm::unique_function<void()>;

  /// Our own memory, aligned to 64 bytes and uninitialised. Error OutOfMemory
  /// when the limit or the machine does not allow it. 0 bytes give a valid,
  /// aligned pointer.
  static llvm::Expected<HostBlockRef> allocate(size_t bytes);

  /// Someone else's memory. `release` runs once, on the thread that drops the
  /// last reference: it must not need a lock that such a thread may hold (the
  /// GIL: hand the work over to a thread of Python's instead).
  static HostBlockRef external(void *data, size_t bytes, ReleaseFunction release);

  void *data() const { return pointer; }
  size_t size() const { return bytes; }
  /// True for memory of ours: may be written in place when donated.
  bool isOwned() const { return owned; }

  ~HostBlock();

private:
  HostBlock(void *pointer, size_t bytes, bool owned, ReleaseFunction release)
      : pointer(pointer), bytes(bytes), owned(owned), release(std::move(release)) {}

  void *pointer;
  size_t bytes;
  bool owned;
  ReleaseFunction release;
};

} // namespace spokeshave::runtime
