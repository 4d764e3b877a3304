//===- ReplicaGroups.h - which processes meet in a collective --------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "reference/Evaluator.h"

namespace spokeshave::reference {

/// Processes by id: replica * partitions + partition.
using ProcessGroup = llvm::SmallVector<int64_t>;
using ProcessGroups = std::vector<ProcessGroup>;

/// The specification's four ways to read replica groups.
enum class GroupStrategy { CrossReplica, CrossPartition, CrossReplicaAndPartition, FlattenedIds };

/// The process groups of a collective. `groups` is a matrix of ids, rows padded
/// with -1, or names axes of a mesh. An empty matrix means one group of all.
mlir::FailureOr<ProcessGroups> processGroups(Call &call, mlir::Attribute groups,
                                             GroupStrategy strategy);

} // namespace spokeshave::reference
