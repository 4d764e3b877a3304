//===- Isolated.cpp - work in a process of its own --------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fork without exec: the child has all that the parent has read, and costs a
// millisecond where a new process would load LLVM again.
//
//===----------------------------------------------------------------------===//
#include "tools/Isolated.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace spokeshave;
using namespace spokeshave::tools;
using Clock = std::chrono::steady_clock;

/// Never returns; no destructor of the parent's objects runs.
[[noreturn]] static void runChild(int pipe, llvm::function_ref<void(llvm::raw_ostream &)> work) {
  if (int null = open("/dev/null", O_WRONLY); null >= 0) {
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
  }
  rlimit noCore = {0, 0};
  setrlimit(RLIMIT_CORE, &noCore);
  // LLVM's handlers would print a stack; the signal itself is the message.
  for (int fatal : {SIGSEGV, SIGBUS, SIGILL, SIGABRT, SIGFPE})
    signal(fatal, SIG_DFL);
  {
    llvm::raw_fd_ostream os(pipe, /*shouldClose=*/true);
    work(os);
  }
  _exit(0);
}

/// Reads until the child closes its end; false when time is up.
static bool readAll(int pipe, Clock::time_point deadline, std::string &output) {
  char buffer[4096];
  for (;;) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0)
      return false;
    pollfd ready = {pipe, POLLIN, 0};
    int count = poll(&ready, 1, static_cast<int>(left.count()));
    if (count < 0 && errno != EINTR)
      return false;
    if (count <= 0)
      continue;
    ssize_t got = read(pipe, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return true;
    output.append(buffer, static_cast<size_t>(got));
  }
}

IsolatedResult tools::runIsolated(llvm::function_ref<void(llvm::raw_ostream &)> work, int seconds) {
  using End = IsolatedResult::End;
  IsolatedResult result;
  int ends[2];
  llvm::outs().flush(); // or the child would print it again
  llvm::errs().flush();
  if (pipe2(ends, O_CLOEXEC) != 0) {
    result = {End::Crashed, 0, std::string("no pipe: ") + strerror(errno)};
    return result;
  }
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    runChild(ends[1], work);
  }
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return {End::Crashed, 0, std::string("no process: ") + strerror(errno)};
  }
  bool inTime = readAll(ends[0], Clock::now() + std::chrono::seconds(seconds), result.output);
  close(ends[0]);
  if (!inTime)
    kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!inTime)
    result.end = End::TimedOut;
  else if (WIFSIGNALED(status))
    result = {End::Crashed, WTERMSIG(status), std::move(result.output)};
  return result;
}
