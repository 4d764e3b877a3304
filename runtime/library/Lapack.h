//===- Lapack.h - the library routines of linear algebra -------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LAPACK is loaded when the first program that needs it is: it is no dependency
// of anything else, and some builds of it start threads when loaded.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/CallConfig.h"
#include "runtime/CustomCall.h"

namespace spokeshave::runtime {

llvm::Expected<std::unique_ptr<PreparedCall>> prepareCholesky(const cpu::CallSpec &spec,
                                                              const CallConfig &config);
llvm::Expected<std::unique_ptr<PreparedCall>> prepareTriangularSolve(const cpu::CallSpec &spec,
                                                                     const CallConfig &config);

} // namespace spokeshave::runtime
