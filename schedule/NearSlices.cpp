//===- NearSlices.cpp - prefetches in parts --------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is too large to have all of its place while the launches before it run is
// brought in slices: each starts when its own part of the place is free, the last ones
// right before the launch that reads it. (XLA's sliced prefetch.)
//
//===----------------------------------------------------------------------===//
#include "schedule/NearAssignment.h"
#include "schedule/NearShares.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace spokeshave::schedule;

static constexpr int64_t kSlices = 8;
/// Shorter transfers are mostly latency.
static constexpr int64_t kLeastSlice = 256 << 10;

/// Starts as many slices of a placed candidate earlier as have room and, while the
/// launches between run, bandwidth. True if these are most of it; else none is.
bool NearAssignment::startInSlices(NearCandidate &candidate) {
  int64_t bytes = candidate.piece->bytes;
  int64_t part = llvm::alignTo(llvm::divideCeil(bytes, kSlices), kNearAlignment);
  if (part < kLeastSlice)
    return false;
  std::vector<ArrivingSlice> slices;
  int64_t early = 0, idle = 0;
  // The highest first: launches need the low end for themselves.
  for (int64_t offset = llvm::alignDown(bytes - 1, part); offset >= 0; offset -= part) {
    ArrivingSlice slice;
    slice.offset = offset, slice.bytes = std::min(part, bytes - offset);
    slice.piece = std::make_unique<NearPiece>();
    slice.piece->bytes = slice.bytes;
    slice.reserved = std::make_unique<NearCandidate>();
    slice.reserved->piece = slice.piece.get();
    slice.reserved->parts = partsWithin(candidate.parts, slice.offset, slice.bytes);
    slice.reserved->place = candidate.place + offset;
    slice.reserved->start = candidate.anchor;
    Operation *at = candidate.anchor;
    int64_t beside = 0;
    for (int64_t ahead = 0; ahead < kFurthestAhead && (at = stepBefore(at));) {
      slice.reserved->span = {pieces.spanOf(at).first, candidate.span.first - 1};
      if (!isFree(*slice.reserved))
        break;
      bool isWork = isa<LaunchOp, WhileOp>(at);
      ahead += isWork;
      beside += isWork ? idleBytesOf(at) : 0;
      slice.reserved->start = at;
    }
    idle = std::max(idle, beside);
    bool isEarly =
        slice.reserved->start != candidate.anchor && early + slice.reserved->fetched() <= idle;
    if (!isEarly)
      slice.reserved->start = candidate.anchor;
    else
      slice.reserved->span.first = pieces.spanOf(slice.reserved->start).first;
    early += isEarly ? slice.reserved->fetched() : 0;
    slices.push_back(std::move(slice));
  }
  if (4 * early < 3 * candidate.fetched())
    return false;
  for (ArrivingSlice &slice : slices)
    if (slice.reserved->start != candidate.anchor)
      taken.push_back(slice.reserved.get());
  arriving[&candidate] = std::move(slices);
  return true;
}

/// The slices' transfers; all are waited for.
void NearAssignment::transferSlices(NearCandidate &candidate) {
  OpBuilder builder(program.getContext());
  Value far = candidate.piece->values.front();
  Location loc = candidate.anchor->getLoc();
  int64_t first = signals;
  for (ArrivingSlice &slice : arriving[&candidate]) {
    builder.setInsertionPoint(slice.reserved->start);
    auto type = MemRefType::get({slice.bytes}, builder.getI8Type());
    Value from = builder.create<ViewOp>(loc, type, far, slice.offset);
    Value to = builder.create<NearOp>(loc, type, slice.reserved->place);
    builder.create<StartOp>(loc, from, to, signals++,
                            partsAttr(program.getContext(), slice.reserved->parts));
  }
  builder.setInsertionPoint(candidate.anchor);
  for (int64_t signal = first; signal < signals; ++signal)
    builder.create<WaitOp>(loc, signal);
}
