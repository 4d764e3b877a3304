//===- Executable.h - a compiled program, loaded and ready to run ----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Links the object code of a cpu::Program into the process (one mapping, gone
// with the Executable), prepares the calls of its table, and runs its driver:
// checks arguments, finds memory for temporaries, and turns the driver's status
// into an Error. Any number of threads may execute one Executable at once.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/Cancel.h"
#include "runtime/CustomCall.h"
#include "runtime/ThreadPool.h"
#include "target/cpu/Compile.h"

#include "llvm/ADT/ArrayRef.h"

#include <memory>
#include <string>

namespace spokeshave::runtime {

/// What happened in one execution, or in all of an executable so far.
struct ExecuteCounters {
  int64_t executions = 0;
  int64_t libraryCalls = 0, customCalls = 0;
  int64_t parallelRegions = 0; ///< of which inlineRegions stayed on the caller
  int64_t inlineRegions = 0;
  int64_t launches = 0;
  int64_t nanoseconds = 0; ///< wall time in the driver
};

struct ExecuteArgument {
  void *data = nullptr; ///< aligned to its element at least
  size_t bytes = 0;     ///< exactly ValueSpec::byteSize
  bool donated = false; ///< may be overwritten
};

struct ExecuteResult {
  void *data = nullptr; ///< the caller's memory, 64-byte aligned
  size_t bytes = 0;
};

/// One execution. Results that alias an argument (ValueSpec::alias):
///  - donated: give the argument's own pointer as the result's (the program
///    works in place), or another one (the argument is copied there first);
///  - not donated: give another pointer; the argument is kept as it is.
/// Generated code always finds one and the same pointer for such a pair.
/// No other results may overlap arguments or each other.
struct ExecuteArgs {
  llvm::ArrayRef<ExecuteArgument> arguments;
  llvm::ArrayRef<ExecuteResult> results;
  const CancelToken *cancel = nullptr;
  ThreadPool *pool = nullptr; ///< the global one if null
  int maxThreads = 0;         ///< 0: all of the pool
  int64_t runId = 0;          ///< for FFI handlers, like the next two
  int32_t deviceOrdinal = 0;
  const FfiUserData *userData = nullptr;
  Exchange *exchange = nullptr;        ///< of a program for several devices: where they meet,
  int64_t device = 0;                  ///< and as which of them this execution runs
  ExecuteCounters *counters = nullptr; ///< filled if given
};

class Executable {
public:
  /// Loads `program`. Errors: ExecutableMismatch (an ISA that this machine does
  /// not have, an object that does not link), UnknownCustomCall (target and
  /// source line named), UnsupportedProgram, OutOfMemory.
  static llvm::Expected<std::unique_ptr<Executable>>
  create(std::shared_ptr<const cpu::Program> program,
         const CustomCallRegistry &registry = CustomCallRegistry::global());
  ~Executable();

  /// Runs on this thread and the pool's until done. Errors: BadArgument (count,
  /// size, alignment, null), OutOfMemory, Cancelled, CustomCallFailed.
  llvm::Error execute(const ExecuteArgs &args) const;

  const cpu::Program &program() const;
  ExecuteCounters counters() const;
  /// Bytes of mapped code and data.
  int64_t codeBytes() const;
  /// The address of a symbol of the object (a kernel), null if there is none.
  void *symbol(llvm::StringRef name) const;

private:
  struct Impl;
  explicit Executable(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

/// Can this machine run code for `isa` ("avx512", "avx2", "x86-64")?
bool machineSupportsIsa(llvm::StringRef isa);

/// A program as bytes: magic, versions of format and ABI, hash, then the fields.
std::string serialize(const cpu::Program &program);
/// Error ExecutableMismatch for bytes that are damaged, of another version, or
/// for an ISA that this machine does not have.
llvm::Expected<std::unique_ptr<cpu::Program>> deserialize(llvm::StringRef bytes);

} // namespace spokeshave::runtime
