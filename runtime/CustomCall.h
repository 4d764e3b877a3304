//===- CustomCall.h - FFI targets and calls to them ------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registry of custom call targets and the prepared calls of an executable.
// A call's attributes are parsed and its call frame is laid out once, at load;
// a run only fills in the pointers. Handlers are C++ of other people: whatever
// they throw is caught here, because frames of generated code do not unwind.
//
// The `config` of a CallSpec is a dictionary with these keys, all optional:
//   backend_config          a dictionary (typed FFI: the attributes) or a string
//                           (opaque of the old versions; for the typed FFI, text
//                           of a dictionary). `mhlo.backend_config` is the same.
//   operand_layouts, result_layouts
//                           array of dense index tensors, minor to major, as in
//                           stablehlo.custom_call; where not row-major the call
//                           gets transposed copies
//   output_operand_aliases  array of #stablehlo.output_operand_alias: the call
//                           gets one buffer for both, filled from the operand
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/ThreadPool.h"
#include "target/cpu/Compile.h"

#include "llvm/ADT/StringMap.h"

#include <memory>
#include <mutex>
#include <optional>

namespace spokeshave::runtime {

/// A registered target.
struct CustomCallTarget {
  /// How it wants to be called.
  enum class Kind {
    Untyped,  ///< StableHLO's API versions 1 to 3: the version is the call's
    TypedFfi, ///< API version 4: XLA_FFI_Handler*
  };
  Kind kind = Kind::TypedFfi;
  void *instantiate = nullptr; ///< the stages but `execute` are optional
  void *prepare = nullptr;
  void *initialize = nullptr;
  void *execute = nullptr; ///< the function, for Untyped
  uint32_t traits = 0;
};

/// Targets by name. Thread safe; executables keep what they found at load.
class CustomCallRegistry {
public:
  static CustomCallRegistry &global();

  /// Registers `name`. The same target again is fine, another one under a taken
  /// name is Error BadArgument; so is a typed handler whose API version this
  /// runtime does not speak (asked through the metadata extension).
  llvm::Error add(llvm::StringRef name, const CustomCallTarget &target);
  std::optional<CustomCallTarget> find(llvm::StringRef name) const;
  /// Sorted.
  std::vector<std::string> names() const;

private:
  mutable std::mutex mutex;
  llvm::StringMap<CustomCallTarget> targets;
};

/// Pointers that handlers ask for by type id (XLA_FFI_ExecutionContext_Get),
/// e.g. what PJRT's FFI extension attached to an execute context.
using FfiUserData = std::vector<std::pair<int64_t, void *>>;

class Exchange;

/// What a call sees of the execution that it is part of.
struct CallEnvironment {
  ThreadPool *pool = nullptr;
  const volatile int32_t *cancel = nullptr;
  int64_t runId = 0;
  int32_t deviceOrdinal = 0;
  const FfiUserData *userData = nullptr;
  Exchange *exchange = nullptr; ///< of a program for several devices: where they meet
  int64_t device = 0;           ///< which of those this is
};

/// One entry of a program's call table that is ready to run.
class PreparedCall {
public:
  virtual ~PreparedCall();
  /// `buffers`: the inputs, then the outputs, row-major. Thread safe.
  virtual llvm::Error run(void *const *buffers, const CallEnvironment &environment) = 0;
};

/// Looks the target up (Error UnknownCustomCall), parses the configuration
/// (Error InvalidProgram) and runs the instantiate stage (CustomCallFailed).
llvm::Expected<std::unique_ptr<PreparedCall>>
prepareCustomCall(const cpu::CallSpec &spec,
                  const CustomCallRegistry &registry = CustomCallRegistry::global());

/// The type ids that Type_Register gave or was given, for PJRT's FFI extension:
/// the id of `name`, a new one if `typeId` is 0; Error BadArgument if `name` has
/// another id already.
llvm::Expected<int64_t> registerFfiType(llvm::StringRef name, int64_t typeId,
                                        void (*deleter)(void *));

} // namespace spokeshave::runtime
