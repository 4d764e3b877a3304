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

void Grid::passTurn() {
  auto canGoOn = [&](const State &state) {
    return !state.finished && (failed || !state.waitsFor || (*state.waitsFor)());
  };
  State *next = llvm::find_if(states, canGoOn).base();
  bool allDone = llvm::all_of(states, [](const State &state) { return state.finished; });
  if (next == states.data() + states.size() && !allDone) {
    // Whoever is left waits in vain: the first of them says so.
    failed = stuck = true;
    next = llvm::find_if(states, canGoOn).base();
  }
  if (next != states.data() + states.size())
    turn = next - states.data();
  turnChanged.notify_all();
}

LogicalResult Grid::waitUntil(Call &call, const std::function<bool()> &ready) {
  if (failed || ready())
    return failure(failed);
  int64_t self = idOf(call);
  states[self].waitsFor = &ready;
  passTurn();
  // The mutex is held by whoever has the turn; waiting passes it on.
  std::unique_lock<std::mutex> lock(mutex, std::adopt_lock);
  turnChanged.wait(lock, [&] { return turn == self; });
  lock.release();
  states[self].waitsFor = nullptr;
  if (stuck) {
    stuck = false;
    return call.error() << "waits for processes that never come";
  }
  return failure(failed);
}

FailureOr<SmallVector<Results>> Grid::exchange(Call &call, StringRef what, ArrayRef<int64_t> group,
                                               Results brought) {
  int64_t self = idOf(call);
  Key key(what.str(), group.vec());
  std::shared_ptr<Meeting> &entry = meetings[key];
  if (!entry)
    entry = std::make_shared<Meeting>();
  std::shared_ptr<Meeting> meeting = entry;
  meeting->brought[self] = std::move(brought);
  if (meeting->brought.size() == group.size()) {
    meeting->complete = true;
    meetings.erase(key); // the next meeting of this group is another one
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

void Grid::runProcess(int64_t id, func::FuncOp program, ArrayRef<Tensor> arguments,
                      Results &results, const Options &options) {
  std::unique_lock<std::mutex> lock(mutex);
  turnChanged.wait(lock, [&] { return turn == id; });
  if (!failed) {
    Evaluator evaluator(options, {this, id / partitions, id % partitions});
    if (mlir::failed(evaluator.runFunction(program, arguments, results)))
      failed = true;
  }
  states[id].finished = true;
  passTurn();
}

LogicalResult Grid::run(ArrayRef<func::FuncOp> programs, ArrayRef<SmallVector<Tensor>> arguments,
                        SmallVectorImpl<SmallVector<Tensor>> &results, const Options &options) {
  results.resize(programs.size());
  states.assign(programs.size(), {});
  turn = 0;
  std::vector<std::thread> threads;
  for (size_t id = 0; id < programs.size(); ++id)
    threads.emplace_back([&, id] {
      runProcess(static_cast<int64_t>(id), programs[id], arguments[id], results[id], options);
    });
  for (std::thread &thread : threads)
    thread.join();
  return failure(failed);
}

} // namespace spokeshave::reference
