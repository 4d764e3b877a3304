//===- FusionKey.h - what a fusion computes, as text -----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "graph/GraphDialect.h"

#include "llvm/ADT/SetVector.h"

namespace spokeshave::graph {

/// Writes fusions as texts that are equal if and only if they compute the same:
/// their operations with attributes and types, values by number. Names and
/// locations are left out, and nothing depends on addresses, so that texts of
/// several contexts can be compared. Keeps the text of each attribute: one writer
/// should serve all fusions of a program.
class FusionKeyWriter {
public:
  /// Empty where the text of an attribute does not tell its value. Of operations
  /// in `masked` the attributes are left out.
  std::string write(FusionOp fusion, llvm::ArrayRef<mlir::Operation *> masked = {});
  /// The same for any operation with regions, like a loop. Values from outside are
  /// numbered in the order in which they are first used, and added to `outside`;
  /// those of operations without operands, like constants, are written themselves.
  std::string write(mlir::Operation *root, llvm::SetVector<mlir::Value> &outside);

private:
  void writeOperand(mlir::Value operand);
  void write(mlir::Region &region);
  void write(mlir::Operation &op);
  void write(mlir::Attribute attribute);
  void write(mlir::Type type);
  void number(mlir::Value value);

  std::string key;
  bool isComplete = true;
  llvm::ArrayRef<mlir::Operation *> masked;
  llvm::SetVector<mlir::Value> *outside = nullptr;
  llvm::DenseMap<mlir::Value, unsigned> numbers;
  llvm::DenseMap<const void *, std::string> texts;
};

} // namespace spokeshave::graph
