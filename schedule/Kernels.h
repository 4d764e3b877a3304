//===- Kernels.h - fusions become kernels, equal ones become one -----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "schedule/ScheduleDialect.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace spokeshave::schedule {

/// The kernels of a program under construction.
class KernelTable {
public:
  /// Kernels are put at the end of `module`.
  explicit KernelTable(mlir::ModuleOp module) : module(module) {}

  /// The kernel that computes `fusion`: a new one, or one whose body is the same
  /// operation by operation. Names and locations do not count.
  mlir::FlatSymbolRefAttr kernelFor(graph::FusionOp fusion);
  /// A kernel without inputs whose result is `value` in each element.
  mlir::FlatSymbolRefAttr fillFor(mlir::DenseElementsAttr value, mlir::Location loc);

private:
  mlir::FlatSymbolRefAttr outline(graph::FusionOp fusion);

  mlir::ModuleOp module;
  llvm::DenseMap<uint64_t, llvm::SmallVector<KernelOp, 1>> byHash;
  llvm::DenseMap<mlir::Attribute, mlir::FlatSymbolRefAttr> fills;
  llvm::StringMap<int> namesTaken;
};

} // namespace spokeshave::schedule
