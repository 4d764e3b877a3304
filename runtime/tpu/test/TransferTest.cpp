//===- TransferTest.cpp - what chips send each other and the host ----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "MakeProgram.h"

#include "gtest/gtest.h"

using namespace spokeshave;
using namespace spokeshave::runtime;
using namespace spokeshave::runtime::tpu;
using namespace spokeshave::runtime::tpu::test;
using spokeshave::tpu::Collective;

namespace {
constexpr int64_t kBytes = 1 << 20;

/// A program of one transfer, of the argument or to the result.
Program transferProgram(Collective::Kind kind, bool isSource, int64_t partitions = 2) {
  Program program = emptyProgram(kBytes);
  program.partitions = partitions;
  program.collectives.push_back({kind, {}, "transfer", /*channel=*/3});
  Step step;
  step.kind = Step::Kind::Collective;
  step.inputs = isSource;
  step.buffers = {{{isSource ? BufferRef::Base::Argument : BufferRef::Base::Result, 0, 0, kBytes}}};
  program.steps = {step};
  return program;
}

struct Chip {
  std::vector<char> argument = std::vector<char>(kBytes, 7), result = std::vector<char>(kBytes, 0);
  Report report;
  llvm::Error on(const Program &program, const Torus &torus, Exchange *exchange, int64_t self) {
    SimulationOptions options;
    options.grid = {&torus, exchange, self};
    auto made = simulate(program, {argument.data()}, {result.data()}, options);
    if (!made)
      return made.takeError();
    report = *made;
    return llvm::Error::success();
  }
};
} // namespace

TEST(Transfer, AValueArrivesAfterItsLink) {
  Program sender = transferProgram(Collective::Kind::Send, true);
  Program receiver = transferProgram(Collective::Kind::Receive, false);
  Torus torus(sender.chip, 2);
  Exchange exchange(1, 2);
  Chip runs[2];
  llvm::Error error = runTogether(exchange, [&](int64_t device) {
    return runs[device].on(device == 0 ? sender : receiver, torus, &exchange, device);
  });
  ASSERT_EQ(messageOf(std::move(error)), "");
  EXPECT_EQ(runs[1].result, runs[0].argument);
  const machine::Chip &chip = sender.chip;
  double seconds = kBytes / chip.ici.bandwidth + chip.ici.hopLatency;
  EXPECT_NEAR(double(runs[1].report.cycles), seconds * sender.timing.clock, 2);
  EXPECT_EQ(runs[1].report.collectives.at(0).exposed, runs[1].report.cycles);
}

TEST(Transfer, TheHostFeedsAndIsFed) {
  Program in = transferProgram(Collective::Kind::Infeed, false, 1);
  Program out = transferProgram(Collective::Kind::Outfeed, true, 1);
  Torus torus(in.chip, 1);
  Exchange exchange(1, 1);
  exchange.feed({std::string(kBytes, 5)});
  Chip run;
  ASSERT_EQ(messageOf(run.on(in, torus, &exchange, 0)), "");
  EXPECT_EQ(run.result, std::vector<char>(kBytes, 5));
  ASSERT_EQ(messageOf(run.on(out, torus, &exchange, 0)), "");
  ASSERT_EQ(exchange.outfeed().size(), 1u);
  EXPECT_EQ(exchange.outfeed()[0][0], std::string(kBytes, 7));
  EXPECT_NE(messageOf(run.on(in, torus, &exchange, 0)).find("past the end of the infeed"),
            std::string::npos);
}

TEST(Transfer, NobodyAtTheOtherEnd) {
  Program receiver = transferProgram(Collective::Kind::Receive, false);
  Torus torus(receiver.chip, 2);
  Chip run;
  EXPECT_NE(messageOf(run.on(receiver, torus, nullptr, 0)).find("nobody is at its other end"),
            std::string::npos);
}

TEST(Transfer, AnotherSizeIsAnError) {
  Program in = transferProgram(Collective::Kind::Infeed, false, 1);
  Torus torus(in.chip, 1);
  Exchange exchange(1, 1);
  exchange.feed({"short"});
  Chip run;
  EXPECT_NE(messageOf(run.on(in, torus, &exchange, 0)).find("another size"), std::string::npos);
}
