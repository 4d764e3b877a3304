//===- IsolatedTest.cpp - what a case may do without ending the run ---------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/Isolated.h"

#include "gtest/gtest.h"

#include <csignal>
#include <unistd.h>

using namespace spokeshave::tools;
using End = IsolatedResult::End;

namespace {

TEST(Isolated, OutputComesBack) {
  IsolatedResult result = runIsolated(
      [](llvm::raw_ostream &os) {
        llvm::outs() << "lost";
        os << std::string(100000, 'x') << "end";
      },
      60);
  EXPECT_EQ(result.end, End::Normal);
  EXPECT_EQ(result.output, std::string(100000, 'x') + "end");
}

TEST(Isolated, CrashesAreOutcomes) {
  for (int fatal : {SIGABRT, SIGSEGV, SIGKILL}) {
    IsolatedResult result = runIsolated([&](llvm::raw_ostream &) { raise(fatal); }, 60);
    EXPECT_EQ(result.end, End::Crashed);
    EXPECT_EQ(result.signal, fatal);
  }
}

TEST(Isolated, EndlessWorkIsStopped) {
  IsolatedResult result = runIsolated(
      [](llvm::raw_ostream &os) {
        os << "begun";
        os.flush();
        for (;;)
          pause();
      },
      1);
  EXPECT_EQ(result.end, End::TimedOut);
  EXPECT_EQ(result.output, "begun");
}

// What the parent's tests do next is not done twice.
TEST(Isolated, TheChildEnds) {
  pid_t parent = getpid();
  runIsolated([](llvm::raw_ostream &) {}, 60);
  EXPECT_EQ(getpid(), parent);
}

} // namespace
