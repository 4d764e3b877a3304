//===- UntypedCall.cpp - the custom call interfaces before the FFI ---------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Version 1: void(void *out, const void **in). Version 2 adds a status, version
// 3 an opaque string before it. One result is passed as its buffer, any other
// number as an array of buffers.
//
//===----------------------------------------------------------------------===//
#include "runtime/ffi/FfiCall.h"
#include "support/Error.h"

#include <optional>
#include <string>

using namespace mlir;

/// What handlers of versions 2 and 3 get, opaque to them.
struct XlaCustomCallStatus_ {
  std::optional<std::string> failure;
};

// Handlers call these two by name; they are the only way to set the status.
extern "C" __attribute__((visibility("default"))) void
XlaCustomCallStatusSetSuccess(XlaCustomCallStatus_ *status) {
  status->failure.reset();
}
extern "C" __attribute__((visibility("default"))) void
XlaCustomCallStatusSetFailure(XlaCustomCallStatus_ *status, const char *message, size_t length) {
  status->failure = std::string(message, length);
}

namespace spokeshave::runtime {
namespace {

using Original = void(void *out, const void **in);
using WithStatus = void(void *out, const void **in, XlaCustomCallStatus_ *status);
using WithOpaque = void(void *out, const void **in, const char *opaque, size_t length,
                        XlaCustomCallStatus_ *status);

class UntypedCall : public PreparedCall {
public:
  UntypedCall(const cpu::CallSpec &spec, void *function, std::string opaque, BufferAdapter adapter)
      : spec(spec), function(function), opaque(std::move(opaque)), adapter(std::move(adapter)) {}

  llvm::Error run(void *const *buffers, const CallEnvironment &) override {
    return adapter.run(buffers, [&](void *const *adapted) { return call(adapted); });
  }

private:
  llvm::Error call(void *const *buffers) {
    size_t inputs = spec.inputs.size(), outputs = spec.outputs.size();
    llvm::SmallVector<const void *, 8> in(buffers, buffers + inputs);
    llvm::SmallVector<void *, 4> results(buffers + inputs, buffers + inputs + outputs);
    void *out = outputs == 1 ? results[0] : static_cast<void *>(results.data());
    XlaCustomCallStatus_ status;
    llvm::Error thrown = guardCall(spec, [&] {
      if (spec.apiVersion == 2)
        reinterpret_cast<WithStatus *>(function)(out, in.data(), &status);
      else if (spec.apiVersion == 3)
        reinterpret_cast<WithOpaque *>(function)(out, in.data(), opaque.data(), opaque.size(),
                                                 &status);
      else
        reinterpret_cast<Original *>(function)(out, in.data());
      return llvm::Error::success();
    });
    if (thrown)
      return thrown;
    return status.failure ? callFailed(spec, *status.failure) : llvm::Error::success();
  }

  cpu::CallSpec spec;
  void *function;
  std::string opaque;
  BufferAdapter adapter;
};

} // namespace

llvm::Expected<std::unique_ptr<PreparedCall>> prepareUntypedCall(const cpu::CallSpec &spec,
                                                                 const CustomCallTarget &target,
                                                                 const CallConfig &config) {
  llvm::Expected<BufferAdapter> adapter = BufferAdapter::create(spec, config);
  if (!adapter)
    return adapter.takeError();
  std::string opaque;
  if (Attribute value = backendConfigOf(config)) {
    auto text = dyn_cast<StringAttr>(value);
    if (!text)
      return makeError(ErrorCode::InvalidProgram,
                       describe(spec) + " has a backend_config that is no string");
    opaque = text.str();
  }
  return std::make_unique<UntypedCall>(spec, target.execute, std::move(opaque),
                                       std::move(*adapter));
}

} // namespace spokeshave::runtime
