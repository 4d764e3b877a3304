//===- Elementwise.h - StableHLO's elementwise operations ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes an operation on registers: scalars or register tiles alike. Used for
// the bodies of fusions at a position, and for regions on scalars (reducers,
// comparators), which consist of elementwise operations only.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/Arith.h"
#include "kernel/Types.h"

#include "mlir/IR/Operation.h"

namespace spokeshave::kernel {

/// The value of a tensor at a position: a pair if the type is complex. Values
/// of f16, bf16 and f8 types are f32 (see Types.h).
struct Element {
  Num re;
  Num im; ///< null unless complex
  bool isComplex() const { return bool(im); }
};

/// Whether `op` is one of those below.
bool isElementwise(mlir::Operation *op);

/// The result of `op` for the given operands; fails with a diagnostic at `op`
/// if it is not supported for its types.
mlir::FailureOr<Element> emitElementwise(ArithContext &context, mlir::Operation *op,
                                         llvm::ArrayRef<Element> operands);

/// The values that a region of elementwise operations on rank-0 tensors returns
/// for the given block arguments. `captured` gives values from outside the region.
mlir::FailureOr<llvm::SmallVector<Element>>
emitRegion(ArithContext &context, mlir::Region &region, llvm::ArrayRef<Element> arguments,
           llvm::function_ref<mlir::FailureOr<Element>(mlir::Value)> captured = {});

/// A constant element; `shape` gives the lanes (a scalar or vector type).
Element constantElement(ArithContext &context, mlir::Attribute value, mlir::Type element,
                        int64_t lanes);

// Conversions: Convert.cpp.

/// stablehlo.convert.
Element convertElement(Element value, mlir::Type from, mlir::Type to);
/// The nearest value, ties to even, of a float type narrower than f32, as f32.
/// `value` is f32 or f64. Types without infinity overflow to NaN.
Num roundTo(Num value, mlir::Type smallFloat);
/// An f32 that is a value of the type to the type's bits (i8 or i16), and back.
Num packFloat(Num value, mlir::Type smallFloat);
Num unpackFloat(Num bits, mlir::Type smallFloat);
/// What registers hold to what memory holds, and back (loads and stores).
Num toMemory(Num value, mlir::Type element);
Num fromMemory(Num value, mlir::Type element);
/// The type that a load must ask for.
mlir::Type loadType(mlir::Type element);
/// stablehlo.reduce_precision.
/// `subnormals`: the smallest normal exponent, if smaller numbers have fewer places.
Num reducePrecision(Num value, unsigned exponentBits, unsigned mantissaBits,
                    std::optional<int> subnormals = {});

} // namespace spokeshave::kernel
