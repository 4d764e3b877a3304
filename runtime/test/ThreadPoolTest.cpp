//===- ThreadPoolTest.cpp - the threads that run kernels ----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/ThreadPool.h"
#include "runtime/test/TestProgram.h"

#include <atomic>
#include <condition_variable>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace spokeshave::runtime::test {
namespace {

/// Marks each task and checks that the launch before is complete.
struct Step {
  std::vector<std::atomic<int>> marks;
  const Step *before = nullptr;
  std::atomic<int> early{0};
  explicit Step(size_t tasks) : marks(tasks) {}
  bool complete() const {
    for (const std::atomic<int> &mark : marks)
      if (mark != 1)
        return false;
    return true;
  }
};

void stepKernel(void *const *buffers, int64_t begin, int64_t end, void *) {
  Step &step = *static_cast<Step *>(buffers[0]);
  if (step.before && !step.before->complete())
    ++step.early;
  for (int64_t i = begin; i < end; ++i)
    ++step.marks[i];
}

/// A region of launches of various sizes, each task once, in order.
void runSteps(ThreadPool &pool, int64_t nanoseconds) {
  const size_t sizes[] = {1, 7, 100, 3, 1000, 0, 64, 2};
  std::vector<std::unique_ptr<Step>> steps;
  std::vector<void *> buffers;
  for (size_t size : sizes) {
    steps.push_back(std::make_unique<Step>(size));
    if (steps.size() > 1)
      steps.back()->before = steps[steps.size() - 2].get();
    buffers.push_back(steps.back().get());
  }
  std::vector<cpu::Launch> launches;
  for (size_t i = 0; i < steps.size(); ++i)
    launches.push_back({stepKernel, &buffers[i], int64_t(sizes[i]), nanoseconds, 0});
  ASSERT_EQ(codeOf(pool.parallel(launches)), std::nullopt);
  for (const auto &step : steps) {
    EXPECT_TRUE(step->complete());
    EXPECT_EQ(step->early, 0);
  }
}

TEST(ThreadPool, EachTaskOnceAndBarriersHold) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    for (int i = 0; i < 100; ++i)
      for (int64_t nanoseconds : {1, 100, 10000})
        runSteps(pool, nanoseconds);
  }
}

TEST(ThreadPool, SmallRegionsStayInline) {
  ThreadPool pool(4);
  cpu::Launch small{stepKernel, nullptr, 10, 100, 0}, large{stepKernel, nullptr, 1000, 1000, 0};
  EXPECT_EQ(pool.threadsFor(small), 1);
  EXPECT_EQ(pool.threadsFor(large), 4);
  EXPECT_EQ(pool.threadsFor(large, 2), 2);
  cpu::Launch two{stepKernel, nullptr, 2, 1000000, 0};
  EXPECT_EQ(pool.threadsFor(two), 2);
}

TEST(ThreadPool, ConcurrentCallers) {
  ThreadPool pool(2);
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i)
    callers.emplace_back([&] {
      for (int j = 0; j < 50; ++j)
        runSteps(pool, 1000);
    });
  for (std::thread &caller : callers)
    caller.join();
}

TEST(ThreadPool, CallersFromInsideTasks) {
  // As a custom call does that runs another program.
  ThreadPool pool(3);
  std::atomic<int64_t> sum{0};
  pool.parallelFor(8, 100000, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      pool.parallelFor(100, 100000, [&](int64_t b, int64_t e) { sum += e - b; });
  });
  EXPECT_EQ(sum, 800);
}

TEST(ThreadPool, ResizeWhileBusy) {
  ThreadPool pool(4);
  std::atomic<bool> stop{false};
  std::thread caller([&] {
    while (!stop)
      runSteps(pool, 1000);
  });
  for (int threads : {1, 3, 2, 5, 1, 4}) {
    pool.setThreadCount(threads);
    EXPECT_EQ(pool.threadCount(), threads);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  stop = true;
  caller.join();
}

TEST(ThreadPool, ScratchIsTheThreadsOwn) {
  ThreadPool pool(4);
  // Each task writes all of its scratch and finds it unchanged.
  cpu::KernelFunction kernel = [](void *const *buffers, int64_t begin, int64_t end, void *scratch) {
    auto *words = static_cast<volatile int64_t *>(scratch);
    if (reinterpret_cast<uintptr_t>(scratch) % 64 != 0)
      ++*static_cast<std::atomic<int> *>(buffers[0]);
    for (int64_t task = begin; task < end; ++task) {
      for (int i = 0; i < 100; ++i)
        words[i] = task;
      for (int i = 0; i < 100; ++i)
        if (words[i] != task)
          ++*static_cast<std::atomic<int> *>(buffers[0]);
    }
  };
  std::atomic<int> wrong{0};
  void *buffers[] = {&wrong};
  for (int i = 0; i < 50; ++i)
    ASSERT_EQ(codeOf(pool.parallel(cpu::Launch{kernel, buffers, 500, 1000, 800})), std::nullopt);
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, ScratchTooLargeIsAnError) {
  ThreadPool pool(2);
  cpu::Launch launch{stepKernel, nullptr, 10, 100000, int64_t(1) << 46};
  EXPECT_EQ(codeOf(pool.parallel(launch)), ErrorCode::OutOfMemory);
}

TEST(ThreadPool, ScheduledTasks) {
  for (int threads : {1, 3}) {
    ThreadPool pool(threads);
    std::mutex mutex;
    std::condition_variable changed;
    int done = 0;
    for (int i = 0; i < 20; ++i)
      pool.schedule([&, i] {
        pool.schedule([&] { // nested: runs at once
          std::lock_guard lock(mutex);
          ++done;
          changed.notify_all();
        });
        if (i == 3)
          throw std::runtime_error("ends here");
      });
    std::unique_lock lock(mutex);
    EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(20), [&] { return done == 20; }));
  }
}

TEST(ThreadPool, WorksInTheChildOfAFork) {
  ThreadPool pool(3);
  runSteps(pool, 1000);
  std::atomic<bool> stop{false};
  std::thread busy([&] { // the pool's locks are in use while we fork
    while (!stop)
      runSteps(pool, 1000);
  });
  for (int i = 0; i < 5; ++i) {
    pid_t child = fork();
    if (child == 0) {
      alarm(20);
      runSteps(pool, 1000);
      _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  stop = true;
  busy.join();
}

TEST(ThreadPool, DefaultCount) {
  EXPECT_GE(defaultThreadCount(), 1);
  setenv("SPOKESHAVE_THREADS", "5", 1);
  EXPECT_EQ(defaultThreadCount(), 5);
  setenv("SPOKESHAVE_THREADS", "nonsense", 1);
  EXPECT_GE(defaultThreadCount(), 1);
  unsetenv("SPOKESHAVE_THREADS");
}

} // namespace
} // namespace spokeshave::runtime::test
