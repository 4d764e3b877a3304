//===- KernelCache.h - code that programs share ----------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "target/cpu/Compile.h"

#include "llvm/ADT/StringMap.h"

#include <list>
#include <mutex>

namespace spokeshave::cpu {

/// An object, and those that its functions call into.
struct LinkedObject {
  Object object;
  std::vector<std::shared_ptr<const LinkedObject>> needs;
};

/// The code of one function, and what a driver must know of it to launch it.
struct KernelCode {
  std::string symbol;
  std::shared_ptr<const LinkedObject> place; ///< other functions may be there, too
  int64_t tasks = 0, scratchBytes = 0, taskCostNs = 0, instructions = 0;
  bool pollsCancel = false;

  int64_t bytes() const;
};

/// Code by content, for all programs of the process. Safe to use from any number
/// of threads. What was not used for longest goes when `bound` bytes are full.
class KernelCache {
public:
  explicit KernelCache(int64_t bound) : bound(bound) {}
  static KernelCache &global();

  /// Null if there is none.
  std::shared_ptr<const KernelCode> find(llvm::StringRef key);
  void insert(llvm::StringRef key, std::shared_ptr<const KernelCode> code);
  int64_t bytes();

private:
  struct Entry {
    std::string key;
    std::shared_ptr<const KernelCode> code;
  };
  std::mutex mutex;
  std::list<Entry> entries; ///< the last used first
  llvm::StringMap<std::list<Entry>::iterator> byKey;
  int64_t bound, used = 0;
};

} // namespace spokeshave::cpu
