//===- Cgroup.h - memory that the container has left ----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// machine/ knows the fixed limits; this reads how much memory is left now in the
// control groups (version 2 and 1) that this process is in, from its own group
// up to the root: the tightest one counts.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <optional>

namespace spokeshave::runtime {

/// The least of limit - usage + reclaimable cache of all groups that limit
/// memory; nothing if none does.
std::optional<int64_t> cgroupMemoryLeft();

} // namespace spokeshave::runtime
