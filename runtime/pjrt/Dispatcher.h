//===- Dispatcher.h - the threads that run programs asynchronously ---------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs whose inputs are ready run one after the other, in the order in which
// they became ready, on one thread that starts their parallel regions. A program
// that calls out to foreign code gets a thread of its own: it may block on, or
// start, other programs of the same device.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <functional>
#include <memory>

namespace spokeshave::pjrt {

class Dispatcher {
public:
  Dispatcher();
  /// Waits for what was posted.
  ~Dispatcher();
  Dispatcher(const Dispatcher &) = delete;
  Dispatcher &operator=(const Dispatcher &) = delete;

  /// Runs `task` on the program thread, or on one of its own if it may block.
  /// Tasks do not throw.
  void post(std::function<void()> task, bool mayBlock = false);

private:
  struct State;
  State &current();
  std::shared_ptr<State> state;
};

} // namespace spokeshave::pjrt
