//===- NearPieces.h - who touches which memory of a program, when ----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to schedule/. What NearMemory.cpp chooses from: the steps of a program,
// numbered in order, the pieces of memory that they touch, and the values that
// follow each other in a piece.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "schedule/NearMemory.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <map>
#include <memory>
#include <vector>

namespace spokeshave::schedule {

/// Behind each buffer: a register of which a mask leaves off the last lanes may reach
/// beyond its end.
constexpr int64_t kNearMargin = 4096;

/// A step that touches a piece.
struct NearAccess {
  int64_t position = 0;
  mlir::Operation *op = nullptr;
  bool reads = false, writes = false;
  double times = 1; ///< trips of the loops around it
};

/// From the first position to the last, both included.
struct StepSpan {
  int64_t first = 0, last = 0;
  bool meets(const StepSpan &other) const { return first <= other.last && other.first <= last; }
};

/// Memory with one place: views of it are offsets within.
struct NearPiece {
  enum class Home : uint8_t { Arena, Argument, Result, Constant } home = Home::Arena;
  int64_t offset = 0, bytes = 0;         ///< offset: in the arena
  llvm::SmallVector<mlir::Value> values; ///< that name it, or parts of it
  llvm::SmallVector<NearAccess> accesses;
  bool isFixed = false; ///< must stay in far memory
};

/// A value of a piece: what may be moved to near memory.
struct NearCandidate {
  NearPiece *piece = nullptr;
  llvm::SmallVector<NearAccess> accesses;
  StepSpan span;
  bool isLast = false;                               ///< of its piece
  bool isTaken = false, isCarried = false;           ///< carried: into the next run
  mlir::Operation *anchor = nullptr, *end = nullptr; ///< the step that begins, the one that ends it
  mlir::Operation *start = nullptr;                  ///< the transfer into it starts before this
  double saved = 0;                                  ///< bytes of traffic
  llvm::SmallVector<ByteRange> parts;                ///< that each of several cores holds
  int64_t place = -1;
  /// Of a slice: the launches' operands that it is, and no others of its piece.
  llvm::SmallVector<mlir::OpOperand *> operands;

  /// What all cores together fetch.
  int64_t fetched() const {
    int64_t sum = parts.empty() ? piece->bytes : 0;
    for (ByteRange part : parts)
      sum += part.size();
    return sum;
  }
  bool needsFill() const {
    return piece->home == NearPiece::Home::Argument || piece->home == NearPiece::Home::Constant;
  }
  bool needsWriteBack() const { return piece->home == NearPiece::Home::Result && isLast; }
  int64_t size() const { return llvm::alignTo(piece->bytes, kNearAlignment) + kNearMargin; }
};

class NearPieces {
public:
  NearPieces(ProgramOp program, const NearMemoryOptions &options, const KernelFacts &facts);

  /// What may be moved, and saves something.
  std::vector<NearCandidate> candidates();
  /// The memory that `value` is a view of.
  NearPiece *pieceOf(mlir::Value value);
  /// Positions of a step, of loops with their bodies.
  StepSpan spanOf(mlir::Operation *step) const { return steps.lookup(step); }
  /// Behind the last step.
  int64_t end() const { return positions; }
  llvm::ArrayRef<LaunchOp> launches() const { return launchSteps; }

private:
  void number(mlir::Block &block, double times);
  void numberStep(mlir::Operation &op, double times);
  void access(mlir::Value value, mlir::Operation &op, bool reads, bool writes, double times);
  void fix(mlir::Value value) { pieceOf(value)->isFixed = true; }
  void fixSlices(mlir::Operation &op, double times);
  void fixOverlapping();
  void split(NearPiece &piece, std::vector<NearCandidate> &candidates);
  StepSpan spanWithin(llvm::ArrayRef<NearAccess> accesses, mlir::Operation *scope,
                      NearCandidate &candidate);
  bool findSpan(NearCandidate &candidate);
  double costOf(const NearAccess &access, const NearPiece &piece) const {
    return access.times * double(piece.bytes + options.latencyBytes);
  }

  ProgramOp program;
  const NearMemoryOptions &options;
  const KernelFacts &facts;
  int64_t positions = 0;
  llvm::DenseMap<mlir::Operation *, StepSpan> steps;
  std::vector<LaunchOp> launchSteps;
  std::vector<std::unique_ptr<NearPiece>> pieces;
  llvm::DenseMap<mlir::Value, NearPiece *> pieceOfRoot;
  std::map<std::pair<int64_t, int64_t>, NearPiece *> arenaPieces; ///< by offset and bytes
};

/// The buffer that `value` is a view or slice of.
mlir::Value rootOfView(mlir::Value value);

} // namespace spokeshave::schedule
