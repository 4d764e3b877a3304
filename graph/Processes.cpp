//===- Processes.cpp - the devices that a program runs on ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "graph/Processes.h"

using namespace mlir;

namespace spokeshave::graph {

Processes Processes::of(ModuleOp module) {
  auto count = [&](StringRef name) -> int64_t {
    auto attribute = module->getAttrOfType<IntegerAttr>(name);
    return attribute ? std::max<int64_t>(1, attribute.getInt()) : 1;
  };
  return {count("mhlo.num_replicas"), count("mhlo.num_partitions")};
}

/// The mesh that an attribute is or that a symbol names.
static FailureOr<Mesh> meshOf(Operation *op, Attribute reference) {
  if (auto mesh = dyn_cast<stablehlo::MeshAttr>(reference))
    return Mesh::of(op, mesh);
  if (auto symbol = dyn_cast<SymbolRefAttr>(reference))
    if (Operation *named = SymbolTable::lookupNearestSymbolFrom(op, symbol)) {
      for (StringRef name : {"mesh", "stablehlo.mesh"})
        if (auto mesh = named->getAttrOfType<stablehlo::MeshAttr>(name))
          return Mesh::of(op, mesh);
      if (auto mesh = dyn_cast<sdy::MeshOp>(named))
        return Mesh::of(op, mesh.getMesh());
    }
  return op->emitOpError() << "names no mesh that can be found";
}

static FailureOr<DeviceGroups> groupsOfAxes(Operation *op,
                                            stablehlo::ReplicaGroupMeshAxesAttr attribute) {
  FailureOr<Mesh> mesh = meshOf(op, attribute.getMesh());
  if (failed(mesh))
    return failure();
  SmallVector<AxisPart> parts;
  for (Attribute axis : attribute.getAxes()) {
    auto reference = dyn_cast<stablehlo::AxisRefAttr>(axis);
    if (!reference)
      return op->emitOpError() << "has replica groups that name no axes";
    stablehlo::SubAxisInfoAttr part = reference.getSubAxisInfo();
    FailureOr<AxisPart> found = mesh->find(op, reference.getName(), part ? part.getPreSize() : 1,
                                           part ? part.getSize() : 0);
    if (failed(found))
      return failure();
    parts.push_back(*found);
  }
  return mesh->groupsAlong(parts);
}

static FailureOr<DeviceGroups> groupsOfMatrix(Operation *op, Attribute attribute) {
  auto matrix = dyn_cast<DenseIntElementsAttr>(attribute);
  if (!matrix || matrix.getType().getRank() != 2)
    return op->emitOpError() << "has replica groups that are not a matrix";
  DeviceGroups groups(matrix.getType().getDimSize(0));
  int64_t columns = matrix.getType().getDimSize(1), position = 0;
  for (const APInt &id : matrix.getValues<APInt>()) {
    if (id.getSExtValue() != -1)
      groups[position / columns].push_back(id.getSExtValue());
    ++position;
  }
  llvm::erase_if(groups, [](const DeviceGroup &group) { return group.empty(); });
  return groups;
}

/// The processes that a group of ids means.
static void expandGroup(const DeviceGroup &ids, GroupStrategy strategy, Processes processes,
                        DeviceGroups &result) {
  auto [replicas, partitions] = processes;
  switch (strategy) {
  case GroupStrategy::FlattenedIds:
    result.push_back(ids);
    return;
  case GroupStrategy::CrossReplicaAndPartition: {
    DeviceGroup &group = result.emplace_back();
    for (int64_t partition = 0; partition < partitions; ++partition)
      for (int64_t replica : ids)
        group.push_back(replica * partitions + partition);
    return;
  }
  case GroupStrategy::CrossReplica:
    for (int64_t partition = 0; partition < partitions; ++partition) {
      DeviceGroup &group = result.emplace_back();
      for (int64_t replica : ids)
        group.push_back(replica * partitions + partition);
    }
    return;
  case GroupStrategy::CrossPartition:
    for (int64_t replica = 0; replica < replicas; ++replica) {
      DeviceGroup &group = result.emplace_back();
      for (int64_t partition : ids)
        group.push_back(replica * partitions + partition);
    }
    return;
  }
}

FailureOr<DeviceGroups> processGroups(Operation *op, Attribute attribute, GroupStrategy strategy,
                                      Processes processes) {
  FailureOr<DeviceGroups> ids = failure();
  if (auto axes = dyn_cast<stablehlo::ReplicaGroupMeshAxesAttr>(attribute))
    ids = groupsOfAxes(op, axes);
  else
    ids = groupsOfMatrix(op, attribute);
  if (failed(ids))
    return failure();
  int64_t bound = strategy == GroupStrategy::FlattenedIds     ? processes.count()
                  : strategy == GroupStrategy::CrossPartition ? processes.partitions
                                                              : processes.replicas;
  if (ids->empty())
    ids->push_back(llvm::to_vector(llvm::seq<int64_t>(0, bound)));
  DeviceGroups result;
  for (const DeviceGroup &group : *ids) {
    for (int64_t id : group)
      if (id < 0 || id >= bound)
        return op->emitOpError() << "has id " << id << " in its groups, but the program has only "
                                 << bound << " of them (" << processes.replicas << " replicas, "
                                 << processes.partitions << " partitions)";
    expandGroup(group, strategy, processes, result);
  }
  return result;
}

} // namespace spokeshave::graph
