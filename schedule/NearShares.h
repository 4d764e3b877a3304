//===- NearShares.h - values in the near memories of several cores ---------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to schedule/. Each core has a near memory of its own. A value is there at
// the same place in each, which holds the part of it that the core touches.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "schedule/NearPieces.h"

namespace spokeshave::schedule {

/// Finds the part of `candidate` that each core holds. False if a core would need what
/// another one wrote: then the value goes through far memory.
bool findParts(NearCandidate &candidate, NearPieces &pieces, const KernelFacts &facts,
               int64_t cores);

/// The same for the operands of launches that only read a candidate.
void findPartsRead(NearCandidate &candidate, const KernelFacts &facts, int64_t cores);

/// What each core holds of the `bytes` from `offset` on, counted from there.
llvm::SmallVector<ByteRange> partsWithin(llvm::ArrayRef<ByteRange> parts, int64_t offset,
                                         int64_t bytes);

/// What each core writes back to far memory, nothing twice.
llvm::SmallVector<ByteRange> partsBack(llvm::ArrayRef<ByteRange> parts);

/// For schedule.start. Null where there is one core.
mlir::DenseI64ArrayAttr partsAttr(mlir::MLIRContext *context, llvm::ArrayRef<ByteRange> parts);

} // namespace spokeshave::schedule
