//===- Share.h - how cores share the tasks of a kernel ---------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to kernel/, for Stage.cpp.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/Windows.h"

namespace spokeshave::kernel {

/// What the tasks of a kernel touch of one of its buffers.
struct TouchedBuffer {
  unsigned number = 0; ///< among the kernel's buffers
  int64_t elements = 0, elementBytes = 1;
  bool isWritten = false;
  WindowOp declared;              ///< null: `window`
  std::optional<Window> window{}; ///< nothing: all of it in every task

  bool moves() const { return declared || window; }
  int64_t period() const {
    return declared ? DeclaredWindow(declared).period() : window ? window->period() : 1;
  }
  std::pair<int64_t, int64_t> rangeAt(int64_t task) const;
  int64_t windowElements() const;
};

/// How many tasks, one after the other, each of `cores` does: all, where cores would
/// write the same bytes. Tasks that share a window stay on one core.
int64_t shareOfCore(int64_t tasks, int64_t cores, llvm::ArrayRef<TouchedBuffer> touched);

/// Bytes [begin, end) of each of `buffers` that each core's tasks touch, a pair for
/// each core of the first buffer, then of the next one. Cores without tasks have none.
llvm::SmallVector<int64_t> partsOfCores(int64_t tasks, int64_t share, int64_t cores,
                                        int64_t buffers, llvm::ArrayRef<TouchedBuffer> touched);

/// Bytes that each core moves of what `parts` says that it touches: the windows of its
/// tasks, each once. In the order of `parts`.
llvm::SmallVector<int64_t> movedByCores(int64_t tasks, int64_t share, int64_t cores,
                                        llvm::ArrayRef<int64_t> parts,
                                        llvm::ArrayRef<TouchedBuffer> touched);

} // namespace spokeshave::kernel
