//===- Index.h - index expressions, affine in the lane ---------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the lanes of a register tile stand in a tensor. An Index is kept
// symbolic (loop variables with coefficients, a constant, a step per lane), so
// that a reshape, slice or reverse of the position often cancels to an address
// with step 1 between lanes, and equal positions are known to be equal.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"

#include <functional>
#include <vector>

namespace spokeshave::kernel {

/// constant + sum of coefficient * value + lane * (number of the lane). In a tile of
/// rows: + lane * (the lane's column) + sublane * (its row).
struct Index {
  struct Term {
    /// An `index`, or a vector of integers with one index per lane.
    mlir::Value value;
    int64_t coefficient;
    bool operator==(const Term &) const = default;
  };
  /// In the order in which the values became known to the IndexSpace.
  llvm::SmallVector<Term, 2> terms;
  int64_t constant = 0;
  int64_t lane = 0, sublane = 0;

  Index() = default;
  Index(int64_t constant) : constant(constant) {}
  bool operator==(const Index &) const = default;
  bool isConstant() const { return terms.empty() && lane == 0 && sublane == 0; }
  /// The same in all lanes.
  bool isUniform() const;
  bool hasVectors() const;
};

/// One Index per dimension of a tensor.
using Position = llvm::SmallVector<Index, 4>;

llvm::hash_code hash_value(const Index &index);
bool isUniform(const Position &position);

/// The values that indices are made of, what is known of them, and arithmetic.
class IndexSpace {
public:
  /// Of a value: the inclusive range, a number it is a multiple of, and the
  /// loop nest's level at which it is defined (0: the kernel's entry).
  struct Facts {
    int64_t min, max;
    int64_t multiple = 1;
    unsigned level = 0;
    unsigned serial = 0;
  };
  struct Range {
    int64_t min, max;
  };

  IndexSpace(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  /// Lanes of the tile that is being written; 1 means scalars.
  int64_t lanes = 1;
  /// Of these, the first so many count: where a mask leaves the rest off, they may
  /// have indices out of bounds.
  int64_t activeLanes = 1;
  /// Columns of a tile of rows: lane l stands in row l / columns; 0: lanes are one
  /// line. `activeLanes` are columns then, `activeRows` rows.
  int64_t columns = 0, activeRows = 1;
  /// The level of newly made values.
  unsigned level = 0;
  /// Width of vector indices: 64 where a tensor has 2^31 elements or more.
  unsigned vectorBits = 32;

  /// Before which operation values of an outer level are written; null: here.
  std::function<mlir::Operation *(unsigned level)> pointOf;
  /// Called on entering and leaving a loop.
  void enterLevel();
  void leaveLevel();

  /// Declares `value`, and gives the index that is this value.
  Index variable(mlir::Value value, int64_t min, int64_t max, int64_t multiple = 1);
  /// The same, for values made at another level than the present.
  Index variableAt(unsigned level, mlir::Value value, int64_t min, int64_t max,
                   int64_t multiple = 1);

  Index add(const Index &a, const Index &b) const;
  Index add(Index a, int64_t constant) const { return a.constant += constant, a; }
  Index scale(const Index &a, int64_t factor) const;
  Index subtract(const Index &a, const Index &b) const { return add(a, scale(b, -1)); }
  Range range(const Index &index) const;
  /// Quotient and remainder by `divisor`; `index` is not negative. No operation
  /// is created where the facts prove that none is needed; lanes stay affine
  /// where they provably share a quotient.
  std::pair<Index, Index> divide(const Index &index, int64_t divisor);
  /// Row-major element number of `position`, and back.
  Index linearize(const Position &position, llvm::ArrayRef<int64_t> shape) const;
  Position delinearize(const Index &index, llvm::ArrayRef<int64_t> shape);

  /// The deepest level among the values of `position`.
  unsigned levelOf(const Position &position) const;

  /// The `index` of lane 0; there must be no vectors.
  mlir::Value scalar(const Index &index);
  /// One integer of `vectorBits` per lane, or a scalar of that width if lanes
  /// are 1.
  mlir::Value perLane(const Index &index);
  /// As `perLane`, with another width of integer.
  mlir::Value perLane(const Index &index, unsigned bits);

private:
  int64_t multipleOf(const Index::Term &term) const;
  /// What lane number `i` adds to `index`.
  int64_t stepOf(const Index &index, int64_t i) const {
    return columns ? i % columns * index.lane + i / columns * index.sublane : i * index.lane;
  }
  Index makeQuotient(const Index &dividend, int64_t divisor);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  llvm::DenseMap<mlir::Value, Facts> facts;
  /// Quotients that were made, for each level: equal ones must be the same value.
  struct Quotient {
    Index dividend;
    int64_t divisor, lanes;
    Index quotient;
  };
  std::vector<std::vector<Quotient>> quotients{1};
};

} // namespace spokeshave::kernel
