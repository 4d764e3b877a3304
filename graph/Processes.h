//===- Processes.h - the devices that a program runs on --------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program runs on replicas x partitions devices. A process is one of its runs:
// replica * partitions + partition.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "graph/Mesh.h"

#include "mlir/IR/BuiltinOps.h"

namespace spokeshave::graph {

struct Processes {
  int64_t replicas = 1, partitions = 1;
  int64_t count() const { return replicas * partitions; }
  /// What `module` says: mhlo.num_replicas and mhlo.num_partitions.
  static Processes of(mlir::ModuleOp module);
};

/// The specification's ways to read replica groups.
enum class GroupStrategy { CrossReplica, CrossPartition, CrossReplicaAndPartition, FlattenedIds };

/// The groups of processes that `groups` (a matrix of ids padded with -1, or axes
/// of a mesh; none: one group of all) means. Diagnostics at `op` for ids beyond
/// the program's devices.
mlir::FailureOr<DeviceGroups> processGroups(mlir::Operation *op, mlir::Attribute groups,
                                            GroupStrategy strategy, Processes processes);

} // namespace spokeshave::graph
