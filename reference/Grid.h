//===- Grid.h - processes that run side by side and meet -------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The process grid of the specification's chapter on parallel execution, within
// this process. Each process of the grid has a thread, but only one runs at a
// time: it gives way only where it waits for others, to the first that can go
// on. So a program always runs in the same way, and nothing but passing the turn
// needs a lock. Where all wait and none can go on, all end with an error.
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
  mlir::FailureOr<llvm::SmallVector<Results>>
  exchange(Call &call, llvm::StringRef what, llvm::ArrayRef<int64_t> group, Results brought);
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

  /// What a process of the grid is doing.
  struct State {
    const std::function<bool()> *waitsFor = nullptr; ///< null: nothing
    bool finished = false;
  };

  int64_t idOf(const Call &call) const {
    const Process &where = call.evaluator.where();
    return where.replica * partitions + where.partition;
  }
  /// Gives way until `ready`; fails if that never comes or another failed.
  mlir::LogicalResult waitUntil(Call &call, const std::function<bool()> &ready);
  /// Gives the turn to the first process that can go on.
  void passTurn();
  void runProcess(int64_t id, mlir::func::FuncOp program, llvm::ArrayRef<Tensor> arguments,
                  Results &results, const Options &options);

  int64_t replicas, partitions;
  std::mutex mutex; // held by whoever has the turn
  std::condition_variable turnChanged;
  int64_t turn = 0;
  std::vector<State> states;
  std::map<Key, std::shared_ptr<Meeting>> meetings;
  std::map<int64_t, std::deque<Results>> channels;
  bool failed = false, stuck = false;
};

} // namespace spokeshave::reference
