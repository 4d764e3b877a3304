//===- Backend.cpp - which backend new clients get -------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/pjrt/Backend.h"

#include "support/Error.h"

#include "llvm/ADT/StringMap.h"

namespace spokeshave::pjrt {

llvm::Error LoadedProgram::runAsDevice(llvm::ArrayRef<runtime::ExecuteArgument>,
                                       llvm::ArrayRef<runtime::ExecuteResult>,
                                       const runtime::CancelToken &, runtime::Exchange &, int64_t) {
  return makeError(ErrorCode::UnsupportedProgram,
                   "'" + name + "' runs on one device of this platform, not on several");
}

namespace {
Backend &backend() {
  static Backend current;
  return current;
}
} // namespace

const Backend &currentBackend() {
  return backend();
}
void setBackend(Backend replacement) {
  backend() = std::move(replacement);
}

static llvm::StringMap<TargetFactory> &targets() {
  static auto *map = new llvm::StringMap<TargetFactory>;
  return *map;
}

void addTarget(llvm::StringRef target, TargetFactory factory) {
  targets()[target] = std::move(factory);
}

llvm::Expected<Backend> backendFor(llvm::StringRef target, llvm::StringRef chip) {
  if (target.empty())
    return currentBackend();
  auto found = targets().find(target);
  if (found == targets().end())
    return makeError(ErrorCode::BadOption, "there is no target '" + target + "'");
  return found->second(chip);
}

llvm::Expected<cpu::CompileOptions> cpuOptions(NamedOptions named) {
  cpu::CompileOptions options;
  for (const auto &[name, value] : named)
    if (llvm::Error error = options.set(name, value))
      return std::move(error);
  return options;
}

llvm::Expected<uint64_t> hashCpuOptions(NamedOptions named) {
  llvm::Expected<cpu::CompileOptions> options = cpuOptions(named);
  if (!options)
    return options.takeError();
  return options->hash();
}

} // namespace spokeshave::pjrt
