//===- Check.h - expectations, for operations and for custom calls ---------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "reference/Evaluator.h"

namespace spokeshave::reference {

/// Each fails with an error at the operation that tells the first difference.
mlir::LogicalResult expectEqual(Call &call, const Tensor &actual, const Tensor &expected);
mlir::LogicalResult expectAlmostEqual(Call &call, const Tensor &actual, const Tensor &expected,
                                      double tolerance);
mlir::LogicalResult expectClose(Call &call, const Tensor &actual, const Tensor &expected,
                                uint64_t most, uint64_t least);

} // namespace spokeshave::reference
