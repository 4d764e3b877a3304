//===- MatrixUnit.h - a matrix unit of the simulated chip ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to runtime/tpu/.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/tpu/Lanes.h"
#include "target/tpu/Timing.h"

#include <array>
#include <vector>

namespace spokeshave::runtime::tpu {

/// Cycles in the order in which they came.
class CycleQueue {
public:
  bool empty() const { return first == cycles.size(); }
  size_t size() const { return cycles.size() - first; }
  auto begin() const { return cycles.begin() + first; }
  auto end() const { return cycles.end(); }
  void push(int64_t count, int64_t cycle) { cycles.insert(cycles.end(), count, cycle); }
  int64_t pop() {
    int64_t cycle = cycles[first++];
    if (first == cycles.size())
      cycles.clear(), first = 0;
    else if (first == kMostPopped)
      cycles.erase(cycles.begin(), cycles.begin() + first), first = 0;
    return cycle;
  }
  void shift(int64_t by) {
    for (int64_t &cycle : cycles)
      cycle += by;
  }

private:
  static constexpr size_t kMostPopped = 1024; ///< that still stand in front
  std::vector<int64_t> cycles;
  size_t first = 0;
};

/// An array of size x size cells with a queue of results. The unit takes pushes in
/// order, as fast as their type allows; weights arrive at a port of their own.
class MatrixUnit {
public:
  using Instruction = spokeshave::tpu::Instruction;
  explicit MatrixUnit(const spokeshave::tpu::Timing &timing)
      : timing(&timing), size(timing.matrixSize) {}

  /// The cycle at which an instruction that could issue at `cycle` does.
  int64_t issue(const Instruction &instruction, int64_t cycle);
  /// Values: `a` and `b` are registers of 8 x 128 (b may be null), `dst` is one of a
  /// pop. An error's text, or null.
  const char *execute(const Instruction &instruction, const VectorLane *a, const VectorLane *b,
                      VectorLane *dst);

  /// What decides the waits of later instructions, from `cycle` on: equal for equal
  /// futures. And the same unit so many cycles later.
  void appendState(int64_t cycle, std::vector<int64_t> &state) const;
  void shift(int64_t cycles);

private:
  const char *latch(const Instruction &instruction, const VectorLane *a, const VectorLane *b);
  void swap();
  void push(const Instruction &instruction, const VectorLane *a, const VectorLane *b);

  const spokeshave::tpu::Timing *timing;
  size_t size;

  // Time.
  int64_t busyUntil = 0; ///< takes the next rows then
  int64_t weightsAt = 0; ///< the weights latched so far are in the array then
  CycleQueue ready;      ///< of results in registers

  // Values: `count` factors in rows of `size`, in f32 or, of bytes, as integers.
  template <typename Factor> struct Weights {
    std::vector<Factor> latched, active;
    size_t latchedCount = 0, activeCount = 0;

    Factor *append(size_t count);
    void swap(size_t size, bool isTransposed);
  };
  Weights<float> floats;
  Weights<int32_t> bytes;
  bool latchedTransposed = false;
  /// One register each; a ring of those in use, from `oldest` on.
  std::vector<std::array<VectorLane, spokeshave::tpu::kRegisterLanes>> results;
  size_t oldest = 0, waiting = 0;
};

} // namespace spokeshave::runtime::tpu
