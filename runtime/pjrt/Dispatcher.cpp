//===- Dispatcher.cpp - the threads that run programs ----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/pjrt/Dispatcher.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <pthread.h>
#include <thread>

namespace spokeshave::pjrt {

namespace {
// Threads do not survive fork(): a child's dispatcher starts afresh. What was
// posted but not run before the fork is the parent's.
std::atomic<uint64_t> forks = 0;
void registerForkHandler() {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
  (void)registered;
}
} // namespace

/// Shared with the threads, which may outlive the dispatcher.
struct Dispatcher::State {
  uint64_t forkCount = forks.load();
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> programs;
  bool programThread = false, stopping = false;
  int blockingThreads = 0;

  void runPrograms() {
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return stopping || !programs.empty(); });
      if (programs.empty())
        break;
      std::function<void()> task = std::move(programs.front());
      programs.pop_front();
      lock.unlock();
      task();
      task = nullptr; // what it captured goes now, not when the next one comes
      lock.lock();
    }
    programThread = false;
    changed.notify_all();
  }

  void runBlocking(std::function<void()> task) {
    task();
    task = nullptr;
    std::lock_guard<std::mutex> lock(mutex);
    --blockingThreads;
    changed.notify_all();
  }
};

Dispatcher::Dispatcher() : state(std::make_shared<State>()) {
  registerForkHandler();
}

Dispatcher::~Dispatcher() {
  State &own = *state;
  if (own.forkCount != forks.load()) {
    // The parent's threads are not here to end; its locks may be held forever.
    new std::shared_ptr<State>(std::move(state));
    return;
  }
  std::unique_lock<std::mutex> lock(own.mutex);
  own.stopping = true;
  own.changed.notify_all();
  own.changed.wait(lock, [&] { return !own.programThread && own.blockingThreads == 0; });
}

Dispatcher::State &Dispatcher::current() {
  if (state->forkCount != forks.load(std::memory_order_relaxed)) {
    new std::shared_ptr<State>(std::move(state)); // leaked: see the destructor
    state = std::make_shared<State>();
  }
  return *state;
}

void Dispatcher::post(std::function<void()> task, bool mayBlock) {
  State &own = current();
  std::unique_lock<std::mutex> lock(own.mutex);
  try {
    if (mayBlock) {
      // A thread each: one that waits must never keep another from running.
      std::thread([shared = state, task] { shared->runBlocking(task); }).detach();
      ++own.blockingThreads;
      return;
    }
    if (!own.programThread) {
      std::thread([shared = state] { shared->runPrograms(); }).detach();
      own.programThread = true;
    }
  } catch (const std::system_error &) {
    // No more threads to be had: the caller's must do.
    lock.unlock();
    task();
    return;
  }
  own.programs.push_back(std::move(task));
  own.changed.notify_all();
}

} // namespace spokeshave::pjrt
