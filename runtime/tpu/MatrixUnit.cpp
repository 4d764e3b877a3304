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
    ready.insert(ready.end(), size / kLanes, cycle + timing->matrix);
    return cycle;
  default:
    if (ready.empty())
      return cycle;
    cycle = std::max(cycle, ready.front());
    ready.pop_front();
    return cycle;
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
  for (int64_t &when : ready)
    when += cycles;
}

/// A factor as the unit takes it in: rounded to bf16, where narrower ones are exact.
static float factorOf(Lane bits, ElementType type) {
  float value = toFloat(bits, type);
  if (type != ElementType::F32)
    return value;
  return toFloat(fromFloat(value, ElementType::BF16), ElementType::BF16);
}

static int32_t byteOf(Lane bits, bool isUnsigned) {
  return isUnsigned ? int32_t(uint8_t(bits)) : int32_t(int8_t(bits));
}

/// Appends 8 rows of `size` factors; those beyond the registers are zero.
template <typename Factor, typename Read>
static void appendRows(std::vector<Factor> &to, size_t size, const Lane *a, const Lane *b,
                       Read read) {
  for (size_t row = 0; row < size_t(kSublanes); ++row) {
    size_t first = to.size();
    to.resize(first + size);
    for (size_t i = 0; i < size_t(kLanes); ++i) {
      to[first + i] = read(a[row * kLanes + i]);
      if (b && size > size_t(kLanes))
        to[first + kLanes + i] = read(b[row * kLanes + i]);
    }
  }
}

const char *MatrixUnit::latch(const Instruction &instruction, const Lane *a, const Lane *b) {
  bool transposed = instruction.op == Opcode::MatrixLatchT;
  size_t before = latched.size() + latchedBytes.size();
  if (before + kSublanes * size > size * size)
    return "more weights than the unit holds";
  if (before && transposed != latchedTransposed)
    return "rows and columns of weights are mixed";
  latchedTransposed = transposed;
  if (instruction.from == ElementType::I8)
    appendRows(latchedBytes, size, a, b,
               [&](Lane bits) { return byteOf(bits, instruction.predicate); });
  else
    appendRows(latched, size, a, b, [&](Lane bits) { return factorOf(bits, instruction.from); });
  return nullptr;
}

/// Columns of weights become rows.
template <typename Factor>
static std::vector<Factor> transposed(const std::vector<Factor> &columns, size_t size) {
  std::vector<Factor> rows(columns.empty() ? 0 : size * size);
  for (size_t column = 0; column * size < columns.size(); ++column)
    for (size_t k = 0; k < size; ++k)
      rows[k * size + column] = columns[column * size + k];
  return rows;
}

void MatrixUnit::swap() {
  if (latchedTransposed) {
    active = transposed(latched, size);
    activeBytes = transposed(latchedBytes, size);
  } else {
    active.swap(latched);
    activeBytes.swap(latchedBytes);
  }
  latched.clear(), latchedBytes.clear();
}

/// sums[n] = sum of row[k] * weights[k][n], in the order of k.
template <typename Factor, typename Sum>
static void multiplyRow(const Factor *row, const std::vector<Factor> &weights, size_t size,
                        std::vector<Sum> &sums) {
  std::fill(sums.begin(), sums.end(), Sum(0));
  Sum *sum = sums.data();
  for (size_t k = 0; k * size < weights.size(); ++k) {
    Factor factor = row[k];
    const Factor *right = &weights[k * size];
    for (size_t n = 0; n < size; ++n)
      sum[n] += Sum(factor * right[n]);
  }
}

void MatrixUnit::push(const Instruction &instruction, const Lane *a, const Lane *b) {
  size_t first = results.size(), halves = size / kLanes;
  for (size_t half = 0; half < halves; ++half)
    results.emplace_back(kRegisterLanes);
  auto write = [&](size_t row, auto bitsOf) {
    for (size_t n = 0; n < size; ++n)
      results[first + n / kLanes][row * kLanes + n % kLanes] = bitsOf(n);
  };
  if (instruction.from == ElementType::I8) {
    std::vector<int32_t> left;
    std::vector<uint32_t> sums(size);
    appendRows(left, size, a, b, [&](Lane bits) { return byteOf(bits, instruction.predicate); });
    for (size_t row = 0; row < size_t(kSublanes); ++row) {
      multiplyRow(&left[row * size], activeBytes, size, sums);
      write(row, [&](size_t n) { return Lane(sums[n]); });
    }
    return;
  }
  std::vector<float> left, sums(size);
  appendRows(left, size, a, b, [&](Lane bits) { return factorOf(bits, instruction.from); });
  for (size_t row = 0; row < size_t(kSublanes); ++row) {
    multiplyRow(&left[row * size], active, size, sums);
    write(row, [&](size_t n) { return fromFloat(sums[n], ElementType::F32); });
  }
}

const char *MatrixUnit::execute(const Instruction &instruction, const Lane *a, const Lane *b,
                                Lane *dst) {
  switch (instruction.op) {
  case Opcode::MatrixLatch:
  case Opcode::MatrixLatchT:
    return latch(instruction, a, b);
  case Opcode::MatrixSwap:
    return swap(), nullptr;
  case Opcode::MatrixPush:
    return push(instruction, a, b), nullptr;
  default:
    if (results.empty())
      return "pop from an empty matrix unit";
    std::copy(results.front().begin(), results.front().end(), dst);
    results.pop_front();
    return nullptr;
  }
}

} // namespace spokeshave::runtime::tpu
