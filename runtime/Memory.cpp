//===- Memory.cpp - where all memory of a program's data comes from --------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks below a megabyte come from the C library. Larger ones are mappings of
// size classes an eighth apart, kept in a free list after use. Asking the
// machine how much is left means reading files, so its answer is turned into
// a credit that requests use up; only when the credit ends is it asked again.
//
//===----------------------------------------------------------------------===//
#include "runtime/Memory.h"

#include "machine/Machine.h"
#include "runtime/Cgroup.h"
#include "support/Error.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <pthread.h>
#include <string>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <vector>

namespace spokeshave::runtime {
namespace {

constexpr size_t kLarge = size_t(1) << 20;
constexpr size_t kHugePage = size_t(2) << 20;
constexpr int64_t kMostCached = int64_t(512) << 20;
constexpr int64_t kMostCredit = int64_t(256) << 20;

/// The size of the mapping that holds `bytes`: steps of an eighth of the power
/// of two below, so at most 12.5% is lost and similar sizes share a class.
size_t sizeClass(size_t bytes) {
  size_t step = std::max<size_t>(size_t(1) << 16, llvm::bit_floor(bytes) / 8);
  return llvm::alignTo(bytes, step);
}

/// "2G" to bytes; 0 for anything that is not a size.
int64_t parseSize(llvm::StringRef text) {
  int shift = 0;
  text = text.trim();
  if (text.consume_back_insensitive("g"))
    shift = 30;
  else if (text.consume_back_insensitive("m"))
    shift = 20;
  else if (text.consume_back_insensitive("k"))
    shift = 10;
  int64_t value;
  if (text.getAsInteger(10, value) || value < 0 || value > (INT64_MAX >> shift))
    return 0;
  return value << shift;
}

class Allocator {
public:
  Allocator() {
    if (const char *text = std::getenv("SPOKESHAVE_MEMORY_LIMIT"))
      limit = parseSize(text);
  }

  llvm::Expected<void *> take(size_t bytes);
  void giveBack(void *data, size_t bytes);
  llvm::Error check(size_t bytes);
  MemoryStatistics statistics();
  void setLimit(int64_t bytes);
  void trim();

  std::mutex mutex;

private:
  llvm::Error admit(int64_t bytes);
  void trimLocked();
  void *takeCached(size_t classSize);
  void account(int64_t bytes);

  std::map<size_t, std::vector<void *>> free; ///< by size class
  MemoryStatistics state;
  int64_t limit = 0;
  int64_t credit = 0; ///< bytes that may be taken before the machine is asked again
};

/// Never destroyed: buffers may outlive static destructors.
Allocator &allocator();

/// The lock is held over a fork, so that the child finds it free and the lists
/// whole.
void holdOverFork() {
  pthread_atfork([] { allocator().mutex.lock(); }, [] { allocator().mutex.unlock(); },
                 [] { allocator().mutex.unlock(); });
}

Allocator &allocator() {
  static Allocator *instance = new Allocator;
  static bool once = (holdOverFork(), true);
  (void)once;
  return *instance;
}

llvm::Error outOfMemory(int64_t bytes, const llvm::Twine &why) {
  return makeError(ErrorCode::OutOfMemory,
                   llvm::formatv("cannot allocate {0} bytes: ", bytes).str() + why);
}

/// A mapping aligned to huge pages; null if the system refuses.
void *mapBlock(size_t bytes) {
  size_t padded = bytes + kHugePage;
  void *raw = mmap(nullptr, padded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED)
    return nullptr;
  uintptr_t begin = reinterpret_cast<uintptr_t>(raw);
  uintptr_t aligned = llvm::alignTo(begin, kHugePage);
  if (aligned != begin)
    munmap(raw, aligned - begin);
  if (size_t tail = begin + padded - (aligned + bytes))
    munmap(reinterpret_cast<void *>(aligned + bytes), tail);
  void *block = reinterpret_cast<void *>(aligned);
  if (bytes >= kHugePage)
    madvise(block, bytes, MADV_HUGEPAGE); // advice only: failure does not matter
  return block;
}

llvm::Error Allocator::admit(int64_t bytes) {
  if (limit > 0 && bytes > limit - state.bytesInUse)
    return outOfMemory(
        bytes,
        llvm::formatv("{0} of the limit of {1} bytes are in use", state.bytesInUse, limit).str());
  if (bytes <= credit)
    return llvm::Error::success();
  int64_t available = machineMemoryAvailable();
  if (bytes > available && state.bytesCached > 0) {
    trimLocked();
    available = machineMemoryAvailable();
  }
  if (bytes > available)
    return outOfMemory(bytes, llvm::formatv("{0} bytes are left on this machine or in its "
                                            "control group",
                                            available)
                                  .str());
  credit = bytes + std::min(kMostCredit, (available - bytes) / 8);
  return llvm::Error::success();
}

void Allocator::account(int64_t bytes) {
  state.bytesInUse += bytes;
  state.peakBytesInUse = std::max(state.peakBytesInUse, state.bytesInUse);
  state.largestAllocation = std::max(state.largestAllocation, bytes);
  ++state.allocations;
}

void *Allocator::takeCached(size_t classSize) {
  auto entry = free.find(classSize);
  if (entry == free.end() || entry->second.empty())
    return nullptr;
  void *data = entry->second.back();
  entry->second.pop_back();
  state.bytesCached -= static_cast<int64_t>(classSize);
  return data;
}

llvm::Expected<void *> Allocator::take(size_t bytes) {
  if (bytes > static_cast<size_t>(INT64_MAX / 2))
    return outOfMemory(INT64_MAX, "more than any machine has");
  auto request = static_cast<int64_t>(bytes);
  std::lock_guard lock(mutex);
  bool large = bytes >= kLarge;
  size_t capacity =
      large ? sizeClass(bytes) : llvm::alignTo(std::max<size_t>(bytes, 1), kAlignment);
  if (large && !(limit > 0 && request > limit - state.bytesInUse))
    if (void *data = takeCached(capacity)) {
      account(request);
      return data;
    }
  if (llvm::Error error = admit(request))
    return std::move(error);
  void *data = large ? mapBlock(capacity) : std::aligned_alloc(kAlignment, capacity);
  if (!data)
    return outOfMemory(request, "the system refused");
  credit -= request;
  account(request);
  return data;
}

void Allocator::giveBack(void *data, size_t bytes) {
  std::lock_guard lock(mutex);
  state.bytesInUse -= static_cast<int64_t>(bytes);
  if (bytes < kLarge) {
    std::free(data);
    return;
  }
  size_t capacity = sizeClass(bytes);
  if (state.bytesCached + static_cast<int64_t>(capacity) > kMostCached) {
    munmap(data, capacity);
    return;
  }
  free[capacity].push_back(data);
  state.bytesCached += static_cast<int64_t>(capacity);
}

llvm::Error Allocator::check(size_t bytes) {
  std::lock_guard lock(mutex);
  if (bytes > static_cast<size_t>(INT64_MAX / 2))
    return outOfMemory(INT64_MAX, "more than any machine has");
  return admit(static_cast<int64_t>(bytes));
}

void Allocator::trimLocked() {
  for (auto &[capacity, blocks] : free)
    for (void *block : blocks)
      munmap(block, capacity);
  free.clear();
  state.bytesCached = 0;
}

void Allocator::trim() {
  std::lock_guard lock(mutex);
  trimLocked();
}

void Allocator::setLimit(int64_t bytes) {
  std::lock_guard lock(mutex);
  limit = std::max<int64_t>(0, bytes);
}

MemoryStatistics Allocator::statistics() {
  std::lock_guard lock(mutex);
  MemoryStatistics result = state;
  result.bytesLimit = limit > 0 ? limit : machineMemoryTotal();
  return result;
}

/// A line of /proc/meminfo in bytes.
std::optional<int64_t> memInfo(llvm::StringRef key) {
  std::ifstream file("/proc/meminfo");
  std::string name;
  int64_t kilobytes;
  std::string rest;
  while (file >> name >> kilobytes && std::getline(file, rest))
    if (llvm::StringRef(name).starts_with(key))
      return kilobytes * 1024;
  return std::nullopt;
}

} // namespace

llvm::Expected<void *> allocate(size_t bytes) {
  return allocator().take(bytes);
}
void deallocate(void *data, size_t bytes) {
  allocator().giveBack(data, bytes);
}
llvm::Error checkMemory(size_t bytes) {
  return allocator().check(bytes);
}
MemoryStatistics memoryStatistics() {
  return allocator().statistics();
}
void setMemoryLimit(int64_t bytes) {
  allocator().setLimit(bytes);
}
void trimMemory() {
  allocator().trim();
}

int64_t machineMemoryAvailable() {
  int64_t available = memInfo("MemAvailable:").value_or(INT64_MAX / 4);
  if (std::optional<int64_t> left = cgroupMemoryLeft())
    available = std::min(available, *left);
  return available;
}

int64_t machineMemoryTotal() {
  return machine::availableMemory();
}

llvm::Expected<ScopedMemory> ScopedMemory::create(size_t bytes) {
  ScopedMemory memory;
  if (bytes == 0)
    return std::move(memory);
  llvm::Expected<void *> data = allocate(bytes);
  if (!data)
    return data.takeError();
  memory.pointer = *data;
  memory.bytes = bytes;
  return std::move(memory);
}

ScopedMemory::~ScopedMemory() {
  if (pointer)
    deallocate(pointer, bytes);
}

} // namespace spokeshave::runtime
