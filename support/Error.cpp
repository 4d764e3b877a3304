//===- Error.cpp - error kinds, codes and diagnostics ----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "support/Error.h"
#include "support/Location.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Operation.h"

#include <mutex>

namespace spokeshave {

char Error::ID = 0;

namespace {
struct CodeEntry {
  ErrorCode code;
  ErrorKind kind;
  const char *name;
};
constexpr CodeEntry kCodes[] = {
    {ErrorCode::MalformedProgram, ErrorKind::User, "SKS-U001"},
    {ErrorCode::InvalidProgram, ErrorKind::User, "SKS-U002"},
    {ErrorCode::UnsupportedProgram, ErrorKind::User, "SKS-U003"},
    {ErrorCode::BadArgument, ErrorKind::User, "SKS-U004"},
    {ErrorCode::UnknownCustomCall, ErrorKind::User, "SKS-U005"},
    {ErrorCode::BadOption, ErrorKind::User, "SKS-U006"},
    {ErrorCode::Internal, ErrorKind::Internal, "SKS-I001"},
    {ErrorCode::OutOfMemory, ErrorKind::Runtime, "SKS-R001"},
    {ErrorCode::Cancelled, ErrorKind::Runtime, "SKS-R002"},
    {ErrorCode::CustomCallFailed, ErrorKind::Runtime, "SKS-R003"},
    {ErrorCode::InvalidBuffer, ErrorKind::Runtime, "SKS-R004"},
    {ErrorCode::ExecutableMismatch, ErrorKind::Runtime, "SKS-R005"},
    {ErrorCode::DevicesApart, ErrorKind::Runtime, "SKS-R006"},
};

const CodeEntry &entryOf(ErrorCode code) {
  for (const CodeEntry &entry : kCodes)
    if (entry.code == code)
      return entry;
  llvm_unreachable("every ErrorCode is in kCodes");
}
} // namespace

ErrorKind kindOf(ErrorCode code) {
  return entryOf(code).kind;
}
llvm::StringRef nameOf(ErrorCode code) {
  return entryOf(code).name;
}

void Error::log(llvm::raw_ostream &os) const {
  os << nameOf(code) << ": " << message;
}

llvm::Error makeError(ErrorCode code, const llvm::Twine &message) {
  return llvm::make_error<Error>(code, message.str());
}

std::unique_ptr<Error> takeError(llvm::Error error) {
  std::unique_ptr<Error> first;
  llvm::handleAllErrors(
      std::move(error),
      [&](std::unique_ptr<Error> ours) {
        if (!first)
          first = std::move(ours);
      },
      [&](const llvm::ErrorInfoBase &other) {
        if (!first)
          first = std::make_unique<Error>(ErrorCode::Internal, other.message());
      });
  return first;
}

namespace {
constexpr size_t kLongestNote = 500;
} // namespace

struct DiagnosticCollector::Impl {
  mlir::MLIRContext *context;
  mlir::DiagnosticEngine::HandlerID handler;
  std::mutex mutex;
  std::string text;
};

DiagnosticCollector::DiagnosticCollector(mlir::MLIRContext *context)
    : impl(std::make_unique<Impl>()) {
  impl->context = context;
  Impl *state = impl.get();
  impl->handler = context->getDiagEngine().registerHandler([state](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
      return mlir::success();
    std::lock_guard<std::mutex> lock(state->mutex);
    llvm::raw_string_ostream os(state->text);
    if (!state->text.empty())
      os << "\n";
    os << describeLocation(diagnostic.getLocation()) << ": " << diagnostic;
    for (mlir::Diagnostic &note : diagnostic.getNotes()) {
      std::string text = note.str();
      // MLIR notes the whole operation, with all that it may hold.
      if (text.size() > kLongestNote)
        text = text.substr(0, kLongestNote) + " ...";
      os << "\n  note: " << text;
    }
    return mlir::success();
  });
}

DiagnosticCollector::~DiagnosticCollector() {
  impl->context->getDiagEngine().eraseHandler(impl->handler);
}

bool DiagnosticCollector::empty() const {
  return impl->text.empty();
}

llvm::Error DiagnosticCollector::take(ErrorCode code, llvm::StringRef fallback) {
  std::string text = std::move(impl->text);
  impl->text.clear();
  return makeError(code, text.empty() ? fallback : llvm::StringRef(text));
}

} // namespace spokeshave
