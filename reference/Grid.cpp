//===- Grid.cpp - processes that run side by side and meet -----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "reference/Grid.h"

#include <thread>

using namespace mlir;

namespace spokeshave::reference {

bool Grid::isStuck() const {
  return static_cast<int64_t>(waiting.size()) == live &&
         llvm::none_of(waiting, [](const std::function<bool()> *ready) { return (*ready)(); });
}

LogicalResult Grid::waitUntil(Call &call, const std::function<bool()> &ready) {
  if (failed)
    return failure();
  if (ready())
    return success();
  waiting.push_back(&ready);
  if (isStuck()) {
    failed = true;
    call.error() << "waits for processes that never come";
  }
  changed.notify_all();
  // The thread holds the mutex, as whoever runs does; waiting passes it on.
  std::unique_lock<std::mutex> lock(mutex, std::adopt_lock);
  changed.wait(lock, [&] { return failed || ready(); });
  lock.release();
  llvm::erase(waiting, &ready);
  return failure(failed);
}

FailureOr<SmallVector<Results>> Grid::exchange(Call &call, StringRef what, ArrayRef<int64_t> group,
                                               Results brought) {
  const Process &where = call.evaluator.where();
  int64_t self = where.replica * partitions + where.partition;
  Key key(what.str(), group.vec());
  std::shared_ptr<Meeting> &entry = meetings[key];
  if (!entry)
    entry = std::make_shared<Meeting>();
  std::shared_ptr<Meeting> meeting = entry;
  meeting->brought[self] = std::move(brought);
  if (meeting->brought.size() == group.size()) {
    meeting->complete = true;
    meetings.erase(key); // the next meeting of this group is another one
    changed.notify_all();
  }
  std::function<bool()> ready = [&] { return meeting->complete; };
  if (mlir::failed(waitUntil(call, ready)))
    return failure();
  SmallVector<Results> all;
  for (int64_t member : group)
    all.push_back(meeting->brought[member]);
  return all;
}

void Grid::send(int64_t channel, Results values) {
  channels[channel].push_back(std::move(values));
  changed.notify_all();
}

FailureOr<Results> Grid::receive(Call &call, int64_t channel) {
  std::deque<Results> &queue = channels[channel];
  std::function<bool()> ready = [&] { return !queue.empty(); };
  if (mlir::failed(waitUntil(call, ready)))
    return failure();
  Results values = std::move(queue.front());
  queue.pop_front();
  return values;
}

LogicalResult Grid::run(ArrayRef<func::FuncOp> programs, ArrayRef<SmallVector<Tensor>> arguments,
                        SmallVectorImpl<SmallVector<Tensor>> &results, const Options &options) {
  auto count = static_cast<int64_t>(programs.size());
  results.resize(count);
  live = count;
  auto process = [&](int64_t id) {
    std::lock_guard<std::mutex> lock(mutex);
    if (!failed) {
      Evaluator evaluator(options, {this, id / partitions, id % partitions});
      if (mlir::failed(evaluator.runFunction(programs[id], arguments[id], results[id])))
        failed = true;
    }
    --live;
    // Those who wait for this process will wait in vain.
    if (live && isStuck()) {
      failed = true;
      func::FuncOp program = programs[id];
      program.emitError() << "ends while other processes wait for it";
    }
    changed.notify_all();
  };
  std::vector<std::thread> threads;
  for (int64_t id = 0; id < count; ++id)
    threads.emplace_back(process, id);
  for (std::thread &thread : threads)
    thread.join();
  return failure(failed);
}

} // namespace spokeshave::reference
