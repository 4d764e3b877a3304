//===- Collectives.h - moving bytes between devices ------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is left of collectives after graph/LowerCollectives.cpp, and the channels
// between devices and to the host. They work in executions that have an Exchange;
// elsewhere they are errors, but for the numbers of the device, which are 0.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/CallConfig.h"
#include "runtime/CustomCall.h"

namespace spokeshave::runtime {

llvm::Expected<std::unique_ptr<PreparedCall>> prepareCollective(const cpu::CallSpec &spec,
                                                                const CallConfig &config);
llvm::Expected<std::unique_ptr<PreparedCall>> prepareDeviceNumber(const cpu::CallSpec &spec,
                                                                  const CallConfig &config);
llvm::Expected<std::unique_ptr<PreparedCall>> prepareTransfer(const cpu::CallSpec &spec,
                                                              const CallConfig &config);

} // namespace spokeshave::runtime
