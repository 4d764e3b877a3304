//===- Math.h - transcendental and complex functions on register tiles -----===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Polynomials on vectors of f32 or f64, without branches save for masked slow
// paths that are hardly ever taken. f32 functions err by at most 2 ulp, f64
// functions by at most 2 ulp; special values are those of C's annex F.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/Elementwise.h"

namespace spokeshave::kernel {

/// One-operand operations on f32 or f64 (narrower floats as f32) that are
/// computed by the functions below; failure if `op` is none of these.
mlir::FailureOr<Num> emitMath(mlir::Operation *op, Num x);

/// Exact: x - trunc(x / y) * y without rounding, the sign that of x.
mlir::FailureOr<Num> floatRemainder(Num x, Num y);
mlir::FailureOr<Num> power(Num x, Num y);
mlir::FailureOr<Num> atan2(Num y, Num x);

/// Any operation with a complex operand or result that is not data movement.
mlir::FailureOr<Element> emitComplex(ArithContext &context, mlir::Operation *op,
                                     llvm::ArrayRef<Element> operands);

} // namespace spokeshave::kernel
