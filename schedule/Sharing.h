//===- Sharing.h - which results of a kernel may lie in its inputs ---------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "graph/GraphDialect.h"

#include <optional>

namespace spokeshave::schedule {

/// The input whose data result `result` of an update or scatter fusion starts
/// with: its kernel writes only what changes, so the result's buffer must hold
/// that input's data before. None where the kernel writes all of the result.
std::optional<unsigned> updatedInput(graph::FusionOp fusion, unsigned result);

/// May `result` lie in the buffer of `input`? Only if no task of the kernel can
/// read an element of the input that another task has written before.
bool mayShareBuffer(graph::FusionOp fusion, unsigned input, unsigned result);

} // namespace spokeshave::schedule
