//===- Npy.h - tensors in numpy's file format ------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The .npy format, versions 1 to 3, little-endian. Types that numpy does not
// have are written as ml_dtypes has numpy write them: bf16 as two raw bytes
// ('<V2'), 8-bit floats and narrower types as one ('|V1'). A file cannot tell
// which of those it holds, so reading takes the type that is expected.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "reference/Tensor.h"

#include "llvm/Support/Error.h"

namespace spokeshave::reference {

/// Reads `path` as a tensor of `expected`, whose dynamic dimensions take any
/// size. Fails where the file's type or shape is another one.
llvm::Expected<Tensor> readNpy(llvm::StringRef path, mlir::RankedTensorType expected);

/// Reads from memory; `name` stands for it in messages.
llvm::Expected<Tensor> parseNpy(llvm::StringRef bytes, llvm::StringRef name,
                                mlir::RankedTensorType expected);

llvm::Error writeNpy(llvm::StringRef path, const Tensor &tensor);

/// numpy's name for an element type, as it stands in a file ("<f4", "|b1").
std::string npyDescription(const ElementType &type);

} // namespace spokeshave::reference
