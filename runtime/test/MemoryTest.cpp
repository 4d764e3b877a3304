//===- MemoryTest.cpp - allocation, limits, blocks --------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/HostBlock.h"
#include "runtime/test/TestProgram.h"

#include <cstring>

namespace spokeshave::runtime::test {
namespace {

TEST(Memory, AlignedAndCounted) {
  MemoryStatistics before = memoryStatistics();
  for (size_t bytes : {size_t(0), size_t(1), size_t(63), size_t(4097), size_t(3) << 20}) {
    void *data = get(allocate(bytes));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % kAlignment, 0u);
    std::memset(data, 1, bytes);
    EXPECT_EQ(memoryStatistics().bytesInUse, before.bytesInUse + int64_t(bytes));
    deallocate(data, bytes);
  }
  MemoryStatistics after = memoryStatistics();
  EXPECT_EQ(after.bytesInUse, before.bytesInUse);
  EXPECT_EQ(after.allocations, before.allocations + 5);
  EXPECT_GE(after.peakBytesInUse, before.bytesInUse + (3 << 20));
  EXPECT_GT(after.bytesLimit, 0);
}

TEST(Memory, LargeBlocksAreReused) {
  size_t bytes = size_t(5) << 20;
  void *first = get(allocate(bytes));
  deallocate(first, bytes);
  void *second = get(allocate(bytes - 1000)); // the same size class
  EXPECT_EQ(first, second);
  deallocate(second, bytes - 1000);
  EXPECT_GT(memoryStatistics().bytesCached, 0);
  trimMemory();
  EXPECT_EQ(memoryStatistics().bytesCached, 0);
}

TEST(Memory, LimitIsKept) {
  int64_t inUse = memoryStatistics().bytesInUse;
  setMemoryLimit(inUse + (1 << 20));
  EXPECT_EQ(codeOf(allocate(2 << 20)), ErrorCode::OutOfMemory);
  EXPECT_EQ(codeOf(checkMemory(2 << 20)), ErrorCode::OutOfMemory);
  void *data = get(allocate(1 << 19));
  EXPECT_EQ(codeOf(allocate(600 << 10)), ErrorCode::OutOfMemory);
  deallocate(data, 1 << 19);
  setMemoryLimit(0);
  EXPECT_EQ(codeOf(checkMemory(2 << 20)), std::nullopt);
}

TEST(Memory, MoreThanTheMachineHas) {
  EXPECT_EQ(codeOf(allocate(size_t(1) << 46)), ErrorCode::OutOfMemory);
  EXPECT_EQ(codeOf(allocate(SIZE_MAX)), ErrorCode::OutOfMemory);
  EXPECT_GT(machineMemoryTotal(), machineMemoryAvailable());
  EXPECT_GT(machineMemoryAvailable(), 0);
}

TEST(HostBlock, OwnedAndExternal) {
  int64_t before = memoryStatistics().bytesInUse;
  {
    HostBlockRef block = get(HostBlock::allocate(1000));
    HostBlockRef second = block;
    block.reset();
    EXPECT_TRUE(second->isOwned());
    EXPECT_EQ(second->size(), 1000u);
    EXPECT_EQ(memoryStatistics().bytesInUse, before + 1000);
  }
  EXPECT_EQ(memoryStatistics().bytesInUse, before);
  int released = 0;
  char data[16];
  HostBlockRef block = HostBlock::external(data, sizeof data, [&] { ++released; });
  EXPECT_FALSE(block->isOwned());
  EXPECT_EQ(block->data(), data);
  HostBlockRef second = block;
  block.reset();
  EXPECT_EQ(released, 0);
  second.reset();
  EXPECT_EQ(released, 1);
}

} // namespace
} // namespace spokeshave::runtime::test
