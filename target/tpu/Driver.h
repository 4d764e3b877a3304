//===- Driver.h - the steps of a program -----------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "schedule/ScheduleDialect.h"
#include "target/tpu/Program.h"

#include "llvm/ADT/StringMap.h"

namespace spokeshave::tpu {

/// Fills steps, specs, constants and arena of `program`. `kernels` are the numbers
/// of the kernels by symbol. Fails with a diagnostic at what the chip has not.
mlir::LogicalResult makeSteps(schedule::ProgramOp driver, const llvm::StringMap<uint32_t> &kernels,
                              Program &program);

} // namespace spokeshave::tpu
