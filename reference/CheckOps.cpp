//===- CheckOps.cpp - the dialects of test programs ------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "reference/CheckOps.h"

#include "reference/CheckDialect.cpp.inc"
#include "reference/InterpreterDialect.cpp.inc"

#define GET_OP_CLASSES
#include "reference/CheckOps.cpp.inc"

namespace spokeshave::reference {

void check::CheckDialect::initialize() {
  addOperations<ExpectEqOp, ExpectEqConstOp, ExpectAlmostEqOp, ExpectAlmostEqConstOp, ExpectCloseOp,
                ExpectSerializedEqOp>();
}

void check::InterpreterDialect::initialize() {
  addOperations<RunParallelOp, PrintOp, ProbeOp>();
}

void registerCheckDialects(mlir::DialectRegistry &registry) {
  registry.insert<check::CheckDialect, check::InterpreterDialect>();
}

} // namespace spokeshave::reference
