//===- Memory.h - where all memory of a program's data comes from ----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One allocator for buffers, arenas and scratch: blocks aligned to 64 bytes
// (large ones to 2 MiB, huge pages advised), freed large blocks kept for reuse
// up to a bound, because fresh pages cost more than most kernels. Each request
// is checked against a settable limit and against what the machine and the
// cgroup have left, so that too large a program is Error OutOfMemory and not a
// visit from the kernel's killer.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/Support/Error.h"

#include <cstddef>
#include <cstdint>

namespace spokeshave::runtime {

constexpr size_t kAlignment = 64;

struct MemoryStatistics {
  int64_t bytesInUse = 0;
  int64_t peakBytesInUse = 0;
  int64_t bytesCached = 0; ///< free blocks kept for reuse
  int64_t bytesLimit = 0;  ///< the settable limit, or the machine's if none is set
  int64_t allocations = 0; ///< since the process began
  int64_t largestAllocation = 0;
};

/// Allocates `bytes` (0 is fine) aligned to kAlignment, uninitialised. Thread
/// safe. The capacity may be larger than asked for; pass the same `bytes` back
/// to deallocate.
llvm::Expected<void *> allocate(size_t bytes);
void deallocate(void *data, size_t bytes);

/// Checks that `bytes` more could be allocated now, without doing it.
llvm::Error checkMemory(size_t bytes);

MemoryStatistics memoryStatistics();
/// The most bytes in use at once; 0: no limit but the machine's. The default
/// comes from SPOKESHAVE_MEMORY_LIMIT (bytes, or with suffix K, M, G).
void setMemoryLimit(int64_t bytes);
/// Gives cached blocks back to the system.
void trimMemory();

/// What the process could still take: the least of MemAvailable and, for each
/// cgroup it is in, the limit less what is used (reclaimable cache counts as
/// free). Reads a handful of small files.
int64_t machineMemoryAvailable();
/// The least of physical memory and the cgroups' limits.
int64_t machineMemoryTotal();

/// An owned block for the length of a scope: arenas and scratch.
class ScopedMemory {
public:
  ScopedMemory() = default;
  static llvm::Expected<ScopedMemory> create(size_t bytes);
  ScopedMemory(ScopedMemory &&other) noexcept { swap(other); }
  ScopedMemory &operator=(ScopedMemory &&other) noexcept {
    swap(other);
    return *this;
  }
  ~ScopedMemory();
  char *get() const { return static_cast<char *>(pointer); }
  size_t size() const { return bytes; }

private:
  void swap(ScopedMemory &other) {
    std::swap(pointer, other.pointer);
    std::swap(bytes, other.bytes);
  }
  void *pointer = nullptr;
  size_t bytes = 0;
};

} // namespace spokeshave::runtime
