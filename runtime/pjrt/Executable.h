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

/// Serialized shardings, one per argument or result; "" is replicated. At least
/// one: no results are an empty tuple, which has one sharding all the same.
struct Shardings {
  explicit Shardings(llvm::ArrayRef<cpu::ValueSpec> specs = {});
  std::vector<std::string> texts;
  std::vector<const char *> pointers;
  std::vector<size_t> sizes;
};

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
  Shardings argumentShardings, resultShardings;
  std::vector<ArrayLayout *> argumentLayouts, resultLayouts;
  std::vector<NamedValue> costs;
};

using BodyPtr = std::shared_ptr<const CompiledBody>;

struct Executable {
  BodyPtr body;
};

struct LoadedExecutable {
  /// The body must fit the client's devices (checkDevices).
  LoadedExecutable(Client *client, BodyPtr body);

  Client *const client;
  std::vector<Device *> devices; ///< by replica * partitions + partition
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

/// Does `body`'s device assignment fit `client`?
Status checkDevices(const Client &client, const CompiledBody &body);

/// What an execution gets on one device, and where its results go.
struct ExecuteRequest {
  llvm::ArrayRef<Buffer *> arguments;
  Buffer **results = nullptr; ///< has room for them
  Device *device = nullptr;
};

/// Starts the program on the devices of `requests`, as many as the program is for.
/// `done` becomes ready when it has run on all. An error means that nothing was
/// started or donated.
Status execute(LoadedExecutable &executable, llvm::ArrayRef<ExecuteRequest> requests,
               llvm::ArrayRef<int64_t> notDonatable, CompletionPtr &done);

} // namespace spokeshave::pjrt
