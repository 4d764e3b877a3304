//===- Elements.h - values of a fusion's body at a position ----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The piece that all kernel forms share. ElementEmitter answers one question:
// what is the value of tensor V of the fusion's body at position I, for all
// lanes of a register tile? It walks from V to the fusion's inputs, turning the
// position through broadcasts, reshapes, slices, gathers and so on, and writes
// loads at the ends. Nothing between is ever in memory.
//
// How a lowering uses it:
//
//   ElementEmitter emitter(builder, machine, fusion, kernel.getBuffers());
//   ... make the loops; tell the emitter of each loop variable:
//   Index i = emitter.space().variable(iv, min, max, multiple);
//   ElementEmitter::Tile tile(emitter, lanes, mask);   // lanes per position
//   Index lane = i; lane.lane = 1;                     // lane l stands at i + l
//   emitter.emit(value, {row, lane}), emitter.store(...)
//
// Levels. A loop nest has levels: 0 is the kernel's entry, each enterLevel() is
// one loop deeper. A value whose position depends on outer loops alone is
// written once before the inner loop and shared (a row's scale, the clamped
// start of a dynamic_slice).
//
// Within one level and tile, the value of (V, I) is written once.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "graph/GraphDialect.h"
#include "kernel/Elementwise.h"
#include "kernel/Index.h"
#include "kernel/KernelDialect.h"

#include <functional>
#include <map>
#include <unordered_map>
#include <vector>

namespace spokeshave::kernel {

class ElementEmitter {
public:
  /// `buffers` are the launch's memrefs, inputs then outputs.
  ElementEmitter(mlir::OpBuilder &builder, const machine::Machine &machine, graph::FusionOp fusion,
                 mlir::ValueRange buffers);

  /// The value of tensor `value` at `position`, in the present tile. The
  /// position must be in bounds wherever the tile's mask is on.
  mlir::FailureOr<Element> emit(mlir::Value value, const Position &position);
  /// The values of several tensors at one position.
  mlir::FailureOr<llvm::SmallVector<Element>> emitAll(mlir::ValueRange values,
                                                      const Position &position);

  /// Stores an element of a tensor of `type` to `buffer` at `position`, under
  /// the tile's mask. Lanes must stand at different elements.
  mlir::LogicalResult store(Element element, mlir::RankedTensorType type, mlir::Value buffer,
                            const Position &position);
  /// Loads an element of a tensor of `type` from `buffer`.
  Element load(mlir::RankedTensorType type, mlir::Value buffer, const Position &position);

  /// From now on `value` is what `give` answers: how a lowering puts the result
  /// of a reduction, or a row kept in scratch, under the operations that use it.
  /// Called in the present tile (of one lane where the position is the same for
  /// all lanes); answers are remembered like other values.
  using Binding = std::function<mlir::FailureOr<Element>(const Position &)>;
  void bind(mlir::Value value, Binding give);
  void unbind(mlir::Value value) { bindings.erase(value); }
  /// `value`, of a region inside the body, is computed from bound values.
  void depend(mlir::Value value) { dependents.insert(value); }

  /// While `count` > 0: the lowering writes `count` positions that follow each
  /// other along the loop variable `row` (now the one `current` beyond it), and
  /// what lies contiguous along it but apart along the lanes is loaded as square
  /// tiles that are transposed in registers. `count` equals the lanes.
  struct RowBlock {
    mlir::Value row;
    int64_t count = 0, current = 0;
  };
  RowBlock rowBlock;

  /// The same for tiles of rows, while `group` is not negative: the lowering writes 16
  /// groups of 8 rows that follow each other, now number `group`, at one tile of
  /// columns; what is contiguous along the rows is loaded as 128 x 128 elements.
  int64_t squareGroup = -1;

  IndexSpace &space() { return indices; }
  mlir::OpBuilder &getBuilder() { return builder; }
  ArithContext &context() { return arithmetic; }
  mlir::Location loc() const { return arithmetic.loc; }
  graph::FusionOp getFusion() const { return fusion; }
  /// The buffer of input or result number `i`.
  mlir::Value inputBuffer(unsigned i) const { return buffers[i]; }
  mlir::Value outputBuffer(unsigned i) const { return buffers[numInputs + i]; }
  int64_t lanes() const { return indices.lanes; }
  /// The tile's mask, or null.
  mlir::Value currentMask() const { return mask; }
  /// A scalar in all lanes of the present tile.
  Element spread(Element scalar) { return broadcast(scalar); }

  /// Sets lanes and mask while it lives. A mask is a vector of i1 (or an i1 for
  /// scalars), or null; at least one lane must be on whenever the tile runs. If
  /// only the first `active` lanes can be on, indices are reckoned for these.
  class Tile {
  public:
    Tile(ElementEmitter &emitter, int64_t lanes, mlir::Value mask = {}, int64_t active = 0);
    /// A tile of rows (WithinRows.h), of which the first so many rows and columns
    /// are on: an index has steps for both.
    struct Rows {
      int64_t rows, columns;
    };
    Tile(ElementEmitter &emitter, Rows active, mlir::Value mask);
    ~Tile();
    Tile(const Tile &) = delete;

  private:
    ElementEmitter &emitter;
    int64_t oldLanes, oldActive, oldColumns, oldRows;
    mlir::Value oldMask;
    bool oldConditional;
  };

  /// While it lives, a further condition on lanes (of the kind of a mask); lanes
  /// may all be off.
  class Condition {
  public:
    Condition(ElementEmitter &emitter, Num condition);
    ~Condition();

  private:
    ElementEmitter &emitter;
    mlir::Value oldMask;
    bool oldConditional;
  };

  /// One loop deeper, while it lives: construct right after setting the insertion
  /// point into the new loop's body. `beforeLoop` is the operation (the loop, or
  /// the first operation of several loops of this level) before which values of
  /// the outer level are written.
  class Level {
  public:
    Level(ElementEmitter &emitter, mlir::Operation *beforeLoop);
    ~Level();

  private:
    ElementEmitter &emitter;
  };

private:
  friend class Tile;
  friend class Level;

  struct Key {
    mlir::Value value, mask;
    int64_t lanes;
    Position position;
    bool operator==(const Key &) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key &key) const;
  };
  using Memo = std::unordered_map<Key, Element, KeyHash>;

  struct StartOrder {
    bool operator()(const std::pair<mlir::Value, int64_t> &a,
                    const std::pair<mlir::Value, int64_t> &b) const {
      return std::pair(a.first.getAsOpaquePointer(), a.second) <
             std::pair(b.first.getAsOpaquePointer(), b.second);
    }
  };

  /// Accesses of a tile of rows; null or failure where lanes have to be indexed.
  mlir::Value loadRows(mlir::Value buffer, const Index &at, mlir::VectorType type);
  mlir::Value loadSquare(mlir::Value buffer, const Index &at, mlir::VectorType type);
  mlir::LogicalResult storeRows(mlir::Value value, mlir::Value buffer, const Index &at);
  mlir::Value rowsMask();
  mlir::Value addressWhereRead(mlir::Value at, int64_t stride);
  mlir::Value loadTransposed(mlir::Value buffer, const Index &linear, mlir::VectorType type);
  mlir::FailureOr<Element> emitUniform(mlir::Value value, const Position &position);
  mlir::FailureOr<Element> emitHere(mlir::Value value, const Position &position);
  mlir::FailureOr<Element> emitOperation(mlir::Operation *op, mlir::Value value,
                                         const Position &position);
  mlir::FailureOr<Element> emitOperands(mlir::Operation *op, const Position &position);
  mlir::FailureOr<Element> emitContracted(mlir::Operation *op, const Position &position);
  // Data movement: ElementsMove.cpp.
  mlir::FailureOr<Element> emitMove(mlir::Operation *op, const Position &position);
  mlir::FailureOr<Element> emitConstant(mlir::Operation *op, const Position &position);
  mlir::FailureOr<Element> emitIota(mlir::Operation *op, const Position &position);
  mlir::FailureOr<Element> emitPad(mlir::Operation *op, const Position &position);
  mlir::FailureOr<Element> emitConcatenate(mlir::Operation *op, const Position &position);
  std::optional<Position> rotated(mlir::Operation *concatenate, const Position &position,
                                  mlir::Value &source);
  mlir::FailureOr<Element> emitDynamicUpdate(mlir::Operation *op, const Position &position);
  mlir::FailureOr<Element> emitGather(mlir::Operation *op, const Position &position);
  mlir::FailureOr<Element> emitWideBitcast(mlir::Operation *op, const Position &position);

public:
  /// start[d] clamped to [0, limit] as an index, for starts of rank 0: of
  /// dynamic_slice and dynamic_update_slice.
  mlir::FailureOr<Index> clampedStart(mlir::Value start, int64_t limit);
  /// The same for an integer that is already in a register.
  Index clampedIndex(Num start, mlir::Type element, int64_t limit);
  /// Whether `index` is less than `bound`, for all lanes; `index` >= 0 may be
  /// compared with negative bounds too. Null: provably true for all.
  Num less(const Index &index, int64_t bound);

private:
  Index indexOf(Num start, mlir::Type element, int64_t limit, unsigned level);
  mlir::Value broadcast(mlir::Value scalar);
  Element broadcast(Element element);
  Element selectElement(Num condition, Element yes, Element no);

  mlir::OpBuilder &builder;
  graph::FusionOp fusion;
  llvm::SmallVector<mlir::Value> buffers;
  unsigned numInputs;
  ArithContext arithmetic;
  IndexSpace indices;
  mlir::Value mask;
  bool conditional = false; ///< the mask may be off in all lanes
  llvm::DenseMap<mlir::Value, Binding> bindings;
  /// What is computed from bound values: it cannot be written at an outer level.
  llvm::DenseSet<mlir::Value> dependents;
  llvm::DenseMap<mlir::Operation *, mlir::Value> tables;
  /// The index made of a start and its limit.
  std::map<std::pair<mlir::Value, int64_t>, Index, StartOrder> starts;
  /// Transposed tiles of the present row block.
  struct TransposedTile {
    mlir::Value buffer;
    Index base;
    llvm::SmallVector<mlir::Value, 16> rows;
  };
  std::vector<TransposedTile> transposed;
  /// One memo per level, and where values of that level are written.
  std::vector<Memo> memos;
  std::vector<mlir::Operation *> insertBefore;
};

/// The number of lanes for a fusion: a full register of its prevailing element
/// type.
int64_t chooseLanes(graph::FusionOp fusion, const machine::Machine &machine);

/// Of a value that several registers side by side may hold.
inline int64_t mostLanes(const machine::Machine &machine) {
  return std::max<int64_t>(machine.maxLanes, 256);
}

/// A rough price of one element of the fusion's results in picoseconds, vectors
/// taken into account: decides the size of tasks.
int64_t picosecondsPerElement(graph::FusionOp fusion, int64_t lanes);

} // namespace spokeshave::kernel
