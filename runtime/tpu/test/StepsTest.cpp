//===- StepsTest.cpp - transfers that outlive a step -----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/tpu/test/MakeProgram.h"
#include "target/tpu/Meetings.h"

#include "gtest/gtest.h"

#include <cstring>

using namespace spokeshave::runtime::tpu;
using namespace spokeshave::runtime::tpu::test;
using spokeshave::tpu::placeMeetings;
using spokeshave::tpu::timingOf;

namespace {

constexpr int64_t kBytes = 4096, kAt = 8192;
constexpr auto kArgument = BufferRef::Base::Argument, kResult = BufferRef::Base::Result;

std::string errorOf(const Program &program, bool computeValues = true) {
  std::vector<char> in(program.arguments[0].byteSize), out(program.results[0].byteSize);
  SimulationOptions options;
  options.computeValues = computeValues;
  return messageOf(simulate(program, {in.data()}, {out.data()}, options).takeError());
}

int64_t cyclesOf(const Program &program) {
  SimulationOptions options;
  options.computeValues = false;
  return llvm::cantFail(simulate(program, {nullptr}, {nullptr}, options)).cycles;
}

TEST(Steps, ValuesStayInVmemFromKernelToKernel) {
  Program program = emptyProgram(kBytes);
  program.kernels = {incrementKernel(kAt, 3)};
  program.steps = {start(kArgument, kBytes, kAt, 0, true), waitFor(0), launch(0), launch(0),
                   start(kResult, kBytes, kAt, 1, false),  waitFor(1)};
  std::vector<int32_t> in(1024), out(1024);
  for (int i = 0; i < 1024; ++i)
    in[i] = i;
  auto report = simulate(program, {reinterpret_cast<const char *>(in.data())},
                         {reinterpret_cast<char *>(out.data())});
  ASSERT_TRUE(bool(report)) << messageOf(report.takeError());
  for (int i = 0; i < 1024; ++i)
    ASSERT_EQ(out[i], i + 6);
  EXPECT_EQ(report->stepTransfers, 2);
  EXPECT_EQ(report->stepBytes, 2 * kBytes);
  EXPECT_EQ(report->launches.at(0), 2);
  // Without values the cycles are the same.
  EXPECT_EQ(cyclesOf(program), report->cycles);
}

TEST(Steps, TransfersOverlapKernels) {
  constexpr int64_t kLarge = 1 << 20;
  Program program = emptyProgram(kLarge);
  program.kernels = {incrementKernel(0, 1000)};
  program.steps = {launch(0)};
  int64_t kernel = cyclesOf(program);
  program.steps = {start(kArgument, kLarge, kAt, 0, true), waitFor(0)};
  int64_t transfer = cyclesOf(program);
  ASSERT_GT(transfer, int64_t(kLarge / program.timing.hbmBytesPerCycle));
  program.steps = {start(kArgument, kLarge, kAt, 0, true), launch(0), waitFor(0)};
  EXPECT_EQ(cyclesOf(program), std::max(transfer, kernel + program.timing.dmaIssue));
  program.kernels = {incrementKernel(0, 1)};
  EXPECT_EQ(cyclesOf(program), transfer); // now the transfer is longer
}

TEST(Steps, TransfersOfKernelsGoFirst) {
  // Two of steps share what is left, in order.
  constexpr int64_t kLarge = 1 << 20;
  Program program = emptyProgram(2 * kLarge);
  program.steps = {start(kArgument, kLarge, 0, 0, true), waitFor(0)};
  int64_t one = cyclesOf(program);
  program.steps = {start(kArgument, kLarge, 0, 0, true), start(kArgument, kLarge, kLarge, 1, true),
                   waitFor(0)};
  EXPECT_EQ(cyclesOf(program), one);
  program.steps.push_back(waitFor(1));
  int64_t flow = int64_t(kLarge / program.timing.hbmBytesPerCycle);
  EXPECT_EQ(cyclesOf(program), one + flow);
}

TEST(Steps, RacesAreErrors) {
  for (bool values : {true, false}) {
    Program program = emptyProgram(kBytes);
    program.kernels = {incrementKernel(kAt, 1)};
    // Two transfers to one place.
    program.steps = {start(kArgument, kBytes, kAt, 0, true),
                     start(kArgument, kBytes, kAt + 512, 1, true)};
    EXPECT_NE(errorOf(program, values).find("races with one in flight"), std::string::npos);
    // A kernel that does not keep what is being moved.
    program.kernels[0].kept.clear();
    program.steps = {start(kArgument, kBytes, kAt, 0, true), launch(0)};
    EXPECT_NE(errorOf(program, values).find("has not been waited for"), std::string::npos);
    // Beyond the end.
    program.steps = {start(kArgument, kBytes, program.chip.memory.vmem, 0, true)};
    EXPECT_NE(errorOf(program, values).find("beyond a memory's end"), std::string::npos);
  }
  // A kernel that reads what has not arrived.
  Program program = emptyProgram(kBytes);
  program.kernels = {incrementKernel(kAt, 1)};
  program.steps = {start(kArgument, kBytes, kAt, 0, true), launch(0)};
  EXPECT_NE(errorOf(program).find("race with a transfer"), std::string::npos);
}

/// Of a device of two cores: a kernel that each core runs on its half of what is kept.
Program sharedProgram() {
  Program program = emptyProgram(kBytes);
  program.chip = llvm::cantFail(spokeshave::machine::loadChip("v5p"));
  program.timing = timingOf(program.chip);
  program.kernels = {incrementKernel(kAt, 3), incrementKernel(kAt, 3)};
  program.kernels[0].cores = 2;
  program.steps = {start(kArgument, kBytes, kAt, 0, true), waitFor(0), launch(0), launch(0),
                   start(kResult, kBytes, kAt, 1, false),  waitFor(1)};
  for (size_t i : {0, 4})
    program.steps[i].parts = {{0, kBytes / 2}, {kBytes / 2, kBytes}};
  return program;
}

TEST(Cores, EachKeepsItsPart) {
  Program program = sharedProgram();
  std::vector<int32_t> in(1024, 5), out(1024);
  auto report = simulate(program, {reinterpret_cast<const char *>(in.data())},
                         {reinterpret_cast<char *>(out.data())});
  ASSERT_TRUE(bool(report)) << messageOf(report.takeError());
  EXPECT_EQ(out, std::vector<int32_t>(1024, 11));
  // They meet at the end alone.
  EXPECT_EQ(report->meetings, 1);
  EXPECT_EQ(report->meetingCycles, program.timing.coreSync);
  EXPECT_EQ(cyclesOf(program), report->cycles);
  program.steps[3].meets = true;
  EXPECT_NEAR(cyclesOf(program), report->cycles + program.timing.coreSync, program.timing.dmaIssue);
}

TEST(Cores, GoOnWithoutEachOther) {
  Program program = sharedProgram();
  program.steps = {launch(0), launch(0)};
  int64_t both = cyclesOf(program);
  // What the first core does alone keeps the other one until they meet only.
  program.steps = {launch(1), launch(0)};
  EXPECT_EQ(cyclesOf(program), both);
}

TEST(Cores, UsingWhatAnotherOneMadeIsAnError) {
  for (bool values : {true, false}) {
    // The second core reads what the first one wrote.
    Program program = sharedProgram();
    program.steps = {start(kResult, kBytes, kAt, 0, false), waitFor(0),
                     start(kResult, kBytes, kAt, 1, true), waitFor(1)};
    program.steps[2].parts = {{0, 0}, {0, kBytes}};
    EXPECT_NE(errorOf(program, values).find("since they met"), std::string::npos);
    placeMeetings(program);
    EXPECT_EQ(errorOf(program, values), "");
    EXPECT_TRUE(program.steps[2].meets);
    EXPECT_FALSE(program.steps[3].meets);
  }
}

TEST(Cores, MeetingsOfLoops) {
  // A core reads in the next trip what the other one writes in this one.
  Program program = sharedProgram();
  Step loop;
  loop.kind = Step::Kind::While, loop.trips = 3;
  loop.blocks.resize(2);
  loop.blocks[1] = {start(kResult, kBytes, kAt, 0, true), waitFor(0),
                    start(kResult, kBytes, kAt, 1, false), waitFor(1)};
  loop.blocks[1][0].parts = {{0, 0}, {0, kBytes}};
  program.steps = {loop};
  placeMeetings(program);
  EXPECT_TRUE(program.steps[0].blocks[1][0].meets);
  EXPECT_TRUE(program.steps[0].blocks[1][2].meets);
  EXPECT_EQ(errorOf(program), "");
  // What was written before the loop is met for before it.
  program.steps = {start(kResult, kBytes, kAt, 1, false), waitFor(1), loop};
  program.steps[2].blocks[1].resize(2);
  placeMeetings(program);
  ASSERT_EQ(program.steps.size(), 4u);
  EXPECT_EQ(program.steps[2].kind, Step::Kind::Meet);
  EXPECT_FALSE(program.steps[3].blocks[1][0].meets);
  EXPECT_EQ(errorOf(program), "");
  // Not where nothing is written.
  program = sharedProgram();
  program.steps = {loop};
  program.steps[0].blocks[1].resize(2);
  placeMeetings(program);
  EXPECT_FALSE(program.steps[0].blocks[1][0].meets);
}

} // namespace
