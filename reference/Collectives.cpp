//===- Collectives.cpp - operations in which processes meet ----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// all_gather, all_reduce, all_to_all, collective_broadcast, collective_permute,
// collective_reduce, cross-replica-sum, partition_id, reduce_scatter,
// replica_id. A program outside a grid is a grid of one process.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "reference/Body.h"
#include "reference/Grid.h"
#include "reference/Ops.h"
#include "reference/ReplicaGroups.h"

using namespace mlir;

namespace spokeshave::reference {

static int64_t selfId(const Call &call) {
  const Process &where = call.evaluator.where();
  return where.replica * (where.grid ? where.grid->numPartitions() : 1) + where.partition;
}

static int64_t channelOf(std::optional<stablehlo::ChannelHandleAttr> handle) {
  return handle ? handle->getHandle() : 0;
}

/// The group that this process is in, or an empty one.
static FailureOr<ProcessGroup> ownGroup(Call &call, const ProcessGroups &groups) {
  int64_t count = 1;
  if (Grid *grid = call.evaluator.where().grid)
    count = grid->numReplicas() * grid->numPartitions();
  ProcessGroup own;
  for (const ProcessGroup &group : groups)
    for (int64_t id : group) {
      if (id < 0 || id >= count)
        return call.error() << "names process " << id << " of a grid of " << count;
      if (id == selfId(call))
        own = group;
    }
  return own;
}

/// What every process of `group` passed as operands.
static FailureOr<SmallVector<Results>> gatherOperands(Call &call, ArrayRef<int64_t> group,
                                                      int64_t channel) {
  Results own(call.operands);
  Grid *grid = call.evaluator.where().grid;
  if (!grid)
    return SmallVector<Results>{own};
  std::string what = (call.op->getName().getStringRef() + llvm::Twine(channel)).str();
  return grid->exchange(call, what, group, std::move(own));
}

namespace {
/// A collective as this process sees it.
struct Meeting {
  ProcessGroup group;            ///< empty: this process is in none
  SmallVector<Results> operands; ///< per member of the group
  int64_t self = 0;              ///< this process's place in the group

  bool isEmpty() const { return group.empty(); }
  /// One operand of every member.
  SmallVector<Tensor> column(unsigned i) const {
    SmallVector<Tensor> result;
    for (const Results &member : operands)
      result.push_back(member[i]);
    return result;
  }
};
} // namespace

static FailureOr<Meeting> meet(Call &call, Attribute replicaGroups, GroupStrategy strategy,
                               int64_t channel) {
  FailureOr<ProcessGroups> groups = processGroups(call, replicaGroups, strategy);
  if (failed(groups))
    return failure();
  FailureOr<ProcessGroup> group = ownGroup(call, *groups);
  if (failed(group))
    return failure();
  Meeting meeting;
  meeting.group = *group;
  if (meeting.isEmpty())
    return meeting;
  FailureOr<SmallVector<Results>> operands = gatherOperands(call, *group, channel);
  if (failed(operands))
    return failure();
  for (const Results &member : *operands)
    if (member.size() != call.operands.size())
      return call.error() << "meets a process with another number of operands";
  meeting.operands = std::move(*operands);
  meeting.self = llvm::find(*group, selfId(call)) - group->begin();
  return meeting;
}

/// As meet, for operations in which every process takes part.
static FailureOr<Meeting> meetAll(Call &call, Attribute replicaGroups, GroupStrategy strategy,
                                  int64_t channel) {
  FailureOr<Meeting> meeting = meet(call, replicaGroups, strategy, channel);
  if (succeeded(meeting) && meeting->isEmpty())
    return call.error() << "has replica groups that leave this process out";
  return meeting;
}

static GroupStrategy reductionStrategy(int64_t channel, bool globalIds) {
  if (globalIds)
    return GroupStrategy::FlattenedIds;
  return channel > 0 ? GroupStrategy::CrossReplicaAndPartition : GroupStrategy::CrossReplica;
}

static GroupStrategy exchangeStrategy(int64_t channel) {
  return channel > 0 ? GroupStrategy::CrossPartition : GroupStrategy::CrossReplica;
}

/// computation(...computation(x0, x1)..., xn), elementwise over `values`.
static FailureOr<Tensor> reduceValues(Call &call, Region &computation, ArrayRef<Tensor> values,
                                      ElementType type) {
  Body body(call, computation);
  if (failed(body.expect(2, 1)))
    return failure();
  for (const Tensor &value : values)
    if (value.shape() != values[0].shape())
      return call.error() << "meets a process with an operand of another shape";
  Tensor result = convertTo(values[0], type);
  char *to = result.mutableData();
  for (const Tensor &value : values.drop_front())
    for (int64_t i = 0; i < result.size(); ++i) {
      Scalar arguments[2] = {type.load(to + i * type.bytes()), value.at(i)}, reduced;
      if (failed(body(arguments, reduced)))
        return failure();
      type.store(to + i * type.bytes(), reduced);
    }
  return result;
}

static LogicalResult evalAllGather(stablehlo::AllGatherOp op, Call &call) {
  int64_t channel = channelOf(op.getChannelHandle());
  FailureOr<Meeting> meeting = meetAll(
      call, op.getReplicaGroups(), reductionStrategy(channel, op.getUseGlobalDeviceIds()), channel);
  if (failed(meeting))
    return failure();
  for (unsigned i = 0; i < call.operands.size(); ++i)
    call.results.push_back(concatenate(meeting->column(i), op.getAllGatherDim()));
  return success();
}

static LogicalResult evalAllReduce(stablehlo::AllReduceOp op, Call &call) {
  int64_t channel = channelOf(op.getChannelHandle());
  FailureOr<Meeting> meeting = meetAll(
      call, op.getReplicaGroups(), reductionStrategy(channel, op.getUseGlobalDeviceIds()), channel);
  if (failed(meeting))
    return failure();
  for (unsigned i = 0; i < call.operands.size(); ++i)
    if (failed(call.give(
            reduceValues(call, op.getComputation(), meeting->column(i), call.resultType(i)))))
      return failure();
  return success();
}

static LogicalResult evalReduceScatter(stablehlo::ReduceScatterOp op, Call &call) {
  int64_t channel = channelOf(op.getChannelHandle());
  FailureOr<Meeting> meeting = meetAll(
      call, op.getReplicaGroups(), reductionStrategy(channel, op.getUseGlobalDeviceIds()), channel);
  if (failed(meeting))
    return failure();
  FailureOr<Tensor> reduced =
      reduceValues(call, op.getComputation(), meeting->column(0), call.resultType());
  if (failed(reduced))
    return failure();
  auto parts = static_cast<int64_t>(meeting->group.size());
  int64_t axis = op.getScatterDimension();
  if (reduced->dim(axis) % parts)
    return call.error() << "cannot split size " << reduced->dim(axis) << " into " << parts;
  return call.give(splitPart(*reduced, meeting->self, parts, axis));
}

static LogicalResult evalAllToAll(stablehlo::AllToAllOp op, Call &call) {
  int64_t channel = channelOf(op.getChannelHandle());
  FailureOr<Meeting> meeting =
      meetAll(call, op.getReplicaGroups(), exchangeStrategy(channel), channel);
  if (failed(meeting))
    return failure();
  auto count = static_cast<int64_t>(op.getSplitCount());
  int64_t split = op.getSplitDimension(), concat = op.getConcatDimension();
  if (count != static_cast<int64_t>(meeting->group.size()) || call[0].dim(split) % count)
    return call.error() << "has a split_count that does not fit its group or operand";
  for (unsigned i = 0; i < call.operands.size(); ++i) {
    SmallVector<Tensor> parts;
    for (const Tensor &sent : meeting->column(i))
      parts.push_back(splitPart(sent, meeting->self, count, split));
    call.results.push_back(concatenate(parts, concat));
  }
  return success();
}

/// The place in the group of the process that is the root for operand `i`.
static FailureOr<int64_t> rootOf(Call &call, const Meeting &meeting, bool dynamic, unsigned i) {
  int64_t root = dynamic ? call.operands.back().at(i).i : 0;
  if (root < 0 || root >= static_cast<int64_t>(meeting.group.size()))
    return call.error() << "has root " << root << " in a group of " << meeting.group.size();
  return root;
}

static Tensor zeros(Call &call, unsigned i) {
  return Tensor(call.resultType(i), call[i].shape());
}

static LogicalResult evalCollectiveBroadcast(stablehlo::CollectiveBroadcastOp op, Call &call) {
  int64_t channel = channelOf(op.getChannelHandle());
  FailureOr<Meeting> meeting =
      meet(call, op.getReplicaGroups(), exchangeStrategy(channel), channel);
  if (failed(meeting))
    return failure();
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    if (meeting->isEmpty()) {
      call.results.push_back(zeros(call, i));
      continue;
    }
    FailureOr<int64_t> root = rootOf(call, *meeting, op.getHasDynamicRoot(), i);
    if (failed(root))
      return failure();
    call.results.push_back(meeting->operands[*root][i]);
  }
  return success();
}

/// Like all_reduce, but only the root keeps the result.
static LogicalResult evalCollectiveReduce(stablehlo::CollectiveReduceOp op, Call &call) {
  int64_t channel = channelOf(op.getChannelHandle());
  GroupStrategy strategy =
      op.getUseGlobalDeviceIds() ? GroupStrategy::FlattenedIds : exchangeStrategy(channel);
  FailureOr<Meeting> meeting = meet(call, op.getReplicaGroups(), strategy, channel);
  if (failed(meeting))
    return failure();
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    if (meeting->isEmpty()) {
      call.results.push_back(zeros(call, i));
      continue;
    }
    FailureOr<int64_t> root = rootOf(call, *meeting, op.getHasDynamicRoot(), i);
    if (failed(root))
      return failure();
    if (*root != meeting->self)
      call.results.push_back(zeros(call, i));
    else if (failed(call.give(
                 reduceValues(call, op.getComputation(), meeting->column(i), call.resultType(i)))))
      return failure();
  }
  return success();
}

/// Each pair is a channel of its own: a process may send in one and receive in
/// another, so that all processes of all pairs meet at once.
static LogicalResult evalCollectivePermute(stablehlo::CollectivePermuteOp op, Call &call) {
  int64_t channel = channelOf(op.getChannelHandle());
  FailureOr<ProcessGroups> pairs =
      processGroups(call, op.getSourceTargetPairs(), exchangeStrategy(channel));
  if (failed(pairs) || failed(ownGroup(call, *pairs)))
    return failure();
  ProcessGroup everyone;
  for (const ProcessGroup &pair : *pairs)
    for (int64_t id : pair)
      if (!llvm::is_contained(everyone, id))
        everyone.push_back(id);
  llvm::sort(everyone);
  int64_t self = selfId(call);
  Tensor result = zeros(call, 0);
  if (!llvm::is_contained(everyone, self))
    return call.give(std::move(result));
  FailureOr<SmallVector<Results>> operands = gatherOperands(call, everyone, channel);
  if (failed(operands))
    return failure();
  for (const ProcessGroup &pair : *pairs)
    if (pair.size() == 2 && pair[1] == self)
      result = (*operands)[llvm::find(everyone, pair[0]) - everyone.begin()][0];
  return call.give(std::move(result));
}

static LogicalResult evalCrossReplicaSum(stablehlo::CrossReplicaSumOp op, Call &call) {
  FailureOr<Meeting> meeting = meetAll(call, op.getReplicaGroups(), GroupStrategy::CrossReplica, 0);
  if (failed(meeting))
    return failure();
  ElementType type = call.resultType();
  Tensor result = meeting->operands[0][0];
  char *to = result.mutableData();
  for (const Results &member : llvm::ArrayRef(meeting->operands).drop_front())
    for (int64_t i = 0; i < result.size(); ++i) {
      Scalar a = type.load(to + i * type.bytes()), b = member[0].at(i);
      bool boolean = type.isBoolean();
      int64_t sum = boolean ? (a.i | b.i) : static_cast<int64_t>(a.u() + b.u());
      type.store(to + i * type.bytes(), type.round({sum, a.re + b.re, a.im + b.im}));
    }
  return call.give(std::move(result));
}

static LogicalResult evalReplicaId(stablehlo::ReplicaIdOp, Call &call) {
  return call.give(
      Tensor::scalar(call.resultType(), Scalar::integer(call.evaluator.where().replica)));
}
static LogicalResult evalPartitionId(stablehlo::PartitionIdOp, Call &call) {
  return call.give(
      Tensor::scalar(call.resultType(), Scalar::integer(call.evaluator.where().partition)));
}

void addCollectives(HandlerTable &table) {
  table.add<stablehlo::AllGatherOp, evalAllGather>();
  table.add<stablehlo::AllReduceOp, evalAllReduce>();
  table.add<stablehlo::AllToAllOp, evalAllToAll>();
  table.add<stablehlo::CollectiveBroadcastOp, evalCollectiveBroadcast>();
  table.add<stablehlo::CollectivePermuteOp, evalCollectivePermute>();
  table.add<stablehlo::CollectiveReduceOp, evalCollectiveReduce>();
  table.add<stablehlo::CrossReplicaSumOp, evalCrossReplicaSum>();
  table.add<stablehlo::PartitionIdOp, evalPartitionId>();
  table.add<stablehlo::ReduceScatterOp, evalReduceScatter>();
  table.add<stablehlo::ReplicaIdOp, evalReplicaId>();
}

} // namespace spokeshave::reference
