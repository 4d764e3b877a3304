//===- UnitDot.h - a matrix product on matrix units, while it is lowered ---===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to LowerUnitDot.cpp, which writes the task, and UnitDotLayout.cpp, which
// finds how everything lies.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/BlockWindows.h"
#include "kernel/LowerUnitDot.h"
#include "kernel/UnitPlan.h"

#include <map>

namespace spokeshave::kernel {

/// A factor of the product.
struct DotFactor {
  enum class Form {
    Direct, ///< as it lies: lhs along k, rhs along its columns
    Turned, ///< as it lies: lhs along its rows, rhs along k
    Packed, ///< computed into scratch, as Direct
  } form = Form::Packed;
  mlir::Value tensor;
  std::optional<AffineBox> box; ///< of the buffer, unless packed
  mlir::Value buffer;           ///< far; then what tile_dot reads
  int64_t bytes = 4;            ///< of an element in far memory
  mlir::Value offset;
  int64_t outerStride = 0; ///< of tile_dot's: between rows, or columns of Turned
};

class UnitDotLowering {
public:
  UnitDotLowering(FusionLowering &lowering, MatrixProblem &problem, ElementEmitter &emitter)
      : lowering(lowering), view(problem), emitter(emitter), builder(lowering.builder),
        product(problem.op->getResult(0)), accumulator(accumulatorType(problem.op)) {}
  mlir::LogicalResult run();
  bool readsLeftInPlace() {
    makeProbes();
    classify(left, true);
    return left.form != DotFactor::Form::Packed;
  }

private:
  mlir::Location loc() { return lowering.loc(); }
  mlir::Value index(int64_t i) { return lowering.constant(i); }
  mlir::Value scratch(int64_t elements, mlir::Type element);

  // Before the plan: how everything lies.
  Index makeProbe(int64_t extent);
  void makeProbes();
  void classify(DotFactor &operand, bool isLeft);
  void classifySplit(DotFactor &operand);
  void findOutputs();
  void findInputs();
  void choosePlan();
  bool isExpectedNear(mlir::Value buffer);
  void setBlocks();
  void declareWindows();
  std::optional<AffineBox> boxAt(const Index &linear);

  // The task.
  void splitTask();
  mlir::LogicalResult pack(DotFactor &operand, bool isLeft);
  void turnLeft();
  void multiply();
  mlir::LogicalResult emitEpilogue();
  bool canSumInOutput();
  void markRounding(mlir::Value sum);
  mlir::LogicalResult emitEpilogueAt(const Index &row, const Index &column);
  void bindInputs();
  mlir::LogicalResult forBlockRows(int64_t extent, int64_t rowElements, const Index &begin,
                                   int64_t limit,
                                   llvm::function_ref<mlir::LogicalResult(const Index &)> body);
  mlir::LogicalResult forBlockLanes(int64_t extent, const Index &begin, int64_t limit,
                                    llvm::function_ref<mlir::LogicalResult(const Index &)> body);
  mlir::LogicalResult
  forBlockTiles(llvm::function_ref<mlir::LogicalResult(const Index &, const Index &)> body);

  FusionLowering &lowering;
  MatrixProblem &view;
  ElementEmitter &emitter;
  mlir::OpBuilder &builder;
  mlir::Value product;
  mlir::Type accumulator;
  UnitPlan plan;

  // The index space: batch dimensions, row, column, depth.
  llvm::SmallVector<int64_t> batchExtents;
  llvm::SmallVector<BlockDimension> dims;
  Index probeBatch, probeRow, probeColumn, probeDepth;
  int64_t depthPart = 1; ///< of k, where lhs's has two dimensions
  llvm::SmallVector<int64_t> radices;

  DotFactor left, right;
  /// Boxes of what else is read, and of results; nothing: as a whole.
  std::map<unsigned, std::optional<AffineBox>> inputs;
  llvm::SmallVector<std::optional<AffineBox>> outputs;
  std::map<unsigned, mlir::Value> inputViews;
  llvm::SmallVector<mlir::Value> outputViews;
  /// Whether the block may reach beyond the problem's edges in what the fusion
  /// computes: everything is in windows then, which are as large as the block.
  bool reachesBeyond = true;

  llvm::SmallVector<mlir::Value> digits; ///< of the task
  Index batch, rowBegin, columnBegin, depthBegin;
  mlir::Value depthDigit;
  mlir::Value sums;
  mlir::Value sumsOffset;
  bool sumsInOutput = false;
  int64_t scratchBytes = 0;
};

} // namespace spokeshave::kernel
