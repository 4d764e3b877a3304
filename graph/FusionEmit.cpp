//===- FusionEmit.cpp - from clusters to fusions ---------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Members of a cluster's space may differ in shape but not in size. Here they
// all get the space's shape, so that a kernel sees one loop nest and reshapes
// are left at the fusion's border, where they are views of buffers.
//
//===----------------------------------------------------------------------===//
#include "graph/Fusion.h"
#include "graph/FusionBuilder.h"
#include "graph/Rebroadcast.h"

#include "input/StablehloOps.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
namespace sh = spokeshave::stablehlo;

namespace spokeshave::graph {

static RankedTensorType withShape(Type type, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, cast<ShapedType>(type).getElementType());
}

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<ShapedType>(value.getType()).getShape();
}

namespace {

/// The block's values after fusion, with views made on demand.
class Outside {
public:
  explicit Outside(Block &block) : block(block) {}

  void replace(Value value, Value by) { replaced[value] = by; }
  bool isReplaced(Value value) const { return replaced.contains(value); }

  /// The value that stands for `resolved`, shown as `type`.
  Value get(Value resolved, Type type) {
    Value value = replaced.lookup(resolved);
    if (!value)
      value = resolved;
    if (value.getType() == type)
      return value;
    Value &view = views[{value, type}];
    if (!view) {
      OpBuilder builder(block.getParentOp()->getContext());
      Operation *def = value.getDefiningOp();
      if (def && def->getBlock() == &block)
        builder.setInsertionPointAfter(def);
      else
        builder.setInsertionPointToStart(&block);
      view = builder.create<sh::ReshapeOp>(value.getLoc(), type, value);
    }
    return view;
  }

private:
  Block &block;
  DenseMap<Value, Value> replaced;
  DenseMap<std::pair<Value, Type>, Value> views;
};

/// Writes one fusion.
class ClusterEmitter {
public:
  ClusterEmitter(MLIRContext *context, const Cluster &cluster, Outside &outside)
      : cluster(cluster), outside(outside), inside(context) {
    inside.setInsertionPointToEnd(&body);
  }

  FusionOp emit(OpBuilder &builder, ArrayRef<Operation *> ordered, ArrayRef<Value> outputs);

private:
  enum class Place { Element, Row, Other };
  Place placeOf(Operation *op) const;
  void chooseShapes(ArrayRef<Operation *> ordered);
  ArrayRef<int64_t> shapeAt(Place place, ArrayRef<int64_t> own) const;
  void clone(Operation *op);
  bool cloneReadBack(Operation *op);
  bool cloneReshaped(Operation *op, ArrayRef<int64_t> shape);
  Value get(Value value, ArrayRef<int64_t> shape);
  Value input(Value value);
  Value reshape(Value value, ArrayRef<int64_t> shape);

  const Cluster &cluster;
  Outside &outside;
  SmallVector<int64_t> elementShape, rowShape;
  Block body;
  OpBuilder inside;
  SmallVector<Value> inputs;
  DenseMap<Value, Value> argumentOf, inner;
  DenseMap<std::pair<Value, Type>, Value> reshaped;
};

ClusterEmitter::Place ClusterEmitter::placeOf(Operation *op) const {
  const SmallVector<MapId, 1> &maps = cluster.members.find(op)->second;
  if (maps.size() != 1)
    return Place::Other;
  bool hasRows = cluster.isRows() || cluster.isReduction();
  if (maps.front() == cluster.elementMap() && !(isa<sh::ReduceOp>(op) && hasRows))
    return Place::Element;
  return hasRows && maps.front() == cluster.rowMap() ? Place::Row : Place::Other;
}

// A hero's shapes cannot change; else the first data movement keeps its own, as
// elementwise work is the easiest to reshape.
void ClusterEmitter::chooseShapes(ArrayRef<Operation *> ordered) {
  if (auto reduce = dyn_cast_or_null<sh::ReduceOp>(cluster.hero)) {
    elementShape = llvm::to_vector(shapeOf(reduce.getInputs().front()));
    rowShape = llvm::to_vector(shapeOf(reduce.getResult(0)));
    return;
  }
  Operation *root = cluster.hero ? cluster.hero : ordered.back();
  if (!cluster.hero)
    for (Operation *op : ordered)
      if (placeOf(op) == Place::Element && classify(op) != OpClass::Elementwise &&
          !isa<sh::BroadcastInDimOp>(op)) {
        root = op;
        break;
      }
  elementShape = llvm::to_vector(shapeOf(root->getResult(0)));
}

ArrayRef<int64_t> ClusterEmitter::shapeAt(Place place, ArrayRef<int64_t> own) const {
  return place == Place::Element ? ArrayRef<int64_t>(elementShape)
         : place == Place::Row   ? ArrayRef<int64_t>(rowShape)
                                 : own;
}

Value ClusterEmitter::reshape(Value value, ArrayRef<int64_t> shape) {
  Type type = withShape(value.getType(), shape);
  if (value.getType() == type)
    return value;
  Value &result = reshaped[{value, type}];
  if (!result)
    result = inside.create<sh::ReshapeOp>(value.getLoc(), type, value);
  return result;
}

Value ClusterEmitter::input(Value value) {
  Value &argument = argumentOf[value];
  if (!argument) {
    inputs.push_back(value);
    argument = body.addArgument(value.getType(), value.getLoc());
  }
  return argument;
}

/// Inside the body, the elements of `value` in `shape`.
Value ClusterEmitter::get(Value value, ArrayRef<int64_t> shape) {
  Value resolved = resolveViews(value);
  Operation *def = resolved.getDefiningOp();
  if (isSplatConstant(def)) {
    auto splat = cast<SplatElementsAttr>(cast<sh::ConstantOp>(def).getValue());
    auto type = withShape(resolved.getType(), shape);
    Value &constant = reshaped[{resolved, type}];
    if (!constant) {
      // At the start, where it stands before all uses.
      OpBuilder::InsertionGuard guard(inside);
      inside.setInsertionPointToStart(&body);
      constant = inside.create<sh::ConstantOp>(
          def->getLoc(),
          cast<ElementsAttr>(DenseElementsAttr::get(type, splat.getSplatValue<Attribute>())));
    }
    return constant;
  }
  if (Value made = inner.lookup(resolved))
    return reshape(made, shape);
  return input(outside.get(resolved, withShape(resolved.getType(), shape)));
}

/// Elementwise work and broadcasts can be done in another shape of the same
/// size. Composites cannot: their decomposition fixes their types.
bool ClusterEmitter::cloneReshaped(Operation *op, ArrayRef<int64_t> shape) {
  Type type = withShape(op->getResult(0).getType(), shape);
  if (auto broadcast = dyn_cast<sh::BroadcastInDimOp>(op)) {
    std::optional<Rebroadcast> other = rebroadcast(broadcast, shape);
    if (!other)
      return false;
    Value operand = get(broadcast.getOperand(), other->operandShape);
    inner[op->getResult(0)] =
        inside.create<sh::BroadcastInDimOp>(op->getLoc(), type, operand, other->dimensions);
    return true;
  }
  if (classify(op) != OpClass::Elementwise || op->getNumRegions() || isa<sh::CompositeOp>(op))
    return false;
  int64_t size = numElements(type);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(
        get(operand, numElements(operand.getType()) == size ? shape : shapeOf(operand)));
  Operation *copy = inside.clone(*op);
  copy->setOperands(operands);
  copy->getResult(0).setType(type);
  inner[op->getResult(0)] = copy->getResult(0);
  return true;
}

/// A row's value is read back for its elements: along the row shape as it is.
bool ClusterEmitter::cloneReadBack(Operation *op) {
  auto broadcast = dyn_cast<sh::BroadcastInDimOp>(op);
  if (!broadcast || placeOf(op) != Place::Element || rowShape.empty())
    return false;
  Operation *def = resolveViews(broadcast.getOperand()).getDefiningOp();
  bool isPrefix = ArrayRef(elementShape).take_front(rowShape.size()) == ArrayRef(rowShape);
  if (!def || !cluster.members.contains(def) || placeOf(def) != Place::Row || !isPrefix)
    return false;
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, rowShape.size()));
  inner[op->getResult(0)] = inside.create<sh::BroadcastInDimOp>(
      op->getLoc(), withShape(op->getResult(0).getType(), elementShape),
      get(broadcast.getOperand(), rowShape), dims);
  return true;
}

void ClusterEmitter::clone(Operation *op) {
  if (cloneReadBack(op))
    return;
  ArrayRef<int64_t> own = shapeOf(op->getResult(0));
  ArrayRef<int64_t> shape = shapeAt(placeOf(op), own);
  if (shape != own && cloneReshaped(op, shape))
    return;
  IRMapping mapping;
  op->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands()) {
      Operation *def = operand.getDefiningOp();
      Region *region = operand.getParentRegion();
      bool isInside = def ? op->isProperAncestor(def) : op->isAncestor(region->getParentOp());
      if (!isInside)
        mapping.map(operand, get(operand, shapeOf(operand)));
    }
  });
  Operation *copy = inside.clone(*op, mapping);
  for (auto [from, to] : llvm::zip_equal(op->getResults(), copy->getResults()))
    inner[from] = to;
}

FusionOp ClusterEmitter::emit(OpBuilder &builder, ArrayRef<Operation *> ordered,
                              ArrayRef<Value> outputs) {
  chooseShapes(ordered);
  for (Operation *op : ordered)
    clone(op);
  SmallVector<Value> results;
  for (Value output : outputs) {
    Place place = placeOf(output.getDefiningOp());
    results.push_back(get(output, shapeAt(place, shapeOf(output))));
  }
  Operation *named = cluster.hero ? cluster.hero : ordered.back();
  std::string name = fusionName(ordered);
  auto fusion = builder.create<FusionOp>(named->getLoc(), TypeRange(ValueRange(results)),
                                         ValueRange(inputs), cluster.kind, name);
  inside.create<YieldOp>(fusion.getLoc(), results);
  for (auto [from, to] : llvm::zip_equal(body.getArguments(), fusion.getBlock().getArguments()))
    from.replaceAllUsesWith(to);
  fusion.getBlock().getOperations().splice(fusion.getBlock().end(), body.getOperations());
  return fusion;
}

} // namespace

bool BlockFuser::isReadOutside(int id, Value value) {
  return llvm::any_of(uses[value],
                      [&](const Use &use) { return use.cluster < 0 || find(use.cluster) != id; });
}

/// Loops in registers and attention were fusions before.
static bool isNewFusion(Operation *op) {
  auto fusion = dyn_cast<FusionOp>(op);
  return fusion && fusion.getKind() != FusionKind::While &&
         fusion.getKind() != FusionKind::Attention;
}

/// Lets what stays at top level, and what its regions take from here, read the
/// fusions' results.
static void replaceTopLevelReads(Block &block, ArrayRef<Operation *> originals, Outside &outside) {
  for (Operation *op : originals)
    for (Value result : op->getResults()) {
      Value resolved = resolveViews(result);
      if (!outside.isReplaced(resolved) || result.use_empty())
        continue;
      SmallVector<OpOperand *> reads;
      for (OpOperand &use : result.getUses())
        if (Operation *reader = block.findAncestorOpInBlock(*use.getOwner());
            classify(reader) == OpClass::TopLevel && !isNewFusion(reader))
          reads.push_back(&use);
      for (OpOperand *use : reads)
        use->set(outside.get(resolved, result.getType()));
    }
}

void BlockFuser::emit() {
  SmallVector<Operation *> originals;
  for (Operation &op : block)
    if (OpClass c = classify(&op); c != OpClass::TopLevel && c != OpClass::Constant)
      originals.push_back(&op);
  SmallVector<int> order;
  for (int id = 0, e = clusters.size(); id < e; ++id)
    if (clusters[id].parent < 0)
      order.push_back(id);
  llvm::sort(order, [&](int a, int b) { return clusters[a].position < clusters[b].position; });
  llvm::SmallVector<Operation *> operationAt;
  for (Operation &op : block)
    operationAt.push_back(&op);

  Outside outside(block);
  for (int id : order) {
    Cluster &cluster = clusters[id];
    SmallVector<Operation *> ordered;
    for (auto &[op, atMaps] : cluster.members)
      ordered.push_back(op);
    llvm::sort(ordered, [&](Operation *a, Operation *b) { return positions[a] < positions[b]; });
    SmallVector<Value> outputs =
        llvm::to_vector(llvm::make_filter_range(cluster.outputs, [&](Value v) {
          return isReadOutside(id, v) || isa<sh::ScatterOp>(v.getDefiningOp());
        }));
    OpBuilder builder(operationAt[cluster.position]);
    FusionOp fusion =
        ClusterEmitter(builder.getContext(), cluster, outside).emit(builder, ordered, outputs);
    for (auto [output, result] : llvm::zip_equal(outputs, fusion.getResults()))
      outside.replace(output, result);
  }
  replaceTopLevelReads(block, originals, outside);
  for (Operation *op : llvm::reverse(originals))
    if (op->use_empty())
      op->erase();
}

} // namespace spokeshave::graph
