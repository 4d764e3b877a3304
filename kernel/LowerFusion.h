//===- LowerFusion.h - one function per kind of fusion ---------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to kernel/. Each function fills the body of `kernel`, whose block
// arguments are made already, and sets its number of tasks, cost and scratch.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/Accumulate.h"
#include "kernel/ConvolutionShape.h"

namespace spokeshave::kernel {

struct FusionLowering {
  mlir::OpBuilder &builder; ///< at the start of the kernel's body
  FuncOp kernel;
  graph::FusionOp fusion;
  const machine::Machine &machine;

  mlir::Value constant(int64_t value);
  /// The smaller of an index and a constant.
  mlir::Value minimum(mlir::Value index, int64_t bound);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value multiply(mlir::Value a, int64_t factor);
  mlir::Location loc() { return fusion.getLoc(); }
};

mlir::LogicalResult lowerReduce(FusionLowering &lowering);
mlir::LogicalResult lowerRows(FusionLowering &lowering);
mlir::LogicalResult lowerUpdate(FusionLowering &lowering);
/// `bindHero` may bind values that an emitter cannot evaluate on its own, at
/// `heroCost` picoseconds for an element.
mlir::LogicalResult lowerLoop(FusionLowering &lowering,
                              llvm::function_ref<void(ElementEmitter &)> bindHero = {},
                              int64_t heroCost = 0);
mlir::LogicalResult lowerWindow(FusionLowering &lowering);
mlir::LogicalResult lowerConvolution(FusionLowering &lowering);
/// For those that isMatrixConvolution picks: in LowerDot.cpp.
mlir::LogicalResult lowerMatrixConvolution(FusionLowering &lowering,
                                           stablehlo::ConvolutionOp convolution);
mlir::LogicalResult lowerScan(FusionLowering &lowering);
mlir::LogicalResult lowerScatter(FusionLowering &lowering);
mlir::LogicalResult lowerSort(FusionLowering &lowering);
/// The composite chlo.top_k of a sort fusion.
mlir::LogicalResult lowerTopK(FusionLowering &lowering, stablehlo::CompositeOp topK,
                              ElementEmitter &emitter);
mlir::LogicalResult lowerDecomposition(FusionLowering &lowering);
mlir::LogicalResult lowerDot(FusionLowering &lowering);
mlir::LogicalResult lowerAttention(FusionLowering &lowering);
mlir::LogicalResult lowerWhile(FusionLowering &lowering);

/// Binds all results of `hero` to what `evaluate` gives for a position, evaluated
/// once for results that are read at one place.
void bindAll(ElementEmitter &emitter, mlir::Operation *hero,
             std::function<mlir::FailureOr<Elements>(const Position &)> evaluate);

/// What is on of a tile that begins at `index` where `count` elements are left:
/// lane l is on if l < count.
mlir::Value makeMask(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value count,
                     int64_t lanes);
mlir::Value makeMask(mlir::OpBuilder &builder, mlir::Location loc, int64_t count, int64_t lanes);

/// Writes a loop over [lower, upper) along the lanes: whole tiles without a mask,
/// then one masked tile for the rest. `lower` is a multiple of `lanes` in
/// [0, extent); `upper` is `extent` or a multiple of `lanes` below. `body` gets
/// the index of the tile's lanes, within the tile and one level deeper. With `unroll`
/// tiles in a trip, `lower` and `upper` are multiples of so many tiles.
mlir::LogicalResult forLanes(ElementEmitter &emitter, mlir::Value lower, mlir::Value upper,
                             int64_t extent, int64_t lanes,
                             llvm::function_ref<mlir::LogicalResult(const Index &)> body,
                             int64_t unroll = 1);

/// The same with values that the body turns into the next tile's.
using Carried = llvm::SmallVector<mlir::Value>;
using CarryingBody =
    llvm::function_ref<mlir::FailureOr<Carried>(const Index &, mlir::ValueRange carried)>;
mlir::FailureOr<Carried> forLanesCarrying(ElementEmitter &emitter, mlir::Value lower,
                                          mlir::Value upper, int64_t extent, int64_t lanes,
                                          mlir::ValueRange init, CarryingBody body,
                                          int64_t unroll = 1);
mlir::FailureOr<Carried> forRangeCarrying(ElementEmitter &emitter, mlir::Value lower,
                                          mlir::Value upper, int64_t extent, mlir::ValueRange init,
                                          CarryingBody body);

/// Writes a loop over [lower, upper), step 1, both within [0, extent). `body`
/// gets the index, one level deeper.
mlir::LogicalResult forRange(ElementEmitter &emitter, mlir::Value lower, mlir::Value upper,
                             int64_t extent,
                             llvm::function_ref<mlir::LogicalResult(const Index &)> body);

} // namespace spokeshave::kernel
