//===- Plugin.cpp - what the shared library exports ------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GetPjrtApi for frameworks, and for the Python package (through ctypes):
//
//   const char *spokeshave_version()
//       What was built; lives as long as the library.
//   int spokeshave_register_custom_call(target, stage, function, typed, traits)
//       Registers a custom call target. `stage`: "execute", or for typed FFI
//       before it "instantiate", "prepare", "initialize". `typed`: 0 for the
//       plain C signatures of StableHLO's API versions 1 to 3, 1 for
//       XLA_FFI_Handler. 0 on success.
//   void spokeshave_custom_call_set_failure(status, message, size)
//       For handlers of the status-returning plain signatures.
//   char *spokeshave_statistics_json()
//       What was compiled and run; see spokeshave_free.
//   void spokeshave_call_counts(int64_t *library, int64_t *custom)
//       Calls that left compiled code so far.
//   char *spokeshave_machine_json(int measure)
//       What this machine is, and if asked how fast; see spokeshave_free.
//   void spokeshave_free(void *)
//       Frees a result of the functions above that says so.
//
//===----------------------------------------------------------------------===//
#include "runtime/CustomCall.h"
#include "runtime/pjrt/Backend.h"
#include "runtime/pjrt/Client.h"
#include "runtime/pjrt/MachineReport.h"
#include "runtime/pjrt/Serve.h"
#include "runtime/pjrt/TpuBackend.h"

#include "llvm/ADT/StringMap.h"

#include <cstring>

#define SPOKESHAVE_EXPORT extern "C" __attribute__((visibility("default")))

using namespace spokeshave;

// Defined by the runtime, for handlers that were compiled against XLA.
struct XlaCustomCallStatus_;
extern "C" void XlaCustomCallStatusSetFailure(XlaCustomCallStatus_ *status, const char *message,
                                              size_t length);

namespace {
/// The stages of a typed target arrive one by one, "execute" last.
bool registerStage(llvm::StringRef name, llvm::StringRef stage, void *function, bool typed,
                   uint32_t traits) {
  using Target = runtime::CustomCallTarget;
  static std::mutex mutex;
  static llvm::StringMap<Target> *incomplete = new llvm::StringMap<Target>;
  std::lock_guard<std::mutex> lock(mutex);
  Target &target = (*incomplete)[name];
  target.kind = typed ? Target::Kind::TypedFfi : Target::Kind::Untyped;
  target.traits = traits;
  if (stage == "instantiate")
    target.instantiate = function;
  else if (stage == "prepare")
    target.prepare = function;
  else if (stage == "initialize")
    target.initialize = function;
  else if (stage == "execute")
    target.execute = function;
  else
    return false;
  if (stage != "execute")
    return true;
  Target complete = target;
  incomplete->erase(name);
  llvm::Error error = runtime::CustomCallRegistry::global().add(name, complete);
  bool added = !error;
  llvm::consumeError(std::move(error));
  return added;
}
} // namespace

SPOKESHAVE_EXPORT const pjrt::Api *GetPjrtApi() {
  static const bool once = [] {
    pjrt::setBackend(pjrt::cpuBackend());
    pjrt::addTarget("tpu", pjrt::tpuBackend);
    return true;
  }();
  (void)once;
  return &pjrt::pjrtApi();
}

SPOKESHAVE_EXPORT const char *spokeshave_version() {
  static const std::string text = pjrt::versionText();
  return text.c_str();
}

SPOKESHAVE_EXPORT int spokeshave_register_custom_call(const char *target, const char *stage,
                                                      void *function, int typed,
                                                      unsigned traits) noexcept {
  if (!target || !stage || !function)
    return 1;
  try {
    return registerStage(target, stage, function, typed != 0, traits) ? 0 : 1;
  } catch (...) {
    return 1;
  }
}

SPOKESHAVE_EXPORT void spokeshave_custom_call_set_failure(void *status, const char *message,
                                                          size_t size) noexcept {
  XlaCustomCallStatusSetFailure(static_cast<XlaCustomCallStatus_ *>(status), message, size);
}

SPOKESHAVE_EXPORT char *spokeshave_statistics_json() noexcept {
  try {
    return strdup(pjrt::cpuStatisticsJson().c_str());
  } catch (...) {
    return strdup("[]");
  }
}

SPOKESHAVE_EXPORT void spokeshave_call_counts(int64_t *library, int64_t *custom) noexcept {
  pjrt::cpuCallCounts(*library, *custom);
}

SPOKESHAVE_EXPORT char *spokeshave_machine_json(int measure) noexcept {
  try {
    return strdup(pjrt::machineJson(measure != 0).c_str());
  } catch (...) {
    return strdup("{}");
  }
}

SPOKESHAVE_EXPORT void spokeshave_free(void *pointer) noexcept {
  free(pointer);
}
