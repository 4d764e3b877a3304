//===- Api.cpp - the function table ----------------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every slot goes through `entry`: it checks the size of the arguments, and
// whatever is thrown below becomes an error. Nothing unwinds into the framework.
//
//===----------------------------------------------------------------------===//
#include "runtime/pjrt/Serve.h"

#include "runtime/pjrt/Executable.h"

#include <new>

namespace spokeshave::pjrt {

namespace {
template <typename Args> Status checkSize(const Args *args) {
  if (!args)
    return invalidArgument(llvm::StringRef(Layout<Args>::name) + " was called with null");
  if (args->struct_size < minimumSize<Args>)
    return invalidArgument(llvm::StringRef(Layout<Args>::name) + " has struct_size " +
                           llvm::Twine(args->struct_size) + ", at least " +
                           llvm::Twine(minimumSize<Args>) +
                           " is needed: this framework is too old for the plugin");
  return {};
}

template <typename Args> Status guarded(Args *args) noexcept {
  try {
    if (Status status = checkSize(args); !status.isOk())
      return status;
    return serve(*args);
  } catch (const std::bad_alloc &) {
    return statusOf(ErrorCode::OutOfMemory,
                    llvm::StringRef("out of memory in ") + Layout<Args>::name);
  } catch (const std::exception &error) {
    return statusOf(ErrorCode::Internal, llvm::StringRef(Layout<Args>::name) + ": " + error.what());
  } catch (...) {
    return statusOf(ErrorCode::Internal,
                    llvm::StringRef("unknown exception in ") + Layout<Args>::name);
  }
}

template <typename Args> ErrorObject *entry(Args *args) noexcept {
  return guarded(args).release();
}

/// The two slots that return nothing.
template <typename Args> void voidEntry(Args *args) noexcept {
  (void)guarded(args);
}

template <typename Args> void *slot() {
  if constexpr (std::is_same_v<Args, Error_Destroy_Args> ||
                std::is_same_v<Args, Error_Message_Args>)
    return reinterpret_cast<void *>(&voidEntry<Args>);
  else
    return reinterpret_cast<void *>(&entry<Args>);
}

Api makeApi() {
  Api api{};
  api.struct_size = sizeof(Api);
  api.extension_start = extensions();
  api.version.struct_size = Layout<Version>::size;
  api.version.major_version = kApiMajor;
  api.version.minor_version = kApiMinor;
#define SPOKESHAVE_SLOT(name) api.name = slot<name##_Args>();
  SPOKESHAVE_PJRT_SLOTS(SPOKESHAVE_SLOT)
#undef SPOKESHAVE_SLOT
  return api;
}
} // namespace

void giveBytes(std::string bytes, const char *&data, size_t &size, Bytes *&owner,
               void (*&deleter)(Bytes *)) {
  owner = new Bytes{std::move(bytes)};
  deleter = [](Bytes *owned) { delete owned; };
  giveText(owner->data, data, size);
}

Status requireArgument(const void *pointer, llvm::StringRef what) {
  return pointer ? Status() : invalidArgument(what + " is null");
}

const Api &pjrtApi() {
  static const Api api = makeApi();
  return api;
}

} // namespace spokeshave::pjrt
