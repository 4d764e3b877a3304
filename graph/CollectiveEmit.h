//===- CollectiveEmit.h - writing what processes do with each other --------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "graph/Emit.h"
#include "graph/Processes.h"

namespace spokeshave::graph {

/// Makes the operations in which processes meet, in the one form that the
/// runtime has: a tensor per operation, ids of processes in groups, parts along
/// a leading dimension.
class CollectiveEmit {
public:
  CollectiveEmit(mlir::OpBuilder &builder, mlir::Location loc, Processes processes,
                 std::optional<stablehlo::ChannelHandleAttr> channel = {})
      : emit(builder, loc), builder(builder), loc(loc), processes(processes), channel(channel) {}

  /// The number of the process, i32.
  mlir::Value processId();
  /// Row `process` of a table with a row of `columns` numbers per process: i32[columns].
  mlir::Value rowOf(llvm::ArrayRef<int32_t> table, int64_t columns);
  /// Element `column` of such a row, as a scalar.
  mlir::Value element(mlir::Value row, int64_t column);
  /// A bool per process, as a scalar.
  mlir::Value flagOf(llvm::ArrayRef<bool> flags);

  /// T[shape] of every member -> T[members, shape], in the group's order. The
  /// groups have one size and leave out no process.
  mlir::Value stack(mlir::Value value, const DeviceGroups &groups);
  /// T[members, shape] -> T[members, shape]: part i goes to member i, and what
  /// member i sent comes as part i. The attribute graph.of_reduction says that the
  /// parts are combined then: links between chips could do that on the way.
  mlir::Value exchange(mlir::Value parts, const DeviceGroups &groups, bool ofReduction = false);
  /// Each member gets what the first one has; processes outside of all groups zeros.
  mlir::Value broadcastFirst(mlir::Value value, const DeviceGroups &groups);
  /// Pairs of source and target; zeros for who is no target.
  mlir::Value permute(mlir::Value value, const DeviceGroups &pairs);

  /// T[index, shape] -> T[shape], the index known when run.
  mlir::Value pick(mlir::Value stacked, mlir::Value index);
  /// `condition ? a : b`, the condition a scalar.
  mlir::Value choose(mlir::Value condition, mlir::Value a, mlir::Value b);
  /// Dimension `from` moves to the place `to`.
  mlir::Value move(mlir::Value value, int64_t from, int64_t to);
  /// T[.., n, ..] -> T[.., parts, n / parts, ..]
  mlir::Value divide(mlir::Value value, int64_t dim, int64_t parts);

  Emit emit;

private:
  mlir::DenseIntElementsAttr matrix(const DeviceGroups &groups);
  stablehlo::ChannelHandleAttr channelOrDefault();

  mlir::OpBuilder &builder;
  mlir::Location loc;
  Processes processes;
  std::optional<stablehlo::ChannelHandleAttr> channel;
};

} // namespace spokeshave::graph
