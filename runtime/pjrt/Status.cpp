//===- Status.cpp - errors of the compiler become statuses -----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/pjrt/Status.h"

namespace spokeshave::pjrt {

namespace {
void destroyError(ErrorObject *error) {
  delete error;
}

void messageOfError(const ErrorObject *error, const char **message, size_t *size) {
  *message = error->status.message().data();
  *size = error->status.message().size();
}

StatusCode codeOfError(const ErrorObject *error) {
  return error->status.code();
}

// Our errors carry no payloads; the framework asks each time.
void forEachPayload(const ErrorObject *, PayloadVisitor, void *) {}

constexpr ErrorTable kErrorTable = {sizeof(ErrorTable), sizeof(ErrorObject), nullptr,
                                    destroyError,       messageOfError,      codeOfError,
                                    forEachPayload};

StatusCode codeOf(spokeshave::ErrorCode code) {
  switch (code) {
  case ErrorCode::MalformedProgram:
  case ErrorCode::InvalidProgram:
  case ErrorCode::BadArgument:
  case ErrorCode::BadOption:
  case ErrorCode::InvalidBuffer:
    return StatusCode::InvalidArgument;
  case ErrorCode::UnsupportedProgram:
    return StatusCode::Unimplemented;
  case ErrorCode::UnknownCustomCall:
    return StatusCode::NotFound;
  case ErrorCode::Internal:
  case ErrorCode::CustomCallFailed:
    return StatusCode::Internal;
  case ErrorCode::OutOfMemory:
    return StatusCode::ResourceExhausted;
  case ErrorCode::Cancelled:
    return StatusCode::Cancelled;
  case ErrorCode::ExecutableMismatch:
    return StatusCode::FailedPrecondition;
  case ErrorCode::DevicesApart:
    return StatusCode::Internal;
  }
  return StatusCode::Internal;
}
} // namespace

const std::string &Status::message() const {
  static const std::string none;
  return data ? data->message : none;
}

ErrorObject *Status::release() const {
  return isOk() ? nullptr : new ErrorObject{&kErrorTable, *this};
}

Status toStatus(llvm::Error error) {
  if (!error)
    return {};
  std::unique_ptr<spokeshave::Error> ours = takeError(std::move(error));
  return statusOf(ours->getCode(), ours->getMessage());
}

Status statusOf(ErrorCode code, const llvm::Twine &message) {
  return Status(codeOf(code), nameOf(code) + ": " + message);
}

} // namespace spokeshave::pjrt
