//===- Cursor.h - reading bytes without trusting them ----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cursor reads MLIR's variable-length integers, strings and sections from a
// range of the file. It never reads past the range and never hands out a count
// that the remaining bytes could not hold, so that what is allocated stays
// proportional to the file. The first error is reported with its offset; after
// it all cursors of the file read zeros, and whoever loops checks `ok()`.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

#include <utility>

namespace spokeshave::bytecode {

/// The file being read, and whether an error has ended the reading.
class Input {
public:
  Input(llvm::StringRef bytes, llvm::StringRef name, mlir::MLIRContext *context);

  bool ok() const { return !hasFailed; }
  /// Reports `message` at a byte of the file, unless an error came before.
  void error(uint64_t offset, const llvm::Twine &message);
  /// Reports `message` at an operation's location.
  void error(mlir::Location location, const llvm::Twine &message);
  /// The same, for code that fills in the message itself.
  mlir::InFlightDiagnostic diagnose(uint64_t offset);
  mlir::InFlightDiagnostic diagnose(mlir::Location location);

  const llvm::StringRef bytes;
  mlir::MLIRContext *const context;

private:
  mlir::Location fileLocation;
  bool hasFailed = false;
};

/// Identifies a part of the file.
struct Range {
  uint64_t begin = 0;
  uint64_t end = 0;
};

class Cursor {
public:
  Cursor(Input &input, Range range) : input(&input), position(range.begin), end(range.end) {}

  bool ok() const { return input->ok(); }
  bool empty() const { return position >= end || !ok(); }
  uint64_t offset() const { return position; }
  uint64_t remaining() const { return end - position; }
  void error(const llvm::Twine &message) { input->error(position, message); }

  uint8_t byte();
  uint64_t varint();
  int64_t signedVarint();
  /// A variable-length integer whose lowest bit is a flag.
  std::pair<uint64_t, bool> flagged();
  /// A number of things that follow, each at least one byte long.
  uint64_t count();
  Range take(uint64_t size);
  llvm::StringRef bytes(uint64_t size);
  /// Bytes up to a zero, which is skipped.
  llvm::StringRef zeroTerminated();
  llvm::SmallVector<int64_t> signedVarints();

  struct Section {
    uint8_t id;
    Range range;
  };
  Section section();

private:
  void align(uint64_t alignment);

  Input *input;
  uint64_t position;
  uint64_t end;
};

} // namespace spokeshave::bytecode
