//===- Mesh.h - which device holds which part of a tensor ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Meshes and shardings of the sdy and stablehlo dialects as plain numbers.
// A device is named by its number in the mesh, which is its partition.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "input/SdyOps.h"
#include "input/StablehloOps.h"

#include <vector>

namespace spokeshave::graph {

/// Devices that meet, in the order in which their parts are joined.
using DeviceGroup = llvm::SmallVector<int64_t>;
using DeviceGroups = std::vector<DeviceGroup>;

/// An axis of a mesh or a part of one: coordinate[axis] / unit % size.
struct AxisPart {
  size_t axis;
  int64_t unit, size;
};

/// Devices as a grid with named axes.
class Mesh {
public:
  /// Diagnostics at `op` for a mesh that does not add up.
  static mlir::FailureOr<Mesh> of(mlir::Operation *op, sdy::MeshAttr mesh);
  static mlir::FailureOr<Mesh> of(mlir::Operation *op, stablehlo::MeshAttr mesh);

  int64_t size() const { return devices.size(); }
  /// The axis named so, or the part of it that `preSize` and `size` say (0: all).
  mlir::FailureOr<AxisPart> find(mlir::Operation *op, llvm::StringRef name, int64_t preSize,
                                 int64_t size) const;
  /// Where `device` is along `parts`, the first one counting most.
  int64_t indexOf(int64_t device, llvm::ArrayRef<AxisPart> parts) const;
  /// Devices that differ along `parts` alone, ordered along them.
  DeviceGroups groupsAlong(llvm::ArrayRef<AxisPart> parts) const;

private:
  static mlir::FailureOr<Mesh> make(mlir::Operation *op, Mesh mesh);
  llvm::SmallVector<int64_t> coordinate(int64_t device) const;

  llvm::SmallVector<std::string> names;
  llvm::SmallVector<int64_t> sizes, devices;
};

/// How a tensor is cut: each dimension into parts along axes of a mesh.
class Split {
public:
  /// Reads `sharding`; axes outside of `manual`, where given, are left out.
  /// Diagnostics at `op`; a sharding with unreduced axes is not supported.
  static mlir::FailureOr<Split> of(mlir::Operation *op, sdy::TensorShardingAttr sharding,
                                   std::optional<llvm::ArrayRef<mlir::StringAttr>> manual = {});

  /// Does every device hold all of it?
  bool isWhole() const;
  int64_t partsOf(size_t dim) const;
  /// Which part of dimension `dim` the device holds.
  int64_t indexOf(int64_t device, size_t dim) const { return mesh.indexOf(device, axes[dim]); }
  /// The devices that together hold dimension `dim`.
  DeviceGroups groupsOf(size_t dim) const { return mesh.groupsAlong(axes[dim]); }
  size_t rank() const { return axes.size(); }
  int64_t devices() const { return mesh.size(); }
  /// The type of a device's part. Diagnostics where a dimension does not divide.
  mlir::FailureOr<mlir::RankedTensorType> localType(mlir::Operation *op,
                                                    mlir::RankedTensorType whole) const;
  /// The same part on every device?
  bool operator==(const Split &other) const;

private:
  Mesh mesh;
  llvm::SmallVector<llvm::SmallVector<AxisPart>> axes; ///< of each dimension
};

} // namespace spokeshave::graph
