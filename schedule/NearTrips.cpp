//===- NearTrips.cpp - slices that arrive a trip ahead ---------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a loop's trip reads of a stack (schedule.slice by schedule.trip) has one place
// in near memory for all trips: behind the last launch that reads it the next trip's
// slice begins to arrive, beside the other launches of the body.
//
//===----------------------------------------------------------------------===//
#include "schedule/LoopCounters.h"
#include "schedule/NearAssignment.h"
#include "schedule/NearShares.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace spokeshave::schedule;

/// Whether all that moves the slice is the number of the trip.
static bool isOfTrip(SliceOp slice) {
  return slice.getRows() == 1 && llvm::all_of(slice.getStarts(), [](Value start) {
           return bool(start.getDefiningOp<TripOp>());
         });
}

static bool isSame(SliceOp a, SliceOp b) {
  if (a.getSource() != b.getSource() || a.getType() != b.getType() ||
      a.getByteOffset() != b.getByteOffset() || a.getLimits() != b.getLimits() ||
      a.getStrides() != b.getStrides())
    return false;
  return llvm::all_of(llvm::zip_equal(a.getStarts(), b.getStarts()), [](auto both) {
    auto [x, y] = both;
    auto one = x.template getDefiningOp<TripOp>(), other = y.template getDefiningOp<TripOp>();
    return one.getBegin() == other.getBegin() && one.getStep() == other.getStep();
  });
}

/// Whether the loop writes to what `source` is of.
static bool isWritten(WhileOp loop, Value source, ProgramOp program) {
  Place place = placeOf(source);
  if (auto argument = dyn_cast_or_null<BlockArgument>(place.root))
    if (llvm::is_contained(program.getAliases(), int64_t(argument.getArgNumber())))
      return true; // it may be a result as well
  bool found = false;
  loop.walk([&](Operation *op) {
    ValueRange written = op->getOperands();
    if (isPlace(op))
      return;
    if (auto launch = dyn_cast<LaunchOp>(op))
      written = written.drop_front(launch.getNumInputs());
    else if (isa<CopyOp>(op))
      written = written.drop_front();
    for (Value value : written)
      found |= placeOf(value).meets(place);
  });
  return found;
}

/// The launches directly in the loop's body, in order.
static SmallVector<LaunchOp> launchesOf(WhileOp loop) {
  SmallVector<LaunchOp> launches;
  for (Operation &op : loop.getBody().front()) {
    if (auto launch = dyn_cast<LaunchOp>(op))
      launches.push_back(launch);
    if (auto parallel = dyn_cast<ParallelOp>(op))
      llvm::append_range(launches, parallel.getBody().front().getOps<LaunchOp>());
  }
  return launches;
}

void NearAssignment::findTripSlices(WhileOp loop, std::vector<TripSlice> &found) {
  for (LaunchOp launch : launchesOf(loop))
    for (OpOperand &use : launch->getOpOperands().take_front(launch.getNumInputs())) {
      auto slice = use.get().getDefiningOp<SliceOp>();
      if (!slice || !isOfTrip(slice) || isWritten(loop, slice.getSource(), program))
        continue;
      auto same = llvm::find_if(found, [&](const TripSlice &other) {
        return other.loop == loop && isSame(other.slice, slice);
      });
      if (same == found.end()) {
        int64_t bytes = byteSizeOf(cast<MemRefType>(slice.getType()));
        found.push_back({loop, slice, bytes, launch, launch, {}, {}, {}});
        same = std::prev(found.end());
      }
      same->uses.push_back(&use), same->last = launch;
    }
}

/// Gives slices a place over all of the loop, the small ones first, as long as the
/// other launches of a trip leave bandwidth for them.
void NearAssignment::placeTripSlices() {
  program.walk([&](WhileOp loop) {
    if (loop.getTripCount().value_or(0) < 2)
      return;
    std::vector<TripSlice> found;
    findTripSlices(loop, found);
    std::vector<TripSlice *> order;
    for (TripSlice &slice : found)
      order.push_back(&slice);
    llvm::sort(order, [](TripSlice *a, TripSlice *b) {
      return std::pair(a->bytes, a) < std::pair(b->bytes, b);
    });
    int64_t used = 0;
    for (TripSlice *each : order) {
      TripSlice &slice = *each;
      int64_t idle = -used;
      StepSpan busy{pieces.spanOf(slice.first).first, pieces.spanOf(slice.last).last};
      for (LaunchOp launch : launchesOf(loop))
        if (!busy.meets(pieces.spanOf(launch)))
          idle += idleBytes(launch);
      slice.piece = std::make_unique<NearPiece>();
      slice.piece->bytes = slice.bytes;
      slice.candidate = std::make_unique<NearCandidate>();
      slice.candidate->piece = slice.piece.get();
      slice.candidate->span = pieces.spanOf(loop);
      slice.candidate->operands = slice.uses;
      findPartsRead(*slice.candidate, facts, options.cores);
      int64_t fetched = slice.candidate->fetched();
      if (idle < fetched || !tryPlace(*slice.candidate))
        continue;
      used += fetched;
      taken.push_back(slice.candidate.get());
      tripSlices.push_back(std::move(slice));
    }
  });
}

void NearAssignment::rewriteTripSlice(TripSlice &slice) {
  OpBuilder builder(slice.loop);
  Location loc = slice.slice.getLoc();
  Type type = slice.slice.getType();
  // Before the loop, the first trip's.
  int64_t offset = slice.slice.getByteOffset();
  for (auto [start, limit, stride] :
       llvm::zip_equal(slice.slice.getStarts(), slice.slice.getLimits(), slice.slice.getStrides()))
    offset += std::clamp<int64_t>(start.getDefiningOp<TripOp>().getBegin(), 0, limit) * stride;
  Value first = builder.create<ViewOp>(loc, type, slice.slice.getSource(), offset);
  Value near = builder.create<NearOp>(loc, type, slice.candidate->place);
  auto parts = partsAttr(program.getContext(), slice.candidate->parts);
  builder.create<StartOp>(loc, first, near, signals, parts);
  builder.setInsertionPoint(slice.first);
  builder.create<WaitOp>(loc, signals);
  // Behind its last use, the next trip's.
  builder.setInsertionPointAfter(slice.last);
  SmallVector<Value> starts;
  for (Value start : slice.slice.getStarts()) {
    auto trip = start.getDefiningOp<TripOp>();
    starts.push_back(builder.create<TripOp>(
        loc, trip.getType(), int64_t(trip.getBegin()) + int64_t(trip.getStep()), trip.getStep()));
  }
  Value next = builder.create<SliceOp>(loc, type, slice.slice.getSource(), starts,
                                       slice.slice.getLimits(), slice.slice.getStrides(),
                                       slice.slice.getWraps(), slice.slice.getByteOffset());
  builder.create<StartOp>(loc, next, near, signals++, parts).setNextTrip(true);
  for (OpOperand *use : slice.uses)
    use->set(near);
}
