//===- ChloStructure.h - chlo's operations on whole tensors -----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "input/ChloOps.h"

namespace spokeshave::chlo {

// Each builds what stands for `op` before it and gives its results; empty after
// an error, which is a diagnostic at `op`.

llvm::SmallVector<mlir::Value> expandMulhi(MulhiOp op, mlir::OpBuilder &builder);
llvm::SmallVector<mlir::Value> expandNextAfter(NextAfterOp op, mlir::OpBuilder &builder);
llvm::SmallVector<mlir::Value> expandRaggedDot(RaggedDotOp op, mlir::OpBuilder &builder);
llvm::SmallVector<mlir::Value> expandScan(ScanOp op, mlir::OpBuilder &builder);
/// Sorts a line and takes its beginning: the decomposition of the composite.
llvm::SmallVector<mlir::Value> sortedTopK(mlir::OpBuilder &builder, mlir::Location location,
                                          mlir::Value operand, mlir::TypeRange results);

/// `value` repeated to `shape`; its dimensions are `dims` of that.
mlir::Value broadcastTo(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value,
                        llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> dims);
/// A constant of `type` with every element `value`.
mlir::Value splat(mlir::OpBuilder &builder, mlir::Location location, mlir::Type type,
                  int64_t value);

} // namespace spokeshave::chlo
