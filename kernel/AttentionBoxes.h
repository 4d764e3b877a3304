//===- AttentionBoxes.h - where the operands of attention lie --------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to kernel/: for machines with a near memory, whose kernels declare which
// box of each buffer a task uses (kernel.window).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/AttentionView.h"

#include <functional>

namespace spokeshave::kernel {

/// The element (outer, row, column) of an operand, outer counting batches and runs,
/// lies in `buffer` at base + sum of digit * outer[digit] + row * rowStride + column.
struct AttentionBox {
  mlir::Value buffer;
  int64_t base = 0, rowStride = 0;
  llvm::SmallVector<int64_t> outer; ///< elements per step of a digit, outermost first
};

struct AttentionBoxes {
  /// Of the number `outer` in mixed radix, outermost digit first.
  llvm::SmallVector<int64_t> radices;
  /// Nothing where an operand does not lie so, or is computed.
  std::optional<AttentionBox> queries, keys, values, result;
};

AttentionBoxes findAttentionBoxes(const AttentionView &view, ElementEmitter &emitter);

} // namespace spokeshave::kernel
