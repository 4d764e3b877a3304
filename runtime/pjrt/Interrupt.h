//===- Interrupt.h - Ctrl-C reaches programs that run ----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generated loops poll a token. While a program runs, its token is listed where a
// signal handler can find it without locks or allocation.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/Cancel.h"

namespace spokeshave::pjrt {

/// Lists a token while it lives.
class InterruptScope {
public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope &) = delete;
  InterruptScope &operator=(const InterruptScope &) = delete;

  const runtime::CancelToken &token() const { return slot->token; }

  struct Slot {
    runtime::CancelToken token;
    std::atomic<bool> used{false};
  };

private:
  Slot *slot;
};

/// Cancels every program that runs now. Safe in signal handlers.
void interruptAll();

/// Has SIGINT interrupt the programs that run, and then do what it did before.
/// Does nothing the second time. False if the system refuses.
bool installInterruptHandler();

} // namespace spokeshave::pjrt
