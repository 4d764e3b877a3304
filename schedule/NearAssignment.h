//===- NearAssignment.h - places in near memory for values -----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to schedule/: what NearMemory.cpp and Near{Runs,Slices,Trips}.cpp share.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "schedule/NearPieces.h"

namespace spokeshave::schedule {

constexpr int64_t kFurthestAhead = 2; ///< launches that a prefetch may be ahead

/// The launch or loop before `op` in the order of the program.
mlir::Operation *stepBefore(mlir::Operation *op);

class NearAssignment {
public:
  NearAssignment(ProgramOp program, const NearMemoryOptions &options, const KernelFacts &facts)
      : program(program), options(options), facts(facts), pieces(program, options, facts),
        candidates(pieces.candidates()) {}
  void run();

private:
  bool place(NearCandidate &candidate);
  bool agreesWithCopies(const NearCandidate &candidate);
  bool startEarlier(NearCandidate &candidate);
  bool tryPlace(NearCandidate &candidate);
  bool leavesRoom(const NearCandidate &candidate, int64_t at);
  bool isFree(const NearCandidate &candidate);
  llvm::BitVector nearOf(LaunchOp launch, const NearCandidate *more);
  /// What the launch's cores together move of a buffer that is not near.
  int64_t bytesMoved(LaunchOp launch, unsigned buffer);
  int64_t idleBytes(LaunchOp launch);
  void rewrite();
  void replaceUses(NearCandidate &candidate);
  void transfers(NearCandidate &candidate);
  void rewriteCopies();
  // Across runs of the program: NearRuns.cpp.
  mlir::Operation *firstStep();
  int64_t idleBytesOf(mlir::Operation *step);
  void carryOver();
  bool carry(NearCandidate &candidate);
  // In parts: NearSlices.cpp.
  /// A part of a value with a transfer of its own, and the part's place from that on.
  struct ArrivingSlice {
    int64_t offset = 0, bytes = 0;
    std::unique_ptr<NearPiece> piece;
    std::unique_ptr<NearCandidate> reserved;
  };
  bool startInSlices(NearCandidate &candidate);
  void transferSlices(NearCandidate &candidate);
  // From trip to trip of a loop: NearTrips.cpp.
  /// A slice that a loop's launches read, by the number of the trip.
  struct TripSlice {
    WhileOp loop;
    SliceOp slice;
    int64_t bytes;
    LaunchOp first, last;
    llvm::SmallVector<mlir::OpOperand *> uses;
    std::unique_ptr<NearPiece> piece;
    std::unique_ptr<NearCandidate> candidate;
  };
  void findTripSlices(WhileOp loop, std::vector<TripSlice> &found);
  void placeTripSlices();
  void rewriteTripSlice(TripSlice &slice);

  ProgramOp program;
  const NearMemoryOptions &options;
  const KernelFacts &facts;
  NearPieces pieces;
  std::vector<NearCandidate> candidates;
  std::vector<NearCandidate *> taken;
  /// For the next run: from a step near the program's end on.
  std::vector<std::unique_ptr<NearCandidate>> tails;
  int64_t idleUsed = 0; ///< by them
  std::vector<TripSlice> tripSlices;
  std::map<const NearCandidate *, std::vector<ArrivingSlice>> arriving;
  llvm::DenseMap<mlir::Operation *, mlir::DenseI64ArrayAttr> copiedParts;
  int64_t signals = 0;
};

} // namespace spokeshave::schedule
