//===- UnitAttention.h - attention on matrix units, as a stream ------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to kernel/. AttentionPlan.cpp chooses blocks, AttentionUnits.cpp has a task's
// operands and rounds, AttentionStages.cpp what is done with a block of rows and a block
// of keys.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/Attention.h"
#include "kernel/AttentionBoxes.h"
#include "kernel/UnitStream.h"
#include "kernel/WithinRows.h"

namespace spokeshave::kernel {

class UnitAttention {
public:
  UnitAttention(FusionLowering &lowering, AttentionView &view, ElementEmitter &emitter);
  mlir::LogicalResult run();

private:
  /// Rows in near memory.
  struct Rows {
    mlir::Value buffer;
    int64_t stride = 0;
    int64_t ofHead = 0; ///< elements from one head of the task to the next
  };
  /// Which head, block of rows and block of keys of a task.
  struct Place {
    mlir::Value head, rows, keys;
  };
  /// One block of rows with one block of keys.
  struct Item {
    Index head, row, key;   ///< row and key: the block's first, within the task
    Index batch, tensorRow; ///< in the tensors
    Index parity;           ///< 0 or 1: of which scores and statistics are its own
    std::optional<Index> maskRow;
    mlir::Value reach;   ///< by lanes: row + offset - key, of the mask's rows
    mlir::Value hasSums; ///< lanes: there are sums of earlier blocks
  };

  // The task.
  void plan();
  bool fits() const;
  void chooseHeads();
  void splitTask();
  mlir::Value scratch(int64_t elements);
  Rows window(const AttentionBox &box, int64_t rows, int64_t limit, int64_t columns, bool moves);
  using EmitElement =
      llvm::function_ref<mlir::FailureOr<Element>(const Index &row, const Index &column)>;
  mlir::LogicalResult pack(Rows to, int64_t rows, int64_t padded, int64_t columns,
                           EmitElement element);
  mlir::LogicalResult bringOperands();

  // Rounds.
  mlir::Value countItems();
  mlir::Value visibleBlocks(mlir::Value head, mlir::Value rows);
  Place placeOf(mlir::Value number);
  Place following(const Place &place);
  Item itemAt(const Place &place, mlir::Value number);
  mlir::Value reachOf(const Item &item);
  void emitSingle();
  void emitRounds(mlir::Value count);
  void emitRound(const Item &before, const Item &now, const Item &next, const Item &afterNext);
  void emitLastRounds(const Item &before, const Item &now, const Item &last);

  /// Units along depth and columns of the products, and of how many steps these are.
  struct Split {
    int64_t depthUnits = 1, columnUnits = 1, passes = 1, columnSteps = 1;
  };
  // Stages of an item.
  std::vector<UnitStep> scoreSteps(const Item &item);
  std::vector<UnitStep> mixSteps(const Item &item);
  /// Of work that is spread over `slots` slots: its first group is ready behind slot
  /// `first`, each other one a slot later.
  struct Span {
    int64_t first = 0, slots = 0;
  };
  void appendReduction(std::vector<SideWork> &side, Span span, std::function<Num(int64_t)> begin,
                       std::function<Num(Num, Num)> combine, std::function<void(int64_t, Num)> end);
  void appendMaxima(const Item &item, Span span, std::vector<SideWork> &side);
  void appendResults(const Item &item, Span span, std::vector<SideWork> &side);
  mlir::LogicalResult emitResultsAtEnd();

  /// Of a product: its k, and its columns.
  struct Extent {
    int64_t depth, columns;
  };
  /// Latches the 8 weights from `row` on of those that `unit` has, whose depth begins
  /// at `k` and whose columns at `n`.
  using Latch = std::function<void(int64_t row, int64_t unit, int64_t k, int64_t n)>;
  std::vector<UnitStep>
  stepsOf(const Split &split,
          llvm::function_ref<UnitStep(int64_t column, int64_t pass)> make) const;
  /// Latches, swaps and pushes of rows of `element` in all units of the split that have
  /// work; the rows are prepared and the products popped by who calls.
  UnitStep makeStep(const Split &split, int64_t column, int64_t pass, Extent extent,
                    mlir::Type element, Latch latch);
  UnitStep scoreStep(const Item &item, int64_t column, int64_t pass);
  void popScores(const Item &item, int64_t column, int64_t pass, int64_t slot);
  UnitStep mixStep(const Item &item, int64_t column, int64_t pass);
  UnitStep::Registers weights(const Item &item, int64_t column, int64_t pass, int64_t slot);
  void popMixed(const Item &item, int64_t column, int64_t pass, int64_t slot);
  void addUp(Num value, const Item &item, Rows to, int64_t column, int64_t pass, int64_t slot);
  Num score(Num product, const Item &item, int64_t slot, int64_t column);
  void bindMask(const Item &item, int64_t slot, int64_t column);
  void emitGroupMaxima(const Item &item, int64_t group, Num top);
  mlir::LogicalResult emitGroupResult(const Item &item, int64_t group, Num total);

  // Small things.
  mlir::Location loc() const { return lowering.loc(); }
  mlir::Value index(int64_t i) { return lowering.constant(i); }
  Num number(mlir::Value value) { return {emitter.context(), value}; }
  Num splat(double value);
  /// Lanes within the first `columns` and `rows`; null if that is all.
  mlir::Value mask(int64_t columns, int64_t rows = kTileRows);
  Num load(mlir::Value buffer, const Index &at, mlir::Value mask = {});
  void store(Num value, mlir::Value buffer, const Index &at);
  mlir::Value loadRows(Rows rows, const Index &at, mlir::Value mask = {});
  void storeRows(Num value, Rows rows, const Index &at, mlir::Value mask = {});
  mlir::Value pushedOnes();
  /// Lanes of columns below a number that is known when it runs.
  mlir::Value makeMaskBelow(mlir::Value count);
  /// Sums take the place of a register for each group.
  int64_t sumsOfHead() const { return blocks.rowBlocks * groups * kTileLanes; }
  /// Rows of a group that exist: the last one may have fewer than 8.
  int64_t rowsOf(int64_t group) const {
    return std::min(kTileRows, blocks.rows - group * kTileRows);
  }
  Index ofParity(const Item &item, int64_t elements) const {
    return space.scale(item.parity, elements);
  }
  Index ofGroup(const Item &item, int64_t group) const;
  Index ofRows(const Item &item, int64_t group, const Rows &rows) const;
  /// Nothing of a stage can be undone: what failed is said at the end.
  void check(mlir::LogicalResult result) { good &= mlir::succeeded(result); }

  FusionLowering &lowering;
  AttentionView &view;
  ElementEmitter &emitter;
  IndexSpace &space;
  mlir::OpBuilder &builder;
  mlir::Type f32;
  mlir::VectorType registerType;

  AttentionBlocks blocks; ///< of a task; a block has as many keys, but for the last one
  AttentionBoxes boxes;
  AttentionTask task;
  int64_t heads = 1;    ///< of a task
  int64_t rowTasks = 1; ///< of a run
  int64_t groups = 1;   ///< of 8 rows, of a block
  int64_t paddedKeys = 0;
  bool masksByRow = false;    ///< a causal mask hides keys, and blocks of them
  bool sumsInProduct = false; ///< columns of ones beside the values give the sums
  bool resultsAtEnd = false;
  bool good = true;

  Split splitUnits(int64_t depth, int64_t columns) const;
  Split scoreSplit, mixSplit;
  int64_t size = 128, halves = 1; ///< of a unit, and its registers
  UnitStream stream;

  Rows queries, keys, values, scores, out;
  mlir::Value laneMaxima, maxima, tops, factors, sums; ///< a register for each group
  std::optional<Rows> result;
  int64_t scratchBytes = 0;
};

} // namespace spokeshave::kernel
