//===- ReplicaGroups.cpp - which processes meet in a collective ------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "reference/ReplicaGroups.h"

#include "input/StablehloOps.h"
#include "reference/Grid.h"

#include <map>

using namespace mlir;

namespace spokeshave::reference {

//===----------------------------------------------------------------------===//
// Groups by the axes of a mesh.
//===----------------------------------------------------------------------===//

static stablehlo::MeshAttr findMesh(Call &call, Attribute reference) {
  if (auto mesh = dyn_cast<stablehlo::MeshAttr>(reference))
    return mesh;
  if (auto symbol = dyn_cast<SymbolRefAttr>(reference))
    if (Operation *op = SymbolTable::lookupNearestSymbolFrom(call.op, symbol))
      return op->getAttrOfType<stablehlo::MeshAttr>("mesh");
  return {};
}

namespace {
/// A digit of a device's coordinate: coordinate[axis] / unit % size.
struct Digit {
  size_t axis;
  int64_t unit, size;
};
} // namespace

static FailureOr<SmallVector<Digit>> readAxes(Call &call, stablehlo::MeshAttr mesh,
                                              ArrayAttr axes) {
  SmallVector<Digit> digits;
  for (Attribute attribute : axes) {
    auto reference = dyn_cast<stablehlo::AxisRefAttr>(attribute);
    const auto *axis = llvm::find_if(mesh.getAxes(), [&](stablehlo::MeshAxisAttr candidate) {
      return reference && candidate.getName() == reference.getName();
    });
    if (axis == mesh.getAxes().end())
      return call.error() << "names an axis that its mesh lacks";
    Digit digit{static_cast<size_t>(axis - mesh.getAxes().begin()), 1, axis->getSize()};
    if (stablehlo::SubAxisInfoAttr part = reference.getSubAxisInfo()) {
      int64_t taken = part.getPreSize() * part.getSize();
      if (part.getPreSize() < 1 || part.getSize() < 1 || axis->getSize() % taken)
        return call.error() << "names a part that its mesh's axis does not have";
      digit.unit = axis->getSize() / taken;
      digit.size = part.getSize();
    }
    digits.push_back(digit);
  }
  return digits;
}

/// Devices that differ only in the given digits form a group, ordered by them.
static FailureOr<ProcessGroups> groupsOfMesh(Call &call, stablehlo::ReplicaGroupMeshAxesAttr attr) {
  stablehlo::MeshAttr mesh = findMesh(call, attr.getMesh());
  if (!mesh)
    return call.error() << "names no mesh that can be found";
  FailureOr<SmallVector<Digit>> digits = readAxes(call, mesh, attr.getAxes());
  if (failed(digits))
    return failure();
  Index shape;
  for (stablehlo::MeshAxisAttr axis : mesh.getAxes())
    shape.push_back(axis.getSize());
  SmallVector<int64_t> devices;
  if (DenseIntElementsAttr ids = mesh.getDeviceIds())
    for (const APInt &id : ids.getValues<APInt>())
      devices.push_back(id.getSExtValue());
  else
    devices = llvm::to_vector(llvm::seq<int64_t>(0, std::max<int64_t>(0, elementCount(shape))));
  if (static_cast<int64_t>(devices.size()) != elementCount(shape))
    return call.error() << "has a mesh whose device_ids do not fit its axes";

  std::map<std::vector<int64_t>, std::map<int64_t, int64_t>> members;
  int64_t linear = 0;
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    std::vector<int64_t> rest(index.begin(), index.end());
    int64_t rank = 0;
    for (const Digit &digit : *digits) {
      int64_t value = index[digit.axis] / digit.unit % digit.size;
      rank = rank * digit.size + value;
      rest[digit.axis] -= value * digit.unit;
    }
    members[rest][rank] = devices[linear++];
  });
  ProcessGroups groups;
  for (const auto &[rest, group] : members) {
    groups.emplace_back();
    for (auto [rank, device] : group)
      groups.back().push_back(device);
  }
  return groups;
}

//===----------------------------------------------------------------------===//
// Strategies.
//===----------------------------------------------------------------------===//

static FailureOr<ProcessGroups> readMatrix(Call &call, Attribute attribute) {
  auto matrix = dyn_cast<DenseIntElementsAttr>(attribute);
  if (!matrix || matrix.getType().getRank() != 2)
    return call.error() << "has replica groups that are not a matrix";
  ProcessGroups groups(matrix.getType().getDimSize(0));
  int64_t columns = matrix.getType().getDimSize(1), i = 0;
  for (const APInt &id : matrix.getValues<APInt>()) {
    if (id.getSExtValue() != -1)
      groups[i / columns].push_back(id.getSExtValue());
    ++i;
  }
  llvm::erase_if(groups, [](const ProcessGroup &group) { return group.empty(); });
  return groups;
}

FailureOr<ProcessGroups> processGroups(Call &call, Attribute attribute, GroupStrategy strategy) {
  FailureOr<ProcessGroups> ids = failure();
  if (auto mesh = dyn_cast<stablehlo::ReplicaGroupMeshAxesAttr>(attribute))
    ids = groupsOfMesh(call, mesh);
  else
    ids = readMatrix(call, attribute);
  if (failed(ids))
    return failure();
  Grid *grid = call.evaluator.where().grid;
  int64_t replicas = grid ? grid->numReplicas() : 1, partitions = grid ? grid->numPartitions() : 1;
  if (ids->empty()) {
    int64_t count = strategy == GroupStrategy::FlattenedIds     ? replicas * partitions
                    : strategy == GroupStrategy::CrossPartition ? partitions
                                                                : replicas;
    ids->push_back(llvm::to_vector(llvm::seq<int64_t>(0, count)));
  }
  // Out-of-range ids would alias other processes once flattened.
  int64_t bound = strategy == GroupStrategy::FlattenedIds     ? replicas * partitions
                  : strategy == GroupStrategy::CrossPartition ? partitions
                                                              : replicas;
  for (const ProcessGroup &group : *ids)
    for (int64_t id : group)
      if (id < 0 || id >= bound)
        return call.error() << "has id " << id << " in its replica groups, beyond " << bound;

  ProcessGroups result;
  for (const ProcessGroup &group : *ids) {
    if (strategy == GroupStrategy::FlattenedIds) {
      result.push_back(group);
      continue;
    }
    if (strategy == GroupStrategy::CrossReplicaAndPartition) {
      ProcessGroup processes;
      for (int64_t partition = 0; partition < partitions; ++partition)
        for (int64_t replica : group)
          processes.push_back(replica * partitions + partition);
      result.push_back(processes);
      continue;
    }
    bool acrossReplicas = strategy == GroupStrategy::CrossReplica;
    for (int64_t other = 0; other < (acrossReplicas ? partitions : replicas); ++other) {
      ProcessGroup processes;
      for (int64_t id : group)
        processes.push_back(acrossReplicas ? id * partitions + other : other * partitions + id);
      result.push_back(processes);
    }
  }
  return result;
}

} // namespace spokeshave::reference
