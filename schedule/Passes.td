//===- Passes.td - the passes of schedule/ ---------------------*- tablegen -*-===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPOKESHAVE_SCHEDULE_PASSES
#define SPOKESHAVE_SCHEDULE_PASSES

include "mlir/Pass/PassBase.td"

def ScheduleOrder : Pass<"schedule-order", "::mlir::func::FuncOp"> {
  let summary = "moves readers of a value before the update that overwrites it";
  let description = [{
    A value that an update or scatter fusion could change in place must be copied
    if something reads it later. Where the later reader does not need the update's
    result it is moved before the update, with what it depends on.

    Afterwards the function computes the same values; operations with side effects
    keep their order.
  }];
}

def SchedulePrograms : Pass<"schedule-programs", "::mlir::ModuleOp"> {
  let summary = "turns @main into schedule.program and schedule.kernel operations";
  let description = [{
    Afterwards the module holds one schedule.program and the kernels that it
    launches, each distinct fusion once; of functions only decompositions of
    composites are left. Each tensor is memory, an argument's, a result's or the
    arena's, and what is still copied has to be.
  }];
  let options = [
    Option<"verifyPlan", "verify-plan", "bool", "false",
           "play the plan and check that no value is overwritten while it is needed">
  ];
  let dependentDialects = ["::spokeshave::schedule::ScheduleDialect"];
}

def ScheduleSliceStacks : Pass<"schedule-slice-stacks", "::mlir::ModuleOp"> {
  let summary = "gives launches the slices of stacks that they use (schedule/SliceStacks.h)";
  let options = [
    Option<"leastBytes", "least-bytes", "int64_t", "0", "of a buffer of which slices are taken">
  ];
}

def ScheduleNearMemory : Pass<"schedule-near-memory", "::mlir::ModuleOp"> {
  let summary = "keeps values in near memory from launch to launch (schedule/NearMemory.h)";
  let description = [{
    As the back end of a machine with near memory does it, but before kernels are
    lowered: a launch is taken to need its buffers as a whole.
  }];
  let options = [
    Option<"bytes", "bytes", "int64_t", "1048576", "size of the near memory">,
    Option<"keep", "keep", "bool", "true", "values stay between launches">,
    Option<"prefetch", "prefetch", "bool", "true", "transfers start ahead of their use">,
    Option<"slices", "slices", "bool", "true", "large values arrive in parts">,
    Option<"acrossRuns", "across-runs", "bool", "false", "the first arguments come while the run before ends">
  ];
}

#endif
