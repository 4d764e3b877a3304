//===- Interrupt.h - Ctrl-C reaches programs that run ----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generated loops poll a word. While a program runs, its word is listed where a
// signal handler can find it without locks or allocation.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>

namespace spokeshave::pjrt {

/// Lists a word while it lives.
class InterruptScope {
public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope &) = delete;
  InterruptScope &operator=(const InterruptScope &) = delete;

  const volatile int32_t *word() const { return &slot->word; }

  struct Slot {
    volatile int32_t word;
    volatile int32_t used;
  };

private:
  Slot *slot;
};

/// Sets the word of every program that runs now. Safe in signal handlers.
void interruptAll();

/// Has SIGINT interrupt the programs that run, and then do what it did before.
/// Does nothing the second time. False if the system refuses.
bool installInterruptHandler();

} // namespace spokeshave::pjrt
