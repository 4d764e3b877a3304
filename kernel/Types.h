//===- Types.h - element types in memory and in registers ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// StableHLO's element type, what a kernel's buffer holds for it, and what a
// register holds for it:
//
//   tensor                memory            register
//   i1                    i8, 0 or 1        i1
//   i2, i4, ui2, ui4      i8, extended      i2, i4
//   iN, uiN               iN                iN
//   f16, bf16, f8 types   themselves        f32, always a value of that type
//   f32, f64              themselves        themselves
//   complex<T>            T, a trailing     a pair of T
//                         dimension of 2
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace spokeshave::kernel {

/// Whether a StableHLO integer type is unsigned; i1 counts as unsigned.
bool isUnsigned(mlir::Type element);
/// f16, bf16 and the f8 types: computed in f32 and rounded.
bool isSmallFloat(mlir::Type element);

/// The type of a tensor of a fusion's body; all of them are ranked.
inline mlir::RankedTensorType typeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

/// The element type of a kernel's buffer.
mlir::Type memoryType(mlir::Type element);
/// The type of a scalar in a register (of one part of a complex number).
mlir::Type registerType(mlir::Type element);
/// The buffer of a tensor.
mlir::MemRefType bufferType(mlir::RankedTensorType tensor);

} // namespace spokeshave::kernel
