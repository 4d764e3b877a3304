//===- BufferAdapter.h - layouts and aliases that a call asks for ----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All buffers of a program are row-major. A custom call may want operands or
// results in another order of dimensions (LAPACK's are column-major), or one
// buffer for an operand and a result. The adapter makes the copies around it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/CallConfig.h"
#include "runtime/Memory.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace spokeshave::runtime {

/// Copies a row-major array of `shape` into one whose dimensions lie in memory
/// as `minorToMajor` says, or back.
void copyToLayout(void *target, const void *source, llvm::ArrayRef<int64_t> shape,
                  llvm::ArrayRef<int64_t> minorToMajor, int64_t elementBytes);
void copyFromLayout(void *target, const void *source, llvm::ArrayRef<int64_t> shape,
                    llvm::ArrayRef<int64_t> minorToMajor, int64_t elementBytes);

class BufferAdapter {
public:
  /// Reads operand_layouts, result_layouts and output_operand_aliases. Error
  /// InvalidProgram where they do not fit the operands and results.
  static llvm::Expected<BufferAdapter> create(const cpu::CallSpec &spec, const CallConfig &config);

  /// Calls `body` with buffers as it wants them.
  llvm::Error run(void *const *buffers, llvm::function_ref<llvm::Error(void *const *)> body) const;

private:
  struct Slot {
    llvm::SmallVector<int64_t, 4> shape, minorToMajor; ///< empty: row-major
    int64_t bytes = 0, elementBytes = 0;
  };
  struct Alias {
    size_t operand, result; ///< indices into `slots`
  };
  llvm::Error readLayouts(const cpu::CallSpec &spec, mlir::Attribute layouts, size_t first,
                          size_t count);
  llvm::Error readAliases(const cpu::CallSpec &spec, mlir::Attribute aliases);

  size_t inputs = 0;
  std::vector<Slot> slots; ///< inputs, then outputs
  std::vector<Alias> aliases;
  bool direct = true; ///< nothing to do
};

} // namespace spokeshave::runtime
