//===- Flag.h - options that are true or false ------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace spokeshave {

/// Sets `flag` to what `value` says: 1, true, on, yes or 0, false, off, no, in any
/// case. BadOption, with the option's `name`, for anything else.
llvm::Error setFlag(bool &flag, llvm::StringRef name, llvm::StringRef value);

} // namespace spokeshave
