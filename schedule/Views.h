//===- Views.h - what views are of -----------------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "schedule/ScheduleDialect.h"

#include <utility>

namespace spokeshave::schedule {

/// What the views that lead to `value` are of, and the byte of it where `value` begins.
inline std::pair<mlir::Value, int64_t> baseOfViews(mlir::Value value) {
  int64_t offset = 0;
  while (auto view = value.getDefiningOp<ViewOp>()) {
    offset += view.getByteOffset();
    value = view.getSource();
  }
  return {value, offset};
}

} // namespace spokeshave::schedule
