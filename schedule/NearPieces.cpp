//===- NearPieces.cpp - who touches which memory of a program, when --------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A piece of memory (a range of the arena, an argument, a result, a constant) has
// accesses at the numbers of steps; a write of all of it begins a new value. A
// value's span reaches from its first access to its last, and over every loop that
// it is carried around.
//
// Pieces of the arena that overlap may hand values to each other by their place
// alone. So a piece is left in far memory if it, or one that overlaps it, is read
// before it is written.
//
//===----------------------------------------------------------------------===//
#include "schedule/NearPieces.h"

using namespace mlir;
using namespace spokeshave::schedule;

static int64_t bytesOf(Value value) {
  return byteSizeOf(cast<MemRefType>(value.getType()));
}

Value spokeshave::schedule::rootOfView(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<ViewOp, SliceOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

NearPiece *NearPieces::pieceOf(Value value) {
  Value root = rootOfView(value);
  auto [found, isNew] = pieceOfRoot.try_emplace(root);
  if (!isNew)
    return found->second;
  auto make = [&](NearPiece::Home home) {
    pieces.push_back(std::make_unique<NearPiece>());
    pieces.back()->home = home;
    pieces.back()->bytes = bytesOf(root);
    return pieces.back().get();
  };
  NearPiece *piece = nullptr;
  if (auto arena = root.getDefiningOp<ArenaOp>()) {
    NearPiece *&same = arenaPieces[{int64_t(arena.getOffset()), bytesOf(root)}];
    if (!same)
      same = make(NearPiece::Home::Arena), same->offset = arena.getOffset();
    piece = same;
  } else if (root.getDefiningOp<ConstantOp>()) {
    piece = make(NearPiece::Home::Constant);
  } else {
    int64_t number = cast<BlockArgument>(root).getArgNumber();
    int64_t arguments = program.getNumArguments();
    piece = make(number < arguments ? NearPiece::Home::Argument : NearPiece::Home::Result);
    // A donated argument and the result that takes it over are one buffer.
    ArrayRef<int64_t> aliases = program.getAliases();
    piece->isFixed =
        number < arguments ? llvm::is_contained(aliases, number) : aliases[number - arguments] >= 0;
  }
  piece->values.push_back(root);
  return pieceOfRoot[root] = piece;
}

void NearPieces::access(Value value, Operation &op, bool reads, bool writes, double times) {
  NearPiece *piece = pieceOf(value);
  // A write of a part leaves the rest as it was.
  if (writes && bytesOf(value) != piece->bytes)
    reads = true;
  if (!piece->accesses.empty() && piece->accesses.back().op == &op) {
    piece->accesses.back().reads |= reads;
    piece->accesses.back().writes |= writes;
    return;
  }
  piece->accesses.push_back({steps[&op].first, &op, reads, writes, times});
}

/// What the sequencer reads to find a slice's place, and what the slice is of, have no
/// other place than far memory.
void NearPieces::fixSlices(Operation &op, double times) {
  for (Value buffer : op.getOperands())
    for (Operation *def = buffer.getDefiningOp(); def && isa<ViewOp, SliceOp>(def);
         def = def->getOperand(0).getDefiningOp()) {
      auto slice = dyn_cast<SliceOp>(def);
      if (!slice)
        continue;
      fix(slice.getSource());
      for (Value start : slice.getStarts()) {
        if (start.getDefiningOp<TripOp>())
          continue;
        access(start, op, true, false, times);
        fix(start);
      }
    }
}

void NearPieces::numberStep(Operation &op, double times) {
  steps[&op] = {positions, positions};
  ++positions;
  fixSlices(op, times);
  if (auto launch = dyn_cast<LaunchOp>(op)) {
    launchSteps.push_back(launch);
    for (auto [i, buffer] : llvm::enumerate(launch.getBuffers())) {
      bool isInput = int64_t(i) < int64_t(launch.getNumInputs());
      access(buffer, op, isInput || facts.updatesOutputs(launch), !isInput, times);
    }
    return;
  }
  if (auto copy = dyn_cast<CopyOp>(op)) {
    access(copy.getSource(), op, true, false, times);
    access(copy.getTarget(), op, false, true, times);
    return;
  }
  for (Value operand : op.getOperands()) {
    access(operand, op, true, true, times);
    fix(operand);
  }
  double inside = times;
  if (auto loop = dyn_cast<WhileOp>(op))
    inside *= loop.getTripCount() ? double(*loop.getTripCount()) : kUnknownTrips;
  for (Region &region : op.getRegions())
    for (mlir::Block &block : region)
      number(block, inside);
  steps[&op].last = positions++;
}

void NearPieces::number(mlir::Block &block, double times) {
  for (Operation &op : block) {
    if (isPlace(&op))
      continue;
    if (auto parallel = dyn_cast<ParallelOp>(op))
      number(parallel.getBody().front(), times);
    else
      numberStep(op, times);
  }
}

/// The steps around `op` with regions of their own, outermost first.
static SmallVector<Operation *> stepsAround(Operation *op) {
  SmallVector<Operation *> around;
  for (Operation *parent = op->getParentOp(); !isa<ProgramOp>(parent);
       parent = parent->getParentOp())
    if (isa<WhileOp, CaseOp>(parent))
      around.push_back(parent);
  std::reverse(around.begin(), around.end());
  return around;
}

/// The step directly within `scope` (null: the program) that holds `op`.
static Operation *stepWithin(Operation *op, Operation *scope) {
  SmallVector<Operation *> around = stepsAround(op);
  around.push_back(op);
  if (!scope)
    return around.front();
  auto at = llvm::find(around, scope);
  return at == around.end() ? op : *std::next(at);
}

/// Pieces of the arena that hand values on by their place stay where they are: a
/// read whose value was last written through another piece, or before a loop in
/// which another piece is written.
void NearPieces::fixOverlapping() {
  auto fixBoth = [](NearPiece &a, NearPiece &b) { a.isFixed = b.isFixed = true; };
  for (auto &[key, piece] : arenaPieces) {
    SmallVector<NearPiece *> overlapping;
    for (auto &[otherKey, other] : arenaPieces)
      if (other != piece && other->offset < piece->offset + piece->bytes &&
          piece->offset < other->offset + other->bytes)
        overlapping.push_back(other);
    const NearAccess *written = nullptr;
    for (const NearAccess &access : piece->accesses) {
      if (access.reads && !written)
        for (NearPiece *other : overlapping)
          fixBoth(*piece, *other);
      if (access.reads && !written)
        piece->isFixed = true;
      if (access.reads && written) {
        // From the write to the read, around the loops that only the read is in.
        StepSpan between{written->position + 1, access.position - 1};
        for (Operation *step : stepsAround(access.op))
          if (isa<WhileOp>(step) && !step->isProperAncestor(written->op)) {
            between.last = std::max(between.last, steps[step].last);
            break;
          }
        for (NearPiece *other : overlapping)
          if (llvm::any_of(other->accesses, [&](const NearAccess &theirs) {
                return theirs.writes && between.first <= theirs.position &&
                       theirs.position <= between.last;
              }))
            fixBoth(*piece, *other);
      }
      if (access.writes)
        written = &access;
    }
  }
}

/// From the first step within `scope` to the last.
StepSpan NearPieces::spanWithin(ArrayRef<NearAccess> accesses, Operation *scope,
                                NearCandidate &candidate) {
  candidate.anchor = stepWithin(accesses.front().op, scope);
  candidate.end = stepWithin(accesses.back().op, scope);
  return {steps[candidate.anchor].first, steps[candidate.end].last};
}

/// Where the candidate begins and ends. False: its value comes from elsewhere.
bool NearPieces::findSpan(NearCandidate &candidate) {
  SmallVector<Operation *> common = stepsAround(candidate.accesses.front().op);
  for (const NearAccess &access : candidate.accesses) {
    SmallVector<Operation *> around = stepsAround(access.op);
    size_t same = 0;
    while (same < std::min(common.size(), around.size()) && common[same] == around[same])
      ++same;
    common.resize(same);
  }
  const NearAccess &first = candidate.accesses.front();
  if (candidate.needsFill())
    common.clear(); // filled once, before all loops
  while (true) {
    Operation *scope = common.empty() ? nullptr : common.back();
    candidate.span = spanWithin(candidate.accesses, scope, candidate);
    // A write that every path through the scope passes before it reads.
    bool isWhole = first.writes && !first.reads && candidate.anchor == first.op;
    if (scope && isa<CaseOp>(scope)) { // both branches of it, or one
      candidate.anchor = candidate.end = scope;
      candidate.span = steps[scope];
    } else if (isWhole && !candidate.needsWriteBack()) {
      return true;
    }
    if (common.empty()) {
      // On its way to far memory a value still needs its place.
      if (candidate.needsWriteBack())
        candidate.span.last = positions;
      return candidate.needsFill() || isWhole;
    }
    common.pop_back();
  }
}

/// Cuts a piece's accesses where all of it is written anew.
void NearPieces::split(NearPiece &piece, std::vector<NearCandidate> &candidates) {
  if (piece.isFixed || piece.accesses.empty() || piece.bytes == 0)
    return;
  SmallVector<SmallVector<NearAccess>> values(1);
  for (const NearAccess &access : piece.accesses) {
    bool isNew = access.writes && !access.reads && stepsAround(access.op).empty();
    if (isNew && !values.back().empty())
      values.emplace_back();
    values.back().push_back(access);
  }
  for (auto [i, accesses] : llvm::enumerate(values)) {
    NearCandidate candidate;
    candidate.piece = &piece;
    candidate.accesses = accesses;
    candidate.isLast = i + 1 == values.size();
    for (const NearAccess &access : accesses)
      candidate.saved += costOf(access, piece) * (access.reads + access.writes);
    double once = double(piece.bytes + options.latencyBytes);
    if (candidate.needsFill() || candidate.needsWriteBack())
      candidate.saved -= once;
    bool waits = candidate.needsFill() && options.prefetch && candidate.saved < once;
    if (!options.keep && !waits)
      continue;
    if ((candidate.saved > 0 || waits) && findSpan(candidate))
      candidates.push_back(std::move(candidate));
  }
}

NearPieces::NearPieces(ProgramOp program, const NearMemoryOptions &options,
                       const KernelFacts &facts)
    : program(program), options(options), facts(facts) {
  number(program.getBlock(), 1);
  fixOverlapping();
}

std::vector<NearCandidate> NearPieces::candidates() {
  std::vector<NearCandidate> found;
  for (const std::unique_ptr<NearPiece> &piece : pieces)
    split(*piece, found);
  return found;
}
