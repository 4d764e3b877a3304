//===- UnitStream.h - products through the matrix units without a gap ------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to kernel/: for lowerings whose products are one sequence, with other work
// between them that is to run beside the units.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Value.h"

#include <functional>

namespace spokeshave::kernel {

/// What one set of weights in all units does. A slot is 8 rows in each of them.
struct UnitStep {
  using Registers = llvm::SmallVector<mlir::Value, 8>;
  int64_t slots = 0, latches = 0;
  std::function<void(int64_t number)> latch; ///< a share of the weights
  std::function<void()> swap;
  std::function<Registers(int64_t slot)> prepare; ///< what is pushed
  std::function<void(int64_t slot, const Registers &)> push;
  std::function<void(int64_t slot)> pop; ///< and what is done with the products
};

/// A piece of other work, written behind the slot `at`, counted from the first one that
/// is pushed now, or at the end; at the earliest where what it reads has been popped.
struct SideWork {
  int64_t at = 0;
  std::function<void()> emit;
};

struct UnitStream {
  int64_t lag = 1;   ///< slots from a push to its pop
  int64_t ahead = 1; ///< slots from where rows are prepared to their push

  /// Writes the pushes of the steps `now`; beside them the pops of what was pushed
  /// `lag` slots before, in `before` at first; the latches of all steps but the
  /// first, whose weights are there already, and of `next`; and `side`. With `drains`
  /// the pops of all that was pushed.
  void write(llvm::ArrayRef<UnitStep> before, llvm::ArrayRef<UnitStep> now, const UnitStep *next,
             std::vector<SideWork> side, bool drains) const;
};

/// All weights of a step: of the first one.
void latchAll(const UnitStep &step);

} // namespace spokeshave::kernel
