//===- CollectivesTest.cpp - moving bytes between devices ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/Exchange.h"
#include "runtime/Library.h"
#include "runtime/test/TestProgram.h"

using namespace spokeshave;
using namespace spokeshave::runtime;
using namespace spokeshave::runtime::test;

namespace {
using Floats = std::vector<float>;

cpu::CallSpec call(std::string target, std::string config, int64_t in, int64_t out) {
  cpu::CallSpec spec;
  spec.target = std::move(target);
  spec.isLibrary = true;
  spec.config = "{" + config + "}";
  spec.inputs = {floats({in})};
  spec.outputs = {floats({out})};
  return spec;
}

/// What each of four devices gets of call `spec` on its operand.
std::vector<Floats> runOnFour(const cpu::CallSpec &spec, std::vector<Floats> operands) {
  auto prepared = get(prepareLibraryCall(spec));
  Exchange exchange(1, 4);
  std::vector<Floats> results(4, Floats(spec.outputs[0].shape[0], -1));
  EXPECT_FALSE(runTogether(exchange, [&](int64_t device) {
    CallEnvironment environment;
    environment.exchange = &exchange;
    environment.device = device;
    void *buffers[] = {operands[device].data(), results[device].data()};
    return prepared->run(buffers, environment);
  }));
  return results;
}

const std::vector<Floats> kOperands = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
} // namespace

TEST(Collectives, Gather) {
  auto results = runOnFour(
      call("all_gather", "replica_groups = dense<[[0, 2], [3, 1]]> : tensor<2x2xi64>", 2, 4),
      kOperands);
  EXPECT_EQ(results[0], (Floats{1, 2, 5, 6}));
  EXPECT_EQ(results[2], (Floats{1, 2, 5, 6}));
  EXPECT_EQ(results[1], (Floats{7, 8, 3, 4}));
}

TEST(Collectives, Exchange) {
  auto results = runOnFour(
      call("all_to_all", "replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>", 2, 2),
      kOperands);
  EXPECT_EQ(results[0], (Floats{1, 3}));
  EXPECT_EQ(results[1], (Floats{2, 4}));
  EXPECT_EQ(results[3], (Floats{6, 8}));
}

TEST(Collectives, PermuteAndBroadcast) {
  auto moved =
      runOnFour(call("collective_permute",
                     "source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>", 2, 2),
                kOperands);
  EXPECT_EQ(moved, (std::vector<Floats>{{0, 0}, {1, 2}, {3, 4}, {0, 0}}));
  auto shown = runOnFour(
      call("collective_broadcast", "replica_groups = dense<[[2, 1]]> : tensor<1x2xi64>", 2, 2),
      kOperands);
  EXPECT_EQ(shown, (std::vector<Floats>{{0, 0}, {5, 6}, {5, 6}, {0, 0}}));
}

TEST(Collectives, BadSpecifications) {
  auto code = [](cpu::CallSpec spec) { return codeOf(prepareLibraryCall(spec)); };
  std::string groups = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>";
  EXPECT_EQ(code(call("all_gather", "", 2, 4)), ErrorCode::InvalidProgram);
  EXPECT_EQ(code(call("all_gather", groups, 2, 2)), ErrorCode::InvalidProgram);
  EXPECT_EQ(code(call("all_to_all", groups, 2, 4)), ErrorCode::InvalidProgram);
  EXPECT_EQ(code(call("collective_permute",
                      "source_target_pairs = dense<[[0], [1]]> : tensor<2x1xi64>", 2, 2)),
            ErrorCode::InvalidProgram);
  EXPECT_EQ(code(call("replica_id", "", 2, 2)), ErrorCode::InvalidProgram);
}

TEST(Collectives, OnOneDevice) {
  auto prepared = get(prepareLibraryCall(
      call("all_gather", "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>", 2, 4)));
  float in[2] = {}, out[4];
  void *buffers[] = {in, out};
  EXPECT_EQ(codeOf(prepared->run(buffers, {})), ErrorCode::BadArgument);
}

TEST(Collectives, DeviceOutsideOfAllGroups) {
  auto prepared = get(prepareLibraryCall(
      call("all_gather", "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>", 2, 4)));
  Exchange exchange(1, 3);
  float in[2] = {}, out[4];
  void *buffers[] = {in, out};
  CallEnvironment environment;
  environment.exchange = &exchange;
  environment.device = 2;
  EXPECT_EQ(codeOf(prepared->run(buffers, environment)), ErrorCode::BadArgument);
}
