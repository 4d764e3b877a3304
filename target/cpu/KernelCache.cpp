//===- KernelCache.cpp - code that programs share --------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keys are whole texts rather than hashes of them: equal keys mean equal kernels.
//
//===----------------------------------------------------------------------===//
#include "target/cpu/KernelCache.h"

using namespace spokeshave;
using namespace spokeshave::cpu;

/// Beyond this, what was used last longest ago goes.
static constexpr int64_t kMostBytes = 8 << 20;

int64_t KernelCode::bytes() const {
  return int64_t(sizeof *this + symbol.size() +
                 (place && place->object ? place->object->size() : 0));
}

KernelCache &KernelCache::global() {
  static KernelCache *cache = new KernelCache(kMostBytes); // compilations may outlive the end
  return *cache;
}

std::shared_ptr<const KernelCode> KernelCache::find(llvm::StringRef key) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = byKey.find(key);
  if (found == byKey.end())
    return nullptr;
  entries.splice(entries.begin(), entries, found->second);
  return found->second->code;
}

void KernelCache::insert(llvm::StringRef key, std::shared_ptr<const KernelCode> code) {
  std::lock_guard<std::mutex> lock(mutex);
  auto [place, isNew] = byKey.try_emplace(key, entries.end());
  if (!isNew) // another compilation was faster
    return;
  used += code->bytes() + int64_t(2 * key.size());
  entries.push_front({key.str(), std::move(code)});
  place->second = entries.begin();
  while (used > bound && entries.size() > 1) {
    Entry &last = entries.back();
    used -= last.code->bytes() + int64_t(2 * last.key.size());
    byKey.erase(last.key);
    entries.pop_back();
  }
}

int64_t KernelCache::bytes() {
  std::lock_guard<std::mutex> lock(mutex);
  return used;
}
