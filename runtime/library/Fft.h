//===- Fft.h - the library routine fft -------------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/CallConfig.h"
#include "runtime/CustomCall.h"

namespace spokeshave::runtime {

llvm::Expected<std::unique_ptr<PreparedCall>> prepareFft(const cpu::CallSpec &spec,
                                                         const CallConfig &config);

} // namespace spokeshave::runtime
