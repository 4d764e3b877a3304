//===- Exchange.h - where the devices of one execution meet ----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program for several devices runs once on each, on threads of their own. In a
// collective each member of a group shows its operand and takes what it needs
// from the others' memory: bytes are copied once, by the device that wants them.
//
// Nobody waits forever. A device that fails, or ends without taking part, frees
// those that wait for it; so does a state in which all that still run wait for
// each other; and so does the time limit. The error says who waited where, and
// who did not come.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "support/Error.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace spokeshave::runtime {

/// The longest that a device waits for others: SPOKESHAVE_COLLECTIVE_TIMEOUT in
/// seconds, 600 if it is not set or no positive number.
std::chrono::milliseconds collectiveTimeout();

/// One execution's. Devices are numbered from 0: replica * partitions + partition.
class Exchange {
public:
  Exchange(int64_t replicas, int64_t partitions,
           std::chrono::milliseconds timeout = collectiveTimeout());
  ~Exchange();
  Exchange(const Exchange &) = delete;
  Exchange &operator=(const Exchange &) = delete;

  const int64_t replicas, partitions;
  int64_t devices() const { return replicas * partitions; }

  /// A collective as one of its members sees it.
  struct Meeting {
    std::string key;  ///< the same for all members: operation and channel
    std::string what; ///< for messages: "all_gather (at model.py:3)"
    llvm::ArrayRef<int64_t> members;
    const void *operand = nullptr;
    int64_t bytes = 0; ///< of the operand, equal for all
  };
  using Take = llvm::function_ref<void(llvm::ArrayRef<const void *>)>;

  /// The n-th meeting of `self` under key and members is that of the others. Calls
  /// `take` with the operands in the order of the members when all are there, and
  /// returns when all have taken. `cancel` may be null. Errors: DevicesApart,
  /// Cancelled.
  llvm::Error meet(int64_t self, const Meeting &meeting, const volatile int32_t *cancel, Take take);

  /// Values on their way, in the order in which they were sent.
  using Values = std::vector<std::string>;
  void send(int64_t channel, Values values);
  llvm::Error receive(int64_t self, int64_t channel, const std::string &what,
                      const volatile int32_t *cancel, Values &values);

  /// What the host feeds to the program and gets from it.
  void feed(Values values);
  std::optional<Values> takeFed();
  void putOut(Values values);
  std::vector<Values> outfeed() const;

  /// `device` has ended: with an error, if `why` is not empty.
  void leave(int64_t device, const std::string &why = "");

private:
  struct Gathering;
  struct Site;
  using Key = std::pair<std::string, std::vector<int64_t>>;
  using Lock = std::unique_lock<std::mutex>;

  llvm::Error wait(Lock &lock, int64_t self, const std::string &what,
                   const volatile int32_t *cancel, llvm::function_ref<bool()> isReady,
                   llvm::function_ref<std::vector<int64_t>()> missing);
  void fail(const std::string &why);
  void failIfStuck();
  llvm::Error failure() const;

  mutable std::mutex mutex;
  std::condition_variable changed;
  const std::chrono::milliseconds timeout;
  std::map<Key, std::unique_ptr<Site>> sites;
  std::map<int64_t, std::deque<Values>> channels;
  std::deque<Values> fed;
  std::vector<Values> out;
  /// Of each device: what it waits for (empty: it does not), and whether it ended.
  std::vector<std::string> waitingIn;
  std::vector<std::function<bool()>> readiness;
  std::vector<bool> ended;
  std::string failed;
};

/// Runs `body(device)` for all devices of `exchange` at once, each on a thread of
/// its own, and returns the error that came first by cause: what a device did
/// wrong rather than that others were left alone by it.
llvm::Error runTogether(Exchange &exchange, llvm::function_ref<llvm::Error(int64_t)> body);

} // namespace spokeshave::runtime
