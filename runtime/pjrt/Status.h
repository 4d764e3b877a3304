//===- Status.h - a code and a message, as the C API returns them ----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything behind the C API returns a Status; it is shared, so that one failed
// execution can poison many buffers at the cost of a pointer each.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/pjrt/PjrtAbi.h"
#include "support/Error.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace spokeshave::pjrt {

class [[nodiscard]] Status {
public:
  /// Success.
  Status() = default;
  Status(StatusCode code, const llvm::Twine &message)
      : data(code == StatusCode::Ok ? nullptr
                                    : std::make_shared<const Data>(Data{code, message.str()})) {}

  bool isOk() const { return !data; }
  StatusCode code() const { return data ? data->code : StatusCode::Ok; }
  const std::string &message() const;
  /// The object that the C API hands out, which its receiver destroys; null for
  /// success.
  ErrorObject *release() const;

private:
  struct Data {
    StatusCode code;
    std::string message;
  };
  std::shared_ptr<const Data> data;
};

/// One of the compiler's or runtime's errors, with the code a framework expects.
Status toStatus(llvm::Error error);

/// An error of ours: its stable name stands before `message`.
Status statusOf(ErrorCode code, const llvm::Twine &message);

inline Status invalidArgument(const llvm::Twine &message) {
  return Status(StatusCode::InvalidArgument, message);
}
inline Status unimplemented(const llvm::Twine &message) {
  return Status(StatusCode::Unimplemented, message);
}

/// What the framework holds of a failed call. It begins with a function table.
struct ErrorObject {
  const ErrorTable *table;
  Status status;
};

} // namespace spokeshave::pjrt
