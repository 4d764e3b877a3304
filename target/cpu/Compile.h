//===- Compile.h - from a StableHLO module to a CPU program ----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace spokeshave::cpu {

/// The options of a compilation. Values, hashed into the key of every cache.
struct CompileOptions {
  std::string isa = "native"; ///< "native", "amx", "avx512", "avx2", "x86-64"
  int threads = 0;            ///< 0: from affinity and cgroup quota
  bool verifyEachPass = false;
  bool fusion = true;       ///< off: one kernel per operation, for bisecting
  bool attention = true;    ///< off: attention is products and a softmax
  bool shareKernels = true; ///< off: compile all kernels anew, for measuring

  /// Sets `name` from text; a user error for an unknown name or bad value.
  llvm::Error set(llvm::StringRef name, llvm::StringRef value);
  uint64_t hash() const;
};

/// One argument or result: row-major, dense.
struct ValueSpec {
  std::string elementType; ///< as MLIR prints it: f32, bf16, i1, ui8, complex<f32>, i4, ...
  std::vector<int64_t> shape;
  int64_t byteSize = 0;
  int64_t alias = -1; ///< of a result: the donated argument it may take over
  /// Of a part of an array that is split over devices: how many parts each
  /// dimension has, then the number of each device's part. Empty: not split.
  std::vector<int64_t> parts = {};
};

/// A call that leaves generated code: a library routine or an FFI target.
struct CallSpec {
  std::string target; ///< "fft", "cholesky", ... or the custom call's target
  bool isLibrary = false;
  int32_t apiVersion = 0;
  std::string config; ///< the attributes, as MLIR text of a dictionary
  std::vector<ValueSpec> inputs, outputs;
  std::string location; ///< user's source line
};

/// What was compiled, for reports and tests.
struct KernelInfo {
  std::string symbol, name, kind, location;
  int64_t launches = 0, tasks = 0, flops = 0, bytes = 0, instructions = 0;
  int64_t movedBytes = 0; ///< what it writes, if it computes nothing
  double compileMs = 0;   ///< processor time, of all levels below the schedule
  bool isShared = false;  ///< an earlier program of the process had compiled it
};

/// How a program, or one iteration of a loop, is made: counts of what the driver
/// does. Inner loops count by their trips where those are known, else once.
struct Structure {
  int64_t regions = 0; ///< parallel regions
  int64_t launches = 0;
  int64_t copies = 0, copiedBytes = 0; ///< of whole buffers, by the driver
  int64_t movedBytes = 0;              ///< written by kernels that compute nothing
};
struct LoopInfo {
  std::string location;
  int64_t depth = 0;
  int64_t trips = -1; ///< -1: not known before the program runs
  Structure iteration;
};
/// A step of a compilation, in order of their ends.
struct PhaseTime {
  std::string name;
  double milliseconds = 0; ///< of the clock on the wall
  double processorMs = 0;  ///< of the compiling threads
};
struct CompileStats {
  std::vector<KernelInfo> kernels;
  Structure structure;
  std::vector<LoopInfo> loops; ///< in the order of the program, outer before inner
  int64_t libraryCalls = 0, customCalls = 0, arenaBytes = 0, scratchBytes = 0, codeBytes = 0;
  int64_t instructionsBefore = 0, instructionsAfter = 0;     ///< fusion's duplication
  int64_t flops = 0, transcendentals = 0, bytesAccessed = 0; ///< loops counted by trips where known
  double millisecondsFront = 0, millisecondsCode = 0;
  std::vector<PhaseTime> phases;
  int64_t objects = 0, sharedObjects = 0; ///< pieces of code; those made for earlier programs
};

/// An ELF relocatable object. Programs share those of their equal kernels.
using Object = std::shared_ptr<const std::vector<char>>;

/// A compiled program: position-independent object code and what is needed to run it.
struct Program {
  std::string name, isa, driverSymbol;
  int64_t replicas = 1, partitions = 1;     ///< it runs on their product of devices at once
  std::vector<Object> objects;              ///< each after those that it calls, the driver's last
  std::vector<std::vector<char>> constants; ///< RunContext::constants
  std::vector<ValueSpec> arguments, results;
  std::vector<CallSpec> calls; ///< RunContext::call's table
  CompileStats stats;
};

/// Called after each level with its name (stablehlo, graph, schedule, kernel,
/// llvm, asm) and a printer; lets tools show every level of the road.
using Snapshot =
    std::function<void(llvm::StringRef level, llvm::function_ref<void(llvm::raw_ostream &)>)>;

/// Compiles `module` (StableHLO, one public function @main) and consumes it.
/// Errors are spokeshave::Error of kind User or Internal.
llvm::Expected<std::unique_ptr<Program>> compile(mlir::OwningOpRef<mlir::ModuleOp> module,
                                                 const CompileOptions &options,
                                                 const Snapshot &snapshot = {});

} // namespace spokeshave::cpu
