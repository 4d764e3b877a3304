//===- MatrixUnit.cpp - a matrix unit of the simulated chip ----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The only interlocks beside semaphores: a push waits for the array, a swap for
// weights that are still coming in, a pop for its result.
//
//===----------------------------------------------------------------------===//
#include "runtime/tpu/MatrixUnit.h"

#include "runtime/tpu/LaneLoops.h"

#include <algorithm>

namespace spokeshave::runtime::tpu {

using namespace spokeshave::tpu;

int64_t MatrixUnit::issue(const Instruction &instruction, int64_t cycle) {
  switch (instruction.op) {
  case Opcode::MatrixLatch:
  case Opcode::MatrixLatchT:
    if (timing->weightSets < 2) // not while the old weights work
      cycle = std::max(cycle, busyUntil);
    weightsAt = std::max(weightsAt, cycle) + timing->matrixLatch;
    return cycle;
  case Opcode::MatrixSwap:
    return std::max(cycle, weightsAt);
  case Opcode::MatrixPush:
    cycle = std::max(cycle, busyUntil);
    busyUntil = cycle + timing->occupancy(instruction);
    ready.push(size / kLanes, cycle + timing->matrix);
    return cycle;
  default:
    if (ready.empty())
      return cycle;
    return std::max(cycle, ready.pop());
  }
}

void MatrixUnit::appendState(int64_t cycle, std::vector<int64_t> &state) const {
  for (int64_t when : {busyUntil, weightsAt, int64_t(ready.size()) + cycle})
    state.push_back(std::max<int64_t>(0, when - cycle));
  for (int64_t when : ready)
    state.push_back(std::max<int64_t>(0, when - cycle));
}

void MatrixUnit::shift(int64_t cycles) {
  busyUntil += cycles;
  weightsAt += cycles;
  ready.shift(cycles);
}

template <typename Factor> Factor *MatrixUnit::Weights<Factor>::append(size_t count) {
  if (latched.size() < latchedCount + count)
    latched.resize(latchedCount + count);
  return &latched[(latchedCount += count) - count];
}

/// What is latched becomes active; columns of weights become rows.
template <typename Factor> void MatrixUnit::Weights<Factor>::swap(size_t size, bool isTransposed) {
  activeCount = isTransposed && latchedCount ? size * size : latchedCount;
  if (isTransposed && latchedCount) {
    active.assign(activeCount, Factor(0));
    for (size_t column = 0; column * size < latchedCount; ++column)
      for (size_t k = 0; k < size; ++k)
        active[k * size + column] = latched[column * size + k];
  } else {
    active.swap(latched);
  }
  latchedCount = 0;
}

/// Writes 8 rows of `size` factors, of two registers where the array is wider than one;
/// those beyond the registers are zero. read(lanes, count, to) takes in a run of lanes.
template <typename Factor, typename Read>
static void takeRows(Factor *to, size_t size, const VectorLane *a, const VectorLane *b, Read read) {
  for (size_t row = 0; row < size_t(kSublanes); ++row, to += size) {
    read(a + row * kLanes, kLanes, to);
    bool isWider = size > size_t(kLanes);
    if (isWider && b)
      read(b + row * kLanes, kLanes, to + kLanes);
    else if (isWider)
      std::fill_n(to + kLanes, kLanes, Factor(0));
  }
}

static auto readBytes(const Instruction &instruction) {
  return [&](const VectorLane *lanes, size_t count, int32_t *to) {
    laneLoops().bytes(lanes, instruction.predicate, count, to);
  };
}

/// As the unit takes factors in: rounded to bf16, where narrower ones are exact.
static auto readFloats(const Instruction &instruction) {
  return [&](const VectorLane *lanes, size_t count, float *to) {
    laneLoops().factors(lanes, instruction.from, count, to);
  };
}

const char *MatrixUnit::latch(const Instruction &instruction, const VectorLane *a,
                              const VectorLane *b) {
  bool transposed = instruction.op == Opcode::MatrixLatchT;
  size_t before = floats.latchedCount + bytes.latchedCount, count = kSublanes * size;
  if (before + count > size * size)
    return "more weights than the unit holds";
  if (before && transposed != latchedTransposed)
    return "rows and columns of weights are mixed";
  latchedTransposed = transposed;
  if (instruction.from == ElementType::I8)
    takeRows(bytes.append(count), size, a, b, readBytes(instruction));
  else
    takeRows(floats.append(count), size, a, b, readFloats(instruction));
  return nullptr;
}

void MatrixUnit::swap() {
  floats.swap(size, latchedTransposed);
  bytes.swap(size, latchedTransposed);
}

void MatrixUnit::push(const Instruction &instruction, const VectorLane *a, const VectorLane *b) {
  constexpr size_t kLargest = 256; // array
  static_assert(sizeof(float) == sizeof(VectorLane));
  VectorLane sums[kSublanes * kLargest];
  if (instruction.from == ElementType::I8) {
    int32_t left[kSublanes * kLargest];
    takeRows(left, size, a, b, readBytes(instruction));
    laneLoops().multiplyBytes(left, bytes.active.data(), size, bytes.activeCount / size, sums);
  } else {
    float left[kSublanes * kLargest];
    takeRows(left, size, a, b, readFloats(instruction));
    laneLoops().multiply(left, floats.active.data(), size, floats.activeCount / size,
                         reinterpret_cast<float *>(sums));
  }
  size_t halves = size / kLanes;
  if (waiting + halves > results.size()) { // the ring grows at its end
    std::rotate(results.begin(), results.begin() + oldest, results.end());
    oldest = 0;
    results.resize(2 * results.size() + halves);
  }
  for (size_t half = 0; half < halves; ++half) {
    auto &result = results[(oldest + waiting++) % results.size()];
    for (size_t row = 0; row < size_t(kSublanes); ++row)
      std::copy_n(&sums[row * size + half * kLanes], kLanes, &result[row * kLanes]);
  }
}

const char *MatrixUnit::execute(const Instruction &instruction, const VectorLane *a,
                                const VectorLane *b, VectorLane *dst) {
  switch (instruction.op) {
  case Opcode::MatrixLatch:
  case Opcode::MatrixLatchT:
    return latch(instruction, a, b);
  case Opcode::MatrixSwap:
    return swap(), nullptr;
  case Opcode::MatrixPush:
    return push(instruction, a, b), nullptr;
  default:
    if (!waiting)
      return "pop from an empty matrix unit";
    std::copy(results[oldest].begin(), results[oldest].end(), dst);
    oldest = (oldest + 1) % results.size(), --waiting;
    return nullptr;
  }
}

} // namespace spokeshave::runtime::tpu
