//===- Share.cpp - how cores share the tasks of a kernel -------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each core does a contiguous part of the tasks. Windows say what that part touches.
//
//===----------------------------------------------------------------------===//
#include "kernel/Share.h"

#include <numeric>

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

std::pair<int64_t, int64_t> TouchedBuffer::rangeAt(int64_t task) const {
  if (declared)
    return DeclaredWindow(declared).rangeAt(task);
  return window ? window->rangeAt(task) : std::pair<int64_t, int64_t>(0, elements);
}

int64_t TouchedBuffer::windowElements() const {
  return declared ? DeclaredWindow(declared).elements() : window ? window->elements() : elements;
}

int64_t kernel::shareOfCore(int64_t tasks, int64_t cores, ArrayRef<TouchedBuffer> touched) {
  int64_t together = 1;
  for (const TouchedBuffer &buffer : touched) {
    if (buffer.moves() && buffer.period() < tasks)
      together = std::lcm(together, buffer.period());
    else if (buffer.isWritten)
      return tasks;
  }
  int64_t share = llvm::alignTo(llvm::divideCeil(tasks, cores), together);
  return share * (cores - 1) < tasks ? share : tasks; // none would be idle
}

SmallVector<int64_t> kernel::partsOfCores(int64_t tasks, int64_t share, int64_t cores,
                                          int64_t buffers, ArrayRef<TouchedBuffer> touched) {
  SmallVector<int64_t> parts(2 * buffers * cores, 0);
  for (const TouchedBuffer &buffer : touched)
    for (int64_t task = 0; task < tasks; ++task) {
      auto [first, last] = buffer.rangeAt(task);
      if (first >= last)
        continue;
      int64_t at = 2 * (buffer.number * cores + task / share);
      int64_t &begin = parts[at], &end = parts[at + 1];
      bool isNew = begin == end;
      begin = isNew ? first * buffer.elementBytes : std::min(begin, first * buffer.elementBytes);
      end = std::max(end, last * buffer.elementBytes);
    }
  return parts;
}

SmallVector<int64_t> kernel::movedByCores(int64_t tasks, int64_t share, int64_t cores,
                                          ArrayRef<int64_t> parts,
                                          ArrayRef<TouchedBuffer> touched) {
  SmallVector<int64_t> moved(parts.size() / 2, 0);
  for (const TouchedBuffer &buffer : touched)
    for (int64_t task = 0; task < tasks; ++task)
      if (task % share == 0 || buffer.rangeAt(task) != buffer.rangeAt(task - 1))
        moved[buffer.number * cores + task / share] +=
            buffer.windowElements() * buffer.elementBytes;
  // What is moved again and again counts once, as windows that lie within each other.
  for (size_t i = 0; i < moved.size(); ++i)
    moved[i] = std::min(moved[i], parts[2 * i + 1] - parts[2 * i]);
  return moved;
}
