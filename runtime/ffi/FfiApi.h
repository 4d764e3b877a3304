//===- FfiApi.h - what handlers may call back ------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/CustomCall.h"
#include "runtime/ffi/FfiAbi.h"

#include <condition_variable>
#include <mutex>
#include <string>

namespace spokeshave::runtime::ffi {

/// The table of functions, one for the process.
const Api &api();

struct Error {
  int32_t code;
  std::string message;
};

/// Completed once, by any thread. The handler's side and ours hold a reference
/// each: the completing thread may still be inside when the waiter is gone.
struct Future {
  std::mutex mutex;
  std::condition_variable completed;
  bool done = false;
  std::unique_ptr<Error> error;

  static Future *create() { return new Future; }
  void complete(std::unique_ptr<Error> failure);
  /// Waits, returns the error if any, and drops our reference.
  std::unique_ptr<Error> wait();

private:
  void drop();
  int references = 2;
};

/// An object that a handler gave us to keep, with the deleter of its type.
class State {
public:
  ~State();
  Error *set(int64_t typeId, void *object);
  Error *get(int64_t typeId, void *&object) const;

private:
  void *object = nullptr;
  int64_t type = 0;
  void (*deleter)(void *) = nullptr;
};

/// What `context` of a call frame points to.
struct InvokeContext {
  const CallEnvironment &environment;
  State &instantiated; ///< lives with the executable
  State prepared, initialized;
};

Error *makeFfiError(int32_t code, const llvm::Twine &message);

} // namespace spokeshave::runtime::ffi
