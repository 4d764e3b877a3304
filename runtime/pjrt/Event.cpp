//===- Event.cpp - completions and what waits for them ---------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/pjrt/Event.h"

namespace spokeshave::pjrt {

const Status &Completion::await() {
  if (!isReady()) {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return isReady(); });
  }
  return outcome;
}

void Completion::then(Callback callback) {
  if (!isReady()) {
    std::lock_guard<std::mutex> lock(mutex);
    if (!isReady()) {
      callbacks.push_back(std::move(callback));
      return;
    }
  }
  callback(outcome);
}

bool Completion::complete(Status status) {
  std::vector<Callback> waiting;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (isReady())
      return false;
    outcome = std::move(status);
    ready.store(true, std::memory_order_release);
    waiting.swap(callbacks);
    changed.notify_all();
  }
  for (Callback &callback : waiting)
    callback(outcome);
  return true;
}

CompletionPtr completed(Status status) {
  // Success is by far the most common: share one.
  static const CompletionPtr success = [] {
    auto completion = std::make_shared<Completion>();
    completion->complete({});
    return completion;
  }();
  if (status.isOk())
    return success;
  auto completion = std::make_shared<Completion>();
  completion->complete(std::move(status));
  return completion;
}

namespace {
/// Counts down; holds one for the thread that registers the callbacks.
struct Barrier {
  std::atomic<size_t> remaining;
  std::vector<CompletionPtr> dependencies;
  Completion::Callback callback;

  void arrive() {
    if (remaining.fetch_sub(1, std::memory_order_acq_rel) != 1)
      return;
    Status first;
    for (const CompletionPtr &dependency : dependencies)
      if (first.isOk())
        first = dependency->status();
    dependencies.clear();
    callback(first);
  }
};
} // namespace

void whenAll(std::vector<CompletionPtr> dependencies, Completion::Callback callback) {
  auto barrier = std::make_shared<Barrier>();
  barrier->remaining = dependencies.size() + 1;
  barrier->dependencies = dependencies;
  barrier->callback = std::move(callback);
  for (const CompletionPtr &dependency : dependencies)
    dependency->then([barrier](const Status &) { barrier->arrive(); });
  barrier->arrive();
}

} // namespace spokeshave::pjrt
