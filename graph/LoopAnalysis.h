//===- LoopAnalysis.h - how often a loop runs ------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "input/StablehloOps.h"

#include <optional>

namespace spokeshave::graph {

/// The trips of a loop that counts an integer from one constant to another by a
/// constant step; none if that cannot be shown.
std::optional<int64_t> countTrips(stablehlo::WhileOp loop);

/// Of a carried stack (a scan's results) all of whose layers the loop writes, one in
/// each trip, upwards or downwards, and of which it reads nothing: the update that puts
/// the layer. What the stack holds before the loop is lost. Else null.
stablehlo::DynamicUpdateSliceOp updateThatFills(stablehlo::WhileOp loop, unsigned carried);

/// Whether `starts` are those of a stack's layer `index`: zero but for the first.
bool isLayer(mlir::OperandRange starts, mlir::Value index);

/// On a loop: the numbers of the carried stacks that come without a value, for the loop
/// fills them (SkipFills.cpp).
inline constexpr llvm::StringLiteral kUnset = "graph.unset";

} // namespace spokeshave::graph
