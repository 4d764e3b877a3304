//===- Accumulate.h - loops that carry elements ----------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums over windows, depths and prefixes: loops whose carried values are
// elements (a register, or a pair of them for complex numbers).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/Elements.h"

namespace spokeshave::kernel {

using Elements = llvm::SmallVector<Element>;

/// The registers of `elements` one after the other, and back. `like` gives the
/// structure.
llvm::SmallVector<mlir::Value> flatten(llvm::ArrayRef<Element> elements);
Elements unflatten(ArithContext &context, mlir::ValueRange values, llvm::ArrayRef<Element> like);

/// The results of a region on `arguments`; what it uses from outside is taken from
/// the fusion's body.
mlir::FailureOr<Elements> applyRegion(ElementEmitter &emitter, mlir::Region &region,
                                      llvm::ArrayRef<Element> arguments);

/// Where `condition` holds (null: everywhere) `yes`, else `no`.
Elements selectElements(Num condition, llvm::ArrayRef<Element> yes, llvm::ArrayRef<Element> no);

/// Writes a loop over [0, extent) that carries `initial`; `step` gets the index,
/// one level deeper, and what is carried, and gives what is carried on. A single
/// step is written without a loop.
mlir::FailureOr<Elements> accumulate(
    ElementEmitter &emitter, int64_t extent, llvm::ArrayRef<Element> initial,
    llvm::function_ref<mlir::FailureOr<Elements>(const Index &, llvm::ArrayRef<Element>)> step);

/// The same over several extents, the last innermost. Up to `unroll` steps in all
/// are written out with constant indices.
mlir::FailureOr<Elements> accumulateOver(
    ElementEmitter &emitter, llvm::ArrayRef<int64_t> extents, llvm::ArrayRef<Element> initial,
    int64_t unroll,
    llvm::function_ref<mlir::FailureOr<Elements>(const Position &, llvm::ArrayRef<Element>)> step);

/// An index into a dilated and padded dimension as one into its data: `at` counts
/// padded positions from the first element, elements are `spacing` apart. Becomes
/// the element's number; `inside` is and-ed with the condition that there is one.
/// False: never.
bool undilate(ElementEmitter &emitter, Index &at, int64_t extent, int64_t spacing, Num &inside);

} // namespace spokeshave::kernel
