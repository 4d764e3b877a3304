//===- Expand.h - operations made of simpler ones --------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "input/StablehloOps.h"

namespace spokeshave::graph {

/// Each replaces the operation by others, or says why it cannot.
mlir::LogicalResult expandRandomBits(mlir::OpBuilder &builder, stablehlo::RngBitGeneratorOp op);
mlir::LogicalResult expandBatchNorm(mlir::OpBuilder &builder, stablehlo::BatchNormInferenceOp op);
mlir::LogicalResult expandBatchNorm(mlir::OpBuilder &builder, stablehlo::BatchNormTrainingOp op);
mlir::LogicalResult expandBatchNorm(mlir::OpBuilder &builder, stablehlo::BatchNormGradOp op);
mlir::LogicalResult expandIndexSelect(mlir::OpBuilder &builder, stablehlo::TorchIndexSelectOp op);
/// Of complex numbers; others stay.
mlir::LogicalResult expandComplexBitcast(mlir::OpBuilder &builder, stablehlo::BitcastConvertOp op);
mlir::LogicalResult expandEinsum(mlir::OpBuilder &builder, stablehlo::EinsumOp op);

} // namespace spokeshave::graph
