//===- Storage.h - the bytes of buffers and their accounting ---------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Storage is shared: a buffer, the executions in flight that read it, and views
// handed to other libraries each hold a reference. Whoever finds itself the only
// holder may write in place; that is all there is to donation.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/Support/Error.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace spokeshave::pjrt {

/// What a device's allocator counts.
struct MemoryCounts {
  int64_t inUse = 0, peakInUse = 0, allocations = 0, largest = 0;
  int64_t pool = 0, peakPool = 0; ///< in use plus kept for reuse
  int64_t limit = 0;
};

class Allocator;

class Storage {
public:
  /// Memory that someone else owns; `release` is called when we are done with it.
  static std::shared_ptr<Storage> borrow(void *data, int64_t bytes, bool writable,
                                         std::function<void()> release);
  Storage(const Storage &) = delete;
  Storage &operator=(const Storage &) = delete;
  ~Storage();

  char *data() const { return bytes; }
  int64_t size() const { return numBytes; }
  /// Whether an execution may write its result here.
  bool isWritable() const { return writable; }

private:
  friend class Allocator;
  Storage() = default;

  char *bytes = nullptr;
  int64_t numBytes = 0;
  bool writable = true;
  std::shared_ptr<Allocator> allocator; ///< null for borrowed memory
  std::function<void()> release;
};

using StoragePtr = std::shared_ptr<Storage>;

/// Allocates, counts, and keeps large blocks for reuse: programs ask for the
/// same sizes over and over, and fresh pages cost more than most kernels.
class Allocator : public std::enable_shared_from_this<Allocator> {
public:
  /// `limit`: more bytes than this in use are refused.
  static std::shared_ptr<Allocator> create(int64_t limit);
  ~Allocator();

  /// Aligned to 64 bytes, never null, not cleared. An OutOfMemory error where
  /// the limit would be passed or the system has no more.
  llvm::Expected<StoragePtr> allocate(int64_t bytes);

  MemoryCounts counts() const;
  /// Starts the peaks afresh.
  void clearPeaks();
  /// Gives unused blocks back to the system.
  void trim();

private:
  friend class Storage;
  explicit Allocator(int64_t limit) { state.limit = limit; }
  void deallocate(char *block, int64_t blockBytes);
  char *take(int64_t blockBytes);
  void trimLocked();

  mutable std::mutex mutex;
  MemoryCounts state;
  std::map<int64_t, std::vector<char *>> free; ///< by size of block
};

} // namespace spokeshave::pjrt
