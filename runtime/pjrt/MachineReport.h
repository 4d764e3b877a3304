//===- MachineReport.h - this machine, for reports -------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include <string>

namespace spokeshave::pjrt {

/// The processor, its caches, and what of it is used, as a JSON object. With
/// `measure` also what it reaches at best, on one thread and on all (a second).
std::string machineJson(bool measure);

} // namespace spokeshave::pjrt
