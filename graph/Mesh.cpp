//===- Mesh.cpp - which device holds which part of a tensor ----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "graph/Mesh.h"

#include <map>

using namespace mlir;

namespace spokeshave::graph {

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

/// The most devices that a mesh may have: more than any machine, few enough to
/// be listed.
constexpr int64_t kMostDevices = 1 << 16;

FailureOr<Mesh> Mesh::make(Operation *op, Mesh mesh) {
  int64_t count = 1;
  for (int64_t size : mesh.sizes) {
    if (size < 1 || count > kMostDevices / size)
      return op->emitOpError() << "has a mesh of too many devices, or of none";
    count *= size;
  }
  if (mesh.devices.empty())
    mesh.devices = llvm::to_vector(llvm::seq<int64_t>(0, count));
  if (int64_t(mesh.devices.size()) != count)
    return op->emitOpError() << "has a mesh whose devices do not fit its axes";
  return mesh;
}

FailureOr<Mesh> Mesh::of(Operation *op, sdy::MeshAttr attribute) {
  if (!attribute)
    return op->emitOpError() << "names no mesh that can be found";
  Mesh mesh;
  for (sdy::MeshAxisAttr axis : attribute.getAxes()) {
    mesh.names.push_back(axis.getName().str());
    mesh.sizes.push_back(axis.getSize());
  }
  llvm::append_range(mesh.devices, attribute.getDeviceIds());
  return make(op, std::move(mesh));
}

FailureOr<Mesh> Mesh::of(Operation *op, stablehlo::MeshAttr attribute) {
  Mesh mesh;
  for (stablehlo::MeshAxisAttr axis : attribute.getAxes()) {
    mesh.names.push_back(axis.getName().str());
    mesh.sizes.push_back(axis.getSize());
  }
  if (DenseIntElementsAttr ids = attribute.getDeviceIds())
    for (const APInt &id : ids.getValues<APInt>())
      mesh.devices.push_back(id.getSExtValue());
  return make(op, std::move(mesh));
}

FailureOr<AxisPart> Mesh::find(Operation *op, StringRef name, int64_t preSize, int64_t size) const {
  auto found = llvm::find(names, name);
  if (found == names.end())
    return op->emitOpError() << "names the axis '" << name << "', which its mesh lacks";
  size_t axis = found - names.begin();
  if (size == 0)
    return AxisPart{axis, 1, sizes[axis]};
  if (preSize < 1 || size < 1 || sizes[axis] % (preSize * size) != 0)
    return op->emitOpError() << "names a part that the axis '" << name << "' does not have";
  return AxisPart{axis, sizes[axis] / (preSize * size), size};
}

SmallVector<int64_t> Mesh::coordinate(int64_t device) const {
  int64_t position = llvm::find(devices, device) - devices.begin();
  SmallVector<int64_t> result(sizes.size());
  for (size_t axis = sizes.size(); axis-- > 0;) {
    result[axis] = position % sizes[axis];
    position /= sizes[axis];
  }
  return result;
}

int64_t Mesh::indexOf(int64_t device, ArrayRef<AxisPart> parts) const {
  SmallVector<int64_t> at = coordinate(device);
  int64_t index = 0;
  for (const AxisPart &part : parts)
    index = index * part.size + at[part.axis] / part.unit % part.size;
  return index;
}

DeviceGroups Mesh::groupsAlong(ArrayRef<AxisPart> parts) const {
  // By what is left of the coordinate without those parts.
  std::map<SmallVector<int64_t>, std::map<int64_t, int64_t>> members;
  for (int64_t device : devices) {
    SmallVector<int64_t> rest = coordinate(device);
    for (const AxisPart &part : parts)
      rest[part.axis] -= rest[part.axis] / part.unit % part.size * part.unit;
    members[rest][indexOf(device, parts)] = device;
  }
  DeviceGroups groups;
  for (const auto &[rest, group] : members) {
    groups.emplace_back();
    for (auto [index, device] : group)
      groups.back().push_back(device);
  }
  return groups;
}

//===----------------------------------------------------------------------===//
// Splits
//===----------------------------------------------------------------------===//

FailureOr<Split> Split::of(Operation *op, sdy::TensorShardingAttr sharding,
                           std::optional<ArrayRef<StringAttr>> manual) {
  FailureOr<Mesh> mesh = Mesh::of(op, sharding.getMesh(op));
  if (failed(mesh))
    return failure();
  if (!sharding.getUnreducedAxes().empty())
    return op->emitOpError() << "has a sharding with unreduced axes, which is not supported";
  Split split;
  split.mesh = std::move(*mesh);
  for (sdy::DimensionShardingAttr dim : sharding.getDimShardings()) {
    SmallVector<AxisPart> &parts = split.axes.emplace_back();
    for (sdy::AxisRefAttr axis : dim.getAxes()) {
      auto isNamed = [&](StringAttr name) { return name.getValue() == axis.getName(); };
      if (manual && llvm::none_of(*manual, isNamed))
        continue;
      sdy::SubAxisInfoAttr part = axis.getSubAxisInfo();
      FailureOr<AxisPart> found = split.mesh.find(op, axis.getName(), part ? part.getPreSize() : 1,
                                                  part ? part.getSize() : 0);
      if (failed(found))
        return failure();
      parts.push_back(*found);
    }
  }
  return split;
}

int64_t Split::partsOf(size_t dim) const {
  int64_t count = 1;
  for (const AxisPart &part : axes[dim])
    count *= part.size;
  return count;
}

bool Split::isWhole() const {
  return llvm::all_of(llvm::seq<size_t>(0, rank()), [&](size_t dim) { return partsOf(dim) == 1; });
}

FailureOr<RankedTensorType> Split::localType(Operation *op, RankedTensorType whole) const {
  if (whole.getRank() != int64_t(rank()))
    return op->emitOpError() << "has a sharding of rank " << rank() << " for " << whole;
  SmallVector<int64_t> shape(whole.getShape());
  for (size_t dim = 0; dim < rank(); ++dim) {
    if (shape[dim] % partsOf(dim) != 0)
      return op->emitOpError() << "splits dimension " << dim << " of " << whole << " into "
                               << partsOf(dim) << " parts, which does not come out even";
    shape[dim] /= partsOf(dim);
  }
  return whole.clone(shape);
}

bool Split::operator==(const Split &other) const {
  if (rank() != other.rank() || devices() != other.devices())
    return false;
  for (size_t dim = 0; dim < rank(); ++dim) {
    if (partsOf(dim) != other.partsOf(dim))
      return false;
    for (int64_t device = 0; device < devices(); ++device)
      if (indexOf(device, dim) != other.indexOf(device, dim))
        return false;
  }
  return true;
}

} // namespace spokeshave::graph
