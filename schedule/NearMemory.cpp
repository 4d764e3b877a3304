//===- NearMemory.cpp - buffers that stay in near memory between launches --===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values (NearPieces.h) are taken by the traffic that they save per byte, and get
// the highest place that is free over their span and above what the launches in it
// need. Then the program is rewritten.
//
//===----------------------------------------------------------------------===//
#include "schedule/NearMemory.h"

#include "schedule/NearAssignment.h"
#include "schedule/NearShares.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace spokeshave::schedule;

/// Which of the launch's buffers are near, if `more` (or null) is as well.
llvm::BitVector NearAssignment::nearOf(LaunchOp launch, const NearCandidate *more) {
  llvm::BitVector near(launch.getBuffers().size());
  int64_t position = pieces.spanOf(launch).first;
  for (auto [i, buffer] : llvm::enumerate(launch.getBuffers())) {
    NearPiece *piece = pieces.pieceOf(buffer);
    auto holds = [&, i = i](const NearCandidate &c) {
      if (!c.operands.empty())
        return llvm::is_contained(c.operands, &launch->getOpOperand(i));
      return c.piece == piece && c.span.first <= position && position <= c.span.last;
    };
    near[i] =
        (more && holds(*more)) || llvm::any_of(taken, [&](NearCandidate *c) { return holds(*c); });
  }
  return near;
}

int64_t NearAssignment::bytesMoved(LaunchOp launch, unsigned buffer) {
  if (options.cores < 2)
    return byteSizeOf(cast<MemRefType>(launch.getBuffers()[buffer].getType()));
  int64_t sum = 0;
  for (int64_t core = 0; core < options.cores; ++core)
    sum += facts.touches(launch, buffer, core).size();
  return sum;
}

/// What far memory gives while the launch runs, beside what it moves itself.
int64_t NearAssignment::idleBytes(LaunchOp launch) {
  llvm::BitVector near = nearOf(launch, nullptr);
  int64_t idle = facts.bytesBeside(launch);
  for (auto [i, buffer] : llvm::enumerate(launch.getBuffers()))
    idle -= near[i] ? 0 : bytesMoved(launch, i);
  return std::max<int64_t>(0, idle);
}

/// Whether all launches within the span have room beneath what is near then.
bool NearAssignment::leavesRoom(const NearCandidate &candidate, int64_t at) {
  for (LaunchOp launch : pieces.launches()) {
    int64_t position = pieces.spanOf(launch).first;
    if (position < candidate.span.first || position > candidate.span.last)
      continue;
    int64_t lowest = at;
    for (NearCandidate *other : taken)
      if (other->span.first <= position && position <= other->span.last)
        lowest = std::min(lowest, other->place);
    if (facts.need(launch, nearOf(launch, &candidate)) > lowest)
      return false;
  }
  return true;
}

/// The highest free place over the candidate's span.
bool NearAssignment::tryPlace(NearCandidate &candidate) {
  int64_t size = candidate.size();
  SmallVector<NearCandidate *> others;
  for (NearCandidate *other : taken)
    if (other->span.meets(candidate.span))
      others.push_back(other);
  llvm::sort(others, [](NearCandidate *a, NearCandidate *b) { return a->place > b->place; });
  int64_t top = options.bytes / kNearAlignment * kNearAlignment;
  // One further down may still reach further up: they need not be near together.
  for (NearCandidate *other : others)
    if (other->place + other->size() > top - size)
      top = std::min(top, other->place);
  int64_t at = top - size;
  if (at < 0 || !leavesRoom(candidate, at))
    return false;
  candidate.place = at;
  return true;
}

/// Whether nothing else needs the candidate's place over its span.
bool NearAssignment::isFree(const NearCandidate &candidate) {
  for (NearCandidate *other : taken)
    if (other->span.meets(candidate.span) && other->place < candidate.place + candidate.size() &&
        candidate.place < other->place + other->size())
      return false;
  return leavesRoom(candidate, candidate.place);
}

Operation *spokeshave::schedule::stepBefore(Operation *op) {
  Operation *before = op->getPrevNode();
  while (before && isPlace(before))
    before = before->getPrevNode();
  if (!before) {
    auto parallel = dyn_cast<ParallelOp>(op->getParentOp());
    return parallel ? stepBefore(parallel) : nullptr;
  }
  auto parallel = dyn_cast<ParallelOp>(before);
  if (!parallel)
    return before;
  mlir::Block &inside = parallel.getBody().front();
  return inside.empty() ? stepBefore(parallel) : &inside.back();
}

/// Lets the transfer start before steps that do not need it. True if it does.
bool NearAssignment::startEarlier(NearCandidate &candidate) {
  bool moved = false;
  Operation *at = candidate.anchor;
  for (int64_t ahead = 0; ahead < kFurthestAhead;) {
    at = stepBefore(at);
    if (!at)
      break;
    ahead += isa<LaunchOp, WhileOp>(at);
    NearCandidate longer = candidate;
    longer.span.first = pieces.spanOf(at).first;
    longer.start = at;
    if (!tryPlace(longer))
      break;
    moved |= isa<LaunchOp, WhileOp>(at);
    candidate = longer;
  }
  return moved;
}

/// A copy from near memory to near memory moves within each core.
bool NearAssignment::agreesWithCopies(const NearCandidate &candidate) {
  return llvm::all_of(candidate.accesses, [&](const NearAccess &access) {
    auto copy = dyn_cast<CopyOp>(access.op);
    return !copy || llvm::all_of(taken, [&](NearCandidate *other) {
      bool isOther = other->piece == pieces.pieceOf(copy.getSource()) ||
                     other->piece == pieces.pieceOf(copy.getTarget());
      return !isOther || other->span.last < access.position ||
             access.position < other->span.first || other->parts == candidate.parts;
    });
  });
}

bool NearAssignment::place(NearCandidate &candidate) {
  candidate.start = candidate.anchor;
  if (!findParts(candidate, pieces, facts, options.cores) || !agreesWithCopies(candidate) ||
      !tryPlace(candidate))
    return false;
  if (candidate.needsFill() && options.prefetch &&
      (startEarlier(candidate) || (options.slices && startInSlices(candidate))))
    return true;
  return candidate.saved > 0;
}

void NearAssignment::replaceUses(NearCandidate &candidate) {
  OpBuilder builder(program.getBody());
  builder.setInsertionPointToStart(&program.getBlock());
  auto near = [&](Value root) -> Value {
    return builder.create<NearOp>(root.getLoc(), root.getType(), candidate.place);
  };
  for (Value root : candidate.piece->values) {
    Value replacement;
    auto replace = [&](auto &&self, Value old, Value made) -> void {
      for (OpOperand &use : llvm::make_early_inc_range(old.getUses())) {
        if (auto view = dyn_cast<ViewOp>(use.getOwner())) {
          OpBuilder::InsertionGuard guard(builder);
          builder.setInsertionPoint(view);
          auto copy = cast<ViewOp>(builder.clone(*view));
          copy.getSourceMutable().assign(made);
          self(self, view.getResult(), copy.getResult());
          if (copy.getResult().use_empty())
            copy.erase();
          continue;
        }
        bool isOf = llvm::any_of(candidate.accesses, [&](const NearAccess &access) {
          return access.op == use.getOwner();
        });
        if (isOf)
          use.set(made);
      }
    };
    replacement = near(root);
    replace(replace, root, replacement);
    if (replacement.use_empty())
      replacement.getDefiningOp()->erase();
  }
}

void NearAssignment::transfers(NearCandidate &candidate) {
  OpBuilder builder(program.getContext());
  Value far = candidate.piece->values.front();
  auto near = [&] { return builder.create<NearOp>(far.getLoc(), far.getType(), candidate.place); };
  if (arriving.count(&candidate)) {
    transferSlices(candidate);
  } else if (candidate.needsFill()) {
    if (candidate.start)
      builder.setInsertionPoint(candidate.start);
    else
      builder.setInsertionPoint(firstStep());
    auto parts = partsAttr(program.getContext(), candidate.parts);
    auto start = builder.create<StartOp>(candidate.anchor->getLoc(), far, near(), signals, parts);
    start.setFirstRun(candidate.isCarried);
    if (candidate.isCarried) {
      auto tail = llvm::find_if(tails, [&](auto &t) { return t->piece == candidate.piece; });
      builder.setInsertionPoint((*tail)->start);
      builder.create<StartOp>(candidate.anchor->getLoc(), far, near(), signals, parts)
          .setNextRun(true);
    }
    builder.setInsertionPoint(candidate.anchor);
    builder.create<WaitOp>(candidate.anchor->getLoc(), signals++);
  }
  if (candidate.needsWriteBack()) {
    builder.setInsertionPointAfter(candidate.end);
    builder.create<StartOp>(candidate.end->getLoc(), near(), far, signals,
                            partsAttr(program.getContext(), partsBack(candidate.parts)));
    builder.setInsertionPointToEnd(&program.getBlock());
    builder.create<WaitOp>(candidate.end->getLoc(), signals++);
  }
}

/// Copies from or to near memory are transfers that are waited for at once.
void NearAssignment::rewriteCopies() {
  program.walk([&](CopyOp copy) {
    auto isNear = [](Value value) { return bool(rootOfView(value).getDefiningOp<NearOp>()); };
    if (!isNear(copy.getSource()) && !isNear(copy.getTarget()))
      return;
    OpBuilder builder(copy);
    builder.create<StartOp>(copy.getLoc(), copy.getSource(), copy.getTarget(), signals,
                            copiedParts.lookup(copy));
    builder.create<WaitOp>(copy.getLoc(), signals++);
    copy.erase();
  });
}

void NearAssignment::rewrite() {
  llvm::erase_if(taken, [](NearCandidate *candidate) { return candidate->accesses.empty(); });
  for (NearCandidate *candidate : taken)
    for (const NearAccess &access : candidate->accesses)
      if (auto copy = dyn_cast<CopyOp>(access.op)) {
        bool toFar = access.reads && !copiedParts.contains(copy);
        copiedParts[copy] =
            partsAttr(program.getContext(), toFar ? partsBack(candidate->parts) : candidate->parts);
      }
  for (NearCandidate *candidate : taken)
    replaceUses(*candidate);
  for (NearCandidate *candidate : taken)
    transfers(*candidate);
  for (TripSlice &slice : tripSlices)
    rewriteTripSlice(slice);
  rewriteCopies();
}

void NearAssignment::run() {
  std::vector<NearCandidate *> order;
  for (NearCandidate &candidate : candidates)
    order.push_back(&candidate);
  auto density = [](NearCandidate *c) { return c->saved / double(c->size()); };
  llvm::sort(order, [&](NearCandidate *a, NearCandidate *b) { // equal ones in the program's order
    return density(a) != density(b) ? density(a) > density(b) : a < b;
  });
  for (NearCandidate *candidate : order)
    if (place(*candidate)) {
      candidate->isTaken = true;
      taken.push_back(candidate);
    }
  if (options.prefetch)
    placeTripSlices();
  if (options.acrossRuns)
    carryOver();
  rewrite();
}

void spokeshave::schedule::assignNearMemory(ProgramOp program, const NearMemoryOptions &options,
                                            const KernelFacts &facts) {
  NearAssignment(program, options, facts).run();
}
