//===- Error.h - the three kinds of error and how they travel --------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inside the compiler, failures are LogicalResult plus a diagnostic located at
// the operation. At a boundary (C API, command line) they become one Error
// value with a kind, a stable code that has a help page, and a message that
// names the operation and the user's source line.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/Support/Error.h"

#include <string>

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace spokeshave {

/// Whose fault it is.
enum class ErrorKind {
  User,     ///< The program or its arguments are wrong or unsupported.
  Internal, ///< A bug of Spokeshave: an invariant does not hold.
  Runtime,  ///< The machine said no: out of memory, interrupted, a callback failed.
};

/// The errors that a user can meet. Each has a page docs/errors/<code>.md.
enum class ErrorCode {
  MalformedProgram,   ///< SKS-U001 text or bytecode cannot be read
  InvalidProgram,     ///< SKS-U002 readable, but against the specification
  UnsupportedProgram, ///< SKS-U003 legal, not supported by this target (yet)
  BadArgument,        ///< SKS-U004 wrong count, dtype or shape of arguments
  UnknownCustomCall,  ///< SKS-U005 no such custom call target
  BadOption,          ///< SKS-U006 unknown or malformed option
  Internal,           ///< SKS-I001 an invariant of the compiler does not hold
  OutOfMemory,        ///< SKS-R001 more memory than the limit
  Cancelled,          ///< SKS-R002 interrupted (Ctrl-C) or shut down
  CustomCallFailed,   ///< SKS-R003 a custom call or callback returned an error
  InvalidBuffer,      ///< SKS-R004 a deleted or donated buffer was used
  ExecutableMismatch, ///< SKS-R005 a serialized executable is damaged or foreign
  DevicesApart,       ///< SKS-R006 devices of one program did not come together
};

ErrorKind kindOf(ErrorCode code);
/// The stable name, e.g. "SKS-U001".
llvm::StringRef nameOf(ErrorCode code);

/// The error value that crosses boundaries.
class Error : public llvm::ErrorInfo<Error> {
public:
  static char ID;
  Error(ErrorCode code, std::string message) : code(code), message(std::move(message)) {}

  ErrorCode getCode() const { return code; }
  ErrorKind getKind() const { return kindOf(code); }
  const std::string &getMessage() const { return message; }
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  ErrorCode code;
  std::string message;
};

/// Makes an llvm::Error of ours.
llvm::Error makeError(ErrorCode code, const llvm::Twine &message);

/// Takes the first of our errors out of `error` (others become Internal).
std::unique_ptr<Error> takeError(llvm::Error error);

/// While it lives, collects the diagnostics of `context`; `take` turns them into
/// one Error whose message holds the diagnostics with operation and source line.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(mlir::MLIRContext *context);
  ~DiagnosticCollector();
  DiagnosticCollector(const DiagnosticCollector &) = delete;
  DiagnosticCollector &operator=(const DiagnosticCollector &) = delete;

  /// An error of `code` with what was collected, or `fallback` if nothing was.
  llvm::Error take(ErrorCode code, llvm::StringRef fallback);
  bool empty() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace spokeshave
