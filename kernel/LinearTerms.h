//===- LinearTerms.h - an index as a sum -----------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Builders.h"

namespace spokeshave::kernel {

/// constant + the sum of value * coefficient, of a scalar index.
struct LinearTerms {
  int64_t constant = 0;
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> terms;

  /// By additions and multiplications with constants down to everything else.
  static LinearTerms of(mlir::Value index);

  /// The same place where rows lie `pitch` elements apart instead of `stride`: each
  /// coefficient is a number of rows and a number of elements.
  LinearTerms repitched(int64_t stride, int64_t pitch) const;
  /// As operations: all but the constant.
  mlir::Value variable(mlir::OpBuilder &builder, mlir::Location loc) const;
};

/// Of a distance in elements, none or more.
inline int64_t repitch(int64_t distance, int64_t stride, int64_t pitch) {
  return distance / stride * pitch + distance % stride;
}

} // namespace spokeshave::kernel
