//===- Pipeline.h - the graph level in order -------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "input/StablehloOps.h"

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
  /// There are routines for Fourier transforms and large decompositions; off: they
  /// become products and loops.
  bool hasLibrary = true;
  /// Floats are multiplied by units that take bf16.
  bool multipliesBf16 = false;
  stablehlo::Precision precision = stablehlo::Precision::DEFAULT; ///< at least
  int64_t fullPasses = 6; ///< products in bf16 that make one of HIGHEST precision
  /// Collectives start early and are read late: on where links work beside cores.
  bool overlapExchanges = false;
};

/// Takes a verified StableHLO module to one in which everything that computes
/// stands in a graph.fusion of @main. Left at top level: loops, branches,
/// constants, reshapes of buffers, library and custom calls.
void buildGraphPipeline(mlir::OpPassManager &manager, const GraphOptions &options);

/// Makes the passes and the pipeline `graph` known to a command line.
void registerGraphPasses();

} // namespace spokeshave::graph
