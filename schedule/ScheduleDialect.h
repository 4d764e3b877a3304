//===- ScheduleDialect.h - the schedule dialect ----------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program as a sequence of kernel launches, copies, loops and calls over
// buffers; it is what schedule/ hands to kernel/ and target/. Declared in
// ScheduleOps.td.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "graph/GraphDialect.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "schedule/ScheduleDialect.h.inc"

#define GET_OP_CLASSES
#include "schedule/ScheduleOps.h.inc"

namespace spokeshave::schedule {

/// Bytes of one element in memory: types narrower than a byte take one. 0 for a
/// type that has no memory form.
int64_t byteSizeOfElement(mlir::Type element);
/// Bytes of a dense row-major tensor or memref of static shape.
int64_t byteSizeOf(mlir::ShapedType type);

/// Whether `op` names memory and is no step of the program.
inline bool isPlace(mlir::Operation *op) {
  return mlir::isa<ArenaOp, ViewOp, SliceOp, TripOp, ConstantOp, NearOp>(op);
}

} // namespace spokeshave::schedule
