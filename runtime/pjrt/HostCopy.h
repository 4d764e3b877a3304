//===- HostCopy.h - copies between dense and strided arrays ----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/pjrt/Status.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace spokeshave::pjrt {

/// Byte strides of a dense row-major array.
llvm::SmallVector<int64_t> denseStrides(llvm::ArrayRef<int64_t> dims, int64_t elementBytes);

/// Whether `strides` describe the dense row-major array; dimensions of size one
/// may have any stride, and so may an empty array's.
bool isDense(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> strides, int64_t elementBytes);

/// Copies elements between two arrays of the same shape. Strides may be zero or
/// negative.
void copyStrided(char *target, llvm::ArrayRef<int64_t> targetStrides, const char *source,
                 llvm::ArrayRef<int64_t> sourceStrides, llvm::ArrayRef<int64_t> dims,
                 int64_t elementBytes);

/// The byte strides that `layout` describes; an error for tiles or a wrong rank.
/// A null layout is dense.
Status stridesOf(const MemoryLayout *layout, llvm::ArrayRef<int64_t> dims, int64_t elementBytes,
                 llvm::SmallVector<int64_t> &strides);

} // namespace spokeshave::pjrt
