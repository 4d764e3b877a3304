//===- SeveralDevicesTest.cpp - clients and programs of several devices ----===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/pjrt/TestHelpers.h"

namespace spokeshave::pjrt::test {
namespace {

/// A client of three devices; programs of two partitions that exchange their
/// argument.
class SeveralDevices : public PjrtTest {
protected:
  class Swap : public FakeProgram {
  public:
    llvm::Error runAsDevice(llvm::ArrayRef<runtime::ExecuteArgument> arguments,
                            llvm::ArrayRef<runtime::ExecuteResult> results,
                            const runtime::CancelToken &, runtime::Exchange &exchange,
                            int64_t self) override {
      if (failing == self)
        return makeError(ErrorCode::CustomCallFailed, "no");
      std::vector<int64_t> members = {0, 1};
      return exchange.meet(self, {"swap", "swap", members, arguments[0].data, 8}, nullptr,
                           [&](llvm::ArrayRef<const void *> operands) {
                             std::memcpy(results[0].data, operands[1 - self], 8);
                           });
    }
    int64_t failing = -1;
  };

  void SetUp() override {
    setBackend({[](llvm::StringRef text, NamedOptions) { return findFake(text); }, findFake});
    ASSERT_TRUE(create("3", client).ok());
    for (const char *name : {"swap", "failing"})
      fakePrograms()[name] = [name] {
        auto program = std::make_shared<Swap>();
        program->arguments = program->results = {floats(2)};
        program->partitions = 2;
        program->failing = name == std::string("failing") ? 1 : -1;
        return program;
      };
    Client_AddressableDevices_Args args{};
    args.client = client;
    CALL_OK(Client_AddressableDevices, args);
    devices.assign(args.addressable_devices,
                   args.addressable_devices + args.num_addressable_devices);
  }

  Outcome create(llvm::StringRef count, Client *&made) {
    NamedValue option{};
    option.struct_size = Layout<NamedValue>::size;
    option.name = "num_devices";
    option.name_size = 11;
    option.type = NamedValueType::String;
    option.string_value = count.data();
    option.value_size = count.size();
    Client_Create_Args args{};
    args.create_options = &option;
    args.num_options = 1;
    Outcome outcome = CALL(Client_Create, args);
    made = args.client;
    return outcome;
  }

  /// Serialized options of `partitions` partitions on the devices `ids`.
  static std::string options(int partitions, std::initializer_list<int> ids) {
    std::string assignment = "\x08\x01\x10" + std::string(1, char(partitions));
    for (int id : ids)
      assignment += std::string("\x1a\x02\x08", 3) + char(id);
    std::string build = std::string("\x20\x01\x28", 3) + char(partitions) + "\x4a" +
                        char(assignment.size()) + assignment;
    return std::string("\x1a") + char(build.size()) + build;
  }

  Buffer *bufferOn(int number, const std::vector<float> &values) {
    device = devices[number];
    return makeBuffer(values);
  }

  Outcome executeOn(LoadedExecutable *executable, std::vector<Buffer *> arguments,
                    std::vector<Buffer *> &results) {
    ExecuteOptions options{};
    options.struct_size = Layout<ExecuteOptions>::size;
    std::vector<Buffer *const *> inputs;
    std::vector<Buffer **> outputs;
    results.assign(arguments.size(), nullptr);
    for (size_t i = 0; i < arguments.size(); ++i) {
      inputs.push_back(&arguments[i]);
      outputs.push_back(&results[i]);
    }
    std::vector<Event *> done(arguments.size());
    LoadedExecutable_Execute_Args args{};
    args.executable = executable;
    args.options = &options;
    args.argument_lists = inputs.data();
    args.num_devices = arguments.size();
    args.num_args = 1;
    args.output_lists = outputs.data();
    args.device_complete_events = done.data();
    Outcome outcome = CALL(LoadedExecutable_Execute, args);
    if (outcome.ok())
      for (Event *event : done)
        destroyEvent(event);
    return outcome;
  }

  std::vector<Device *> devices;
};

TEST_F(SeveralDevices, OneExecutionOnTwo) {
  ASSERT_EQ(devices.size(), 3u);
  LoadedExecutable *executable = nullptr;
  Outcome outcome = compile("swap", executable, options(2, {2, 0}));
  ASSERT_TRUE(outcome.ok()) << outcome.message;
  Buffer *first = bufferOn(2, {1, 2}), *second = bufferOn(0, {3, 4});
  std::vector<Buffer *> results;
  outcome = executeOn(executable, {first, second}, results);
  ASSERT_TRUE(outcome.ok()) << outcome.message;
  std::vector<float> values;
  ASSERT_TRUE(read(results[0], values).ok());
  EXPECT_EQ(values, (std::vector<float>{3, 4}));
  ASSERT_TRUE(read(results[1], values).ok());
  EXPECT_EQ(values, (std::vector<float>{1, 2}));
  Buffer_Device_Args where{};
  where.buffer = results[0];
  CALL_OK(Buffer_Device, where);
  EXPECT_EQ(where.device, devices[2]);
  // On one device it does not run.
  std::vector<Buffer *> one;
  EXPECT_NE(executeOn(executable, {first}, one).message.find("SKS-U004"), std::string::npos);
  for (Buffer *buffer : {first, second, results[0], results[1]})
    destroy(buffer);
  destroy(executable);
}

TEST_F(SeveralDevices, AnErrorOfOneIsThatOfAllResults) {
  LoadedExecutable *executable = nullptr;
  ASSERT_TRUE(compile("failing", executable, options(2, {0, 1})).ok());
  Buffer *first = bufferOn(0, {1, 2}), *second = bufferOn(1, {3, 4});
  std::vector<Buffer *> results;
  ASSERT_TRUE(executeOn(executable, {first, second}, results).ok());
  for (Buffer *result : results)
    EXPECT_NE(awaitBuffer(result).message.find("SKS-R003"), std::string::npos);
  for (Buffer *buffer : {first, second, results[0], results[1]})
    destroy(buffer);
  destroy(executable);
}

TEST_F(SeveralDevices, ProgramsThatDoNotFitTheClient) {
  LoadedExecutable *executable = nullptr;
  auto message = [&](const std::string &bytes) {
    return compile("swap", executable, bytes).message;
  };
  // The program is for two devices, and says so.
  EXPECT_NE(message(options(4, {0, 1, 2, 3})).find("SKS-U006"), std::string::npos);
  EXPECT_NE(message("").find("SKS-U006"), std::string::npos);
  EXPECT_NE(message(options(2, {0, 3})).find("device 3, which does not exist"), std::string::npos);
  EXPECT_NE(message(options(2, {1, 1})).find("twice"), std::string::npos);
  EXPECT_NE(message(options(2, {1})).find("names 1 devices"), std::string::npos);
  Client *small = nullptr, *large = client;
  ASSERT_TRUE(create("1", small).ok());
  client = small;
  EXPECT_NE(message(options(2, {0, 1})).find("SKS-U004"), std::string::npos);
  Client_Destroy_Args destroySmall{};
  destroySmall.client = small;
  EXPECT_TRUE(CALL(Client_Destroy, destroySmall).ok());
  client = large;
}

TEST_F(SeveralDevices, NumbersThatAreNone) {
  for (llvm::StringRef count : {"0", "-2", "four", "1e3", "100000"}) {
    Client *none = nullptr;
    EXPECT_NE(create(count, none).message.find("SKS-U006"), std::string::npos) << count.str();
  }
}

} // namespace
} // namespace spokeshave::pjrt::test
