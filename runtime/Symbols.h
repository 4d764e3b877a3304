//===- Symbols.h - what generated code may call by name --------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The complete list. Anything else that an object asks for is an error, so that
// no program depends on what else happens to be loaded into the process.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

namespace spokeshave::runtime {

/// The address of an allowed symbol, null for any other name.
void *lookupAllowedSymbol(llvm::StringRef name);

} // namespace spokeshave::runtime
