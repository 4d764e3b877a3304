//===- LaneLoops.h - the simulator's inner loops ---------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to runtime/tpu/. Compiled once per instruction set of the host from the
// same text, without contraction: the bits are the same on all.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/tpu/Lanes.h"

namespace spokeshave::runtime::tpu {

/// Operands as arrays with a value for each lane; never null.
struct LaneArrays {
  const void *a, *b, *c;
  void *dst;
};

struct LaneLoops {
  /// An instruction whose operands and result have lanes of one width (VectorLane or
  /// Lane), conditions and results of comparisons being masks. False: not of this kind.
  bool (*narrow)(const spokeshave::tpu::Instruction &, const LaneArrays &);
  bool (*wide)(const spokeshave::tpu::Instruction &, const LaneArrays &);
  /// All in lanes of 64 bits, masks too.
  bool (*scalar)(const spokeshave::tpu::Instruction &, const LaneArrays &);
  /// A conversion.
  bool (*convert)(const spokeshave::tpu::Instruction &, const LaneArrays &);
  /// offsets[i] = indices[i] * stride, signed; the least and the largest of the lanes
  /// that are on (a null mask: all), which are the wrong way round if none is.
  void (*offsets)(const VectorLane *indices, int64_t stride, size_t count, const VectorLane *mask,
                  int64_t *offsets, int64_t &least, int64_t &largest);
  /// dst[i] = the 32 bits at `at` + offsets[i]; 0 in lanes that are off.
  void (*gather)(const char *at, const int64_t *offsets, size_t count, const VectorLane *mask,
                 VectorLane *dst);
  /// Factors of a matrix unit: rounded to bf16, as f32; bytes as integers.
  void (*factors)(const VectorLane *lanes, spokeshave::tpu::ElementType type, size_t count,
                  float *to);
  void (*bytes)(const VectorLane *lanes, bool isUnsigned, size_t count, int32_t *to);
  /// sums[row][n] = sum of left[row][k] * weights[k][n] in the order of k < depth, for
  /// kSublanes rows and `size` columns, all with rows of `size`.
  void (*multiply)(const float *left, const float *weights, size_t size, size_t depth, float *sums);
  void (*multiplyBytes)(const int32_t *left, const int32_t *weights, size_t size, size_t depth,
                        uint32_t *sums);
};

extern const LaneLoops kLaneLoopsBase, kLaneLoopsAvx2, kLaneLoopsAvx512;

/// Those for the processor that runs.
const LaneLoops &laneLoops();

/// What the loops leave to others: conversions of rare types, the remainder of large
/// angles (Opcode::ReduceAngle).
Lane convertSlowly(Lane bits, spokeshave::tpu::ElementType from, spokeshave::tpu::ElementType to);
double angleRemainder(double x, unsigned part);

} // namespace spokeshave::runtime::tpu
