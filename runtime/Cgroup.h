//===- Cgroup.h - what the container allows --------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the CPU quota and the memory limits of the control groups (version 2
// and 1) that this process is in, from its own group up to the root: the
// tightest one counts.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <optional>

namespace spokeshave::runtime {

struct CgroupMemory {
  int64_t limit; ///< the tightest limit in bytes
  int64_t free;  ///< the least of limit - usage + reclaimable cache
};

/// CPUs' worth of time per second; nothing if unlimited.
std::optional<double> cgroupCpuQuota();
/// Nothing if no group limits memory.
std::optional<CgroupMemory> cgroupMemory();

} // namespace spokeshave::runtime
