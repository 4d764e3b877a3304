//===- Passes.h - the passes of schedule/ ----------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

#include <memory>

namespace spokeshave::schedule {

#define GEN_PASS_DECL
#include "schedule/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "schedule/Passes.h.inc"

/// From the fused graph in @main to one schedule.program with its kernels.
void buildSchedulePipeline(mlir::OpPassManager &manager, bool verifyPlan = false);

/// Makes the passes and the pipeline `schedule` known to a command line.
void registerSchedulePasses();

} // namespace spokeshave::schedule
