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
/// An execution from its start to its end.
struct Execution {
  BodyPtr body;
  std::vector<ValuePtr> arguments, results;
  std::vector<bool> donated; ///< of each argument
  CompletionPtr done = std::make_shared<Completion>();

  Status run();
  Status chooseResultStorage(size_t index, std::vector<runtime::ExecuteArgument> &inputs,
                             runtime::HostBlockRef &storage);
  void finish(Status status);
};

/// A donated argument's memory becomes the result's if this execution is the
/// last to hold it; else the result gets memory of its own, which is always
/// right.
Status Execution::chooseResultStorage(size_t index, std::vector<runtime::ExecuteArgument> &inputs,
                                      runtime::HostBlockRef &storage) {
  storage = results[index]->storage(); // pinned already?
  if (storage)
    return {};
  int64_t alias = body->program->results[index].alias;
  if (alias >= 0 && alias < static_cast<int64_t>(arguments.size()) && donated[alias] &&
      arguments[alias].use_count() == 1 &&
      body->arguments[alias].bytes == body->results[index].bytes) {
    storage = arguments[alias]->takeOver();
    inputs[alias].donated = static_cast<bool>(storage);
  }
  if (!storage) {
    llvm::Expected<runtime::HostBlockRef> allocated =
        runtime::HostBlock::allocate(body->results[index].bytes);
    if (!allocated)
      return toStatus(allocated.takeError());
    storage = std::move(*allocated);
  }
  storage = results[index]->settle(storage);
  return {};
}

Status Execution::run() {
  // Hold every argument's bytes before any is taken over by a result.
  std::vector<runtime::ExecuteArgument> inputs;
  std::vector<runtime::ExecuteResult> outputs;
  std::vector<runtime::HostBlockRef> held(results.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    runtime::HostBlockRef storage = arguments[i]->storage();
    if (!storage)
      return Status(StatusCode::Internal, "argument " + llvm::Twine(i) + " has no memory");
    inputs.push_back({storage->data(), storage->size()});
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (Status status = chooseResultStorage(i, inputs, held[i]); !status.isOk())
      return status;
    outputs.push_back({held[i]->data(), held[i]->size()});
  }
  InterruptScope interrupt;
  return toStatus(body->program->run(inputs, outputs, interrupt.token()));
}

void Execution::finish(Status status) {
  // Let go of the arguments first: what waits for the results may want to take
  // over their memory.
  arguments.clear();
  for (ValuePtr &result : results)
    result->ready->complete(status);
  results.clear();
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
std::vector<bool> donatedArguments(const CompiledBody &body, const ExecuteRequest &request) {
  std::vector<bool> donated(body.arguments.size());
  for (const cpu::ValueSpec &result : body.program->results)
    if (result.alias >= 0 && result.alias < static_cast<int64_t>(donated.size()))
      donated[result.alias] = !llvm::is_contained(request.notDonatable, result.alias);
  return donated;
}
} // namespace

Status execute(LoadedExecutable &executable, const ExecuteRequest &request, Buffer **results,
               CompletionPtr &done) {
  auto execution = std::make_shared<Execution>();
  execution->body = executable.body();
  if (!execution->body)
    return invalidArgument("the executable was deleted");
  const CompiledBody &body = *execution->body;
  if (Status status = checkArguments(body, request.arguments, execution->arguments); !status.isOk())
    return status;

  Device *device = executable.devices.front();
  Memory *memory = device->memories.front();
  execution->donated = donatedArguments(body, request);
  std::vector<CompletionPtr> dependencies;
  for (const ValuePtr &argument : execution->arguments)
    if (!argument->ready->isReady() || !argument->ready->status().isOk())
      dependencies.push_back(argument->ready);

  auto ready = std::make_shared<Completion>();
  std::vector<std::unique_ptr<Buffer>> buffers;
  for (const Shape &shape : body.results) {
    execution->results.push_back(std::make_shared<Value>(ready));
    buffers.push_back(std::make_unique<Buffer>(device, memory, shape, execution->results.back()));
  }
  // From here on nothing fails any more.
  for (size_t i = 0; i < execution->donated.size(); ++i)
    if (execution->donated[i])
      request.arguments[i]->release();
  for (size_t i = 0; i < buffers.size(); ++i)
    results[i] = buffers[i].release();
  done = execution->done;

  if (dependencies.empty() && body.program->isTiny && !body.program->callsOut) {
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
