//===- Location.h - where in the user's program something comes from -------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Location.h"

#include <string>

namespace spokeshave {

/// "model.py:14:20 (jit(step)/sin)": the innermost line of source, and the name
/// that the front end gave the operation, as far as known. Programs carry the
/// whole stack of calls in a location; of that a message needs only this.
std::string describeLocation(mlir::Location location);

} // namespace spokeshave
