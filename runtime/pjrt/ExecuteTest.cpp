//===- ExecuteTest.cpp - dispatch, donation, errors, deletion --------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "support/Error.h"

#include "runtime/pjrt/Interrupt.h"
#include "runtime/pjrt/TestHelpers.h"

#include <atomic>
#include <thread>

namespace spokeshave::pjrt::test {
namespace {

/// result[i] = argument[i] + 1, on two floats.
llvm::Error addOne(llvm::ArrayRef<runtime::ExecuteArgument> arguments,
                   llvm::ArrayRef<runtime::ExecuteResult> results, const runtime::CancelToken &) {
  for (int i = 0; i < 2; ++i)
    static_cast<float *>(results[0].data)[i] = static_cast<float *>(arguments[0].data)[i] + 1;
  return llvm::Error::success();
}

std::shared_ptr<FakeProgram> makeProgram(FakeProgram::Function function, int64_t alias = -1) {
  auto program = std::make_shared<FakeProgram>();
  program->arguments = {floats(2)};
  program->results = {floats(2, alias)};
  program->function = std::move(function);
  return program;
}

class ExecuteTest : public PjrtTest {
protected:
  /// Compiles `function` under the name `name`.
  LoadedExecutable *make(const std::string &name, FakeProgram::Function function,
                         int64_t alias = -1, bool callsOut = false, bool tiny = false) {
    fakePrograms()[name] = [=] {
      auto program = makeProgram(function, alias);
      program->callsOut = callsOut;
      program->isTiny = tiny;
      return program;
    };
    LoadedExecutable *executable = nullptr;
    Outcome outcome = compile(name, executable);
    EXPECT_TRUE(outcome.ok()) << outcome.message;
    return executable;
  }
};

TEST_F(ExecuteTest, RunsInlineAndOnTheProgramThread) {
  for (bool tiny : {true, false}) {
    std::atomic<std::thread::id> where;
    LoadedExecutable *executable = make(
        "where",
        [&](auto arguments, auto results, auto &cancel) {
          where = std::this_thread::get_id();
          return addOne(arguments, results, cancel);
        },
        -1, false, tiny);
    Buffer *argument = makeBuffer({1, 2});
    std::vector<Buffer *> results(1);
    ASSERT_TRUE(execute(executable, {argument}, results).ok());
    std::vector<float> values;
    ASSERT_TRUE(read(results[0], values).ok());
    EXPECT_EQ(values, (std::vector<float>{2, 3}));
    EXPECT_EQ(where.load() == std::this_thread::get_id(), tiny);
    destroy(argument);
    destroy(results[0]);
    destroy(executable);
  }
}

TEST_F(ExecuteTest, ErrorsPoisonWhatDependsOnThem) {
  LoadedExecutable *failing = make("failing", [](auto, auto, auto &) {
    return makeError(ErrorCode::CustomCallFailed, "it went wrong at line 7");
  });
  LoadedExecutable *next = make("next", addOne);
  Buffer *argument = makeBuffer({1, 2});
  std::vector<Buffer *> first(1), second(1);
  ASSERT_TRUE(execute(failing, {argument}, first).ok());
  ASSERT_TRUE(execute(next, {first[0]}, second).ok());
  Outcome outcome = awaitBuffer(second[0]);
  EXPECT_EQ(outcome.code, StatusCode::Internal);
  EXPECT_NE(outcome.message.find("it went wrong at line 7"), std::string::npos);
  std::vector<float> values;
  EXPECT_FALSE(read(first[0], values).ok());
  // The device goes on.
  std::vector<Buffer *> third(1);
  ASSERT_TRUE(execute(next, {argument}, third).ok());
  EXPECT_TRUE(awaitBuffer(third[0]).ok());
  for (Buffer *buffer : {argument, first[0], second[0], third[0]})
    destroy(buffer);
  destroy(failing);
  destroy(next);
}

TEST_F(ExecuteTest, ExceptionsBecomeErrors) {
  LoadedExecutable *throwing = make("throwing", [](auto, auto, auto &) -> llvm::Error {
    throw std::runtime_error("thrown in a program");
  });
  Buffer *argument = makeBuffer({1, 2});
  std::vector<Buffer *> results(1);
  ASSERT_TRUE(execute(throwing, {argument}, results).ok());
  EXPECT_EQ(awaitBuffer(results[0]).code, StatusCode::Internal);
  destroy(argument);
  destroy(results[0]);
  destroy(throwing);
}

TEST_F(ExecuteTest, DonationTakesTheMemoryOver) {
  LoadedExecutable *executable = make("inplace", addOne, 0);
  Buffer *argument = makeBuffer({1, 2});
  void *address = addressOf(argument);
  std::vector<Buffer *> results(1);
  ASSERT_TRUE(execute(executable, {argument}, results).ok());
  EXPECT_TRUE(isDeleted(argument));
  ASSERT_TRUE(awaitBuffer(results[0]).ok());
  EXPECT_EQ(addressOf(results[0]), address);
  // A chain stays in place, however far ahead of the device the caller is.
  for (int i = 0; i < 20; ++i) {
    std::vector<Buffer *> after(1);
    ASSERT_TRUE(execute(executable, {results[0]}, after).ok());
    destroy(results[0]);
    results = after;
  }
  std::vector<float> values;
  ASSERT_TRUE(read(results[0], values).ok());
  EXPECT_EQ(values, (std::vector<float>{22, 23}));
  EXPECT_EQ(addressOf(results[0]), address);
  destroy(argument);
  destroy(results[0]);
  destroy(executable);
}

TEST_F(ExecuteTest, DonationLeavesWhatOthersSee) {
  LoadedExecutable *executable = make("inplace", addOne, 0);
  // Not donated because the caller forbids it.
  Buffer *kept = makeBuffer({1, 2});
  std::vector<Buffer *> results(1);
  ASSERT_TRUE(execute(executable, {kept}, results, {0}).ok());
  EXPECT_FALSE(isDeleted(kept));
  std::vector<float> values;
  ASSERT_TRUE(read(kept, values).ok());
  EXPECT_EQ(values, (std::vector<float>{1, 2}));
  destroy(results[0]);
  // Donated, but another library looks at the memory.
  Buffer_IncreaseExternalReferenceCount_Args more{};
  more.buffer = kept;
  CALL_OK(Buffer_IncreaseExternalReferenceCount, more);
  float *view = static_cast<float *>(addressOf(kept));
  ASSERT_TRUE(execute(executable, {kept}, results).ok());
  EXPECT_TRUE(isDeleted(kept));
  ASSERT_TRUE(awaitBuffer(results[0]).ok());
  EXPECT_EQ(view[0], 1);
  EXPECT_NE(addressOf(results[0]), view);
  Buffer_DecreaseExternalReferenceCount_Args less{};
  less.buffer = kept;
  CALL_OK(Buffer_DecreaseExternalReferenceCount, less);
  EXPECT_FALSE(CALL(Buffer_DecreaseExternalReferenceCount, less).ok());
  destroy(kept);
  destroy(results[0]);
  destroy(executable);
}

TEST_F(ExecuteTest, BadArgumentsAreRefused) {
  LoadedExecutable *executable = make("plain", addOne);
  Buffer *good = makeBuffer({1, 2}), *wrongShape = makeBuffer({1, 2, 3});
  std::vector<Buffer *> results(1);
  Outcome count = execute(executable, {good, good}, results);
  EXPECT_EQ(count.code, StatusCode::InvalidArgument);
  EXPECT_NE(count.message.find("takes 1 arguments, got 2"), std::string::npos) << count.message;
  Outcome shape = execute(executable, {wrongShape}, results);
  EXPECT_NE(shape.message.find("is f32[3], expected f32[2]"), std::string::npos) << shape.message;
  Buffer_Delete_Args remove{};
  remove.buffer = good;
  CALL_OK(Buffer_Delete, remove);
  Outcome deleted = execute(executable, {good}, results);
  EXPECT_EQ(deleted.code, StatusCode::InvalidArgument);
  EXPECT_NE(deleted.message.find("deleted"), std::string::npos) << deleted.message;
  destroy(good);
  destroy(wrongShape);
  destroy(executable);
}

TEST_F(ExecuteTest, ProgramsThatCallOutMayRunOthersOnTheDevice) {
  LoadedExecutable *inner = make("inner", addOne);
  LoadedExecutable *outer = make(
      "outer",
      [&](auto arguments, auto results, auto &cancel) {
        Buffer *argument = makeBuffer({5, 6});
        std::vector<Buffer *> made(1);
        EXPECT_TRUE(execute(inner, {argument}, made).ok());
        EXPECT_TRUE(awaitBuffer(made[0]).ok()); // on the program thread
        destroy(argument);
        destroy(made[0]);
        return addOne(arguments, results, cancel);
      },
      -1, /*callsOut=*/true);
  Buffer *argument = makeBuffer({1, 2});
  std::vector<Buffer *> results(1);
  ASSERT_TRUE(execute(outer, {argument}, results).ok());
  EXPECT_TRUE(awaitBuffer(results[0]).ok());
  destroy(argument);
  destroy(results[0]);
  destroy(inner);
  destroy(outer);
}

TEST_F(ExecuteTest, InterruptReachesARunningProgram) {
  std::atomic<bool> running = false;
  LoadedExecutable *executable = make("endless", [&](auto, auto, auto &cancel) {
    running = true;
    while (!cancel.cancelled())
      std::this_thread::yield();
    return makeError(ErrorCode::Cancelled, "interrupted");
  });
  Buffer *argument = makeBuffer({1, 2});
  std::vector<Buffer *> results(1);
  ASSERT_TRUE(execute(executable, {argument}, results).ok());
  while (!running)
    std::this_thread::yield();
  interruptAll();
  EXPECT_EQ(awaitBuffer(results[0]).code, StatusCode::Cancelled);
  destroy(argument);
  destroy(results[0]);
  destroy(executable);
}

TEST_F(ExecuteTest, ConcurrentCallers) {
  LoadedExecutable *executable = make("plain", addOne, -1, false, /*tiny=*/false);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      Buffer *value = makeBuffer({float(t), float(t)});
      for (int i = 0; i < 50; ++i) {
        std::vector<Buffer *> results(1);
        ASSERT_TRUE(execute(executable, {value}, results).ok());
        destroy(value);
        value = results[0];
      }
      std::vector<float> values;
      ASSERT_TRUE(read(value, values).ok());
      EXPECT_EQ(values[1], t + 50);
      destroy(value);
    });
  for (std::thread &thread : threads)
    thread.join();
  destroy(executable);
}

TEST_F(ExecuteTest, SerializedExecutables) {
  LoadedExecutable *executable = make("plain", addOne);
  LoadedExecutable_GetExecutable_Args get{};
  get.loaded_executable = executable;
  CALL_OK(LoadedExecutable_GetExecutable, get);
  Executable_Serialize_Args serialize{};
  serialize.executable = get.executable;
  CALL_OK(Executable_Serialize, serialize);
  std::string bytes(serialize.serialized_bytes, serialize.serialized_bytes_size);
  serialize.serialized_executable_deleter(serialize.serialized_executable);

  Executable_DeserializeAndLoad_Args load{};
  load.client = client;
  load.serialized_executable = bytes.data();
  load.serialized_executable_size = bytes.size();
  CALL_OK(Executable_DeserializeAndLoad, load);
  Buffer *argument = makeBuffer({1, 2});
  std::vector<Buffer *> results(1);
  ASSERT_TRUE(execute(load.loaded_executable, {argument}, results).ok());
  EXPECT_TRUE(awaitBuffer(results[0]).ok());
  destroy(load.loaded_executable);

  // Any damage is found: a flipped bit anywhere, or an end that is missing.
  for (size_t i = 0; i < bytes.size(); i += 3) {
    std::string damaged = bytes;
    damaged[i] ^= 4;
    load.serialized_executable = damaged.data();
    EXPECT_EQ(CALL(Executable_DeserializeAndLoad, load).code, StatusCode::FailedPrecondition);
    load.serialized_executable_size = i;
    EXPECT_FALSE(CALL(Executable_DeserializeAndLoad, load).ok());
    load.serialized_executable_size = bytes.size();
  }
  Executable_Destroy_Args destroyExecutable{};
  destroyExecutable.executable = get.executable;
  CALL_OK(Executable_Destroy, destroyExecutable);
  destroy(argument);
  destroy(results[0]);
  destroy(executable);
}

} // namespace
} // namespace spokeshave::pjrt::test
