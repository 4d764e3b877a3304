//===- FfiCall.cpp - one call to a typed handler ---------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes, kinds and shapes are laid out at load. A run copies the few
// buffer structs to its own stack, fills in the pointers, and calls the stages.
//
//===----------------------------------------------------------------------===//
#include "runtime/ffi/FfiCall.h"

#include "runtime/ffi/FfiApi.h"
#include "runtime/ffi/FfiAttributes.h"
#include "support/Error.h"

#include "llvm/Support/FormatVariadic.h"

#include <exception>

using namespace mlir;

namespace spokeshave::runtime {

llvm::Error callFailed(const cpu::CallSpec &spec, const llvm::Twine &why) {
  return makeError(ErrorCode::CustomCallFailed, describe(spec) + " failed: " + why);
}

llvm::Error guardCall(const cpu::CallSpec &spec, llvm::function_ref<llvm::Error()> body) {
  try {
    return body();
  } catch (const std::exception &exception) {
    return callFailed(spec, exception.what());
  } catch (...) {
    return callFailed(spec, "it threw something that is no std::exception");
  }
}

Attribute backendConfigOf(const CallConfig &config) {
  Attribute value = config.get("backend_config");
  return value ? value : config.get("mhlo.backend_config");
}

llvm::Error checkFfiHandler(llvm::StringRef name, const CustomCallTarget &target) {
  ffi::Metadata metadata{};
  metadata.size = sizeof metadata;
  metadata.version.size = sizeof metadata.version;
  ffi::MetadataExtension extension{};
  extension.base = {sizeof extension, ffi::kMetadataExtension, nullptr};
  extension.metadata = &metadata;
  ffi::CallFrame frame{};
  frame.size = ffi::kCallFrameSize;
  frame.extensions = &extension.base;
  frame.api = &ffi::api();
  frame.stage = ffi::kExecute;
  auto refuse = [&](const llvm::Twine &why) {
    return makeError(ErrorCode::BadArgument, "custom call target '" + name + "' " + why);
  };
  try {
    std::unique_ptr<ffi::Error> error(reinterpret_cast<ffi::Handler *>(target.execute)(&frame));
    if (error)
      return refuse("does not say which FFI it was built for: " + error->message);
  } catch (...) {
    return refuse("throws when asked which FFI it was built for");
  }
  if (metadata.version.major != ffi::kMajorVersion)
    return refuse(llvm::formatv("was built for FFI {0}.{1}, this is {2}.{3}",
                                metadata.version.major, metadata.version.minor, ffi::kMajorVersion,
                                ffi::kMinorVersion)
                      .str());
  return llvm::Error::success();
}

namespace {

class FfiCall : public PreparedCall {
public:
  FfiCall(const cpu::CallSpec &spec, const CustomCallTarget &target, BufferAdapter adapter)
      : spec(spec), target(target), adapter(std::move(adapter)) {}

  llvm::Error prepare(const CallConfig &config);
  llvm::Error run(void *const *buffers, const CallEnvironment &environment) override;

private:
  llvm::Error readAttributes(const CallConfig &config);
  llvm::Error describeBuffers();
  llvm::Error call(void *handler, ffi::Stage stage, ffi::InvokeContext &context,
                   const ffi::Buffers &arguments, const ffi::Buffers &results);

  cpu::CallSpec spec;
  CustomCallTarget target;
  BufferAdapter adapter;
  ffi::AttributeStorage attributes;
  std::vector<ffi::Buffer> layout; ///< inputs, then outputs, without data
  std::vector<int32_t> kinds;
  ffi::State state; ///< of the instantiate stage
};

llvm::Error FfiCall::readAttributes(const CallConfig &config) {
  Attribute value = backendConfigOf(config);
  // Older programs write the dictionary as text inside a string.
  if (auto text = dyn_cast_or_null<StringAttr>(value))
    value = text.empty() ? Attribute() : config.parseAttribute(text);
  else if (!value)
    return llvm::Error::success();
  if (!value)
    return llvm::Error::success();
  auto dictionary = dyn_cast<DictionaryAttr>(value);
  if (!dictionary)
    return makeError(ErrorCode::InvalidProgram,
                     describe(spec) + " has a backend_config that is no dictionary");
  if (llvm::Error error = attributes.build(dictionary)) {
    std::unique_ptr<Error> reason = takeError(std::move(error));
    return makeError(reason->getCode(), describe(spec) + ": " + reason->getMessage());
  }
  return llvm::Error::success();
}

llvm::Error FfiCall::describeBuffers() {
  auto add = [&](const cpu::ValueSpec &value) {
    ffi::Buffer buffer{};
    buffer.size = sizeof buffer;
    buffer.type = ffi::dataTypeOf(value.elementType);
    buffer.rank = static_cast<int64_t>(value.shape.size());
    buffer.dimensions = value.shape.data(); // of this object's own copy of the spec
    layout.push_back(buffer);
    return buffer.type != ffi::kInvalid;
  };
  for (const auto *list : {&spec.inputs, &spec.outputs})
    for (const cpu::ValueSpec &value : *list)
      if (!add(value))
        return makeError(ErrorCode::UnsupportedProgram, describe(spec) + " has a buffer of type " +
                                                            value.elementType +
                                                            ", which the FFI has no code for");
  kinds.assign(layout.size(), ffi::kBufferKind);
  return llvm::Error::success();
}

llvm::Error FfiCall::prepare(const CallConfig &config) {
  if (llvm::Error error = readAttributes(config))
    return error;
  if (llvm::Error error = describeBuffers())
    return error;
  if (!target.instantiate)
    return llvm::Error::success();
  CallEnvironment environment;
  environment.pool = &ThreadPool::global();
  ffi::InvokeContext context{environment, state, {}, {}};
  ffi::Buffers none{};
  none.size = sizeof none;
  return call(target.instantiate, ffi::kInstantiate, context, none, none);
}

llvm::Error FfiCall::call(void *handler, ffi::Stage stage, ffi::InvokeContext &context,
                          const ffi::Buffers &arguments, const ffi::Buffers &results) {
  if (!handler)
    return llvm::Error::success();
  ffi::CallFrame frame{};
  frame.size = ffi::kCallFrameSize;
  frame.api = &ffi::api();
  frame.context = &context;
  frame.stage = stage;
  frame.arguments = arguments;
  frame.results = results;
  frame.attributes = attributes.attributes();
  return guardCall(spec, [&]() -> llvm::Error {
    std::unique_ptr<ffi::Error> error(reinterpret_cast<ffi::Handler *>(handler)(&frame));
    if (!error && frame.future)
      error = frame.future->wait();
    return error ? callFailed(spec, error->message) : llvm::Error::success();
  });
}

llvm::Error FfiCall::run(void *const *buffers, const CallEnvironment &environment) {
  return adapter.run(buffers, [&](void *const *adapted) -> llvm::Error {
    llvm::SmallVector<ffi::Buffer, 8> structs(layout.begin(), layout.end());
    llvm::SmallVector<void *, 8> pointers;
    for (size_t i = 0; i < structs.size(); ++i) {
      structs[i].data = adapted[i];
      pointers.push_back(&structs[i]);
    }
    auto list = [&](size_t first, size_t count) {
      return ffi::Buffers{{sizeof(ffi::Buffers), nullptr},
                          static_cast<int64_t>(count),
                          kinds.data() + first,
                          pointers.data() + first};
    };
    ffi::Buffers arguments = list(0, spec.inputs.size());
    ffi::Buffers results = list(spec.inputs.size(), spec.outputs.size());
    ffi::InvokeContext context{environment, state, {}, {}};
    if (llvm::Error error = call(target.prepare, ffi::kPrepare, context, arguments, results))
      return error;
    if (llvm::Error error = call(target.initialize, ffi::kInitialize, context, arguments, results))
      return error;
    return call(target.execute, ffi::kExecute, context, arguments, results);
  });
}

} // namespace

llvm::Expected<std::unique_ptr<PreparedCall>> prepareFfiCall(const cpu::CallSpec &spec,
                                                             const CustomCallTarget &target,
                                                             const CallConfig &config) {
  llvm::Expected<BufferAdapter> adapter = BufferAdapter::create(spec, config);
  if (!adapter)
    return adapter.takeError();
  auto call = std::make_unique<FfiCall>(spec, target, std::move(*adapter));
  if (llvm::Error error = call->prepare(config))
    return std::move(error);
  return std::move(call);
}

} // namespace spokeshave::runtime
