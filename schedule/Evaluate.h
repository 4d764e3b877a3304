//===- Evaluate.h - schedule programs on real bytes ------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tests and for comparing phases: plays a schedule.program on an arena of
// bytes, each kernel's fusion by the reference interpreter. A wrong offset, a
// missing copy or a wrong order shows as a wrong result.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "reference/Tensor.h"
#include "schedule/ScheduleDialect.h"

#include "mlir/IR/BuiltinOps.h"

namespace spokeshave::schedule {

/// What a run did; tests assert on it.
struct EvaluationCounters {
  int64_t launches = 0, regions = 0, copies = 0, copiedBytes = 0, calls = 0;
};

/// Runs the program of `module`. Donated arguments are copied first. Errors are
/// diagnostics at the operation.
mlir::FailureOr<llvm::SmallVector<reference::Tensor>>
evaluateProgram(mlir::ModuleOp module, llvm::ArrayRef<reference::Tensor> arguments,
                EvaluationCounters *counters = nullptr);

} // namespace spokeshave::schedule
