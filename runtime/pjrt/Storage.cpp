//===- Storage.cpp - allocation and reuse of buffers' bytes ----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/pjrt/Storage.h"

#include "support/Error.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstdlib>

namespace spokeshave::pjrt {

namespace {
constexpr int64_t kAlignment = 64;
/// Smaller blocks are left to malloc, which is quick at them.
constexpr int64_t kReusedFrom = 64 << 10;
/// Of the limit, at most this part is kept unused.
constexpr int64_t kKeptPart = 8;

/// Kernels may read whole vectors at the end of a row, so that blocks are
/// rounded up to the alignment and never empty.
int64_t blockSize(int64_t bytes) {
  return std::max(kAlignment, static_cast<int64_t>(llvm::alignTo(bytes, kAlignment)));
}
} // namespace

std::shared_ptr<Storage> Storage::borrow(void *data, int64_t bytes, bool writable,
                                         std::function<void()> release) {
  std::shared_ptr<Storage> storage(new Storage);
  storage->bytes = static_cast<char *>(data);
  storage->numBytes = bytes;
  storage->writable = writable;
  storage->release = std::move(release);
  return storage;
}

Storage::~Storage() {
  if (allocator)
    allocator->deallocate(bytes, blockSize(numBytes));
  else if (release)
    release();
}

std::shared_ptr<Allocator> Allocator::create(int64_t limit) {
  return std::shared_ptr<Allocator>(new Allocator(limit));
}

Allocator::~Allocator() { trimLocked(); }

llvm::Expected<StoragePtr> Allocator::allocate(int64_t bytes) {
  if (bytes < 0 || bytes > INT64_MAX - kAlignment)
    return makeError(ErrorCode::OutOfMemory, "an array of impossible size was asked for");
  int64_t size = blockSize(bytes);
  char *block = take(size);
  if (!block)
    return makeError(ErrorCode::OutOfMemory,
                     "out of memory: " + llvm::Twine(bytes) + " bytes asked for, " +
                         llvm::Twine(counts().inUse) + " in use, " + llvm::Twine(counts().limit) +
                         " allowed");
  StoragePtr storage(new Storage);
  storage->bytes = block;
  storage->numBytes = bytes;
  storage->allocator = shared_from_this();
  return storage;
}

char *Allocator::take(int64_t blockBytes) {
  std::lock_guard<std::mutex> lock(mutex);
  if (state.limit && blockBytes > state.limit - state.inUse)
    return nullptr;
  char *block = nullptr;
  auto kept = free.find(blockBytes);
  if (kept != free.end() && !kept->second.empty()) {
    block = kept->second.back();
    kept->second.pop_back();
  } else {
    if (state.limit && state.pool + blockBytes > state.limit)
      trimLocked();
    block = static_cast<char *>(std::aligned_alloc(kAlignment, blockBytes));
    if (!block)
      return nullptr;
    state.pool += blockBytes;
  }
  state.inUse += blockBytes;
  state.allocations += 1;
  state.peakInUse = std::max(state.peakInUse, state.inUse);
  state.peakPool = std::max(state.peakPool, state.pool);
  state.largest = std::max(state.largest, blockBytes);
  return block;
}

void Allocator::deallocate(char *block, int64_t blockBytes) {
  std::lock_guard<std::mutex> lock(mutex);
  state.inUse -= blockBytes;
  int64_t unused = state.pool - state.inUse;
  if (blockBytes >= kReusedFrom && unused <= state.limit / kKeptPart) {
    free[blockBytes].push_back(block);
    return;
  }
  state.pool -= blockBytes;
  std::free(block);
}

void Allocator::trimLocked() {
  for (auto &[blockBytes, blocks] : free) {
    for (char *block : blocks)
      std::free(block);
    state.pool -= blockBytes * static_cast<int64_t>(blocks.size());
  }
  free.clear();
}

void Allocator::trim() {
  std::lock_guard<std::mutex> lock(mutex);
  trimLocked();
}

MemoryCounts Allocator::counts() const {
  std::lock_guard<std::mutex> lock(mutex);
  return state;
}

void Allocator::clearPeaks() {
  std::lock_guard<std::mutex> lock(mutex);
  state.peakInUse = state.inUse;
  state.peakPool = state.pool;
  state.largest = 0;
}

} // namespace spokeshave::pjrt
