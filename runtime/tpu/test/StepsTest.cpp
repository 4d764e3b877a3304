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
using spokeshave::tpu::MemoryRef;
using spokeshave::tpu::placeMeetings;
using spokeshave::tpu::SliceStart;
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

/// Layer number trip of a buffer of four.
BufferRef layerOf(BufferRef::Base base) {
  BufferRef layer{{base, 0, 0, kBytes}};
  SliceStart start;
  start.limit = 3, start.stride = kBytes, start.step = 1;
  layer.starts = {start};
  return layer;
}

TEST(Steps, SlicesFollowTheTrip) {
  Program program = emptyProgram(4 * kBytes);
  program.kernels = {incrementKernel(kAt, 5)};
  Step in = start(kArgument, kBytes, kAt, 0, true), out = start(kResult, kBytes, kAt, 1, false);
  in.buffers[0] = layerOf(kArgument), out.buffers[1] = layerOf(kResult);
  Step loop;
  loop.kind = Step::Kind::While, loop.trips = 4;
  loop.blocks = {{}, {in, waitFor(0), launch(0), out, waitFor(1)}};
  program.steps = {loop};
  std::vector<int32_t> from(4096), to(4096);
  for (int i = 0; i < 4096; ++i)
    from[i] = i;
  auto report = simulate(program, {reinterpret_cast<const char *>(from.data())},
                         {reinterpret_cast<char *>(to.data())});
  ASSERT_TRUE(bool(report)) << messageOf(report.takeError());
  for (int i = 0; i < 4096; ++i)
    ASSERT_EQ(to[i], i + 5);
  EXPECT_EQ(cyclesOf(program), report->cycles);
}

TEST(Steps, BoxesAreRunsApart) {
  // Two runs of a quarter, from the number that the argument begins with: far too
  // large, so the last place.
  Program program = emptyProgram(kBytes);
  Step copy;
  copy.kind = Step::Kind::Copy;
  BufferRef box{{kResult, 0, 0, kBytes / 2}};
  box.rows = 2, box.pitch = kBytes / 2;
  SliceStart start;
  start.limit = 1, start.stride = kBytes / 4, start.at = MemoryRef{kArgument, 0, 0, 4};
  box.starts = {start};
  copy.buffers = {{{kArgument, 0, 0, kBytes / 2}}, box};
  program.steps = {copy};
  std::vector<int32_t> from(1024), to(1024);
  for (int i = 0; i < 1024; ++i)
    from[i] = i + 7;
  auto report = simulate(program, {reinterpret_cast<const char *>(from.data())},
                         {reinterpret_cast<char *>(to.data())});
  ASSERT_TRUE(bool(report)) << messageOf(report.takeError());
  for (int i = 0; i < 1024; ++i)
    ASSERT_EQ(to[i], i % 512 < 256 ? 0 : i / 512 * 256 + i % 256 + 7);
  // The number comes from HBM before the copy starts.
  EXPECT_EQ(report->waitCycles, program.timing.dmaLatency);
}

TEST(Steps, TheNextTripsTransferIsNotStartedInTheLastOne) {
  Program program = emptyProgram(4 * kBytes);
  Step next = start(kArgument, kBytes, kAt, 0, true);
  next.when = Step::When::NextTrip;
  Step loop;
  loop.kind = Step::Kind::While, loop.trips = 4;
  loop.blocks = {{}, {waitFor(0), next}};
  program.steps = {start(kArgument, kBytes, kAt, 0, true), loop};
  SimulationOptions options;
  options.computeValues = false;
  auto report = simulate(program, {nullptr}, {nullptr}, options);
  ASSERT_TRUE(bool(report)) << messageOf(report.takeError());
  EXPECT_EQ(report->stepTransfers, 4);
}

TEST(Steps, ARunBringsArgumentsForTheNextOne) {
  constexpr int64_t kLarge = 1 << 20;
  Program program = emptyProgram(kLarge);
  program.kernels = {incrementKernel(0, 2000)};
  Step first = start(kArgument, kLarge, kAt, 0, true), next = first;
  first.when = Step::When::FirstRun, next.when = Step::When::NextRun;
  program.steps = {first,      waitFor(0), start(kResult, kLarge, kAt, 1, false),
                   waitFor(1), next,       launch(0)};
  std::vector<char> in(kLarge, 3);
  for (bool values : {true, false}) {
    std::vector<char> out(kLarge);
    SimulationOptions options;
    options.computeValues = values;
    auto once = llvm::cantFail(simulate(program, {in.data()}, {out.data()}, options));
    EXPECT_EQ(once.runs, 1);
    EXPECT_EQ(once.firstRunCycles, once.cycles);
    options.repeats = true;
    auto steady = llvm::cantFail(simulate(program, {in.data()}, {out.data()}, options));
    EXPECT_EQ(steady.firstRunCycles, once.cycles);
    EXPECT_EQ(steady.nextRunBytes, kLarge);
    EXPECT_GE(steady.runs, 2);
    // All of the transfer is behind the kernel of the run before.
    EXPECT_LT(steady.cycles, once.cycles - int64_t(kLarge / program.timing.hbmBytesPerCycle));
    EXPECT_EQ(out, values ? in : std::vector<char>(kLarge));
  }
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

TEST(Cores, MeetingsOfLayers) {
  // Each core writes its half of a layer in each trip.
  Program program = sharedProgram();
  Step out = start(kResult, kBytes / 4, kAt, 0, false);
  SliceStart trip;
  trip.limit = 3, trip.stride = kBytes / 4, trip.step = 1;
  out.buffers[1].starts = {trip};
  out.parts = {{0, kBytes / 8}, {kBytes / 8, kBytes / 4}};
  Step loop;
  loop.kind = Step::Kind::While, loop.trips = 4;
  loop.blocks = {{}, {out, waitFor(0)}};
  program.steps = {loop};
  placeMeetings(program);
  EXPECT_FALSE(program.steps[0].blocks[1][0].meets);
  EXPECT_EQ(errorOf(program), "");
  // The halves change places in each layer: what a core wrote another one may read.
  Step in = start(kResult, kBytes / 4, kAt + kBytes, 1, true);
  in.buffers[0].starts = {trip};
  in.parts = {{kBytes / 8, kBytes / 4}, {0, kBytes / 8}};
  loop.blocks[1] = {out, waitFor(0), in, waitFor(1)};
  program.steps = {loop};
  EXPECT_NE(errorOf(program).find("since they met"), std::string::npos);
  placeMeetings(program);
  EXPECT_TRUE(program.steps[0].blocks[1][2].meets);
  EXPECT_EQ(errorOf(program), "");
}

TEST(Cores, AllMeetForWhatTellsWhereASliceIs) {
  // The first core writes the number of the layer that both read.
  Program program = sharedProgram();
  Step out = start(kResult, kBytes / 4, kAt, 0, false),
       in = start(kArgument, kBytes / 4, kAt, 1, true);
  SliceStart number;
  number.limit = 3, number.stride = kBytes / 4, number.at = MemoryRef{kResult, 0, 0, 4};
  in.buffers[0].starts = {number};
  in.parts = {{0, kBytes / 8}, {kBytes / 8, kBytes / 4}};
  program.steps = {out, waitFor(0), in, waitFor(1)};
  EXPECT_NE(errorOf(program).find("since they met"), std::string::npos);
  placeMeetings(program);
  EXPECT_TRUE(program.steps[2].meets);
  EXPECT_EQ(errorOf(program), "");
}

TEST(Cores, ARunBringsBothPartsForTheNextOne) {
  Program program = sharedProgram();
  program.steps[0].when = Step::When::FirstRun;
  Step next = program.steps[0];
  next.when = Step::When::NextRun;
  program.steps.push_back(next);
  std::vector<int32_t> in(1024, 5), out(1024);
  SimulationOptions options;
  options.repeats = true;
  auto report = llvm::cantFail(simulate(program, {reinterpret_cast<const char *>(in.data())},
                                        {reinterpret_cast<char *>(out.data())}, options));
  EXPECT_GE(report.runs, 2);
  EXPECT_EQ(out, std::vector<int32_t>(1024, 11));
  options.computeValues = false;
  auto timed = llvm::cantFail(simulate(program, {nullptr}, {nullptr}, options));
  EXPECT_EQ(timed.cycles, report.cycles);
}

} // namespace
