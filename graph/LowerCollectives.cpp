//===- LowerCollectives.cpp - collectives as exchanges and kernels ---------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is left to the runtime only moves bytes between processes. Everything that
// computes, and every change of layout, becomes ordinary operations around it,
// which fuse with their neighbours: a reducer is compiled like any other code,
// and sums are made in the order of the group, on every device alike.
//
//===----------------------------------------------------------------------===//
#include "graph/CollectiveEmit.h"
#include "graph/Passes.h"

#include "graph/Classify.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

namespace spokeshave::graph {
#define GEN_PASS_DEF_LOWERCOLLECTIVES
#include "graph/Passes.h.inc"
} // namespace spokeshave::graph

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::graph;
namespace sh = spokeshave::stablehlo;

namespace {

/// From here on an all_reduce is cheaper in two steps, each process reducing its
/// part: below, another meeting costs more than reducing everything everywhere.
constexpr int64_t kWorthScattering = 16 << 10;

std::optional<int64_t> handleOf(std::optional<sh::ChannelHandleAttr> channel) {
  return channel && channel->getHandle() > 0 ? std::optional(channel->getHandle()) : std::nullopt;
}

GroupStrategy reductionStrategy(std::optional<sh::ChannelHandleAttr> channel, bool globalIds) {
  if (globalIds)
    return GroupStrategy::FlattenedIds;
  return handleOf(channel) ? GroupStrategy::CrossReplicaAndPartition : GroupStrategy::CrossReplica;
}

GroupStrategy exchangeStrategy(std::optional<sh::ChannelHandleAttr> channel) {
  return handleOf(channel) ? GroupStrategy::CrossPartition : GroupStrategy::CrossReplica;
}

bool haveOneSize(const DeviceGroups &groups) {
  return llvm::all_of(
      groups, [&](const DeviceGroup &group) { return group.size() == groups.front().size(); });
}

/// The lowering of one operation.
class Lowering {
public:
  Lowering(Operation *op, Processes processes, std::optional<sh::ChannelHandleAttr> channel = {})
      : builder(op), op(op), processes(processes), make(builder, op->getLoc(), processes, channel) {
  }

  LogicalResult lower(sh::AllGatherOp gather);
  LogicalResult lower(sh::AllToAllOp all);
  LogicalResult lower(sh::AllReduceOp reduce);
  LogicalResult lower(sh::ReduceScatterOp reduce);
  LogicalResult lower(sh::CollectiveReduceOp reduce);
  LogicalResult lower(sh::CollectiveBroadcastOp broadcast);
  LogicalResult lower(sh::CollectivePermuteOp permute);
  LogicalResult lower(sh::CrossReplicaSumOp sum);

private:
  using Combine = llvm::function_ref<Value(Value, Value)>;

  /// Groups in which every process has a place.
  FailureOr<DeviceGroups> fullGroups(Attribute attribute, GroupStrategy strategy);
  FailureOr<DeviceGroups> uniformGroups(Attribute attribute, GroupStrategy strategy);
  DeviceGroups everyone() const {
    return {llvm::to_vector(llvm::seq<int64_t>(0, processes.count()))};
  }

  Value rootProcess(const DeviceGroups &groups, Value roots, unsigned number);
  Value combine(Region &computation, Value a, Value b);
  Value reduceRows(Value rows, Combine with);
  Value reduceUneven(Value value, const DeviceGroups &groups, Combine with);
  Value allReduce(Value value, const DeviceGroups &groups, Combine with);
  /// As the reducer takes its operands, which may be wider than the tensor's.
  Value widened(Value value, Region &computation) {
    return make.emit.convert(value, getElementTypeOrSelf(computation.getArgument(0).getType()));
  }
  Value reduced(Value value, Region &computation, const DeviceGroups &groups, Type result) {
    auto with = [&](Value a, Value b) { return combine(computation, a, b); };
    Value all = allReduce(widened(value, computation), groups, with);
    return make.emit.convert(all, getElementTypeOrSelf(result));
  }
  LogicalResult replace(ValueRange values) {
    op->replaceAllUsesWith(values);
    op->erase();
    return success();
  }

  OpBuilder builder;
  Operation *op;
  Processes processes;
  CollectiveEmit make;
};

FailureOr<DeviceGroups> Lowering::fullGroups(Attribute attribute, GroupStrategy strategy) {
  FailureOr<DeviceGroups> groups = processGroups(op, attribute, strategy, processes);
  if (failed(groups))
    return failure();
  llvm::SmallVector<bool> seen(processes.count());
  for (const DeviceGroup &group : *groups)
    for (int64_t process : group)
      seen[process] = true;
  for (auto [process, isIn] : llvm::enumerate(seen))
    if (!isIn)
      return op->emitOpError() << "has replica groups that leave out device " << process << " of "
                               << processes.count();
  return groups;
}

FailureOr<DeviceGroups> Lowering::uniformGroups(Attribute attribute, GroupStrategy strategy) {
  FailureOr<DeviceGroups> groups = fullGroups(attribute, strategy);
  if (succeeded(groups) && !haveOneSize(*groups))
    return op->emitOpError() << "has replica groups of different sizes";
  return groups;
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

LogicalResult Lowering::lower(sh::AllGatherOp gather) {
  auto groups =
      uniformGroups(gather.getReplicaGroups(),
                    reductionStrategy(gather.getChannelHandle(), gather.getUseGlobalDeviceIds()));
  if (failed(groups))
    return failure();
  SmallVector<Value> results;
  for (auto [operand, result] : llvm::zip_equal(gather.getOperands(), gather.getResults())) {
    auto type = cast<RankedTensorType>(result.getType());
    Value all = make.move(make.stack(operand, *groups), 0, gather.getAllGatherDim());
    if (make.emit.typeOf(all).getNumElements() != type.getNumElements())
      return op->emitOpError() << "gives " << type << ", but its groups have "
                               << groups->front().size() << " members";
    results.push_back(make.emit.reshape(all, type.getShape()));
  }
  return replace(results);
}

LogicalResult Lowering::lower(sh::AllToAllOp all) {
  auto groups = uniformGroups(all.getReplicaGroups(), exchangeStrategy(all.getChannelHandle()));
  if (failed(groups))
    return failure();
  int64_t count = groups->front().size(), split = all.getSplitDimension();
  SmallVector<Value> results;
  for (auto [operand, result] : llvm::zip_equal(all.getOperands(), all.getResults())) {
    if (count != int64_t(all.getSplitCount()) || make.emit.shapeOf(operand)[split] % count != 0)
      return op->emitOpError() << "splits dimension " << split << " of " << operand.getType()
                               << " for groups of " << count;
    Value parts = make.move(make.divide(operand, split, count), split, 0);
    Value joined = make.move(make.exchange(parts, *groups), 0, all.getConcatDimension());
    results.push_back(
        make.emit.reshape(joined, cast<RankedTensorType>(result.getType()).getShape()));
  }
  return replace(results);
}

LogicalResult Lowering::lower(sh::CollectivePermuteOp permute) {
  auto pairs = processGroups(op, permute.getSourceTargetPairs(),
                             exchangeStrategy(permute.getChannelHandle()), processes);
  if (failed(pairs))
    return failure();
  // Without pairs nobody sends, and an empty matrix does not mean everybody.
  if (permute.getSourceTargetPairs().getNumElements() == 0) {
    auto zero = cast<ElementsAttr>(builder.getZeroAttr(permute.getType()));
    return replace(ValueRange(builder.create<sh::ConstantOp>(op->getLoc(), zero)));
  }
  return replace(ValueRange(make.permute(permute.getOperand(), *pairs)));
}

/// The process whose place in its group operand `number` of `roots` names.
Value Lowering::rootProcess(const DeviceGroups &groups, Value roots, unsigned number) {
  size_t most = 1;
  for (const DeviceGroup &group : groups)
    most = std::max(most, group.size());
  SmallVector<int32_t> members(processes.count() * most);
  for (const DeviceGroup &group : groups)
    for (int64_t process : group)
      for (size_t i = 0; i < most; ++i)
        members[process * most + i] = group[std::min(i, group.size() - 1)];
  return make.pick(make.rowOf(members, most), make.element(roots, number));
}

LogicalResult Lowering::lower(sh::CollectiveBroadcastOp broadcast) {
  auto groups = processGroups(op, broadcast.getReplicaGroups(),
                              exchangeStrategy(broadcast.getChannelHandle()), processes);
  if (failed(groups))
    return failure();
  SmallVector<Value> results;
  llvm::SmallVector<bool> isIn(processes.count());
  for (const DeviceGroup &group : *groups)
    for (int64_t process : group)
      isIn[process] = true;
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    Value value = op->getOperand(i);
    if (!broadcast.getHasDynamicRoot() && haveOneSize(*groups)) {
      results.push_back(make.broadcastFirst(value, *groups));
      continue;
    }
    // Any process may be the root: all show what they have.
    Value all = make.stack(value, everyone());
    Value roots =
        broadcast.getHasDynamicRoot()
            ? op->getOperands().back()
            : make.emit.integer(
                  RankedTensorType::get({int64_t(op->getNumResults())}, builder.getI32Type()), 0);
    Value chosen = make.pick(all, rootProcess(*groups, roots, i));
    Value zeros = builder.create<sh::ConstantOp>(
        op->getLoc(), cast<ElementsAttr>(builder.getZeroAttr(value.getType())));
    results.push_back(make.choose(make.flagOf(isIn), chosen, zeros));
  }
  return replace(results);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// The reducer on whole tensors: its only operation where it has one, else a map.
Value Lowering::combine(Region &computation, Value a, Value b) {
  Block &block = computation.front();
  Operation *end = block.getTerminator();
  Operation &first = block.front();
  bool isOne = block.getOperations().size() == 2 && first.getNumOperands() == 2 &&
               first.getNumResults() == 1 && first.getNumRegions() == 0 &&
               classify(&first) == OpClass::Elementwise &&
               end->getOperand(0) == first.getResult(0) &&
               first.getOperandTypes() == block.getArgumentTypes() &&
               first.getResult(0).getType() == block.getArgument(0).getType();
  IRMapping mapping;
  if (isOne) {
    mapping.map(block.getArguments(), ValueRange{a, b});
    Operation *clone = builder.clone(first, mapping);
    clone->getResult(0).setType(a.getType());
    return clone->getResult(0);
  }
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, make.emit.typeOf(a).getRank()));
  auto map = builder.create<sh::MapOp>(op->getLoc(), a.getType(), ValueRange{a, b}, dims);
  computation.cloneInto(&map.getComputation(), mapping);
  return map;
}

/// T[members, shape] -> T[shape], from the first member to the last.
Value Lowering::reduceRows(Value rows, Combine with) {
  auto shape = make.emit.shapeOf(rows);
  SmallVector<int64_t> starts(shape.size()), limits(shape);
  Value result;
  for (int64_t i = 0; i < shape[0]; ++i) {
    starts[0] = i, limits[0] = i + 1;
    Value row = make.emit.reshape(make.emit.slice(rows, starts, limits), shape.drop_front());
    result = result ? with(result, row) : row;
  }
  return result;
}

/// Groups of different sizes: everybody sees everything and reduces its own.
Value Lowering::reduceUneven(Value value, const DeviceGroups &groups, Combine with) {
  size_t most = 0;
  for (const DeviceGroup &group : groups)
    most = std::max(most, group.size());
  // The group's members, then its size.
  SmallVector<int32_t> table(processes.count() * (most + 1));
  for (const DeviceGroup &group : groups)
    for (int64_t process : group) {
      int32_t *row = &table[process * (most + 1)];
      llvm::copy(group, row);
      row[most] = group.size();
    }
  Value all = make.stack(value, everyone()), row = make.rowOf(table, most + 1);
  Value size = make.element(row, most), result = make.pick(all, make.element(row, 0));
  for (size_t i = 1; i < most; ++i) {
    Value next = with(result, make.pick(all, make.element(row, i)));
    Value isMember = make.emit.less(make.emit.integerLike(size, i), size);
    result = make.choose(isMember, next, result);
  }
  return result;
}

Value Lowering::allReduce(Value value, const DeviceGroups &groups, Combine with) {
  if (!haveOneSize(groups))
    return reduceUneven(value, groups, with);
  int64_t count = groups.front().size(), size = numElements(value.getType());
  if (count == 1)
    return value;
  if (size % count != 0 || byteSize(value.getType()) < kWorthScattering)
    return reduceRows(make.stack(value, groups), with);
  Value parts = make.emit.reshape(value, {count, size / count});
  Value own = reduceRows(make.exchange(parts, groups, /*ofReduction=*/true), with);
  return make.emit.reshape(make.stack(own, groups), make.emit.shapeOf(value));
}

LogicalResult Lowering::lower(sh::AllReduceOp reduce) {
  auto groups =
      fullGroups(reduce.getReplicaGroups(),
                 reductionStrategy(reduce.getChannelHandle(), reduce.getUseGlobalDeviceIds()));
  if (failed(groups))
    return failure();
  SmallVector<Value> results;
  for (auto [operand, result] : llvm::zip_equal(reduce.getOperands(), reduce.getResults()))
    results.push_back(reduced(operand, reduce.getComputation(), *groups, result.getType()));
  return replace(results);
}

LogicalResult Lowering::lower(sh::ReduceScatterOp reduce) {
  auto groups =
      uniformGroups(reduce.getReplicaGroups(),
                    reductionStrategy(reduce.getChannelHandle(), reduce.getUseGlobalDeviceIds()));
  if (failed(groups))
    return failure();
  int64_t count = groups->front().size(), dim = reduce.getScatterDimension();
  auto type = cast<RankedTensorType>(reduce.getType());
  Value value = widened(reduce.getOperand(), reduce.getComputation());
  if (make.emit.shapeOf(value)[dim] != type.getDimSize(dim) * count)
    return op->emitOpError() << "gives " << type << ", but its groups have " << count << " members";
  Value parts = make.move(make.divide(value, dim, count), dim, 0);
  Value own = reduceRows(make.exchange(parts, *groups),
                         [&](Value a, Value b) { return combine(reduce.getComputation(), a, b); });
  return replace(ValueRange(make.emit.convert(own, type.getElementType())));
}

LogicalResult Lowering::lower(sh::CollectiveReduceOp reduce) {
  auto strategy = reduce.getUseGlobalDeviceIds() ? GroupStrategy::FlattenedIds
                                                 : exchangeStrategy(reduce.getChannelHandle());
  auto groups = processGroups(op, reduce.getReplicaGroups(), strategy, processes);
  if (failed(groups))
    return failure();
  llvm::SmallVector<bool> isRoot(processes.count()), isIn(processes.count());
  for (const DeviceGroup &group : *groups) {
    isRoot[group.front()] = true;
    for (int64_t process : group)
      isIn[process] = true;
  }
  // Who is in no group reduces alone, and keeps nothing.
  DeviceGroups all = *groups;
  for (auto [process, in] : llvm::enumerate(isIn))
    if (!in)
      all.push_back({int64_t(process)});
  SmallVector<Value> results;
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    auto type = cast<RankedTensorType>(op->getResult(i).getType());
    Value keeps = make.flagOf(isRoot);
    if (reduce.getHasDynamicRoot()) {
      Value root = rootProcess(*groups, op->getOperands().back(), i);
      keeps = builder.create<sh::CompareOp>(op->getLoc(), root, make.processId(),
                                            sh::ComparisonDirection::EQ);
      keeps = builder.create<sh::AndOp>(op->getLoc(), keeps.getType(), keeps, make.flagOf(isIn));
    }
    Value total = reduced(op->getOperand(i), reduce.getComputation(), all, type);
    Value zeros =
        builder.create<sh::ConstantOp>(op->getLoc(), cast<ElementsAttr>(builder.getZeroAttr(type)));
    results.push_back(make.choose(keeps, total, zeros));
  }
  return replace(results);
}

LogicalResult Lowering::lower(sh::CrossReplicaSumOp sum) {
  auto groups = fullGroups(sum.getReplicaGroups(), GroupStrategy::CrossReplica);
  if (failed(groups))
    return failure();
  // Of bools, whether any is true.
  auto with = [&](Value a, Value b) -> Value {
    if (getElementTypeOrSelf(a.getType()).isInteger(1))
      return make.emit.binary<sh::OrOp>(a, b);
    return make.emit.add(a, b);
  };
  return replace(ValueRange(allReduce(sum.getOperand(), *groups, with)));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

class LowerCollectivesPass : public graph::impl::LowerCollectivesBase<LowerCollectivesPass> {
  void runOnOperation() override {
    Processes processes = Processes::of(getOperation());
    if (processes.count() == 1)
      return;
    SmallVector<Operation *> operations;
    getOperation().walk([&](Operation *op) { operations.push_back(op); });
    for (Operation *op : operations)
      if (failed(lower(op, processes)))
        return signalPassFailure();
  }

  static LogicalResult lower(Operation *op, Processes processes) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<sh::AllGatherOp, sh::AllReduceOp, sh::AllToAllOp, sh::ReduceScatterOp,
              sh::CollectiveReduceOp, sh::CollectiveBroadcastOp, sh::CollectivePermuteOp>(
            [&](auto one) { return Lowering(one, processes, one.getChannelHandle()).lower(one); })
        .Case([&](sh::CrossReplicaSumOp sum) { return Lowering(sum, processes).lower(sum); })
        .Default([](Operation *) { return success(); });
  }
};

} // namespace
