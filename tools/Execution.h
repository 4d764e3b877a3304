//===- Execution.h - runs compiled programs on the interpreter's tensors ----===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tools compare what code computes with what the interpreter says, so both
// have to run on the same values.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "reference/Tensor.h"
#include "runtime/Executable.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <vector>

namespace spokeshave::tools {

/// Tensors for the results of `main` but tokens; an error where one is no static
/// tensor.
llvm::Expected<std::vector<reference::Tensor>> emptyResults(mlir::func::FuncOp main);

/// Runs `executable` once on fresh memory and fills `results`; `nanoseconds` is
/// the time in its driver. As `device` of an execution on several, if there is an
/// `exchange`.
llvm::Error executeOnTensors(const runtime::Executable &executable,
                             std::vector<reference::Tensor> &arguments,
                             std::vector<reference::Tensor> &results, int64_t &nanoseconds,
                             runtime::Exchange *exchange = nullptr, int64_t device = 0);

} // namespace spokeshave::tools
