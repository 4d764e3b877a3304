//===- FusionPlace.cpp - where each operation goes -------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One walk over the block from its end: when an operation is visited, all its
// readers have their cluster. It joins one as a producer, or as the hero under
// whose result the cluster's elementwise work stands; or it is copied into
// several if that is cheap; or it becomes a further output of one; or it starts
// a cluster. Each operation is looked at once: the time is linear.
//
//===----------------------------------------------------------------------===//
#include "graph/Fusion.h"

#include "input/StablehloOps.h"

using namespace mlir;
namespace sh = spokeshave::stablehlo;

namespace spokeshave::graph {

/// Costs (see elementCost) up to these may be computed more than once...
static constexpr int64_t kCheapToCopy = 2;   ///< per reading fusion
static constexpr int64_t kCheapToRepeat = 3; ///< per element, at several maps or by expansion
static constexpr int64_t kCheapForHero = 1;  ///< each time a hero's tiles are read
static constexpr int64_t kCheapScalar = 14;  ///< scalars, once per task: all but transcendentals
/// ... and so may anything whose whole cost is below this.
static constexpr int64_t kSmallWork = 2048;
/// A member is computed at no more maps than this.
static constexpr size_t kMostMaps = 4;
/// Fusions end here: their code and register pressure grow no further.
static constexpr size_t kMostMembers = 320, kMostOutputs = 12;
/// Updates of at least this part of a tensor are written with the rest of it.
static constexpr int64_t kUpdatePart = 8;

SmallVector<ClusterUse> BlockFuser::collectUses(Operation *op, int64_t &firstTopLevel) {
  SmallVector<ClusterUse> result;
  llvm::SmallDenseMap<int, size_t> indexOf;
  firstTopLevel = std::numeric_limits<int64_t>::max();
  for (Value value : op->getResults()) {
    auto found = uses.find(value);
    if (found == uses.end())
      continue;
    for (const Use &use : found->second) {
      if (use.cluster < 0) {
        firstTopLevel = std::min(firstTopLevel, use.position);
        continue;
      }
      int cluster = find(use.cluster);
      auto [entry, isNew] = indexOf.try_emplace(cluster, result.size());
      if (isNew)
        result.push_back({cluster, {}, false});
      ClusterUse &target = result[entry->second];
      if (!llvm::is_contained(target.maps, use.map))
        target.maps.push_back(use.map);
      target.viaRow |= use.viaRow;
    }
  }
  return result;
}

void BlockFuser::addMember(int id, Operation *op, const ClusterUse &use) {
  if (use.viaRow)
    clusters[id].readBack.insert(op);
  for (MapId map : use.maps) {
    SmallVector<MapId, 1> &present = clusters[id].members[op];
    if (llvm::is_contained(present, map))
      continue;
    present.push_back(map);
    if (isTranscendental(op))
      clusters[id].transcendental += elementCost(op);
    if (op == clusters[id].hero || isa<sh::ReduceOp>(op))
      pushHeroReads(id, op);
    else
      pushReads(id, op, map);
  }
}

void BlockFuser::addOutputs(int id, Operation *op) {
  for (Value result : op->getResults())
    // A scatter writes all of its results in any case.
    if (uses.contains(result) || isa<sh::ScatterOp>(op)) {
      clusters[id].outputs.push_back(result);
      outputOf[result] = id;
    }
}

/// Whether `op` is fit to be read by a hero again and again, tile by tile: an
/// address, a conversion, or one instruction on one tensor.
static bool isCheapForHero(Operation *op) {
  if (isa<sh::GatherOp, sh::ConcatenateOp, sh::PadOp, sh::DynamicUpdateSliceOp>(op))
    return false;
  if (classify(op) == OpClass::Index)
    return true;
  auto tensors = llvm::count_if(op->getOperands(), [](Value operand) {
    return numElements(operand.getType()) != 1 &&
           !isSplatConstant(resolveViews(operand).getDefiningOp());
  });
  return tensors <= 1 && elementCost(op) <= kCheapForHero;
}

// An update works in place: what computes the updating value must not read the
// tensor where another element's write may have been before. A single element is
// written after all reads; a slice at the update's own place is read there only.
bool BlockFuser::isSafeInUpdate(const Cluster &cluster, Operation *op,
                                const ClusterUse &use) const {
  SmallVector<Value> targets;
  if (auto update = dyn_cast<sh::DynamicUpdateSliceOp>(cluster.hero))
    targets.push_back(resolveViews(update.getOperand()));
  else if (auto scatter = dyn_cast<sh::ScatterOp>(cluster.hero))
    for (Value input : scatter.getInputs())
      targets.push_back(resolveViews(input));
  bool readsTarget = llvm::any_of(op->getOperands(), [&](Value operand) {
    return llvm::is_contained(targets, resolveViews(operand));
  });
  if (!readsTarget)
    return true;
  auto update = dyn_cast<sh::DynamicUpdateSliceOp>(cluster.hero);
  if (!update)
    return false;
  if (numElements(update.getUpdate().getType()) == 1)
    return true;
  auto slice = dyn_cast<sh::DynamicSliceOp>(op);
  return slice && slice.getOperand() == update.getOperand() &&
         slice.getStartIndices() == update.getStartIndices() &&
         slice.getType() == update.getUpdate().getType() && use.maps.size() == 1 &&
         use.maps.front() == cluster.updateMap;
}

bool BlockFuser::canAbsorb(const Cluster &cluster, Operation *op, const ClusterUse &use) const {
  if (cluster.members.size() >= kMostMembers || use.maps.size() > kMostMaps ||
      llvm::is_contained(use.maps, kExternal) || cluster.members.contains(op))
    return false;
  // Work that belongs on a hero's result tiles waits for the hero.
  if (epilogues.contains(op) && (cluster.hero || use.maps.front() != kIdentity))
    return false;
  if ((cluster.kind == FusionKind::Update || cluster.kind == FusionKind::Scatter) &&
      !isSafeInUpdate(cluster, op, use))
    return false;
  int64_t cost = isa<sh::DynamicUpdateSliceOp>(op) ? 1 : elementCost(op);
  if (isTranscendental(op) && cluster.transcendental + cost > kMostTranscendental)
    return false;
  int64_t own = numElements(op->getResult(0).getType()), computed = 0;
  for (MapId map : use.maps) {
    if (map >= kFirstFresh && maps[map - kFirstFresh].cheapOnly && !isCheapForHero(op))
      return false;
    computed += evaluations(cluster, map, op);
  }
  if (use.maps.size() == 1 && use.maps.front() == kScalar)
    return cost <= kCheapScalar;
  if (use.maps.size() > 1 && cost > kCheapToRepeat)
    return false;
  return computed <= own || cost <= kCheapToRepeat || computed * cost <= kSmallWork;
}

bool BlockFuser::usersStandAfter(int id, ArrayRef<ClusterUse> users, int64_t firstTopLevel) {
  int64_t position = clusters[id].position;
  if (firstTopLevel <= position)
    return false;
  return llvm::all_of(users, [&](const ClusterUse &use) {
    return use.cluster == id || clusters[use.cluster].position > position;
  });
}

// Copies into each reading fusion, counted.
bool BlockFuser::placeCopies(Operation *op, ArrayRef<ClusterUse> users) {
  if (!budget.allows(users.size() - 1))
    return false;
  for (const ClusterUse &use : users)
    if (!canAbsorb(clusters[use.cluster], op, use))
      return false;
  budget.copies += users.size() - 1;
  for (const ClusterUse &use : users)
    addMember(use.cluster, op, use);
  return true;
}

// The earliest reader computes it and hands it to the others.
bool BlockFuser::placeAsOutput(Operation *op, ArrayRef<ClusterUse> users, int64_t firstTopLevel) {
  const ClusterUse *first = nullptr;
  for (const ClusterUse &use : users)
    if (!first || clusters[use.cluster].position < clusters[first->cluster].position)
      first = &use;
  Cluster &cluster = clusters[first->cluster];
  int64_t own = numElements(op->getResult(0).getType());
  bool atElement =
      first->maps.size() == 1 && first->maps.front() == kIdentity && own == cluster.elements;
  if (cluster.isRows() && cluster.isReduction())
    atElement |= first->maps.size() == 1 && first->maps.front() == kElement &&
                 own == cluster.reducedElements;
  bool atRow = cluster.isRows() && first->maps.size() == 1 &&
               first->maps.front() == cluster.rowMap() && rowSizes.contains(op->getResult(0));
  // The other heroes' kernels store only what comes from the hero.
  bool writesElements =
      cluster.kind == FusionKind::Loop || cluster.isRows() || cluster.kind == FusionKind::Reduce;
  if (!(atElement || atRow) || !writesElements || cluster.outputs.size() >= kMostOutputs ||
      !usersStandAfter(first->cluster, users, firstTopLevel) || !canAbsorb(cluster, op, *first))
    return false;
  addMember(first->cluster, op, *first);
  addOutputs(first->cluster, op);
  return true;
}

void BlockFuser::startCluster(Operation *op, bool asHero) {
  int id = clusters.size();
  Cluster &cluster = clusters.emplace_back();
  cluster.kind = asHero ? fusionKindOf(op) : FusionKind::Loop;
  cluster.hero = asHero ? op : nullptr;
  cluster.position = positions[op];
  cluster.elements = numElements(op->getResult(0).getType());
  if (auto reduce = dyn_cast<sh::ReduceOp>(op)) {
    cluster.reducedElements = numElements(reduce.getInputs().front().getType());
    cluster.rowSize = rowSizes.lookup(op->getResult(0));
  }
  addMember(id, op, {id, {kIdentity}});
  addOutputs(id, op);
}

void BlockFuser::placeProducer(Operation *op) {
  int64_t firstTopLevel;
  SmallVector<ClusterUse> users = collectUses(op, firstTopLevel);
  bool escapes = firstTopLevel != std::numeric_limits<int64_t>::max();
  if (users.empty() && !escapes)
    return; // dead
  int64_t cost = elementCost(op);
  if (!escapes && users.size() > 1 && cost <= kCheapToCopy && op->getNumOperands() <= 1 &&
      placeCopies(op, users))
    return;
  if (users.size() > 1 && mergeSiblings(users))
    users = collectUses(op, firstTopLevel);
  if (!escapes && users.size() == 1 && canAbsorb(clusters[users[0].cluster], op, users[0]))
    return addMember(users[0].cluster, op, users[0]);
  if (!users.empty() && placeAsOutput(op, users, firstTopLevel))
    return;
  if (!escapes && users.size() > 1 && cost <= kCheapToCopy && placeCopies(op, users))
    return;
  startCluster(op, /*asHero=*/false);
}

// Softmax and its kin: the reduction's result is read back for its own rows.
bool BlockFuser::placeInRows(Operation *op, ArrayRef<ClusterUse> users, int64_t firstTopLevel) {
  auto reduce = dyn_cast<sh::ReduceOp>(op);
  int64_t rowSize = reduce ? rowSizes.lookup(op->getResult(0)) : 0;
  if (rowSize == 0 || users.empty())
    return false;
  const ClusterUse *first = nullptr;
  for (const ClusterUse &use : users)
    if (!first || clusters[use.cluster].position < clusters[first->cluster].position)
      first = &use;
  Cluster &cluster = clusters[first->cluster];
  bool fits =
      cluster.kind == FusionKind::Loop || cluster.isRows() || cluster.kind == FusionKind::Reduce;
  int64_t elements = cluster.isReduction() ? cluster.reducedElements : cluster.elements;
  if (!fits || cluster.rowSize != rowSize || !first->viaRow ||
      elements != numElements(reduce.getInputs()[0].getType()) || first->maps.size() != 1 ||
      first->maps.front() != cluster.rowMap() || cluster.members.size() >= kMostMembers ||
      !usersStandAfter(first->cluster, users, firstTopLevel))
    return false;
  cluster.kind = FusionKind::Rows;
  if (!cluster.hero)
    cluster.hero = op;
  addMember(first->cluster, op, *first);
  if (users.size() > 1 || firstTopLevel != std::numeric_limits<int64_t>::max())
    addOutputs(first->cluster, op);
  return true;
}

bool isSameReduction(Operation *a, Operation *b) {
  auto left = dyn_cast_or_null<sh::ReduceOp>(a), right = dyn_cast_or_null<sh::ReduceOp>(b);
  return left && right && left.getDimensions() == right.getDimensions() &&
         cast<ShapedType>(left.getInputs()[0].getType()).getShape() ==
             cast<ShapedType>(right.getInputs()[0].getType()).getShape();
}

// Two reductions over the same elements whose results meet (a mean and a mean
// square) read them in one pass.
bool BlockFuser::placeBesideReduction(Operation *op, ArrayRef<ClusterUse> users,
                                      int64_t firstTopLevel) {
  if (users.size() != 1 || firstTopLevel != std::numeric_limits<int64_t>::max())
    return false;
  Cluster &cluster = clusters[users[0].cluster];
  if (!cluster.isReduction() || !isSameReduction(cluster.hero, op) || users[0].viaRow ||
      users[0].maps != SmallVector<MapId, 2>{kIdentity} || cluster.members.size() >= kMostMembers)
    return false;
  addMember(users[0].cluster, op, users[0]);
  return true;
}

/// Whether all outputs of a cluster will be computed from `hero`.
static bool comeFrom(Operation *hero, const Cluster &cluster) {
  llvm::SmallPtrSet<Operation *, 16> from;
  from.insert(hero);
  // Members are in the order of the walk: what they read comes after them.
  for (const auto &entry : llvm::reverse(cluster.members))
    if (llvm::any_of(entry.first->getOperands(), [&](Value operand) {
          return from.contains(resolveViews(operand).getDefiningOp());
        }))
      from.insert(entry.first);
  return llvm::all_of(cluster.outputs, [&](Value v) { return from.contains(v.getDefiningOp()); });
}

void BlockFuser::placeHero(Operation *op) {
  int64_t firstTopLevel;
  SmallVector<ClusterUse> users = collectUses(op, firstTopLevel);
  if (users.empty() && firstTopLevel == std::numeric_limits<int64_t>::max())
    return; // dead
  if (placeInRows(op, users, firstTopLevel) || placeBesideReduction(op, users, firstTopLevel))
    return;
  FusionKind kind = fusionKindOf(op);
  bool takesEpilogue = kind == FusionKind::Reduce || kind == FusionKind::Dot ||
                       kind == FusionKind::Convolution || kind == FusionKind::Window;
  const ClusterUse *first = nullptr;
  for (const ClusterUse &use : users)
    if (!first || clusters[use.cluster].position < clusters[first->cluster].position)
      first = &use;
  if (!takesEpilogue || !first)
    return startCluster(op, /*asHero=*/true);
  Cluster &cluster = clusters[first->cluster];
  if (cluster.kind != FusionKind::Loop || cluster.hero || first->maps.size() != 1 ||
      first->maps.front() != kIdentity ||
      cluster.elements != numElements(op->getResult(0).getType()) ||
      cluster.members.size() >= kMostMembers ||
      !usersStandAfter(first->cluster, users, firstTopLevel) ||
      (kind != FusionKind::Reduce && !comeFrom(op, cluster)))
    return startCluster(op, /*asHero=*/true);
  cluster.kind = kind;
  cluster.hero = op;
  // From here on `identity` is a row of the reduction's operand.
  if (auto reduce = dyn_cast<sh::ReduceOp>(op)) {
    cluster.reducedElements = numElements(reduce.getInputs().front().getType());
    cluster.rowSize = rowSizes.lookup(op->getResult(0));
  }
  addMember(first->cluster, op, *first);
  if (users.size() > 1 || firstTopLevel != std::numeric_limits<int64_t>::max())
    addOutputs(first->cluster, op);
}

/// Whether an update is written together with the tensor it updates, which is
/// made for it alone, rather than in place afterwards.
static bool isWrittenWithTensor(sh::DynamicUpdateSliceOp op) {
  if (numElements(op.getUpdate().getType()) * kUpdatePart < numElements(op.getType()))
    return false;
  Value target = resolveViews(op.getOperand());
  Operation *def = target.getDefiningOp();
  if (!def || def->getBlock() != op->getBlock())
    return false;
  OpClass opClass = classify(def);
  return isSplatConstant(def) || (target.hasOneUse() && op.getOperand().hasOneUse() &&
                                  (opClass == OpClass::Elementwise || opClass == OpClass::Index));
}

void BlockFuser::place(Operation *op) {
  switch (classify(op)) {
  case OpClass::TopLevel:
  case OpClass::Constant:
  case OpClass::View:
    return;
  case OpClass::Elementwise:
  case OpClass::Index:
    return placeProducer(op);
  case OpClass::Hero:
    if (auto update = dyn_cast<sh::DynamicUpdateSliceOp>(op); update && isWrittenWithTensor(update))
      return placeProducer(op);
    return placeHero(op);
  }
}

void BlockFuser::run() {
  numberOperations();
  recordTopLevelReads();
  findEpilogues();
  findRows();
  for (Operation &op : llvm::reverse(block))
    place(&op);
  mergeReadersOfInputs();
  emit();
}

} // namespace spokeshave::graph
