//===- Execute.cpp - starting programs, in order, with poisoning errors ----===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An execution is checked and its result buffers are made at once; it runs when
// its arguments are ready. An error of an argument, or of the run, becomes the
// status of all its results, and so of whatever is computed from them.
//
//===----------------------------------------------------------------------===//
#include "runtime/pjrt/Executable.h"
#include "runtime/pjrt/Interrupt.h"

#include "llvm/ADT/STLExtras.h"

namespace spokeshave::pjrt {

namespace {
/// What one device of an execution works on.
struct DeviceRun {
  std::vector<ValuePtr> arguments, results;
  // Filled when it runs.
  std::vector<runtime::ExecuteArgument> inputs;
  std::vector<runtime::ExecuteResult> outputs;
  std::vector<runtime::HostBlockRef> held;
};

/// An execution from its start to its end.
struct Execution {
  BodyPtr body;
  std::vector<DeviceRun> devices;
  std::vector<bool> donated; ///< of each argument
  CompletionPtr done = std::make_shared<Completion>();

  Status run();
  void finish(Status status);

private:
  Status prepare(DeviceRun &device);
  Status chooseResultStorage(DeviceRun &device, size_t index, runtime::HostBlockRef &storage);
};

/// A donated argument's memory becomes the result's if this execution is the
/// last to hold it; else the result gets memory of its own, which is always
/// right.
Status Execution::chooseResultStorage(DeviceRun &device, size_t index,
                                      runtime::HostBlockRef &storage) {
  storage = device.results[index]->storage(); // pinned already?
  if (storage)
    return {};
  auto &arguments = device.arguments;
  int64_t alias = body->program->results[index].alias;
  if (alias >= 0 && alias < static_cast<int64_t>(arguments.size()) && donated[alias] &&
      arguments[alias].use_count() == 1 &&
      body->arguments[alias].bytes == body->results[index].bytes) {
    storage = arguments[alias]->takeOver();
    device.inputs[alias].donated = static_cast<bool>(storage);
  }
  if (!storage) {
    llvm::Expected<runtime::HostBlockRef> allocated =
        runtime::HostBlock::allocate(body->results[index].bytes);
    if (!allocated)
      return toStatus(allocated.takeError());
    storage = std::move(*allocated);
  }
  storage = device.results[index]->settle(storage);
  return {};
}

Status Execution::prepare(DeviceRun &device) {
  // Hold every argument's bytes before any is taken over by a result.
  device.held.resize(device.results.size());
  for (size_t i = 0; i < device.arguments.size(); ++i) {
    runtime::HostBlockRef storage = device.arguments[i]->storage();
    if (!storage)
      return Status(StatusCode::Internal, "argument " + llvm::Twine(i) + " has no memory");
    device.inputs.push_back({storage->data(), storage->size()});
  }
  for (size_t i = 0; i < device.results.size(); ++i) {
    if (Status status = chooseResultStorage(device, i, device.held[i]); !status.isOk())
      return status;
    device.outputs.push_back({device.held[i]->data(), device.held[i]->size()});
  }
  return {};
}

Status Execution::run() {
  for (DeviceRun &device : devices)
    if (Status status = prepare(device); !status.isOk())
      return status;
  InterruptScope interrupt;
  LoadedProgram &program = *body->program;
  if (devices.size() == 1)
    return toStatus(program.run(devices[0].inputs, devices[0].outputs, interrupt.token()));
  runtime::Exchange exchange(program.replicas, program.partitions);
  return toStatus(runtime::runTogether(exchange, [&](int64_t number) {
    DeviceRun &device = devices[number];
    return program.runAsDevice(device.inputs, device.outputs, interrupt.token(), exchange, number);
  }));
}

void Execution::finish(Status status) {
  // Let go of the arguments first: what waits for the results may want to take
  // over their memory.
  for (DeviceRun &device : devices)
    device.arguments.clear();
  for (DeviceRun &device : devices) {
    for (ValuePtr &result : device.results)
      result->ready->complete(status);
    device.results.clear();
  }
  devices.clear();
  done->complete(std::move(status));
}

/// Nothing may escape from a thread of ours.
void runToEnd(Execution &execution, const Status &dependencies) {
  Status status = dependencies;
  if (status.isOk()) {
    try {
      status = execution.run();
    } catch (const std::bad_alloc &) {
      status = statusOf(ErrorCode::OutOfMemory, "out of memory");
    } catch (const std::exception &error) {
      status = statusOf(ErrorCode::Internal, error.what());
    } catch (...) {
      status = statusOf(ErrorCode::Internal, "an unknown exception");
    }
  }
  execution.finish(std::move(status));
}

Status checkArguments(const CompiledBody &body, llvm::ArrayRef<Buffer *> buffers,
                      std::vector<ValuePtr> &values) {
  if (buffers.size() != body.arguments.size())
    return statusOf(ErrorCode::BadArgument, "the program '" + llvm::Twine(body.program->name) +
                                                "' takes " + llvm::Twine(body.arguments.size()) +
                                                " arguments, got " + llvm::Twine(buffers.size()));
  for (size_t i = 0; i < buffers.size(); ++i) {
    std::string what = ("argument " + llvm::Twine(i) + " of '" + body.program->name + "'").str();
    ValuePtr value;
    if (Status status = liveValue(buffers[i], what, value); !status.isOk())
      return statusOf(ErrorCode::InvalidBuffer, status.message());
    const Shape &shape = buffers[i]->shape, &expected = body.arguments[i];
    bool isToken = body.program->arguments[i].elementType == "token"; // of any shape
    if (!isToken && (shape.type != expected.type || shape.dims != expected.dims))
      return statusOf(ErrorCode::BadArgument,
                      what + " is " + shape.text() + ", expected " + expected.text());
    values.push_back(std::move(value));
  }
  return {};
}

/// The arguments whose memory a result may take over: the framework regards
/// those as gone whether or not that happens.
std::vector<bool> donatedArguments(const CompiledBody &body, llvm::ArrayRef<int64_t> kept) {
  std::vector<bool> donated(body.arguments.size());
  for (const cpu::ValueSpec &result : body.program->results)
    if (result.alias >= 0 && result.alias < static_cast<int64_t>(donated.size()))
      donated[result.alias] = !llvm::is_contained(kept, result.alias);
  return donated;
}
} // namespace

Status execute(LoadedExecutable &executable, llvm::ArrayRef<ExecuteRequest> requests,
               llvm::ArrayRef<int64_t> notDonatable, CompletionPtr &done) {
  auto execution = std::make_shared<Execution>();
  execution->body = executable.body();
  if (!execution->body)
    return invalidArgument("the executable was deleted");
  const CompiledBody &body = *execution->body;
  execution->donated = donatedArguments(body, notDonatable);
  std::vector<CompletionPtr> dependencies;
  for (const ExecuteRequest &request : requests) {
    DeviceRun &run = execution->devices.emplace_back();
    if (Status status = checkArguments(body, request.arguments, run.arguments); !status.isOk())
      return status;
    for (const ValuePtr &argument : run.arguments)
      if (!argument->ready->isReady() || !argument->ready->status().isOk())
        dependencies.push_back(argument->ready);
  }

  auto ready = std::make_shared<Completion>();
  std::vector<std::unique_ptr<Buffer>> buffers;
  for (auto [request, run] : llvm::zip_equal(requests, execution->devices))
    for (const Shape &shape : body.results) {
      run.results.push_back(std::make_shared<Value>(ready));
      buffers.push_back(std::make_unique<Buffer>(request.device, request.device->memories.front(),
                                                 shape, run.results.back()));
    }
  // From here on nothing fails any more.
  auto next = buffers.begin();
  for (const ExecuteRequest &request : requests) {
    for (size_t i = 0; i < execution->donated.size(); ++i)
      if (execution->donated[i])
        request.arguments[i]->release();
    for (size_t i = 0; i < body.results.size(); ++i)
      request.results[i] = (next++)->release();
  }
  done = execution->done;

  bool isAlone = requests.size() == 1;
  if (isAlone && dependencies.empty() && body.program->isTiny && !body.program->callsOut) {
    runToEnd(*execution, {});
    return {};
  }
  std::shared_ptr<Dispatcher> dispatcher = executable.client->dispatcher;
  auto start = [execution, dispatcher](const Status &status) {
    dispatcher->post([execution, status] { runToEnd(*execution, status); },
                     execution->body->program->callsOut);
  };
  whenAll(std::move(dependencies), std::move(start));
  return {};
}

} // namespace spokeshave::pjrt
