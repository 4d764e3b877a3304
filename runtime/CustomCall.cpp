//===- CustomCall.cpp - FFI targets and calls to them ----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/CustomCall.h"

#include "runtime/ffi/FfiCall.h"
#include "support/Error.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

namespace spokeshave::runtime {

PreparedCall::~PreparedCall() = default;

CustomCallRegistry &CustomCallRegistry::global() {
  static CustomCallRegistry *registry = new CustomCallRegistry;
  return *registry;
}

static bool same(const CustomCallTarget &a, const CustomCallTarget &b) {
  return a.kind == b.kind && a.execute == b.execute && a.instantiate == b.instantiate &&
         a.prepare == b.prepare && a.initialize == b.initialize;
}

llvm::Error CustomCallRegistry::add(llvm::StringRef name, const CustomCallTarget &target) {
  if (!target.execute)
    return makeError(ErrorCode::BadArgument,
                     "custom call target '" + name + "' has no function to execute");
  // Outside the lock: a handler may do anything.
  if (target.kind == CustomCallTarget::Kind::TypedFfi)
    if (llvm::Error error = checkFfiHandler(name, target))
      return error;
  std::lock_guard lock(mutex);
  auto [entry, inserted] = targets.try_emplace(name, target);
  if (!inserted && !same(entry->second, target))
    return makeError(ErrorCode::BadArgument,
                     "another custom call target is registered as '" + name + "'");
  return llvm::Error::success();
}

std::optional<CustomCallTarget> CustomCallRegistry::find(llvm::StringRef name) const {
  std::lock_guard lock(mutex);
  auto entry = targets.find(name);
  return entry == targets.end() ? std::nullopt : std::optional(entry->second);
}

std::vector<std::string> CustomCallRegistry::names() const {
  std::vector<std::string> result;
  {
    std::lock_guard lock(mutex);
    for (llvm::StringRef name : targets.keys())
      result.push_back(name.str());
  }
  std::sort(result.begin(), result.end());
  return result;
}

namespace {
/// JAX's `dce_sink` keeps its operand from being dropped, and that is all.
class SinkCall : public PreparedCall {
  llvm::Error run(void *const *, const CallEnvironment &) override {
    return llvm::Error::success();
  }
};
} // namespace

llvm::Expected<std::unique_ptr<PreparedCall>>
prepareCustomCall(const cpu::CallSpec &spec, const CustomCallRegistry &registry) {
  std::optional<CustomCallTarget> target = registry.find(spec.target);
  if (!target && spec.target == "dce_sink")
    return std::make_unique<SinkCall>();
  if (!target)
    return makeError(ErrorCode::UnknownCustomCall,
                     describe(spec) + ": no such target is registered");
  llvm::Expected<CallConfig> config = CallConfig::parse(spec);
  if (!config)
    return config.takeError();
  // JAX marks a typed call by this attribute and gives it version 1.
  bool wantsTyped = spec.apiVersion == 4 ||
                    llvm::isa_and_nonnull<mlir::DictionaryAttr>(config->get("mhlo.backend_config"));
  bool typed = target->kind == CustomCallTarget::Kind::TypedFfi;
  if (typed != wantsTyped || spec.apiVersion < 0 || spec.apiVersion > 4)
    return makeError(ErrorCode::InvalidProgram,
                     describe(spec) + llvm::formatv(" uses API version {0}, but the target is "
                                                    "registered {1} the typed FFI (version 4)",
                                                    spec.apiVersion, typed ? "for" : "without")
                                          .str());
  return typed ? prepareFfiCall(spec, *target, *config)
               : prepareUntypedCall(spec, *target, *config);
}

} // namespace spokeshave::runtime
