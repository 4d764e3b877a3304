//===- Compare.h - how far apart two tensors are ---------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the `check` operations and the tool of the same name mean by equal,
// almost equal and close.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "reference/Tensor.h"

#include <optional>
#include <string>

namespace spokeshave::reference {

/// Equal values; -0 equals 0 and NaN equals NaN.
bool sameValue(const ElementType &type, const Scalar &a, const Scalar &b);

/// |a - b| <= tolerance, per part of a complex number; equal infinities and two
/// NaNs count as equal.
bool almostEqual(const ElementType &type, const Scalar &a, const Scalar &b, double tolerance);

/// How many representable numbers lie from one to the other; 0 for two NaNs, the
/// largest count for a difference in what is not finite. The larger of a complex
/// number's parts.
uint64_t ulpDifference(const ElementType &type, const Scalar &a, const Scalar &b);

/// The first element that `differs`, described for a message; none if all agree.
/// Tensors of different types or shapes differ.
std::optional<std::string>
firstDifference(const Tensor &actual, const Tensor &expected,
                llvm::function_ref<bool(const Scalar &, const Scalar &)> differs);

} // namespace spokeshave::reference
