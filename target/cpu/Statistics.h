//===- Statistics.h - what was compiled, in numbers ------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "schedule/ScheduleDialect.h"
#include "target/cpu/Compile.h"

namespace spokeshave::cpu {

/// Fills the kernels of `stats` and the program's totals from a scheduled
/// module, before its kernels are lowered. Loops count by their trips where
/// those are known, else once.
void countSchedule(mlir::ModuleOp module, CompileStats &stats);

} // namespace spokeshave::cpu
