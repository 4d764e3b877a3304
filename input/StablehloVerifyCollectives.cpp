//===- StablehloVerifyCollectives.cpp - verifiers of communication ----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives, and communication with the host. How many devices there are is
// known only to the compilation, so C2 to C4 of replica groups are checked as far
// as the groups themselves tell.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloVerify.h"

#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace spokeshave::stablehlo {
namespace {

/// The constraints of one operation on its replica groups.
struct GroupConstraints {
  int unique, range, channel;
  /// Whether every device must be in a group.
  bool coverAll = true;
  /// Whether groups may differ in size.
  bool padded = true;
};

/// Replica groups: a matrix in which no device occurs twice; -1 fills up the rows
/// of groups that are smaller, where groups may differ in size.
/// Groups by the axes of a mesh have nothing to check here.
LogicalResult verifyGroups(Operation *op, Attribute attribute, GroupConstraints constraints) {
  auto groups = dyn_cast<DenseIntElementsAttr>(attribute);
  if (!groups)
    return success();
  if (groups.getType().getRank() != 2)
    return violation(op, constraints.unique)
           << "replica_groups must be a matrix, got " << groups.getType();
  // One value for all can stand for any number of devices: not to be walked over.
  if (groups.isSplat() && groups.getNumElements() > 1)
    return violation(op, constraints.unique) << "replica_groups must not repeat one id";
  llvm::SmallSet<int64_t, 16> seen;
  for (int64_t id : groups.getValues<int64_t>()) {
    if (id == -1 && constraints.padded)
      continue;
    if (id < 0)
      return violation(op, constraints.range) << "replica_groups must not be negative, got " << id;
    if (!seen.insert(id).second)
      return violation(op, constraints.unique)
             << "replica_groups must not repeat, got " << id << " twice";
  }
  for (int64_t id = 0; constraints.coverAll && id < int64_t(seen.size()); ++id)
    if (!seen.contains(id))
      return violation(op, constraints.range)
             << "replica_groups must contain every id from 0 on, " << id << " is missing";
  return success();
}

template <typename Op> LogicalResult verifyGlobalIds(Op op, GroupConstraints constraints) {
  if (!op.getUseGlobalDeviceIds())
    return success();
  if (!op.getChannelHandle() || op.getChannelHandle()->getHandle() <= 0)
    return violation(op, constraints.channel)
           << "use_global_device_ids needs a channel_handle greater than 0";
  return success();
}

/// How many ids a group has, dynamic if not known here.
int64_t groupSize(Attribute attribute) {
  auto groups = dyn_cast<DenseIntElementsAttr>(attribute);
  return groups && groups.getType().getRank() == 2 ? groups.getType().getDimSize(1)
                                                   : ShapedType::kDynamic;
}

/// How many processes meet. A channel without global ids also takes in all
/// partitions, of which the program does not say how many there are.
template <typename Op> int64_t processGroupSize(Op op) {
  bool acrossPartitions = !op.getUseGlobalDeviceIds() && op.getChannelHandle() &&
                          op.getChannelHandle()->getHandle() > 0;
  return acrossPartitions ? ShapedType::kDynamic : groupSize(op.getReplicaGroups());
}

LogicalResult verifyPairCount(Operation *op, int constraint) {
  if (op->getNumOperands() != op->getNumResults())
    return violation(op, constraint) << "there must be as many results as operands, got "
                                     << op->getNumResults() << " and " << op->getNumOperands();
  return success();
}

} // namespace

//===----------------------------------------------------------------------===//
// Collectives.
//===----------------------------------------------------------------------===//

LogicalResult AllGatherOp::verify() {
  GroupConstraints constraints{2, 4, 5, /*coverAll=*/true, /*padded=*/false};
  if (failed(verifyGroups(*this, getReplicaGroups(), constraints)) ||
      failed(verifyGlobalIds(*this, constraints)) || failed(verifyPairCount(*this, 6)))
    return failure();
  int64_t dim = getAllGatherDim(), group = processGroupSize(*this);
  for (auto [operand, result] : llvm::zip(getOperands(), getResults())) {
    if (failed(verifyInRange(*this, 1, "all_gather_dim", dim, rankOf(operand))))
      return failure();
    SmallVector<int64_t> wanted(shapeOf(operand));
    bool known = !ShapedType::isDynamic(group) && !ShapedType::isDynamic(wanted[dim]);
    // A product that does not fit leaves -1, which no result can have.
    if (!known)
      wanted[dim] = ShapedType::kDynamic;
    else if (llvm::MulOverflow(wanted[dim], group, wanted[dim]))
      wanted[dim] = -1;
    if (failed(verifyShape(*this, 6, "result", shapeOf(result), wanted)))
      return failure();
  }
  return success();
}

LogicalResult AllReduceOp::verify() {
  GroupConstraints constraints{1, 3, 4};
  if (failed(verifyGroups(*this, getReplicaGroups(), constraints)) ||
      failed(verifyGlobalIds(*this, constraints)) || failed(verifyPairCount(*this, 6)))
    return failure();
  for (auto [operand, result] : llvm::zip(getOperands(), getResults()))
    if (failed(verifyShape(*this, 6, "result", shapeOf(result), shapeOf(operand))) ||
        failed(verifyReducer(*this, 5, 7, "computation", getComputation(), elementOf(operand))))
      return failure();
  return success();
}

LogicalResult ReduceScatterOp::verify() {
  GroupConstraints constraints{3, 5, 6, /*coverAll=*/true, /*padded=*/false};
  if (failed(verifyGroups(*this, getReplicaGroups(), constraints)) ||
      failed(verifyGlobalIds(*this, constraints)) ||
      failed(verifyInRange(*this, 2, "scatter_dimension", int64_t(getScatterDimension()),
                           rankOf(getOperand()))))
    return failure();
  int64_t group = processGroupSize(*this);
  SmallVector<int64_t> wanted(shapeOf(getOperand()));
  int64_t &size = wanted[getScatterDimension()];
  if (ShapedType::isDynamic(group) || ShapedType::isDynamic(size) || group == 0)
    size = ShapedType::kDynamic;
  else if (size % group != 0)
    return violation(*this, 1) << "dimension of size " << size << " must divide into " << group
                               << " parts";
  else
    size /= group;
  if (failed(verifyReducer(*this, 7, 9, "computation", getComputation(), elementOf(getOperand()))))
    return failure();
  return verifyShape(*this, 8, "result", shapeOf(getResult()), wanted);
}

LogicalResult AllToAllOp::verify() {
  if (failed(verifyGroups(*this, getReplicaGroups(),
                          {5, 7, 0, /*coverAll=*/true, /*padded=*/false})) ||
      failed(verifyPositive(*this, 4, "split_count", int64_t(getSplitCount()))) ||
      failed(verifyPairCount(*this, 9)))
    return failure();
  int64_t split = getSplitDimension(), concat = getConcatDimension(), count = getSplitCount();
  if (!sameSize(groupSize(getReplicaGroups()), count))
    return violation(*this, 8) << "replica groups must have split_count devices, " << count
                               << ", got " << groupSize(getReplicaGroups());
  for (auto [operand, result] : llvm::zip(getOperands(), getResults())) {
    if (failed(verifyInRange(*this, 1, "split_dimension", split, rankOf(operand))) ||
        failed(verifyInRange(*this, 3, "concat_dimension", concat, rankOf(operand))))
      return failure();
    SmallVector<int64_t> wanted(shapeOf(operand));
    if (!ShapedType::isDynamic(wanted[split]) && wanted[split] % count != 0)
      return violation(*this, 2) << "dimension of size " << wanted[split] << " must divide into "
                                 << count << " parts";
    if (split != concat) {
      if (!ShapedType::isDynamic(wanted[split]))
        wanted[split] /= count;
      if (!ShapedType::isDynamic(wanted[concat]) &&
          llvm::MulOverflow(wanted[concat], count, wanted[concat]))
        wanted[concat] = -1;
    }
    if (failed(verifyShape(*this, 9, "result", shapeOf(result), wanted)))
      return failure();
  }
  return success();
}

/// Operands without the one that names the root, if there is one.
static FailureOr<ValueRange> operandsWithoutRoot(Operation *op, bool dynamicRoot, int constraint) {
  ValueRange operands = op->getOperands();
  size_t extra = dynamicRoot ? 1 : 0;
  if (operands.size() < 1 + extra || op->getNumResults() + extra != operands.size())
    return violation(op, constraint)
           << "there must be as many results as operands" << (dynamicRoot ? " but the root" : "")
           << ", at least one, got " << op->getNumResults() << " and " << operands.size();
  if (dynamicRoot) {
    auto root = cast<RankedTensorType>(operands.back().getType());
    int64_t count = operands.size() - 1;
    if (!root.getElementType().isInteger(32) || !sameShape(root.getShape(), count))
      return violation(op, constraint)
             << "the root must be a vector of " << count << " i32, got " << root;
    operands = operands.drop_back();
  }
  return operands;
}

LogicalResult CollectiveBroadcastOp::verify() {
  if (failed(verifyGroups(*this, getReplicaGroups(), {1, 2, 0, /*coverAll=*/false})))
    return failure();
  FailureOr<ValueRange> operands =
      operandsWithoutRoot(*this, getHasDynamicRoot(), getHasDynamicRoot() ? 4 : 5);
  if (failed(operands))
    return failure();
  if (!areCompatibleTypes(operands->getTypes(), getResultTypes()))
    return violation(*this, getHasDynamicRoot() ? 4 : 3)
           << "operands and results must have the same types, got (" << operands->getTypes()
           << ") and (" << getResultTypes() << ")";
  return success();
}

LogicalResult CollectiveReduceOp::verify() {
  GroupConstraints constraints{1, 2, 4, /*coverAll=*/false};
  if (failed(verifyGroups(*this, getReplicaGroups(), constraints)) ||
      failed(verifyGlobalIds(*this, constraints)))
    return failure();
  FailureOr<ValueRange> operands = operandsWithoutRoot(*this, getHasDynamicRoot(), 3);
  if (failed(operands))
    return failure();
  for (auto [operand, result] : llvm::zip(*operands, getResults()))
    if (failed(verifyShape(*this, 3, "result", shapeOf(result), shapeOf(operand))) ||
        failed(verifyReducer(*this, 4, 4, "computation", getComputation(), elementOf(operand))))
      return failure();
  return success();
}

/// C1 to C4 of operations that send from device to device.
static LogicalResult verifySourceTargetPairs(Operation *op, DenseIntElementsAttr pairs) {
  ShapedType type = pairs.getType();
  if (type.getRank() != 2 || type.getDimSize(1) != 2)
    return violation(op, 1) << "source_target_pairs must be an n x 2 matrix, got " << type;
  if (pairs.isSplat() && type.getDimSize(0) > 1)
    return violation(op, 2) << "sources must not repeat one id";
  SmallVector<int64_t> sources, targets;
  for (auto [index, id] : llvm::enumerate(pairs.getValues<int64_t>())) {
    if (id < 0)
      return violation(op, 4) << "source_target_pairs must not be negative, got " << id;
    (index % 2 ? targets : sources).push_back(id);
  }
  if (failed(verifyUnique(op, 2, "sources", sources)))
    return failure();
  return verifyUnique(op, 3, "targets", targets);
}

LogicalResult CollectivePermuteOp::verify() {
  if (failed(verifySourceTargetPairs(*this, getSourceTargetPairs())))
    return failure();
  return verifyShape(*this, 5, "result", shapeOf(getResult()), shapeOf(getOperand()));
}

/// A mesh that replica groups name exists. It may be of another dialect (sdy).
static LogicalResult verifyMeshSymbol(Operation *op, Attribute groups,
                                      SymbolTableCollection &symbols) {
  auto byAxes = dyn_cast<ReplicaGroupMeshAxesAttr>(groups);
  auto symbol = byAxes ? dyn_cast<FlatSymbolRefAttr>(byAxes.getMesh()) : FlatSymbolRefAttr();
  if (symbol && !symbols.lookupNearestSymbolFrom(op, symbol))
    return op->emitOpError("replica_groups name an unknown mesh ") << symbol;
  return success();
}

#define MESH_SYMBOL(OP)                                                                            \
  LogicalResult OP::verifySymbolUses(SymbolTableCollection &symbols) {                             \
    return verifyMeshSymbol(*this, getReplicaGroups(), symbols);                                   \
  }
MESH_SYMBOL(AllGatherOp)
MESH_SYMBOL(AllReduceOp)
MESH_SYMBOL(AllToAllOp)
MESH_SYMBOL(CollectiveBroadcastOp)
MESH_SYMBOL(CollectiveReduceOp)
MESH_SYMBOL(ReduceScatterOp)
#undef MESH_SYMBOL

//===----------------------------------------------------------------------===//
// The host.
//===----------------------------------------------------------------------===//

/// Results are tensors and then a token. The constraints, by number, are: there is
/// one; the first are tensors; the last is a token.
static LogicalResult verifyTensorsThenToken(Operation *op, StringRef prefix,
                                            std::array<int, 3> numbers) {
  auto error = [&](int index) { return op->emitOpError() << prefix << numbers[index] << ": "; };
  if (op->getNumResults() == 0)
    return error(0) << "there must be a result";
  SmallVector<Type> types(op->getResultTypes());
  for (Type type : llvm::drop_end(types))
    if (!isa<RankedTensorType>(type))
      return error(1) << "all results but the last must be tensors, got " << type;
  if (!isa<TokenType>(types.back()))
    return error(2) << "the last result must be a token, got " << types.back();
  return success();
}

/// `layout` has, for each tensor, the order of its dimensions.
static LogicalResult verifyInfeedLayout(InfeedOp op) {
  ArrayAttr layout = op.getLayoutAttr();
  if (!layout)
    return success();
  if (layout.size() + 1 != op->getNumResults())
    return op.emitOpError("layout must have an element for each of ")
           << op->getNumResults() - 1 << " tensors, got " << layout.size();
  for (Attribute order : layout) {
    auto dims = dyn_cast<ArrayAttr>(order);
    if (!dims || !llvm::all_of(dims, [](Attribute dim) { return isa<IntegerAttr>(dim); }))
      return op.emitOpError("layout must hold arrays of integers, got ") << order;
  }
  return success();
}

LogicalResult InfeedOp::verify() {
  if (failed(verifyTensorsThenToken(*this, "infeed_c", {1, 2, 3})))
    return failure();
  return verifyInfeedLayout(*this);
}

/// What send and recv have in common.
template <typename Op> static LogicalResult verifyChannel(Op op) {
  if (op.getSourceTargetPairs() && failed(verifySourceTargetPairs(op, *op.getSourceTargetPairs())))
    return failure();
  return success();
}

LogicalResult SendOp::verify() {
  // 1 is device to device, 2 device to host.
  int64_t type = getChannelHandle().getType();
  if (type != (getIsHostTransfer() ? 2 : 1))
    return violation(*this, 5) << "channel_type must be " << (getIsHostTransfer() ? 2 : 1)
                               << ", got " << type;
  return verifyChannel(*this);
}

LogicalResult RecvOp::verify() {
  // 1 is device to device, 3 host to device.
  int64_t type = getChannelHandle().getType();
  if (type != (getIsHostTransfer() ? 3 : 1))
    return violation(*this, 5) << "channel_type must be " << (getIsHostTransfer() ? 3 : 1)
                               << ", got " << type;
  if (failed(verifyTensorsThenToken(*this, "recv_o", {1, 1, 2})))
    return failure();
  return verifyChannel(*this);
}

} // namespace spokeshave::stablehlo
