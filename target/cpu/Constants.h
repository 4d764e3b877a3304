//===- Constants.h - the bytes of constants --------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "target/cpu/Compile.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Support/LLVM.h"

#include <vector>

namespace spokeshave::cpu {

/// The elements of `value` as generated code reads them: row-major, one byte for
/// i1 and what is narrower than a byte. Failure for attributes without data.
mlir::FailureOr<std::vector<char>> bytesOf(mlir::ElementsAttr value);

/// A buffer as the runtime sees it.
ValueSpec specOf(mlir::MemRefType type);

} // namespace spokeshave::cpu
