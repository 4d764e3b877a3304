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

} // namespace spokeshave::graph
