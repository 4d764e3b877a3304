//===- Compile.h - from a StableHLO module to a program for the chip -------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "input/StablehloOps.h"
#include "target/tpu/Program.h"

namespace spokeshave::tpu {

/// The options of a compilation. Values, hashed into the key of every cache.
struct CompileOptions {
  std::string chip; ///< as machine::loadChip takes it: a name, a file, with settings
  bool verifyEachPass = false;
  bool fusion = true;          ///< off: one kernel per operation
  bool overlap = true;         ///< off: collectives between chips stand where the program has them
  bool attention = true;       ///< off: attention is products and a softmax
  bool rowTiles = true;        ///< off: lanes of a register run along one line only
  bool transcendentals = true; ///< off: polynomials instead of the chip's unit
  bool megacore = true;        ///< off: one core of a device works alone
  int64_t buffers = 2;         ///< copies of a window in VMEM; 1: no overlap of transfers
  bool unrolling = true;       ///< off: loops keep their bodies
  bool pipelining = true;      ///< off: iterations of loops do not overlap
  bool keep = true;            ///< off: nothing stays in VMEM from kernel to kernel
  bool sliceStacks = true;     ///< off: a kernel that takes a layer of a stack takes the stack
  bool prefetch = true;        ///< off: nothing is brought to VMEM before its kernel starts
  /// The least precision of products of floats.
  stablehlo::Precision precision = stablehlo::Precision::DEFAULT;

  /// Off: no run brings the first arguments of the next one.
  bool crossProgramPrefetch = true;
  bool slicedPrefetch = true; ///< off: transfers ahead of kernels are of whole buffers
  bool rematerialize = true;  ///< off: what does not fit HBM is not computed again
  int64_t hbmLimit = 0;       ///< bytes of HBM that the program may use; 0: all of the device's

  /// Sets `name` from text, as docs/options.md lists them; a user error for an unknown
  /// name or bad value.
  llvm::Error set(llvm::StringRef name, llvm::StringRef value);
  /// Of all but the chip, whose figures have a hash of their own.
  uint64_t hash() const;
};

/// Compiles `module` (StableHLO, one public function @main) and consumes it.
/// Errors are spokeshave::Error; a program that needs more VMEM than the chip has
/// gets a report of what needs how much. Levels of the snapshot: stablehlo, graph,
/// schedule, kernel, tpu (virtual registers), bundles.
llvm::Expected<std::unique_ptr<Program>> compile(mlir::OwningOpRef<mlir::ModuleOp> module,
                                                 const CompileOptions &options,
                                                 const cpu::Snapshot &snapshot = {});

} // namespace spokeshave::tpu
