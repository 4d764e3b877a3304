//===- KernelCacheTest.cpp - code that programs share ----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "target/cpu/KernelCache.h"

#include <gtest/gtest.h>

#include <thread>

using namespace spokeshave::cpu;

static std::shared_ptr<const KernelCode> codeOf(std::string symbol, size_t bytes) {
  auto code = std::make_shared<KernelCode>();
  code->symbol = std::move(symbol);
  auto place = std::make_shared<LinkedObject>();
  place->object = std::make_shared<const std::vector<char>>(bytes);
  code->place = place;
  return code;
}

TEST(KernelCache, FindsByWholeKey) {
  KernelCache cache(1 << 20);
  EXPECT_EQ(cache.find("a"), nullptr);
  cache.insert("a", codeOf("first", 10));
  cache.insert("b", codeOf("second", 10));
  EXPECT_EQ(cache.find("a")->symbol, "first");
  EXPECT_EQ(cache.find("b")->symbol, "second");
  EXPECT_EQ(cache.find("c"), nullptr);
  // What is there stays: programs may hold it already.
  cache.insert("a", codeOf("third", 10));
  EXPECT_EQ(cache.find("a")->symbol, "first");
}

TEST(KernelCache, ForgetsWhatWasUsedLongestAgo) {
  KernelCache cache(10000);
  for (const char *key : {"a", "b", "c"})
    cache.insert(key, codeOf(key, 3000));
  auto held = cache.find("b");
  EXPECT_NE(cache.find("a"), nullptr); // now c is the oldest, then b
  cache.insert("d", codeOf("d", 3000));
  EXPECT_EQ(cache.find("b") != nullptr, true);
  EXPECT_EQ(cache.find("c"), nullptr);
  EXPECT_LE(cache.bytes(), 10000);
  cache.insert("e", codeOf("e", 9000));
  EXPECT_EQ(cache.find("b"), nullptr);
  EXPECT_EQ(held->place->object->size(), 3000u); // who holds it keeps it
}

TEST(KernelCache, BytesStayBounded) {
  KernelCache cache(100000);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        std::string key = std::to_string(t) + "/" + std::to_string(i % 100);
        if (!cache.find(key))
          cache.insert(key, codeOf(key, 1000));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_LE(cache.bytes(), 100000);
  EXPECT_GT(cache.bytes(), 50000);
}
