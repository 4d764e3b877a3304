//===- RegisterLoop.h - loops that run in registers ------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop whose state is small becomes one kernel with the loop inside. What it
// carries lives in registers, arrays that a scan reads and writes slice by slice
// stay where they lie. Over a batch of states (see LoopDimensions.h) each task
// runs the whole loop for some members, one per lane.
//
// The plan is made twice, for the program when the fusion is formed and for the
// fusion's body when its kernel is written: it follows from the loop alone.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "graph/GraphDialect.h"
#include "graph/LoopDimensions.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"

#include <memory>
#include <optional>

namespace spokeshave::graph {

struct RegisterLoop {
  stablehlo::WhileOp loop;
  /// Carried arrays that each trip updates in place.
  llvm::BitVector inMemory;
  std::unique_ptr<LoopDimensions> dimensions;
  /// The classes of dimensions that count the members of the batch, with their
  /// extents. The last one runs along the lanes. Empty: a single state.
  llvm::SmallVector<int32_t> batch;
  llvm::SmallVector<int64_t> extents;
  /// What changes from trip to trip; the rest is the same in all.
  llvm::DenseSet<mlir::Value> changing;
  /// Of a batch that runs until no member wants to: what each member wants. The
  /// body holds members that do not, so that each may stop when it is done.
  mlir::Value wants;
  /// Instructions of one trip, roughly.
  int64_t instructions = 0;

  /// Which of the batch's classes dimension `dim` of `value` is, or -1.
  int batchNumber(mlir::Value value, int64_t dim) const;
  /// Elements of `value` for one member.
  int64_t elementsPerMember(mlir::Value value) const;
};

/// The loop as one kernel, if it can be and is worth it.
std::optional<RegisterLoop> planRegisterLoop(stablehlo::WhileOp loop);

/// The updates that make carried array `i` of the next trip from that of this
/// trip, in order, if nothing but the loop's next trip reads what they make.
llvm::SmallVector<stablehlo::DynamicUpdateSliceOp> updatesInPlace(stablehlo::WhileOp loop,
                                                                  unsigned i);

/// Whether carried array `i` stays in memory: it is updated so, and not tiny.
bool isInMemory(stablehlo::WhileOp loop, unsigned i);

/// The attribute of a fusion of the kind While whose loop has no batch.
constexpr llvm::StringLiteral kSingleState = "graph.single_state";

/// Of a fusion of the kind While: the loop in its body, and the number of the
/// carried value that is the fusion's result `result`.
stablehlo::WhileOp loopOf(FusionOp fusion);
unsigned carriedNumber(FusionOp fusion, unsigned result);

} // namespace spokeshave::graph
