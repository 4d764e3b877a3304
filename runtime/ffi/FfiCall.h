//===- FfiCall.h - one call to a typed handler -----------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/BufferAdapter.h"
#include "runtime/CustomCall.h"

namespace spokeshave::runtime {

/// Asks the handler for the version it was built for. Error BadArgument if it
/// does not answer or speaks another major version.
llvm::Error checkFfiHandler(llvm::StringRef name, const CustomCallTarget &target);

llvm::Expected<std::unique_ptr<PreparedCall>>
prepareFfiCall(const cpu::CallSpec &spec, const CustomCallTarget &target, const CallConfig &config);

/// The old interfaces: API versions 1 (original), 2 (with a status) and 3 (with
/// an opaque string and a status).
llvm::Expected<std::unique_ptr<PreparedCall>> prepareUntypedCall(const cpu::CallSpec &spec,
                                                                 const CustomCallTarget &target,
                                                                 const CallConfig &config);

/// The call's backend_config, under either of its names; null if absent.
mlir::Attribute backendConfigOf(const CallConfig &config);

/// Runs `body` and makes an Error of whatever it throws: nothing may unwind
/// through generated code.
llvm::Error guardCall(const cpu::CallSpec &spec, llvm::function_ref<llvm::Error()> body);
llvm::Error callFailed(const cpu::CallSpec &spec, const llvm::Twine &why);

} // namespace spokeshave::runtime
