//===- TestHelpers.h - calling the C API as a framework does ---------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Through the function table only, with programs that are C++ functions.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/pjrt/Backend.h"
#include "runtime/pjrt/PjrtArgs.h"
#include "runtime/pjrt/Serve.h"

#include "support/Error.h"

#include "gtest/gtest.h"

#include <map>

namespace spokeshave::pjrt::test {

/// The outcome of a call: the code and the message of its error, if any.
struct Outcome {
  StatusCode code = StatusCode::Ok;
  std::string message;
  bool ok() const { return code == StatusCode::Ok; }
};

inline Outcome take(ErrorObject *error) {
  Outcome outcome;
  if (!error)
    return outcome;
  const char *text;
  size_t size;
  error->table->message(error, &text, &size);
  outcome = {error->table->get_code(error), std::string(text, size)};
  error->table->destroy(error);
  return outcome;
}

template <typename Args> Outcome callSlot(void *slot, Args &args) {
  args.struct_size = Layout<Args>::size;
  return take(reinterpret_cast<ErrorObject *(*)(Args *)>(slot)(&args));
}
/// CALL(Client_Create, args)
#define CALL(name, args) callSlot(pjrtApi().name, args)
#define CALL_OK(name, args)                                                                        \
  do {                                                                                             \
    Outcome outcome = CALL(name, args);                                                            \
    ASSERT_TRUE(outcome.ok()) << outcome.message;                                                  \
  } while (false)

/// A program that is a function.
class FakeProgram : public LoadedProgram {
public:
  using Function = std::function<llvm::Error(llvm::ArrayRef<runtime::ExecuteArgument>,
                                             llvm::ArrayRef<runtime::ExecuteResult>,
                                             const runtime::CancelToken &)>;
  Function function;
  llvm::Error run(llvm::ArrayRef<runtime::ExecuteArgument> arguments,
                  llvm::ArrayRef<runtime::ExecuteResult> results,
                  const runtime::CancelToken &cancel) override {
    return function(arguments, results, cancel);
  }
  llvm::Expected<std::string> serialize() const override { return name; }
};

/// Programs by the text that is compiled to them.
inline std::map<std::string, std::function<std::shared_ptr<FakeProgram>()>> &fakePrograms() {
  static std::map<std::string, std::function<std::shared_ptr<FakeProgram>()>> programs;
  return programs;
}

inline llvm::Expected<std::shared_ptr<LoadedProgram>> findFake(llvm::StringRef text) {
  auto found = fakePrograms().find(text.str());
  if (found == fakePrograms().end())
    return makeError(ErrorCode::MalformedProgram, "no program '" + text + "'");
  std::shared_ptr<FakeProgram> program = found->second();
  program->name = text.str();
  return program;
}

class PjrtTest : public testing::Test {
protected:
  void SetUp() override {
    setBackend({[](llvm::StringRef text, NamedOptions) { return findFake(text); }, findFake});
    Client_Create_Args create{};
    CALL_OK(Client_Create, create);
    client = create.client;
    Client_AddressableDevices_Args devices{};
    devices.client = client;
    CALL_OK(Client_AddressableDevices, devices);
    ASSERT_EQ(devices.num_addressable_devices, 1u);
    device = devices.addressable_devices[0];
  }
  void TearDown() override {
    Client_Destroy_Args destroy{};
    destroy.client = client;
    CALL_OK(Client_Destroy, destroy);
  }

  /// A buffer with a copy of `values`.
  Buffer *makeBuffer(const std::vector<float> &values) {
    int64_t dims[] = {static_cast<int64_t>(values.size())};
    Client_BufferFromHostBuffer_Args args{};
    args.client = client;
    args.data = values.data();
    args.type = ElementType::F32;
    args.dims = dims;
    args.num_dims = 1;
    args.device = device;
    Outcome outcome = CALL(Client_BufferFromHostBuffer, args);
    EXPECT_TRUE(outcome.ok()) << outcome.message;
    destroyEvent(args.done_with_host_buffer);
    return args.buffer;
  }

  void destroyEvent(Event *event) {
    Event_Destroy_Args args{};
    args.event = event;
    EXPECT_TRUE(CALL(Event_Destroy, args).ok());
  }
  void destroy(Buffer *buffer) {
    Buffer_Destroy_Args args{};
    args.buffer = buffer;
    EXPECT_TRUE(CALL(Buffer_Destroy, args).ok());
  }
  bool isDeleted(Buffer *buffer) {
    Buffer_IsDeleted_Args args{};
    args.buffer = buffer;
    EXPECT_TRUE(CALL(Buffer_IsDeleted, args).ok());
    return args.is_deleted;
  }
  void *addressOf(Buffer *buffer) {
    Buffer_OpaqueDeviceMemoryDataPointer_Args args{};
    args.buffer = buffer;
    EXPECT_TRUE(CALL(Buffer_OpaqueDeviceMemoryDataPointer, args).ok());
    return args.device_memory_ptr;
  }

  /// Waits for an event and destroys it.
  Outcome await(Event *event) {
    Event_Await_Args args{};
    args.event = event;
    Outcome outcome = CALL(Event_Await, args);
    destroyEvent(event);
    return outcome;
  }
  Outcome awaitBuffer(Buffer *buffer) {
    Buffer_ReadyEvent_Args args{};
    args.buffer = buffer;
    EXPECT_TRUE(CALL(Buffer_ReadyEvent, args).ok());
    return await(args.event);
  }
  /// The contents of a buffer of floats, once it is ready.
  Outcome read(Buffer *buffer, std::vector<float> &values) {
    Buffer_ToHostBuffer_Args args{};
    args.src = buffer;
    Outcome outcome = CALL(Buffer_ToHostBuffer, args);
    if (!outcome.ok())
      return outcome;
    values.assign(args.dst_size / 4, -1);
    args.dst = values.data();
    outcome = CALL(Buffer_ToHostBuffer, args);
    return outcome.ok() ? await(args.event) : outcome;
  }

  Outcome compile(llvm::StringRef text, LoadedExecutable *&executable,
                  llvm::StringRef options = "") {
    Program program{};
    program.struct_size = Layout<Program>::size;
    program.code = const_cast<char *>(text.data());
    program.code_size = text.size();
    program.format = "mlir";
    program.format_size = 4;
    Client_Compile_Args args{};
    args.client = client;
    args.program = &program;
    args.compile_options = options.data();
    args.compile_options_size = options.size();
    Outcome outcome = CALL(Client_Compile, args);
    executable = args.executable;
    return outcome;
  }
  void destroy(LoadedExecutable *executable) {
    LoadedExecutable_Destroy_Args args{};
    args.executable = executable;
    EXPECT_TRUE(CALL(LoadedExecutable_Destroy, args).ok());
  }
  Outcome execute(LoadedExecutable *executable, const std::vector<Buffer *> &arguments,
                  std::vector<Buffer *> &results, const std::vector<int64_t> &keep = {}) {
    ExecuteOptions options{};
    options.struct_size = Layout<ExecuteOptions>::size;
    options.non_donatable_input_indices = keep.data();
    options.num_non_donatable_input_indices = keep.size();
    Buffer *const *argumentList = arguments.data();
    Buffer **resultList = results.data();
    Event *done = nullptr;
    LoadedExecutable_Execute_Args args{};
    args.executable = executable;
    args.options = &options;
    args.argument_lists = &argumentList;
    args.num_devices = 1;
    args.num_args = arguments.size();
    args.output_lists = &resultList;
    args.device_complete_events = &done;
    Outcome outcome = CALL(LoadedExecutable_Execute, args);
    if (outcome.ok())
      destroyEvent(done);
    return outcome;
  }

  Client *client = nullptr;
  Device *device = nullptr;
};

/// f32[n], optionally the result that takes over `alias`.
inline cpu::ValueSpec floats(int64_t n, int64_t alias = -1) {
  return {"f32", {n}, n * 4, alias};
}

} // namespace spokeshave::pjrt::test
