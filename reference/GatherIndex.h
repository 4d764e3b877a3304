//===- GatherIndex.h - index vectors of gather and scatter -----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "reference/Tensor.h"

namespace spokeshave::reference {

/// A tensor of indices as a batch of vectors along index_vector_dim; where that
/// is the rank, each element is a vector of one.
struct IndexVectors {
  IndexVectors(const Tensor &indices, int64_t indexVectorDim);

  /// The vector at `batchIndex`.
  void read(llvm::ArrayRef<int64_t> batchIndex, Index &vector) const;
  /// Where a dimension of the indices lies among the batch dimensions.
  int64_t batchAxis(int64_t indexAxis) const { return indexAxis - (indexAxis < vectorDim ? 0 : 1); }

  const Tensor &indices;
  int64_t vectorDim;
  int64_t length = 1;
  Index batch; ///< sizes of the batch dimensions
};

} // namespace spokeshave::reference
