//===- Check.cpp - plays a plan and looks for overwritten values -----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Knows nothing of live sets or of how classes were found: it keeps a picture of
// the memory, which piece holds which node's value, runs the steps on it (loops
// twice, so that what the first round destroys is missed in the second), and
// complains when a step does not find the value it wants to read.
//
//===----------------------------------------------------------------------===//
#include "schedule/Plan.h"

#include <map>

using namespace mlir;
using namespace spokeshave::schedule;

namespace {

/// A piece of memory: which one, and the bytes within.
struct Place {
  int64_t memory; ///< -1: the arena; else the class
  int64_t begin, end;
  bool operator==(const Place &) const = default;
  bool overlaps(const Place &other) const {
    return memory == other.memory && begin < other.end && other.begin < end;
  }
};

class Memory {
public:
  void write(const Place &place, NodeId value) {
    auto &pieces = memories[place.memory];
    auto piece = pieces.lower_bound(place.begin);
    if (piece != pieces.begin() && std::prev(piece)->second.end > place.begin)
      --piece;
    while (piece != pieces.end() && piece->first < place.end)
      piece = pieces.erase(piece);
    pieces[place.begin] = {place.end, value};
  }
  /// The value whose bytes are exactly `place`, or -1.
  NodeId read(const Place &place) const {
    auto pieces = memories.find(place.memory);
    if (pieces == memories.end())
      return -1;
    auto piece = pieces->second.find(place.begin);
    return piece != pieces->second.end() && piece->second.end == place.end ? piece->second.value
                                                                           : -1;
  }
  /// Keeps what both agree on: after a case either may be the truth.
  void intersect(const Memory &other) {
    for (auto &[memory, pieces] : memories)
      std::erase_if(pieces, [&, memory = memory](const auto &piece) {
        return other.read({memory, piece.first, piece.second.end}) != piece.second.value;
      });
  }

private:
  struct Piece {
    int64_t end;
    NodeId value;
  };
  std::map<int64_t, std::map<int64_t, Piece>> memories;
};

class Player {
public:
  explicit Player(const Plan &plan) : plan(plan) {}
  LogicalResult run();

private:
  Place placeOf(NodeId node) const;
  LogicalResult expect(const Step &step, NodeId node);
  LogicalResult playCopies(const Step &step);
  LogicalResult checkInPlace(const Step &step);
  LogicalResult play(const Step &step);
  LogicalResult play(const Sequence &steps);
  LogicalResult playWhile(const Step &step);
  LogicalResult playCase(const Step &step);

  const Plan &plan;
  Memory memory;
};

Place Player::placeOf(NodeId node) const {
  NodeId root = plan.classOf[node];
  int64_t bytes = std::max<int64_t>(1, plan.nodes[node].bytes());
  if (plan.nodes[root].home == Home::Arena)
    return {-1, plan.offsetOf[root], plan.offsetOf[root] + bytes};
  return {root, 0, bytes};
}

LogicalResult Player::expect(const Step &step, NodeId node) {
  NodeId found = memory.read(placeOf(node));
  if (found == node)
    return success();
  InFlightDiagnostic error = step.op->emitError()
                             << "schedule reads node " << node << " in window " << step.window
                             << " but its memory holds " << found;
  error.attachNote(plan.nodes[node].loc) << "the value comes from here";
  return error;
}

/// After the moves each target must hold what its source held before them.
LogicalResult Player::playCopies(const Step &step) {
  for (const Copy &copy : step.copies)
    if (failed(expect(step, copy.source.node)))
      return failure();
  for (const Copy &move : step.moves) {
    NodeId value = memory.read(placeOf(move.source.node));
    if (plan.nodes[move.target.node].readOnly)
      return step.op->emitError() << "schedule copies to memory that may not be written";
    memory.write(placeOf(move.target.node), value);
  }
  for (const Copy &copy : step.copies)
    if (memory.read(placeOf(copy.target.node)) != copy.source.node)
      return step.op->emitError() << "schedule loses the value of node " << copy.source.node
                                  << " among the copies in window " << step.window;
  // From here on the value goes by the target's name.
  for (const Copy &copy : step.copies)
    memory.write(placeOf(copy.target.node), copy.target.node);
  return success();
}

/// Outputs may not overlap each other, nor inputs but for the permitted pairs.
LogicalResult Player::checkInPlace(const Step &step) {
  for (auto [index, target] : llvm::enumerate(step.writes)) {
    Place place = placeOf(target.node);
    if (plan.nodes[plan.classOf[target.node]].readOnly)
      return step.op->emitError() << "schedule writes memory that may not be written";
    for (BufferUse other : ArrayRef(step.writes).drop_front(index + 1))
      if (place.overlaps(placeOf(other.node)))
        return step.op->emitError() << "schedule gives two results the same memory";
    for (BufferUse source : step.reads) {
      bool permitted = llvm::any_of(step.shares, [&](const Share &share) {
        return share.source == source.node && share.target == target.node;
      });
      if (place.overlaps(placeOf(source.node)) && !(permitted && place == placeOf(source.node)))
        return step.op->emitError() << "schedule writes a result over input " << source.node;
    }
  }
  return success();
}

LogicalResult Player::playWhile(const Step &step) {
  for (int round = 0; round < 2; ++round) {
    if (failed(play(step.blocks[0])) ||
        (step.selector && failed(expect(step, step.selector->node))) ||
        failed(play(step.blocks[1])))
      return failure();
  }
  return play(step.blocks[0]);
}

LogicalResult Player::playCase(const Step &step) {
  if (failed(expect(step, step.selector->node)))
    return failure();
  Memory before = memory;
  std::optional<Memory> after;
  for (const Sequence &branch : step.blocks) {
    memory = before;
    if (failed(play(branch)))
      return failure();
    if (after)
      memory.intersect(*after);
    after = memory;
  }
  return success();
}

LogicalResult Player::play(const Step &step) {
  for (BufferUse source : step.reads)
    if (failed(expect(step, source.node)))
      return failure();
  if (failed(playCopies(step)) || failed(checkInPlace(step)))
    return failure();
  // The copies may have overwritten only what the step updates in place.
  for (BufferUse source : step.reads) {
    bool updated = llvm::any_of(step.copies, [&](const Copy &copy) {
      return copy.source.node == source.node && plan.sameMemory(source.node, copy.target.node);
    });
    if (!updated && failed(expect(step, source.node)))
      return failure();
  }
  for (BufferUse target : llvm::concat<const BufferUse>(step.writes, step.unset))
    memory.write(placeOf(target.node), target.node);
  if (step.kind == Step::Kind::While)
    return playWhile(step);
  return step.kind == Step::Kind::Case ? playCase(step) : success();
}

LogicalResult Player::play(const Sequence &steps) {
  for (const Step &step : steps)
    if (failed(play(step)))
      return failure();
  return success();
}

LogicalResult Player::run() {
  for (auto [id, node] : llvm::enumerate(plan.nodes))
    if (node.home == Home::Argument || node.home == Home::Constant)
      memory.write(placeOf(id), id);
  return play(plan.steps);
}

} // namespace

LogicalResult spokeshave::schedule::checkPlan(const Plan &plan) {
  return Player(plan).run();
}
