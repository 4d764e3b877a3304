//===- Aliasing.h - which results may lie in which inputs ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "graph/GraphDialect.h"

namespace spokeshave::graph {

/// Whether output `output` of `fusion` may be written to the buffer of input
/// `input`, whose value is then lost. True only if
/// - the kernel reads the input at nothing but the element that it writes, and
///   elements have the same size; or
/// - the input is what an update or scatter updates in place, and no other read
///   of it can come after a write to the same element by another task.
bool mayShareBuffer(FusionOp fusion, unsigned input, unsigned output);

} // namespace spokeshave::graph
