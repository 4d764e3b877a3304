//===- Interrupt.cpp - Ctrl-C reaches programs that run --------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/pjrt/Interrupt.h"

#include <csignal>
#include <mutex>

namespace spokeshave::pjrt {

namespace {
constexpr int kSlots = 256;
InterruptScope::Slot slots[kSlots];
/// For programs beyond the slots: they run to their end.
InterruptScope::Slot unlisted;

struct sigaction previous;

void onInterrupt(int signal, siginfo_t *info, void *context) {
  interruptAll();
  if (previous.sa_flags & SA_SIGINFO) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler == SIG_DFL) {
    // The default ends the process; let it.
    struct sigaction restored = previous;
    sigaction(signal, &restored, nullptr);
    raise(signal);
  } else if (previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  }
}
} // namespace

InterruptScope::InterruptScope() : slot(&unlisted) {
  for (Slot &candidate : slots) {
    if (candidate.used.load(std::memory_order_relaxed) || candidate.used.exchange(true))
      continue;
    candidate.token.reset();
    slot = &candidate;
    return;
  }
}

InterruptScope::~InterruptScope() {
  if (slot != &unlisted)
    slot->used.store(false, std::memory_order_release);
}

void interruptAll() {
  for (InterruptScope::Slot &slot : slots)
    if (slot.used.load())
      slot.token.cancel();
}

bool installInterruptHandler() {
  static std::once_flag once;
  static bool installed = false;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = onInterrupt;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    installed =
        sigaction(SIGINT, nullptr, &previous) == 0 && sigaction(SIGINT, &action, nullptr) == 0;
  });
  return installed;
}

} // namespace spokeshave::pjrt
