//===- Pipeline.h - the graph level in order -------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Pass/PassManager.h"

namespace spokeshave::graph {

/// What a caller may choose. Values: they become part of every cache key.
struct GraphOptions {
  bool fusion = true; ///< off: one fusion per operation, for bisecting
  /// Loops with a small state become kernels. Off where a kernel cannot loop over
  /// scalars well.
  bool registerLoops = true;
  /// Attention becomes one kernel, whose scores are never a tensor, where the scores
  /// have at least so many bytes as f32.
  bool attention = true;
  int64_t fewestScoreBytes = 0;
};

/// Takes a verified StableHLO module to one in which everything that computes
/// stands in a graph.fusion of @main. Left at top level: loops, branches,
/// constants, reshapes of buffers, library and custom calls.
void buildGraphPipeline(mlir::OpPassManager &manager, const GraphOptions &options);

/// Makes the passes and the pipeline `graph` known to a command line.
void registerGraphPasses();

} // namespace spokeshave::graph
