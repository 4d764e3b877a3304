//===- Backend.h - the seam between the C API and compiler and runtime -----===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C API needs four things of a compiled program. Tests put programs of their
// own behind this interface, so that dispatch, donation and errors are tested
// without a compiler.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/Exchange.h"
#include "runtime/Executable.h"
#include "target/cpu/Compile.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace spokeshave::pjrt {

/// A program that can run, by several callers at once.
class LoadedProgram {
public:
  virtual ~LoadedProgram() = default;

  std::string name;
  /// Tokens, whose element type is "token", are among them, but take no part in
  /// a run and may be null there.
  std::vector<cpu::ValueSpec> arguments, results;
  cpu::CompileStats stats;
  /// Figures of cost_analysis beyond those that follow from `stats`.
  std::vector<std::pair<std::string, double>> extraCosts;
  /// It calls functions that may take long, block, or use the device themselves.
  bool callsOut = false;
  /// So little work that another thread would cost more than it brings.
  bool isTiny = false;
  /// It runs on their product of devices at once.
  int64_t replicas = 1, partitions = 1;

  /// Runs on dense row-major arrays. A result may be the very memory of the
  /// donated argument that it aliases.
  virtual llvm::Error run(llvm::ArrayRef<runtime::ExecuteArgument> arguments,
                          llvm::ArrayRef<runtime::ExecuteResult> results,
                          const runtime::CancelToken &cancel) = 0;
  /// As run, as one of the devices that meet in `exchange`. Others run at once.
  virtual llvm::Error runAsDevice(llvm::ArrayRef<runtime::ExecuteArgument> arguments,
                                  llvm::ArrayRef<runtime::ExecuteResult> results,
                                  const runtime::CancelToken &cancel, runtime::Exchange &exchange,
                                  int64_t device);
  /// Bytes of machine code and constants in memory.
  virtual int64_t codeBytes() const { return stats.codeBytes; }
  /// Bytes from which LoadFunction makes it again, in another process.
  virtual llvm::Expected<std::string> serialize() const = 0;
};

/// Options of a compilation, as docs/options.md lists them.
using NamedOptions = llvm::ArrayRef<std::pair<std::string, std::string>>;
using CompileFunction = std::function<llvm::Expected<std::shared_ptr<LoadedProgram>>(
    llvm::StringRef program, NamedOptions options)>;
/// Checks options; equal numbers for options that mean the same.
using HashFunction = std::function<llvm::Expected<uint64_t>(NamedOptions options)>;
using LoadFunction =
    std::function<llvm::Expected<std::shared_ptr<LoadedProgram>>(llvm::StringRef bytes)>;

/// Options for the CPU out of text, and their hash.
llvm::Expected<cpu::CompileOptions> cpuOptions(NamedOptions options);
llvm::Expected<uint64_t> hashCpuOptions(NamedOptions options);

struct Backend {
  CompileFunction compile;
  LoadFunction load;
  std::function<void()> start = [] {}; ///< called for each client
  std::string platform = "spokeshave";
  HashFunction hashOptions = hashCpuOptions;
  std::string deviceKind;   ///< empty: this machine's CPU
  uint64_t machineHash = 0; ///< of what programs are compiled for; 0: this machine
};

/// StableHLO through the compiler to the CPU.
Backend cpuBackend();
/// What this process compiled and what it ran, as JSON: a list with an object
/// per program that is still loaded.
std::string cpuStatisticsJson();
/// Calls that left compiled code, of all programs so far.
void cpuCallCounts(int64_t &libraryCalls, int64_t &customCalls);

/// The backend of clients created from now on. The plugin sets the CPU's, tests
/// set their own.
const Backend &currentBackend();
void setBackend(Backend backend);

/// Makes a backend out of the option `chip` of a client with the option `target`.
using TargetFactory = std::function<llvm::Expected<Backend>(llvm::StringRef chip)>;
void addTarget(llvm::StringRef target, TargetFactory factory);
/// The backend of a client with these options; the current one without a target.
llvm::Expected<Backend> backendFor(llvm::StringRef target, llvm::StringRef chip);

} // namespace spokeshave::pjrt
