//===- TpuBackend.h - the simulated chip behind the C API ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/pjrt/Backend.h"

namespace spokeshave::pjrt {

/// The backend of a chip: a name, a file, with settings, as machine::loadChip takes
/// it. An error for a chip that does not exist or a file with an error.
llvm::Expected<Backend> tpuBackend(llvm::StringRef chip);

} // namespace spokeshave::pjrt
