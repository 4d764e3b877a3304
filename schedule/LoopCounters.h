//===- LoopCounters.h - integers in memory that count a loop's trips -------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to schedule/. A scan's index lives in memory, and a kernel adds 1 to it in
// each trip. Who counts the trips anyway, as a sequencer does, knows it without
// reading it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "schedule/ScheduleDialect.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <vector>

namespace spokeshave::schedule {

/// Bytes of the arena, or of another buffer.
struct Place {
  mlir::Value root; ///< null: the arena
  int64_t begin = 0, end = 0;
  bool operator==(const Place &) const = default;
  bool meets(const Place &other) const {
    return root == other.root && begin < other.end && other.begin < end;
  }
};
/// Where `value`, a buffer of a program, lies; all of the source of a slice.
Place placeOf(mlir::Value value);

/// factor * input + constant, of a scalar of a fusion.
struct Affine {
  int64_t input = -1; ///< of the fusion; -1: none
  int64_t factor = 0, constant = 0;
  int64_t wraps = 0; ///< to be added if the sum is negative
};
/// An integer scalar of a fusion's body, in terms of one of its inputs.
std::optional<Affine> affineOf(mlir::Value value);

/// begin + trip * step.
struct TripNumber {
  int64_t begin = 0, step = 0;
  int64_t at(int64_t trip) const { return begin + trip * step; }
};

class LoopCounters {
public:
  explicit LoopCounters(mlir::ModuleOp module) : module(module) {}

  /// `affine` of the integer in memory when `step` reads it, in the innermost loop's
  /// trips; a step of 0 if it is a constant. Nothing if that cannot be told.
  std::optional<TripNumber> valueAt(mlir::Value scalar, const Affine &affine,
                                    mlir::Operation *step);
  /// Takes away what computes counters that nobody reads any more.
  void eraseUnread(ProgramOp program);

private:
  /// In terms of what was at a place when the trip began.
  struct Known {
    Place place;
    std::optional<Place> from;
    int64_t factor = 1, constant = 0;
  };
  using State = std::vector<Known>;

  void visit(mlir::Operation &op, State &state);
  void visitLaunch(LaunchOp launch, State &state);
  static std::optional<Known> lookup(const State &state, const Place &place);
  static void write(State &state, const Place &place, std::optional<Known> value);
  std::optional<int64_t> constantBefore(mlir::Operation *step, const Place &place);
  graph::FusionOp fusionOf(LaunchOp launch);
  bool isCounting(LaunchOp launch);
  bool isReadAfter(mlir::Operation *op, const Place &place);
  bool reads(mlir::Operation &op, const Place &place);

  mlir::ModuleOp module;
};

} // namespace spokeshave::schedule
