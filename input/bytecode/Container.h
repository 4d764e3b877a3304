//===- Container.h - the sections of an MLIR bytecode file -----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The outer layer of MLIR's bytecode, versions 0 to 6: it finds strings,
// dialects, operation names, where each attribute and type is, and the
// sections of operations and their properties. Nothing is decoded here.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "input/bytecode/Cursor.h"

namespace spokeshave::bytecode {

/// Format versions at which the encoding changed.
enum FormatVersion : uint64_t {
  DialectVersions = 1,
  IsolatedSections = 2,
  UseListOrders = 3,
  OptionalArgumentLocations = 4,
  Properties = 5,
  NewestFormat = 6,
};

/// An attribute or a type that has not been decoded.
struct Entry {
  uint64_t dialect; ///< Index of the dialect it belongs to.
  bool hasEncoding; ///< Its dialect's binary encoding; otherwise text.
  Range range;
};

struct OpName {
  uint64_t dialect;
  llvm::StringRef name; ///< Without the dialect.
};

struct Container {
  uint64_t version = 0;
  llvm::StringRef producer;
  llvm::SmallVector<llvm::StringRef> strings;
  llvm::SmallVector<llvm::StringRef> dialects;
  llvm::SmallVector<OpName> opNames;
  llvm::SmallVector<Entry> attributes;
  llvm::SmallVector<Entry> types;
  llvm::SmallVector<Range> properties;
  Range operations;

  /// The string that a cursor's next integer names.
  llvm::StringRef string(Cursor &cursor) const;
};

/// Whether `bytes` begin like MLIR bytecode.
bool isBytecode(llvm::StringRef bytes);

/// Finds the parts of `input`; errors are reported there.
Container readContainer(Input &input);

} // namespace spokeshave::bytecode
