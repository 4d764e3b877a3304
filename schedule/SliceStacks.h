//===- SliceStacks.h - launches that touch a layer of a stack --------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For machines whose program has a sequencer of its own that gives kernels the
// addresses of their buffers.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "schedule/ScheduleDialect.h"

#include "mlir/IR/BuiltinOps.h"

namespace spokeshave::schedule {

/// Where a kernel takes a dynamic slice of a buffer of `leastBytes` or more, as a scan
/// takes a layer of a stack of weights, its launches get that slice instead
/// (schedule.slice), if it is a run of bytes; where it updates a slice of such a
/// buffer, it writes there. A slice to be updated that is a box of several runs is
/// computed on its own and copied. Starts are the number of the loop's trip where
/// they count it (schedule.trip), and what counted it then is gone.
///
/// Of starts that the kernel itself computes only counters, and indices from the end,
/// are taken out of it.
void sliceStacks(mlir::ModuleOp module, int64_t leastBytes);

} // namespace spokeshave::schedule
