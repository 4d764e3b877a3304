//===- Serve.h - what each slot of the C API does --------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A slot X is served by `Status serve(X_Args &)`; Api.cpp puts in front of it the
// checks and the catching of exceptions that all slots share. Defined by theme in
// Serve*.cpp; what we do not support, in ServeUnsupported.cpp.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/pjrt/PjrtArgs.h"
#include "runtime/pjrt/Status.h"

#include "llvm/ADT/StringRef.h"

#include <string>

namespace spokeshave::pjrt {

#define SPOKESHAVE_SLOT(name) Status serve(name##_Args &args);
SPOKESHAVE_PJRT_SLOTS(SPOKESHAVE_SLOT)
#undef SPOKESHAVE_SLOT

/// The function table.
const Api &pjrtApi();

/// The table of extensions that Api.cpp offers.
Extension *extensions();

/// Fields of a pair (text, size) of an arguments struct.
inline void giveText(llvm::StringRef text, const char *&data, size_t &size) {
  data = text.data();
  size = text.size();
}

/// Hands out bytes that the caller frees through `deleter`.
void giveBytes(std::string bytes, const char *&data, size_t &size, Bytes *&owner,
               void (*&deleter)(Bytes *));

/// An error for a null pointer that must not be one.
Status requireArgument(const void *pointer, llvm::StringRef what);

} // namespace spokeshave::pjrt
