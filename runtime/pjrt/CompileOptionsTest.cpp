//===- CompileOptionsTest.cpp - options as frameworks serialize them -------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/pjrt/CompileOptions.h"

#include "gtest/gtest.h"

#include <random>

namespace spokeshave::pjrt {
namespace {

/// A field that is delimited by its length (below 128).
std::string field(int id, const std::string &content) {
  return std::string{char(id << 3 | 2), char(content.size())} + content;
}
std::string number(int id, int value) {
  return {char(id << 3), char(value)};
}

/// Options as JAX sends them: a device assignment, an option of the user's, and
/// fields that nobody here knows.
std::string example() {
  std::string assignment = number(1, 1) + number(2, 1) + field(3, field(1, std::string(1, '\0')));
  std::string build = number(1, 0) + field(3, number(9, 5)) + number(4, 1) + number(5, 1) +
                      field(9, assignment) + number(12, 1);
  // 64-bit and 32-bit fields are skipped as well.
  build += std::string("\x71") + "12345678" + "\x7d" + "1234";
  std::string text = field(7, field(1, "isa") + field(2, field(1, "avx2")));
  std::string flag = field(7, field(1, "fusion") + field(2, number(2, 0)));
  std::string count = field(7, field(1, "threads") + field(2, number(3, 7)));
  return field(3, build) + number(5, 0) + text + flag + count + number(9, 1);
}

TEST(CompileOptions, ReadsWhatMatters) {
  FrameworkOptions options;
  Status status = parseFrameworkOptions(example(), options);
  ASSERT_TRUE(status.isOk()) << status.message();
  EXPECT_EQ(options.replicas, 1);
  EXPECT_EQ(options.partitions, 1);
  EXPECT_EQ(options.deviceIds, std::vector<int64_t>{0});
  using Override = std::pair<std::string, std::string>;
  EXPECT_EQ(options.overrides,
            (std::vector<Override>{{"isa", "avx2"}, {"fusion", "false"}, {"threads", "7"}}));
}

TEST(CompileOptions, NothingMeansDeviceZero) {
  FrameworkOptions options, again;
  ASSERT_TRUE(parseFrameworkOptions("", options).isOk());
  EXPECT_EQ(options.deviceIds, std::vector<int64_t>{0});
  // What we make up can be read back.
  std::string build = field(3, field(9, options.deviceAssignment));
  ASSERT_TRUE(parseFrameworkOptions(build, again).isOk());
  EXPECT_EQ(again.deviceIds, std::vector<int64_t>{0});
}

TEST(CompileOptions, MutationsAreReadOrRefused) {
  const std::string original = example();
  std::mt19937 random(20261130);
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = original;
    for (int edits = 1 + random() % 3; edits > 0 && !bytes.empty(); --edits) {
      size_t at = random() % bytes.size();
      switch (random() % 4) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes.erase(at, 1 + random() % 4);
        break;
      case 2:
        bytes.insert(at, 1, static_cast<char>(random()));
        break;
      case 3:
        bytes.resize(at);
        break;
      }
    }
    // On the heap and of exact size, so that a sanitizer sees any step too far.
    std::vector<char> exact(bytes.begin(), bytes.end());
    FrameworkOptions options;
    Status status = parseFrameworkOptions(llvm::StringRef(exact.data(), exact.size()), options);
    refused += !status.isOk();
  }
  EXPECT_GT(refused, 2000) << "seed 20261130";
  EXPECT_LT(refused, 20000) << "seed 20261130";
}

} // namespace
} // namespace spokeshave::pjrt
