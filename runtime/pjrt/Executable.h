//===- Executable.h - compiled programs as the framework holds them --------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/pjrt/Buffer.h"
#include "runtime/pjrt/CompileOptions.h"

namespace spokeshave::pjrt {

/// A layout of the C API's layouts extension.
struct ArrayLayout {
  std::string text;
};
/// The row-major layout; lives as long as the process.
ArrayLayout *layoutOfRank(size_t rank);

/// What a compilation made, in the form in which the C API gives it out; shared
/// by the handles to it and the executions in flight.
struct CompiledBody {
  std::shared_ptr<LoadedProgram> program;
  std::string source;         ///< the program as it came in
  std::string compileOptions; ///< as they came in
  FrameworkOptions framework;
  std::string fingerprint;

  std::vector<Shape> arguments, results;
  // The same once more, as flat lists for the C API.
  std::vector<ElementType> resultTypes;
  std::vector<int64_t> resultDims;
  std::vector<size_t> resultRanks;
  std::vector<const char *> memoryKinds; ///< as many as arguments or results
  std::vector<size_t> memoryKindSizes;
  std::vector<const char *> emptyStrings; ///< serialized replicated shardings
  std::vector<size_t> emptySizes;
  std::vector<ArrayLayout *> argumentLayouts, resultLayouts;
  std::vector<NamedValue> costs;
};

using BodyPtr = std::shared_ptr<const CompiledBody>;

struct Executable {
  BodyPtr body;
};

struct LoadedExecutable {
  LoadedExecutable(Client *client, BodyPtr body);

  Client *const client;
  std::vector<Device *> devices;
  std::vector<LogicalDeviceIds> logicalIds;

  /// Null once it is deleted.
  BodyPtr body() const;
  void remove();

private:
  mutable std::mutex mutex;
  BodyPtr current;
};

/// The bytes behind a serialized_... pointer.
struct Bytes {
  std::string data;
};

/// Compiles `source` ("mlir") with serialized options.
Status compileProgram(const Backend &backend, llvm::StringRef format, llvm::StringRef source,
                      llvm::StringRef options, BodyPtr &body);
/// To and from bytes that another process of the same build can load.
Status serializeBody(const CompiledBody &body, std::string &bytes);
Status deserializeBody(const Backend &backend, llvm::StringRef bytes, BodyPtr &body);

/// What an execution gets besides its arguments.
struct ExecuteRequest {
  llvm::ArrayRef<Buffer *> arguments;
  llvm::ArrayRef<int64_t> notDonatable;
};

/// Starts the program. `results` has room for its results; `done` becomes ready
/// when it has run. An error means that nothing was started or donated.
Status execute(LoadedExecutable &executable, const ExecuteRequest &request, Buffer **results,
               CompletionPtr &done);

} // namespace spokeshave::pjrt
