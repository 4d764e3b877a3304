//===- Grid.h - processes that run side by side and meet -------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The process grid of the specification's chapter on parallel execution, within
// this process. Each process of the grid has a thread, but only one runs at a
// time: a thread gives way only where it waits for others. So a program always
// runs in the same way, and nothing but the waiting needs a lock. Where all wait
// and none can go on, all end with an error.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "reference/Evaluator.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>

namespace spokeshave::reference {

class Grid {
public:
  Grid(int64_t replicas, int64_t partitions) : replicas(replicas), partitions(partitions) {}

  int64_t numReplicas() const { return replicas; }
  int64_t numPartitions() const { return partitions; }

  /// Runs one program per process, ids being replica * partitions + partition.
  mlir::LogicalResult run(llvm::ArrayRef<mlir::func::FuncOp> programs,
                          llvm::ArrayRef<llvm::SmallVector<Tensor>> arguments,
                          llvm::SmallVectorImpl<llvm::SmallVector<Tensor>> &results,
                          const Options &options);

  /// Waits until all of `group` are here with the same `what`, and returns what
  /// each of them brought, in the group's order.
  mlir::FailureOr<llvm::SmallVector<Results>> exchange(Call &call, llvm::StringRef what,
                                                       llvm::ArrayRef<int64_t> group,
                                                       Results brought);
  /// Channels are queues; receiving waits.
  void send(int64_t channel, Results values);
  mlir::FailureOr<Results> receive(Call &call, int64_t channel);

  /// Functions whose results an infeed reads, in order.
  std::deque<mlir::func::FuncOp> infeed;
  std::vector<Results> outfeed;

private:
  struct Meeting {
    std::map<int64_t, Results> brought;
    bool complete = false;
  };
  using Key = std::pair<std::string, std::vector<int64_t>>;

  /// Gives way until `ready`; fails if the grid is stuck or another failed.
  mlir::LogicalResult waitUntil(Call &call, const std::function<bool()> &ready);
  bool isStuck() const;

  int64_t replicas, partitions;
  std::mutex mutex; // held by whoever runs
  std::condition_variable changed;
  std::map<Key, std::shared_ptr<Meeting>> meetings;
  std::map<int64_t, std::deque<Results>> channels;
  std::vector<const std::function<bool()> *> waiting;
  int64_t live = 0;
  bool failed = false;
};

} // namespace spokeshave::reference
