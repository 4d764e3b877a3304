//===- Cancel.h - the word that stops a running program --------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generated loops poll one 32-bit word (RunContext::cancel) and the thread pool
// looks at it between chunks of tasks. Any thread, or a signal handler, may set
// it; execute() then returns Error Cancelled. Results hold garbage after that.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <atomic>
#include <cstdint>

namespace spokeshave::runtime {

/// Outlives every execution that it was given to. One token may serve several
/// executions, and stays cancelled until reset().
class CancelToken {
public:
  void cancel() { word.store(1, std::memory_order_release); }
  void reset() { word.store(0, std::memory_order_release); }
  bool cancelled() const { return word.load(std::memory_order_acquire) != 0; }

  /// What goes into RunContext::cancel.
  const volatile int32_t *address() const {
    static_assert(sizeof(std::atomic<int32_t>) == sizeof(int32_t));
    return reinterpret_cast<const volatile int32_t *>(&word);
  }

private:
  std::atomic<int32_t> word{0};
};

} // namespace spokeshave::runtime
