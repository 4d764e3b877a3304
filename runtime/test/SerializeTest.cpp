//===- SerializeTest.cpp - programs as bytes -----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/test/TestProgram.h"

#include "llvm/Support/xxhash.h"

#include <random>

namespace spokeshave::runtime::test {
namespace {

std::unique_ptr<cpu::Program> richProgram() {
  auto program = scaleProgram();
  cpu::CallSpec call;
  call.target = "target";
  call.apiVersion = 4;
  call.config = "{backend_config = {a = 1 : i32}}";
  call.inputs = {values("complex<f32>", {2, 3}, 8)};
  call.outputs = {values("i1", {}, 1)};
  call.location = "file.py:12";
  program->calls = {call};
  program->results[0].alias = 0;
  program->constants.push_back({});
  program->constants.push_back(std::vector<char>(100, 'c'));
  program->stats.millisecondsFront = 1.25;
  program->stats.structure.regions = 3;
  program->stats.loops.push_back({"file.py:14", 1, -1, {1, 2, 3, 4, 5}});
  program->stats.bytesAccessed = -1;
  return program;
}

TEST(Serialize, RoundTrip) {
  auto program = richProgram();
  std::string bytes = serialize(*program);
  auto copy = get(deserialize(bytes));
  // Everything is in the bytes, so equal bytes mean equal programs.
  EXPECT_EQ(serialize(*copy), bytes);
  EXPECT_EQ(copy->name, "scale");
  ASSERT_EQ(copy->objects.size(), 1u);
  EXPECT_EQ(*copy->objects[0], *program->objects[0]);
  EXPECT_EQ(copy->constants, program->constants);
  EXPECT_EQ(copy->results[0].alias, 0);
  ASSERT_EQ(copy->calls.size(), 1u);
  EXPECT_EQ(copy->calls[0].config, program->calls[0].config);
  EXPECT_EQ(copy->calls[0].inputs[0].shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(copy->calls[0].location, "file.py:12");
  ASSERT_EQ(copy->stats.kernels.size(), 1u);
  EXPECT_EQ(copy->stats.kernels[0].bytes, 8192);
  EXPECT_EQ(copy->stats.millisecondsFront, 1.25);
  EXPECT_EQ(copy->stats.bytesAccessed, -1);
}

TEST(Serialize, TheCopyRuns) {
  auto executable = get(Executable::create(get(deserialize(serialize(*scaleProgram())))));
  std::vector<float> in(1024, 1.0f), out(1024);
  ExecuteArgument arguments[] = {argument(in)};
  ExecuteResult results[] = {result(out)};
  ExecuteArgs args;
  args.arguments = arguments;
  args.results = results;
  EXPECT_EQ(messageOf(executable->execute(args)), "");
  EXPECT_EQ(out[1000], 5.0f);
}

TEST(Serialize, ForeignIsaIsRefused) {
  auto program = scaleProgram();
  program->isa = "sparc";
  EXPECT_EQ(codeOf(deserialize(serialize(*program))), ErrorCode::ExecutableMismatch);
}

TEST(Serialize, ForeignFeaturesAreRefused) {
  // The body begins with the features that the code may use: ask for one that
  // no machine has, and make the hash fit.
  std::string bytes = serialize(*scaleProgram());
  size_t at = bytes.find("x86-64");
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 6, "+magic");
  uint64_t hash = llvm::xxh3_64bits(llvm::StringRef(bytes).drop_front(32));
  memcpy(bytes.data() + 24, &hash, sizeof hash);
  auto program = deserialize(bytes);
  ASSERT_FALSE(program);
  EXPECT_NE(messageOf(program.takeError()).find("+magic"), std::string::npos);
}

TEST(Serialize, EveryTruncationIsRefused) {
  std::string bytes = serialize(*richProgram());
  for (size_t length = 0; length < bytes.size(); length += length < 200 ? 1 : 37)
    ASSERT_EQ(codeOf(deserialize(llvm::StringRef(bytes).take_front(length))),
              ErrorCode::ExecutableMismatch)
        << length;
  EXPECT_EQ(codeOf(deserialize(bytes + "x")), ErrorCode::ExecutableMismatch);
}

TEST(Serialize, MutationsAreRefused) {
  const std::string bytes = serialize(*richProgram());
  unsigned seed = 20240917;
  std::mt19937 random(seed);
  for (int round = 0; round < 20000; ++round) {
    std::string damaged = bytes;
    int changes = 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < changes; ++i) {
      size_t at = random() % damaged.size();
      switch (random() % 4) {
      case 0:
        damaged[at] = static_cast<char>(random());
        break;
      case 1:
        damaged[at] = static_cast<char>(damaged[at] ^ (1 << (random() % 8)));
        break;
      case 2:
        damaged.erase(at, 1 + random() % 16);
        break;
      default:
        damaged.insert(at, 1 + random() % 16, static_cast<char>(random()));
        break;
      }
      if (damaged.empty())
        break;
    }
    if (damaged == bytes)
      continue;
    ASSERT_EQ(codeOf(deserialize(damaged)), ErrorCode::ExecutableMismatch)
        << "round " << round << " of seed " << seed;
  }
}

} // namespace
} // namespace spokeshave::runtime::test
