//===- NearRuns.cpp - arguments that the run before brings -----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program that runs again and again with the same arguments, weights say, waits at
// its begin for what its last launches could have brought.
//
//===----------------------------------------------------------------------===//
#include "schedule/NearAssignment.h"
#include "schedule/NearShares.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <tuple>

using namespace mlir;
using namespace spokeshave::schedule;

/// The program's first operation that is more than a name of memory.
Operation *NearAssignment::firstStep() {
  return &*llvm::find_if(program.getBlock(), [](Operation &op) { return !isPlace(&op); });
}

int64_t NearAssignment::idleBytesOf(Operation *step) {
  int64_t sum = 0;
  step->walk([&](LaunchOp launch) {
    int64_t times = 1;
    for (Operation *parent = launch->getParentOp(); parent != step->getParentOp();
         parent = parent->getParentOp())
      if (auto loop = dyn_cast<WhileOp>(parent))
        times *= loop.getTripCount().value_or(1);
    sum = llvm::SaturatingAdd<uint64_t>(
        sum, llvm::SaturatingMultiply<uint64_t>(times, idleBytes(launch)));
  });
  return sum;
}

/// Of what the program's first launches read, as much as its last ones leave bandwidth
/// for is brought by the run before: if its place is free from the begin to its last
/// use, and again from those launches on. (XLA's cross-program prefetch.)
void NearAssignment::carryOver() {
  std::vector<NearCandidate *> order;
  for (NearCandidate &candidate : candidates)
    if (candidate.piece->home == NearPiece::Home::Argument && candidate.needsFill())
      order.push_back(&candidate);
  auto key = [](NearCandidate *c) { return std::tuple(c->span.first, c->piece->bytes, c); };
  llvm::sort(order, [&](NearCandidate *a, NearCandidate *b) { return key(a) < key(b); });
  for (NearCandidate *candidate : order)
    carry(*candidate);
}

bool NearAssignment::carry(NearCandidate &candidate) {
  if (candidate.piece->bytes == 0 || arriving.count(&candidate) ||
      llvm::any_of(candidate.accesses, [](const NearAccess &access) { return access.writes; }))
    return false;
  if (!candidate.isTaken &&
      (!findParts(candidate, pieces, facts, options.cores) || !agreesWithCopies(candidate)))
    return false;
  int64_t fetched = candidate.fetched();
  NearCandidate head = candidate;
  head.start = nullptr; // where the program begins
  head.span.first = 0;
  // For the time being another one stands for it; the order decides that of transfers.
  auto own = llvm::find(taken, &candidate);
  int64_t number = own - taken.begin();
  if (candidate.isTaken)
    taken.erase(taken.begin() + number);
  auto giveUp = [&] {
    if (candidate.isTaken)
      taken.insert(taken.begin() + number, &candidate);
    return false;
  };
  if (candidate.isTaken ? !isFree(head) : !tryPlace(head))
    return giveUp();
  // Backwards from the end, until what is idle suffices.
  auto tail = std::make_unique<NearCandidate>();
  tail->piece = candidate.piece, tail->place = head.place;
  tail->span = {pieces.end(), pieces.end()};
  int64_t idle = -idleUsed;
  Operation *at = program.getBlock().empty() ? nullptr : &program.getBlock().back();
  if (auto parallel = dyn_cast_or_null<ParallelOp>(at))
    at = &parallel.getBody().front().back();
  for (; at && idle < fetched; at = stepBefore(at)) {
    tail->span.first = pieces.spanOf(at).first;
    if (tail->span.first <= head.span.last || !isFree(*tail))
      break;
    tail->start = at;
    idle += idleBytesOf(at);
  }
  if (!tail->start || idle < fetched)
    return giveUp();
  tail->span.first = pieces.spanOf(tail->start).first;
  idleUsed += fetched;
  candidate = head;
  candidate.isTaken = candidate.isCarried = true;
  taken.insert(taken.begin() + number, &candidate);
  taken.push_back(tail.get());
  tails.push_back(std::move(tail));
  return true;
}
