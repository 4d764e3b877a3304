//===- ElementTypes.h - the element types of buffers -----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In memory, types narrower than a byte take a whole byte per element, as they
// do in numpy.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/pjrt/PjrtAbi.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace spokeshave::pjrt {

/// Bytes of one element; 0 for tokens; none for numbers that are no type.
std::optional<int64_t> bytesOf(ElementType type);
/// As MLIR prints it: "f32", "ui8", "complex<f32>"; "?" if it is none.
llvm::StringRef nameOf(ElementType type);
/// The inverse; Invalid for an unknown name.
ElementType elementTypeNamed(llvm::StringRef name);

/// Bytes of a dense array; none if it has a negative dimension or overflows.
std::optional<int64_t> bytesOf(ElementType type, llvm::ArrayRef<int64_t> dims);
/// "f32[2,3]", for messages.
std::string shapeText(llvm::StringRef elementType, llvm::ArrayRef<int64_t> dims);

} // namespace spokeshave::pjrt
