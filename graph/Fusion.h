//===- Fusion.h - clusters: fusions while they form ------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cluster is a fusion to be. Each of its members is evaluated at one or more
// maps: a map says which element of the member is needed for an element of the
// cluster's space. Counting maps is how fusion keeps recomputation bounded: a
// member at two maps is computed twice, its operands are read at two maps.
//
// Maps are on linear (row-major) numbers of elements, so that a reshape does not
// change the map, and members of several shapes but one size share a space.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "graph/Classify.h"
#include "graph/GraphDialect.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"

#include <deque>

namespace spokeshave::graph {

using MapId = int32_t;
constexpr MapId kIdentity = 0; ///< the element with the space's own number
constexpr MapId kRow = 1;      ///< its row: number divided by the row's size
constexpr MapId kElement = 2;  ///< an element that the cluster's reductions read
constexpr MapId kScalar = 3;   ///< the only element of a scalar
constexpr MapId kExternal = 4; ///< whole, in the hero's own order: must be an input
constexpr MapId kFirstFresh = 5;

/// A transcendental function is tens of instructions. Some twenty in a kernel hide
/// what it costs to store a value between two, and more compile slower together.
constexpr int64_t kMostTranscendental = 320;

struct Cluster {
  FusionKind kind = FusionKind::Loop;
  mlir::Operation *hero = nullptr;
  /// The operation before which it will stand. What it reads is made before,
  /// what reads it stands after: clusters that keep to this have no cycles.
  int64_t position = 0;
  int64_t elements = 0;         ///< of the space
  int64_t reducedElements = -1; ///< of the operand of its reductions; -1: none is its root
  int64_t rowSize = 0;          ///< elements per row, where rows are known
  int64_t transcendental = 0;   ///< cost of its transcendental functions, per element
  MapId updateMap = -1;         ///< of an update: the map of the updating value
  /// Members in the order of their visit (consumers first) with their maps.
  llvm::MapVector<mlir::Operation *, llvm::SmallVector<MapId, 1>> members;
  llvm::SmallVector<mlir::Value> outputs;
  /// Members whose rows are read back for elements.
  llvm::SmallPtrSet<mlir::Operation *, 4> readBack;
  int parent = -1; ///< the cluster it was merged into

  bool isRows() const { return kind == FusionKind::Rows; }
  /// Rooted at the result of a reduction: the space is the rows.
  bool isReduction() const { return reducedElements >= 0; }
  MapId elementMap() const { return isReduction() ? kElement : kIdentity; }
  MapId rowMap() const { return isReduction() ? kIdentity : kRow; }
};

/// A read of a value by a cluster, or by an operation that stays at top level.
struct Use {
  int cluster = -1; ///< -1: at top level
  MapId map = kExternal;
  int64_t position = 0; ///< of a top-level reader
  bool viaRow = false;  ///< read back along rows for work on elements
};

/// All reads of a value by one cluster.
struct ClusterUse {
  int cluster;
  llvm::SmallVector<MapId, 2> maps;
  bool viaRow = false;
};

/// How much may be copied so that it is computed in several fusions.
struct DuplicationBudget {
  int64_t before = 0; ///< instructions of the program
  int64_t copies = 0; ///< instructions added by copying
  bool allows(int64_t more) const { return copies + more <= before; }
};

/// Whether two reductions read the same elements for the same results.
bool isSameReduction(mlir::Operation *a, mlir::Operation *b);

/// The value whose elements `value` shows: reshapes are looked through.
mlir::Value resolveViews(mlir::Value value);

/// Forms the clusters of one block and replaces its operations by fusions.
class BlockFuser {
public:
  BlockFuser(mlir::Block &block, DuplicationBudget &budget) : block(block), budget(budget) {}
  void run();

private:
  // FusionPrepare.cpp: what must be known before the walk.
  void numberOperations();
  void recordTopLevelReads();
  void findEpilogues();
  void findRows();

  // FusionMaps.cpp: which elements members read.
  MapId freshMap(int64_t evaluations, bool cheapOnly = false);
  int64_t evaluations(const Cluster &cluster, MapId map, mlir::Operation *member) const;
  void pushReads(int cluster, mlir::Operation *op, MapId map);
  void pushHeroReads(int cluster, mlir::Operation *op);
  void pushUse(mlir::Value value, const Use &use);
  Use broadcastRead(int cluster, mlir::Operation *op, MapId map);

  // FusionPlace.cpp: where each operation goes.
  void place(mlir::Operation *op);
  void placeProducer(mlir::Operation *op);
  void placeHero(mlir::Operation *op);
  bool placeInRows(mlir::Operation *op, llvm::ArrayRef<ClusterUse> uses, int64_t firstTopLevel);
  bool placeBesideReduction(mlir::Operation *op, llvm::ArrayRef<ClusterUse> uses,
                            int64_t firstTopLevel);
  bool placeAsOutput(mlir::Operation *op, llvm::ArrayRef<ClusterUse> uses, int64_t firstTopLevel);
  bool placeCopies(mlir::Operation *op, llvm::ArrayRef<ClusterUse> uses);
  void startCluster(mlir::Operation *op, bool asHero);
  bool canAbsorb(const Cluster &cluster, mlir::Operation *op, const ClusterUse &use) const;
  bool isSafeInUpdate(const Cluster &cluster, mlir::Operation *op, const ClusterUse &use) const;
  bool usersStandAfter(int cluster, llvm::ArrayRef<ClusterUse> uses, int64_t firstTopLevel);
  void addMember(int cluster, mlir::Operation *op, const ClusterUse &use);
  void addOutputs(int cluster, mlir::Operation *op);
  llvm::SmallVector<ClusterUse> collectUses(mlir::Operation *op, int64_t &firstTopLevel);

  // FusionMerge.cpp: clusters side by side.
  int find(int cluster);
  bool tryMerge(int a, int b);
  bool areMergeable(const Cluster &a, const Cluster &b) const;
  int64_t firstReaderOf(int cluster, int except);
  int64_t lastInputOf(int cluster);
  int64_t madeAt(mlir::Value value);
  bool mergeSiblings(llvm::ArrayRef<ClusterUse> uses);
  void mergeReadersOfInputs();

  // FusionEmit.cpp: from clusters to operations.
  void emit();
  bool isReadOutside(int cluster, mlir::Value value);

  mlir::Block &block;
  DuplicationBudget &budget;
  std::deque<Cluster> clusters;
  struct MapInfo {
    int64_t evaluations;
    bool cheapOnly;
  };
  llvm::SmallVector<MapInfo> maps;
  llvm::DenseMap<mlir::Operation *, int64_t> positions;
  llvm::MapVector<mlir::Value, llvm::SmallVector<Use, 2>> uses;
  llvm::DenseMap<mlir::Value, int> outputOf; ///< the cluster that makes a value
  /// Elementwise work that flows into nothing but the end of a hero's fusion.
  llvm::SmallPtrSet<mlir::Operation *, 32> epilogues;
  /// Values with one element per row of a reduction: the row's size.
  llvm::DenseMap<mlir::Value, int64_t> rowSizes;
};

} // namespace spokeshave::graph
