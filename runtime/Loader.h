//===- Loader.h - object code into the process -----------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Links ELF relocatable objects into one mapping of memory: code, then read-only
// data, then writable data, so that every reference is in reach of 32 bits.
// RuntimeDyld does the relocations: it needs no session, registers nothing
// anywhere, and takes some hundredths of a millisecond per object. Destroying
// the loaded object unmaps everything.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"

#include <memory>

namespace spokeshave::runtime {

class LoadedObject {
public:
  /// `objects` may refer to each other; one that calls another stands after it.
  /// Error ExecutableMismatch if one is no object for this machine or wants a
  /// symbol that is not allowed, or if there are none; OutOfMemory.
  static llvm::Expected<std::unique_ptr<LoadedObject>>
  load(llvm::ArrayRef<llvm::MemoryBufferRef> objects);
  ~LoadedObject();

  /// A global function or variable of the objects, null if there is none.
  void *symbol(llvm::StringRef name) const { return symbols.lookup(name); }
  size_t mappedBytes() const { return bytes; }

private:
  LoadedObject() = default;
  void *base = nullptr;
  size_t bytes = 0;
  llvm::StringMap<void *> symbols;
};

} // namespace spokeshave::runtime
