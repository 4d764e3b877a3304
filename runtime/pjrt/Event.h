//===- Event.h - something that becomes ready once, perhaps with an error --===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A Completion is shared by the work that completes it, by every buffer that
// depends on it, and by the events that the framework holds.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/pjrt/Status.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

namespace spokeshave::pjrt {

class Completion {
public:
  using Callback = std::function<void(const Status &)>;

  bool isReady() const { return ready.load(std::memory_order_acquire); }
  /// Only once it is ready.
  const Status &status() const { return outcome; }
  /// Blocks until it is ready.
  const Status &await();
  /// Calls `callback` when it is ready: at once, or on the completing thread.
  void then(Callback callback);
  /// Makes it ready. The first call wins; later ones return false.
  bool complete(Status status);

private:
  std::atomic<bool> ready = false;
  Status outcome;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Callback> callbacks;
};

using CompletionPtr = std::shared_ptr<Completion>;

/// A completion that is ready with `status`.
CompletionPtr completed(Status status = {});

/// Calls `callback` with the first error among `dependencies` (in their order)
/// once all are ready.
void whenAll(std::vector<CompletionPtr> dependencies, Completion::Callback callback);

/// The framework's handle.
struct Event {
  CompletionPtr completion;
};

} // namespace spokeshave::pjrt
