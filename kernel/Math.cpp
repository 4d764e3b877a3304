//===- Math.cpp - transcendental functions ---------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Math.h.
//
//===----------------------------------------------------------------------===//
#include "kernel/Math.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

FailureOr<Num> kernel::emitMath(Operation *op, Num x) { return failure(); }
FailureOr<Num> kernel::floatRemainder(Num x, Num y) { return failure(); }
FailureOr<Num> kernel::power(Num x, Num y) { return failure(); }
FailureOr<Num> kernel::atan2(Num y, Num x) { return failure(); }
FailureOr<Element> kernel::emitComplex(ArithContext &context, Operation *op,
                                       ArrayRef<Element> operands) {
  return failure();
}
