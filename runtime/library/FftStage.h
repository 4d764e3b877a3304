//===- FftStage.h - one axis of a multi-dimensional transform --------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes lines from memory into interleaved work memory, several at a time, lets
// a plan transform them, and puts them back; conversions between real and
// complex data, inverse transforms and scaling happen on the way.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/ThreadPool.h"

#include <memory>

namespace spokeshave::runtime {

enum class FftKind { Forward, Inverse, Real, RealInverse };

/// `outer` x length x `inner` values, row-major; real kinds have inner = 1 and
/// lines of length / 2 + 1 complex values on their complex side.
struct FftAxis {
  FftKind kind;
  int64_t length, outer, inner;
  double scale; ///< what results are multiplied with
};

class FftStage {
public:
  virtual ~FftStage();
  /// `in` and `out` may be the same memory for complex kinds.
  virtual llvm::Error run(const void *in, void *out, ThreadPool &pool,
                          const volatile int32_t *cancel) const = 0;
};

/// For float or double data.
std::unique_ptr<FftStage> makeFftStage(const FftAxis &axis, bool isDouble);

} // namespace spokeshave::runtime
