//===- NearMemory.cpp - buffers that stay in near memory between launches --===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps are numbered in order. A piece of memory (a range of the arena, an
// argument, a result, a constant) has accesses at these numbers; a write of all of
// it begins a new value. A value's span reaches from its first access to its last,
// and over every loop that it is carried around. Values are then taken by the
// traffic that they save per byte, and get the highest place that is free over
// their span and above what the launches in it need.
//
// Pieces of the arena that overlap may hand values to each other by their place
// alone. So a piece is left in far memory if it, or one that overlaps it, is read
// before it is written.
//
//===----------------------------------------------------------------------===//
#include "schedule/NearMemory.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace mlir;
using namespace spokeshave::schedule;

namespace {

constexpr int64_t kAlignment = 4096;
/// Behind each buffer: a register of which a mask leaves off the last lanes may reach
/// beyond its end.
constexpr int64_t kMargin = 4096;
constexpr double kUnknownTrips = 8;   ///< of a loop that data ends
constexpr int64_t kFurthestAhead = 2; ///< launches that a prefetch may be ahead

struct Access {
  int64_t position = 0;
  Operation *op = nullptr;
  bool reads = false, writes = false;
  double times = 1; ///< trips of the loops around it
};

/// From the first position to the last, both included.
struct Span {
  int64_t first = 0, last = 0;
  bool meets(const Span &other) const { return first <= other.last && other.first <= last; }
};

/// Memory with one place: views of it are offsets within.
struct Piece {
  enum class Home : uint8_t { Arena, Argument, Result, Constant } home = Home::Arena;
  int64_t offset = 0, bytes = 0; ///< offset: in the arena
  SmallVector<Value> values;     ///< that name it, or parts of it
  SmallVector<Access> accesses;
  bool isFixed = false; ///< must stay in far memory
};

/// A value of a piece: what may be moved to near memory.
struct Candidate {
  Piece *piece = nullptr;
  SmallVector<Access> accesses;
  Span span;
  bool isLast = false;                         ///< of its piece
  Operation *anchor = nullptr, *end = nullptr; ///< the step that begins, the one that ends it
  Operation *start = nullptr;                  ///< the transfer into it starts before this
  double saved = 0;                            ///< bytes of traffic
  int64_t place = -1;

  bool needsFill() const {
    return piece->home == Piece::Home::Argument || piece->home == Piece::Home::Constant;
  }
  bool needsWriteBack() const { return piece->home == Piece::Home::Result && isLast; }
  int64_t size() const { return llvm::alignTo(piece->bytes, kAlignment) + kMargin; }
};

class Assignment {
public:
  Assignment(ProgramOp program, const NearMemoryOptions &options, const KernelFacts &facts)
      : program(program), options(options), facts(facts) {}
  void run();

private:
  void number(mlir::Block &block, double times);
  void numberStep(Operation &op, double times);
  void access(Value value, Operation &op, bool reads, bool writes, double times);
  void fix(Value value);
  Piece *pieceOf(Value value);
  void fixOverlapping();
  void split(Piece &piece);
  bool place(Candidate &candidate);
  Span spanOf(ArrayRef<Access> accesses, Operation *scope, Operation *&anchor, Operation *&end);
  bool findSpan(Candidate &candidate);
  bool startEarlier(Candidate &candidate);
  bool tryPlace(Candidate &candidate);
  bool leavesRoom(const Candidate &candidate, int64_t at);
  int64_t needAt(LaunchOp launch, int64_t position, const Candidate &more);
  double costOf(const Access &access, const Piece &piece) const {
    return access.times * double(piece.bytes + options.latencyBytes);
  }
  void rewrite();
  void replaceUses(Candidate &candidate);
  void transfers(Candidate &candidate);
  void rewriteCopies();

  ProgramOp program;
  const NearMemoryOptions &options;
  const KernelFacts &facts;
  int64_t positions = 0, signals = 0;
  llvm::DenseMap<Operation *, Span> steps; ///< positions of a step, loops with their bodies
  std::vector<LaunchOp> launches;
  std::vector<std::unique_ptr<Piece>> pieces;
  llvm::DenseMap<Value, Piece *> pieceOfRoot;
  std::map<std::pair<int64_t, int64_t>, Piece *> arenaPieces;
  std::vector<Candidate> candidates;
  std::vector<Candidate *> taken;
};

int64_t bytesOf(Value value) {
  return byteSizeOf(cast<MemRefType>(value.getType()));
}

/// The buffer that `value` is a view of.
Value rootOf(Value value) {
  while (auto view = value.getDefiningOp<ViewOp>())
    value = view.getSource();
  return value;
}

Piece *Assignment::pieceOf(Value value) {
  Value root = rootOf(value);
  auto [found, isNew] = pieceOfRoot.try_emplace(root);
  if (!isNew)
    return found->second;
  auto make = [&](Piece::Home home) {
    pieces.push_back(std::make_unique<Piece>());
    pieces.back()->home = home;
    pieces.back()->bytes = bytesOf(root);
    return pieces.back().get();
  };
  Piece *piece = nullptr;
  if (auto arena = root.getDefiningOp<ArenaOp>()) {
    Piece *&same = arenaPieces[{int64_t(arena.getOffset()), bytesOf(root)}];
    if (!same)
      same = make(Piece::Home::Arena), same->offset = arena.getOffset();
    piece = same;
  } else if (root.getDefiningOp<ConstantOp>()) {
    piece = make(Piece::Home::Constant);
  } else {
    int64_t number = cast<BlockArgument>(root).getArgNumber();
    int64_t arguments = program.getNumArguments();
    piece = make(number < arguments ? Piece::Home::Argument : Piece::Home::Result);
    // A donated argument and the result that takes it over are one buffer.
    ArrayRef<int64_t> aliases = program.getAliases();
    piece->isFixed =
        number < arguments ? llvm::is_contained(aliases, number) : aliases[number - arguments] >= 0;
  }
  piece->values.push_back(root);
  return pieceOfRoot[root] = piece;
}

void Assignment::access(Value value, Operation &op, bool reads, bool writes, double times) {
  Piece *piece = pieceOf(value);
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

void Assignment::fix(Value value) {
  pieceOf(value)->isFixed = true;
}

void Assignment::numberStep(Operation &op, double times) {
  steps[&op] = {positions, positions};
  ++positions;
  if (auto launch = dyn_cast<LaunchOp>(op)) {
    launches.push_back(launch);
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

void Assignment::number(mlir::Block &block, double times) {
  for (Operation &op : block) {
    if (isa<ArenaOp, ViewOp, ConstantOp, NearOp>(op))
      continue;
    if (auto parallel = dyn_cast<ParallelOp>(op))
      number(parallel.getBody().front(), times);
    else
      numberStep(op, times);
  }
}

/// The steps around `op` with regions of their own, outermost first.
SmallVector<Operation *> stepsAround(Operation *op) {
  SmallVector<Operation *> around;
  for (Operation *parent = op->getParentOp(); !isa<ProgramOp>(parent);
       parent = parent->getParentOp())
    if (isa<WhileOp, CaseOp>(parent))
      around.push_back(parent);
  std::reverse(around.begin(), around.end());
  return around;
}

/// The step directly within `scope` (null: the program) that holds `op`.
Operation *stepWithin(Operation *op, Operation *scope) {
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
void Assignment::fixOverlapping() {
  auto fixBoth = [](Piece &a, Piece &b) { a.isFixed = b.isFixed = true; };
  for (auto &[key, piece] : arenaPieces) {
    SmallVector<Piece *> overlapping;
    for (auto &[otherKey, other] : arenaPieces)
      if (other != piece && other->offset < piece->offset + piece->bytes &&
          piece->offset < other->offset + other->bytes)
        overlapping.push_back(other);
    const Access *written = nullptr;
    for (const Access &access : piece->accesses) {
      if (access.reads && !written)
        for (Piece *other : overlapping)
          fixBoth(*piece, *other);
      if (access.reads && !written)
        piece->isFixed = true;
      if (access.reads && written) {
        // From the write to the read, around the loops that only the read is in.
        Span between{written->position + 1, access.position - 1};
        for (Operation *step : stepsAround(access.op))
          if (isa<WhileOp>(step) && !step->isProperAncestor(written->op)) {
            between.last = std::max(between.last, steps[step].last);
            break;
          }
        for (Piece *other : overlapping)
          if (llvm::any_of(other->accesses, [&](const Access &theirs) {
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
Span Assignment::spanOf(ArrayRef<Access> accesses, Operation *scope, Operation *&anchor,
                        Operation *&end) {
  anchor = stepWithin(accesses.front().op, scope);
  end = stepWithin(accesses.back().op, scope);
  return {steps[anchor].first, steps[end].last};
}

/// Where the candidate begins and ends. False: its value comes from elsewhere.
bool Assignment::findSpan(Candidate &candidate) {
  SmallVector<Operation *> common = stepsAround(candidate.accesses.front().op);
  for (const Access &access : candidate.accesses) {
    SmallVector<Operation *> around = stepsAround(access.op);
    size_t same = 0;
    while (same < std::min(common.size(), around.size()) && common[same] == around[same])
      ++same;
    common.resize(same);
  }
  const Access &first = candidate.accesses.front();
  if (candidate.needsFill())
    common.clear(); // filled once, before all loops
  while (true) {
    Operation *scope = common.empty() ? nullptr : common.back();
    candidate.span = spanOf(candidate.accesses, scope, candidate.anchor, candidate.end);
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
void Assignment::split(Piece &piece) {
  if (piece.isFixed || piece.accesses.empty() || piece.bytes == 0)
    return;
  SmallVector<SmallVector<Access>> values(1);
  for (const Access &access : piece.accesses) {
    bool isNew = access.writes && !access.reads && stepsAround(access.op).empty();
    if (isNew && !values.back().empty())
      values.emplace_back();
    values.back().push_back(access);
  }
  for (auto [i, accesses] : llvm::enumerate(values)) {
    Candidate candidate;
    candidate.piece = &piece;
    candidate.accesses = accesses;
    candidate.isLast = i + 1 == values.size();
    for (const Access &access : accesses)
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

int64_t Assignment::needAt(LaunchOp launch, int64_t position, const Candidate &more) {
  llvm::BitVector near(launch.getBuffers().size());
  for (auto [i, buffer] : llvm::enumerate(launch.getBuffers())) {
    Piece *piece = pieceOf(buffer);
    auto holds = [&](const Candidate &c) {
      return c.piece == piece && c.span.first <= position && position <= c.span.last;
    };
    near[i] = holds(more) || llvm::any_of(taken, [&](Candidate *c) { return holds(*c); });
  }
  return facts.need(launch, near);
}

/// Whether all launches within the span have room beneath what is near then.
bool Assignment::leavesRoom(const Candidate &candidate, int64_t at) {
  for (LaunchOp launch : launches) {
    int64_t position = steps[launch].first;
    if (position < candidate.span.first || position > candidate.span.last)
      continue;
    int64_t lowest = at;
    for (Candidate *other : taken)
      if (other->span.first <= position && position <= other->span.last)
        lowest = std::min(lowest, other->place);
    if (needAt(launch, position, candidate) > lowest)
      return false;
  }
  return true;
}

/// The highest free place over the candidate's span.
bool Assignment::tryPlace(Candidate &candidate) {
  int64_t size = candidate.size();
  SmallVector<Candidate *> others;
  for (Candidate *other : taken)
    if (other->span.meets(candidate.span))
      others.push_back(other);
  llvm::sort(others, [](Candidate *a, Candidate *b) { return a->place > b->place; });
  int64_t top = options.bytes / kAlignment * kAlignment;
  for (Candidate *other : others) {
    if (other->place + other->size() <= top - size)
      break;
    top = std::min(top, other->place);
  }
  int64_t at = top - size;
  if (at < 0 || !leavesRoom(candidate, at))
    return false;
  candidate.place = at;
  return true;
}

/// The launch or loop before `op` in the order of the program.
Operation *stepBefore(Operation *op) {
  auto isPlace = [](Operation *o) { return isa<ArenaOp, ViewOp, ConstantOp, NearOp>(o); };
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
bool Assignment::startEarlier(Candidate &candidate) {
  bool moved = false;
  Operation *at = candidate.anchor;
  for (int64_t ahead = 0; ahead < kFurthestAhead;) {
    at = stepBefore(at);
    if (!at)
      break;
    ahead += isa<LaunchOp, WhileOp>(at);
    Candidate longer = candidate;
    longer.span.first = steps[at].first;
    longer.start = at;
    if (!tryPlace(longer))
      break;
    moved |= isa<LaunchOp, WhileOp>(at);
    candidate = longer;
  }
  return moved;
}

bool Assignment::place(Candidate &candidate) {
  candidate.start = candidate.anchor;
  if (!tryPlace(candidate))
    return false;
  if (candidate.needsFill() && options.prefetch && startEarlier(candidate))
    return true;
  return candidate.saved > 0;
}

void Assignment::replaceUses(Candidate &candidate) {
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
        bool isOf = llvm::any_of(candidate.accesses,
                                 [&](const Access &access) { return access.op == use.getOwner(); });
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

void Assignment::transfers(Candidate &candidate) {
  OpBuilder builder(program.getContext());
  Value far = candidate.piece->values.front();
  auto near = [&] { return builder.create<NearOp>(far.getLoc(), far.getType(), candidate.place); };
  if (candidate.needsFill()) {
    builder.setInsertionPoint(candidate.start);
    builder.create<StartOp>(candidate.start->getLoc(), far, near(), signals);
    builder.setInsertionPoint(candidate.anchor);
    builder.create<WaitOp>(candidate.anchor->getLoc(), signals++);
  }
  if (candidate.needsWriteBack()) {
    builder.setInsertionPointAfter(candidate.end);
    builder.create<StartOp>(candidate.end->getLoc(), near(), far, signals);
    builder.setInsertionPointToEnd(&program.getBlock());
    builder.create<WaitOp>(candidate.end->getLoc(), signals++);
  }
}

/// Copies from or to near memory are transfers that are waited for at once.
void Assignment::rewriteCopies() {
  program.walk([&](CopyOp copy) {
    auto isNear = [](Value value) { return bool(rootOf(value).getDefiningOp<NearOp>()); };
    if (!isNear(copy.getSource()) && !isNear(copy.getTarget()))
      return;
    OpBuilder builder(copy);
    builder.create<StartOp>(copy.getLoc(), copy.getSource(), copy.getTarget(), signals);
    builder.create<WaitOp>(copy.getLoc(), signals++);
    copy.erase();
  });
}

void Assignment::rewrite() {
  for (Candidate *candidate : taken)
    replaceUses(*candidate);
  for (Candidate *candidate : taken)
    transfers(*candidate);
  rewriteCopies();
}

void Assignment::run() {
  number(program.getBlock(), 1);
  fixOverlapping();
  for (const std::unique_ptr<Piece> &piece : pieces)
    split(*piece);
  std::vector<Candidate *> order;
  for (Candidate &candidate : candidates)
    order.push_back(&candidate);
  auto density = [](Candidate *c) { return c->saved / double(c->size()); };
  llvm::sort(order, [&](Candidate *a, Candidate *b) { // equal ones in the program's order
    return density(a) != density(b) ? density(a) > density(b) : a < b;
  });
  for (Candidate *candidate : order)
    if (place(*candidate))
      taken.push_back(candidate);
  rewrite();
}

} // namespace

void spokeshave::schedule::assignNearMemory(ProgramOp program, const NearMemoryOptions &options,
                                            const KernelFacts &facts) {
  Assignment(program, options, facts).run();
}
