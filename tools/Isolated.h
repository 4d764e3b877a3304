//===- Isolated.h - work in a process of its own ----------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A list of cases must come to its end whatever one of them does. Each runs in a
// child process: a crash or an endless loop there is an outcome like any other.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace spokeshave::tools {

struct IsolatedResult {
  enum class End { Normal, Crashed, TimedOut } end = End::Normal;
  int signal = 0;     ///< what killed it, where it crashed
  std::string output; ///< what `work` wrote
};

/// Runs `work` in a fork of this process, which must have no other threads, for
/// at most `seconds`. What it prints elsewhere is lost.
IsolatedResult runIsolated(llvm::function_ref<void(llvm::raw_ostream &)> work, int seconds);

} // namespace spokeshave::tools
