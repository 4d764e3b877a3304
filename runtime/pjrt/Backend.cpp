//===- Backend.cpp - which backend new clients get -------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/pjrt/Backend.h"

namespace spokeshave::pjrt {

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

} // namespace spokeshave::pjrt
