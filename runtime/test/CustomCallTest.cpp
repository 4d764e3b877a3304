//===- CustomCallTest.cpp - handlers of all interfaces ----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/BufferAdapter.h"
#include "runtime/ffi/FfiAbi.h"
#include "runtime/test/TestProgram.h"

#include <cstring>
#include <stdexcept>
#include <thread>

struct XlaCustomCallStatus_;
extern "C" void XlaCustomCallStatusSetFailure(XlaCustomCallStatus_ *, const char *, size_t);

namespace spokeshave::runtime::test {
namespace {

using ffi::CallFrame;

/// Answers the question for the version, as every handler must.
bool answerMetadata(CallFrame *frame, int32_t major = 0, int32_t minor = 3) {
  for (ffi::Extension *extension = frame->extensions; extension; extension = extension->next)
    if (extension->type == ffi::kMetadataExtension) {
      auto *metadata = reinterpret_cast<ffi::MetadataExtension *>(extension)->metadata;
      metadata->version.major = major;
      metadata->version.minor = minor;
      return true;
    }
  return false;
}

ffi::Error *fail(CallFrame *frame, const char *message) {
  ffi::ErrorCreateArgs args{{sizeof args, nullptr}, message, ffi::kErrorInternal};
  return frame->api->errorCreate(&args);
}

/// An attribute by name, null if it is missing or of another type.
void *attributeOf(const ffi::Attributes &all, llvm::StringRef name, int32_t type) {
  for (int64_t i = 0; i < all.count; ++i)
    if (llvm::StringRef(all.names[i]->data, all.names[i]->length) == name)
      return all.types[i] == type ? all.values[i] : nullptr;
  return nullptr;
}
template <typename T> T scalarOf(const ffi::Attributes &all, llvm::StringRef name) {
  auto *scalar = static_cast<ffi::Scalar *>(attributeOf(all, name, ffi::kScalar));
  if (!scalar)
    throw std::runtime_error("no scalar " + name.str());
  return *static_cast<T *>(scalar->value);
}
float *dataOf(const ffi::Buffers &buffers, int64_t index) {
  return static_cast<float *>(static_cast<ffi::Buffer *>(buffers.buffers[index])->data);
}

/// out = in * factor, or what `mode` says.
ffi::Error *scaleHandler(CallFrame *frame) {
  if (answerMetadata(frame))
    return nullptr;
  auto *mode = static_cast<ffi::Span *>(attributeOf(frame->attributes, "mode", ffi::kString));
  llvm::StringRef text = mode ? llvm::StringRef(mode->data, mode->length) : "";
  if (text == "fail")
    return fail(frame, "as asked");
  if (text == "throw")
    throw std::runtime_error("thrown as asked");
  if (text == "throw int")
    throw 5;
  auto *in = static_cast<ffi::Buffer *>(frame->arguments.buffers[0]);
  if (in->type != ffi::kF32 || in->rank != 2 || in->dimensions[1] != 3)
    return fail(frame, "wrong buffer");
  float factor = scalarOf<float>(frame->attributes, "factor");
  for (int i = 0; i < 6; ++i)
    dataOf(frame->results, 0)[i] = dataOf(frame->arguments, 0)[i] * factor;
  return nullptr;
}

cpu::CallSpec scaleSpec(std::string target, std::string config, int32_t version = 4) {
  cpu::CallSpec spec;
  spec.target = std::move(target);
  spec.apiVersion = version;
  spec.config = std::move(config);
  spec.inputs = spec.outputs = {floats({2, 3})};
  spec.location = "user.py:42";
  return spec;
}

CustomCallTarget typed(ffi::Handler *handler) {
  CustomCallTarget target;
  target.execute = reinterpret_cast<void *>(handler);
  return target;
}
template <typename Function> CustomCallTarget untyped(Function *function) {
  CustomCallTarget target;
  target.kind = CustomCallTarget::Kind::Untyped;
  target.execute = reinterpret_cast<void *>(function);
  return target;
}

struct Outcome {
  std::optional<ErrorCode> code;
  std::string message;
  std::vector<float> out = std::vector<float>(6);
  ExecuteCounters counters;
};

/// A whole program with the one call, loaded and run.
Outcome run(const cpu::CallSpec &spec, const CustomCallRegistry &registry, ExecuteArgs args = {}) {
  Outcome outcome;
  auto finish = [&](llvm::Error error) {
    if (error) {
      auto ours = takeError(std::move(error));
      outcome.code = ours->getCode();
      outcome.message = ours->getMessage();
    }
    return outcome;
  };
  auto executable = Executable::create(callProgram(spec), registry);
  if (!executable)
    return finish(executable.takeError());
  std::vector<float> in = {1, 2, 3, 4, 5, 6};
  ExecuteArgument arguments[] = {argument(in)};
  ExecuteResult results[] = {result(outcome.out)};
  args.arguments = arguments;
  args.results = results;
  args.counters = &outcome.counters;
  return finish((*executable)->execute(args));
}

TEST(CustomCall, TypedHandler) {
  CustomCallRegistry registry;
  ASSERT_EQ(codeOf(registry.add("scale", typed(scaleHandler))), std::nullopt);
  Outcome outcome = run(scaleSpec("scale", "{backend_config = {factor = 3.0 : f32}}"), registry);
  EXPECT_EQ(outcome.message, "");
  EXPECT_EQ(outcome.out, (std::vector<float>{3, 6, 9, 12, 15, 18}));
  EXPECT_EQ(outcome.counters.customCalls, 1);
  EXPECT_EQ(outcome.counters.libraryCalls, 0);
  // The dictionary as text, under the older name.
  outcome = run(scaleSpec("scale", R"({mhlo.backend_config = "{factor = 2.0 : f32}"})"), registry);
  EXPECT_EQ(outcome.out, (std::vector<float>{2, 4, 6, 8, 10, 12}));
  // JAX's way: version 1, and the attribute says that the call is typed.
  outcome = run(scaleSpec("scale", "{mhlo.backend_config = {factor = 4.0 : f32}}", 1), registry);
  EXPECT_EQ(outcome.message, "");
  EXPECT_EQ(outcome.out[5], 24.0f);
}

TEST(CustomCall, FailuresNameTargetAndLine) {
  CustomCallRegistry registry;
  ASSERT_EQ(codeOf(registry.add("scale", typed(scaleHandler))), std::nullopt);
  for (auto [mode, text] : {std::pair("fail", "as asked"), std::pair("throw", "thrown as asked"),
                            std::pair("throw int", "threw")}) {
    std::string config = std::string("{backend_config = {mode = \"") + mode + "\"}}";
    Outcome outcome = run(scaleSpec("scale", config), registry);
    EXPECT_EQ(outcome.code, ErrorCode::CustomCallFailed);
    for (const char *part : {"'scale'", "user.py:42", text})
      EXPECT_NE(outcome.message.find(part), std::string::npos) << outcome.message;
  }
  Outcome outcome = run(scaleSpec("scale", ""), registry); // the handler misses its attribute
  EXPECT_EQ(outcome.code, ErrorCode::CustomCallFailed);
}

TEST(CustomCall, UnknownTargetsAndWrongVersionsFailAtLoad) {
  CustomCallRegistry registry;
  Outcome outcome = run(scaleSpec("nowhere", "{}"), registry);
  EXPECT_EQ(outcome.code, ErrorCode::UnknownCustomCall);
  EXPECT_NE(outcome.message.find("nowhere"), std::string::npos);
  EXPECT_NE(outcome.message.find("user.py:42"), std::string::npos);
  ASSERT_EQ(codeOf(registry.add("scale", typed(scaleHandler))), std::nullopt);
  EXPECT_EQ(run(scaleSpec("scale", "{}", 1), registry).code, ErrorCode::InvalidProgram);
  EXPECT_EQ(run(scaleSpec("scale", "{}", 9), registry).code, ErrorCode::InvalidProgram);
  EXPECT_EQ(run(scaleSpec("scale", "not a dictionary"), registry).code, ErrorCode::InvalidProgram);
  EXPECT_EQ(run(scaleSpec("scale", "{backend_config = {t = f32}}"), registry).code,
            ErrorCode::UnsupportedProgram);
}

TEST(CustomCall, Registration) {
  CustomCallRegistry registry;
  EXPECT_EQ(codeOf(registry.add("a", typed(scaleHandler))), std::nullopt);
  EXPECT_EQ(codeOf(registry.add("a", typed(scaleHandler))), std::nullopt);
  EXPECT_EQ(codeOf(registry.add("a", typed([](CallFrame *frame) -> ffi::Error * {
                                  answerMetadata(frame);
                                  return nullptr;
                                }))),
            ErrorCode::BadArgument);
  EXPECT_EQ(codeOf(registry.add("future", typed([](CallFrame *frame) -> ffi::Error * {
                                  answerMetadata(frame, 7);
                                  return nullptr;
                                }))),
            ErrorCode::BadArgument);
  EXPECT_EQ(codeOf(registry.add("none", CustomCallTarget())), ErrorCode::BadArgument);
  EXPECT_EQ(registry.names(), std::vector<std::string>{"a"});
}

/// Checks attributes of all kinds.
ffi::Error *attributesHandler(CallFrame *frame) {
  if (answerMetadata(frame))
    return nullptr;
  const ffi::Attributes &all = frame->attributes;
  for (int64_t i = 1; i < all.count; ++i)
    if (llvm::StringRef(all.names[i - 1]->data, all.names[i - 1]->length) >=
        llvm::StringRef(all.names[i]->data, all.names[i]->length))
      return fail(frame, "not sorted");
  bool ok = scalarOf<uint8_t>(all, "u") == 200 && scalarOf<int64_t>(all, "n") == -5 &&
            scalarOf<double>(all, "d") == 0.5 && scalarOf<bool>(all, "b");
  for (const char *name : {"array", "dense", "list"}) {
    auto *array = static_cast<ffi::Array *>(attributeOf(all, name, ffi::kArray));
    ok = ok && array && array->type == ffi::kS32 && array->length == 3;
    for (int i = 0; ok && i < 3; ++i)
      ok = static_cast<int32_t *>(array->data)[i] == i + 7;
  }
  auto *bits = static_cast<ffi::Array *>(attributeOf(all, "bits", ffi::kArray));
  ok = ok && bits && bits->type == ffi::kPred && bits->length == 3 &&
       memcmp(bits->data, "\1\0\1", 3) == 0;
  auto *splat = static_cast<ffi::Array *>(attributeOf(all, "splat", ffi::kArray));
  ok = ok && splat && splat->length == 4 && static_cast<float *>(splat->data)[3] == 1.5f;
  auto *nested = static_cast<ffi::Attributes *>(attributeOf(all, "nested", ffi::kDictionary));
  ok = ok && nested && nested->count == 1 && scalarOf<int32_t>(*nested, "x") == 1;
  auto *empty = static_cast<ffi::Array *>(attributeOf(all, "empty", ffi::kArray));
  ok = ok && empty && empty->length == 0;
  return ok ? nullptr : fail(frame, "an attribute is wrong");
}

TEST(CustomCall, Attributes) {
  CustomCallRegistry registry;
  ASSERT_EQ(codeOf(registry.add("attributes", typed(attributesHandler))), std::nullopt);
  Outcome outcome = run(scaleSpec("attributes", R"({backend_config = {
      u = 200 : ui8, n = -5 : i64, d = 0.5 : f64, b = true, s = "text",
      array = array<i32: 7, 8, 9>, dense = dense<[7, 8, 9]> : tensor<3xi32>,
      list = [7 : i32, 8 : i32, 9 : i32], bits = dense<[true, false, true]> : tensor<3xi1>,
      splat = dense<1.5> : tensor<4xf32>, nested = {x = 1 : i32}, empty = []}})"),
                        registry);
  EXPECT_EQ(outcome.message, "");
}

int deleted = 0;
const int64_t kStateType = 4711;

ffi::Error *instantiateHandler(CallFrame *frame) {
  ffi::TypeId type{kStateType};
  ffi::StateArgs args{{sizeof args, nullptr},
                      frame->context,
                      frame->stage,
                      &type,
                      new int(static_cast<int>(scalarOf<int32_t>(frame->attributes, "n")))};
  return frame->api->stateSet(&args);
}

/// Uses the state, the pool, memory, a future and the user data.
ffi::Error *everythingHandler(CallFrame *frame) {
  if (answerMetadata(frame, 0, 5))
    return nullptr;
  const ffi::Api &api = *frame->api;
  ffi::TypeId type{kStateType}, userType{77}, wrongType{78};
  ffi::StateArgs state{{sizeof state, nullptr}, frame->context, ffi::kInstantiate, &type, nullptr};
  if (ffi::Error *error = api.stateGet(&state))
    return error;
  ffi::ContextGetArgs user{{sizeof user, nullptr}, frame->context, &userType, nullptr};
  if (ffi::Error *error = api.contextGet(&user))
    return error;
  ffi::ContextGetArgs missing{{sizeof missing, nullptr}, frame->context, &wrongType, nullptr};
  ffi::Error *expected = api.contextGet(&missing);
  if (!expected)
    return fail(frame, "found user data that is not there");
  // As a caller of 0.3 asks: its struct ends before the code.
  ffi::ErrorDetailsArgs details{{ffi::kErrorMessageSize, nullptr}, expected, nullptr, -1};
  api.errorDetails(&details);
  if (details.code != -1 || !strstr(details.message, "78"))
    return fail(frame, "wrong details");
  ffi::ErrorDestroyArgs destroy{{sizeof destroy, nullptr}, expected};
  api.errorDestroy(&destroy);
  ffi::AllocateArgs memory{{sizeof memory, nullptr}, frame->context, 1000, 64, nullptr};
  if (ffi::Error *error = api.memoryAllocate(&memory))
    return error;
  memset(memory.data, 1, 1000);
  ffi::FreeArgs release{{sizeof release, nullptr}, frame->context, 1000, memory.data};
  api.memoryFree(&release);
  int64_t threads = 0;
  ffi::ThreadCountArgs count{{sizeof count, nullptr}, frame->context, &threads};
  api.poolThreadCount(&count);
  ffi::RunIdArgs runId{{sizeof runId, nullptr}, frame->context, 0};
  api.runIdGet(&runId);
  ffi::CustomOptionsArgs options{{sizeof options, nullptr}, frame->context, nullptr};
  api.customOptionsGet(&options);
  if (threads != 2 || runId.runId != 99 || options.attributes->count != 0)
    return fail(frame, "wrong environment");

  // Completes later, on a thread of the pool.
  ffi::FutureArgs future{{sizeof future, nullptr}, nullptr};
  api.futureCreate(&future);
  frame->future = future.future;
  struct Job {
    const ffi::Api *api;
    ffi::Future *future;
    float *out;
    float value;
  };
  auto *job = new Job{&api, future.future, dataOf(frame->results, 0),
                      float(*static_cast<int *>(state.state) + *static_cast<int *>(user.data))};
  ffi::ScheduleArgs schedule{{sizeof schedule, nullptr}, frame->context, nullptr, job};
  schedule.task = [](void *data) {
    auto *job = static_cast<Job *>(data);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    job->out[0] = job->value;
    ffi::FutureArgs done{{sizeof done, nullptr}, job->future};
    job->api->futureSetAvailable(&done);
    delete job;
  };
  return api.poolSchedule(&schedule);
}

TEST(CustomCall, StateFutureAndTheRestOfTheApi) {
  EXPECT_EQ(get(registerFfiType("test state", kStateType,
                                [](void *object) {
                                  delete static_cast<int *>(object);
                                  ++deleted;
                                })),
            kStateType);
  EXPECT_EQ(codeOf(registerFfiType("test state", 5, nullptr)), ErrorCode::BadArgument);
  EXPECT_NE(get(registerFfiType("other", 0, nullptr)), get(registerFfiType("third", 0, nullptr)));
  CustomCallRegistry registry;
  CustomCallTarget target = typed(everythingHandler);
  target.instantiate = reinterpret_cast<void *>(instantiateHandler);
  ASSERT_EQ(codeOf(registry.add("everything", target)), std::nullopt);
  ThreadPool pool(2);
  int user = 30;
  FfiUserData data = {{77, &user}};
  ExecuteArgs args;
  args.pool = &pool;
  args.runId = 99;
  args.userData = &data;
  deleted = 0;
  Outcome outcome =
      run(scaleSpec("everything", "{backend_config = {n = 12 : i32}}"), registry, args);
  EXPECT_EQ(outcome.message, "");
  EXPECT_EQ(outcome.out[0], 42.0f);
  EXPECT_EQ(deleted, 1); // with the executable
}

TEST(CustomCall, LayoutsAndAliases) {
  CustomCallRegistry registry;
  // Sees the operand column-major and one buffer for both.
  ASSERT_EQ(codeOf(registry.add("layout", typed([](CallFrame *frame) -> ffi::Error * {
                                  if (answerMetadata(frame))
                                    return nullptr;
                                  float *in = dataOf(frame->arguments, 0),
                                        *out = dataOf(frame->results, 0);
                                  const float columns[] = {1, 4, 2, 5, 3, 6};
                                  if (in != out || memcmp(in, columns, sizeof columns) != 0)
                                    return fail(frame, "not column-major, or not in place");
                                  for (int i = 0; i < 6; ++i)
                                    out[i] = in[i] * 10 + float(i);
                                  return nullptr;
                                }))),
            std::nullopt);
  std::string layouts = "[dense<[0, 1]> : tensor<2xindex>]";
  Outcome outcome =
      run(scaleSpec("layout", "{operand_layouts = " + layouts + ", result_layouts = " + layouts +
                                  ", output_operand_aliases = [#stablehlo.output_operand_alias<"
                                  "output_tuple_indices = [], operand_index = 0, "
                                  "operand_tuple_indices = []>]}"),
          registry);
  EXPECT_EQ(outcome.message, "");
  EXPECT_EQ(outcome.out, (std::vector<float>{10, 22, 34, 41, 53, 65}));
  for (const char *bad :
       {"{operand_layouts = []}", "{operand_layouts = [dense<[0, 0]> : tensor<2xindex>]}",
        "{result_layouts = 5 : i32}", "{operand_layouts = [dense<0> : tensor<1xindex>]}",
        "{output_operand_aliases = [#stablehlo.output_operand_alias<operand_index = 3>]}"})
    EXPECT_EQ(run(scaleSpec("layout", bad), registry).code, ErrorCode::InvalidProgram) << bad;
}

TEST(CustomCall, EveryLayoutAndBack) {
  std::vector<int64_t> shape = {3, 20, 5, 2}, order = {0, 1, 2, 3};
  std::vector<uint16_t> data(600), there(600), back(600);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<uint16_t>(i);
  do {
    copyToLayout(there.data(), data.data(), shape, order, 2);
    copyFromLayout(back.data(), there.data(), shape, order, 2);
    ASSERT_EQ(back, data);
    int64_t index[4] = {2, 13, 4, 1}, stride = 1, at = 0;
    for (int64_t dimension : order) {
      at += index[dimension] * stride;
      stride *= shape[dimension];
    }
    ASSERT_EQ(there[at], ((2 * 20 + 13) * 5 + 4) * 2 + 1);
  } while (std::next_permutation(order.begin(), order.end()));
}

void original(void *out, const void **in) {
  for (int i = 0; i < 6; ++i)
    static_cast<float *>(out)[i] = static_cast<const float *>(in[0])[i] + 1;
}
void withStatus(void *out, const void **in, XlaCustomCallStatus_ *) {
  original(out, in);
}
void withOpaque(void *out, const void **in, const char *opaque, size_t length,
                XlaCustomCallStatus_ *status) {
  llvm::StringRef text(opaque, length);
  if (text == "throw")
    throw std::logic_error("old and thrown");
  if (text == "fail")
    return XlaCustomCallStatusSetFailure(status, "old and failed", 14);
  original(out, in);
}

TEST(CustomCall, OldInterfaces) {
  CustomCallRegistry registry;
  ASSERT_EQ(codeOf(registry.add("v1", untyped(original))), std::nullopt);
  ASSERT_EQ(codeOf(registry.add("v2", untyped(withStatus))), std::nullopt);
  ASSERT_EQ(codeOf(registry.add("v3", untyped(withOpaque))), std::nullopt);
  for (int version : {1, 2, 3}) {
    Outcome outcome = run(scaleSpec("v" + std::to_string(version), "{}", version), registry);
    EXPECT_EQ(outcome.message, "");
    EXPECT_EQ(outcome.out, (std::vector<float>{2, 3, 4, 5, 6, 7}));
  }
  Outcome outcome = run(scaleSpec("v3", "{backend_config = \"fail\"}", 3), registry);
  EXPECT_EQ(outcome.code, ErrorCode::CustomCallFailed);
  EXPECT_NE(outcome.message.find("old and failed"), std::string::npos);
  outcome = run(scaleSpec("v3", "{backend_config = \"throw\"}", 3), registry);
  EXPECT_EQ(outcome.code, ErrorCode::CustomCallFailed);
  EXPECT_EQ(run(scaleSpec("v1", "{}", 4), registry).code, ErrorCode::InvalidProgram);
}

TEST(CustomCall, LibraryCallsAreCounted) {
  cpu::CallSpec spec;
  spec.target = "fft";
  spec.isLibrary = true;
  spec.config = "{fft_type = \"FFT\", fft_length = array<i64: 3>}";
  spec.inputs = spec.outputs = {values("complex<f32>", {3}, 8)};
  auto executable = get(Executable::create(callProgram(spec)));
  std::vector<float> in = {1, 0, 0, 0, 0, 0}, out(6);
  ExecuteArgument arguments[] = {argument(in)};
  ExecuteResult results[] = {result(out)};
  ExecuteArgs args;
  args.arguments = arguments;
  args.results = results;
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(messageOf(executable->execute(args)), "");
  EXPECT_EQ(out, (std::vector<float>{1, 0, 1, 0, 1, 0}));
  EXPECT_EQ(executable->counters().libraryCalls, 3);
  EXPECT_EQ(executable->counters().customCalls, 0);
}

} // namespace
} // namespace spokeshave::runtime::test
