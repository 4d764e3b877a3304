//===- RegisterLoopEmitter.h - writes a loop whose state is in registers ---===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operations of the loop are visited in order. What changes from trip to trip
// has a register for each element of one member of the batch: a vector with a
// lane per member, or a scalar where all members share it. The ElementEmitter
// evaluates each operation, with the operands' registers bound; what only moves
// elements, it evaluates where they are read. Values from outside the loop are
// its own affair: it writes them before the loop where their positions allow.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "graph/RegisterLoop.h"
#include "kernel/LowerFusion.h"

namespace spokeshave::kernel {

class RegisterLoopEmitter {
public:
  /// `members` are the present tile's, an index for each of the batch's classes.
  RegisterLoopEmitter(FusionLowering &lowering, ElementEmitter &emitter,
                      const graph::RegisterLoop &plan, Position members)
      : lowering(lowering), emitter(emitter), plan(plan), members(std::move(members)) {}

  /// Writes the loop; stores what it leaves in registers where `isMine(value)`.
  mlir::LogicalResult run();

private:
  // Registers: RegisterLoopValues.cpp.
  bool isBatched(mlir::Value value) const;
  Position positionOf(mlir::Value value, int64_t element) const;
  mlir::FailureOr<Elements> read(mlir::Value value);
  mlir::FailureOr<Elements> readHere(mlir::Value value);
  void define(mlir::Value value, Elements elements);
  Element lookUp(mlir::Value value, const Position &position);
  Element chooseElement(const Elements &elements, const Index &number);
  llvm::SmallVector<mlir::Type> typesOf(mlir::Value value) const;
  mlir::FailureOr<Carried> readAll(mlir::ValueRange values);
  void defineAll(mlir::ValueRange values, mlir::ValueRange registers);

  // Operations: RegisterLoopValues.cpp.
  mlir::LogicalResult visitBlock(mlir::Block &block);
  mlir::LogicalResult visit(mlir::Operation *op);
  bool isEvaluatedWhereRead(mlir::Operation *op) const;
  mlir::LogicalResult visitReduce(stablehlo::ReduceOp op);
  mlir::LogicalResult visitDot(stablehlo::DotGeneralOp op);
  mlir::FailureOr<Element> dotElement(stablehlo::DotGeneralOp op, int64_t element);
  mlir::LogicalResult hoistTiles();

  // Control flow: LowerWhile.cpp.
  mlir::LogicalResult visitBranches(mlir::Operation *op, mlir::Value index, unsigned first,
                                    llvm::SmallVectorImpl<mlir::Value> &results);
  mlir::LogicalResult visitIf(mlir::Operation *op);
  mlir::LogicalResult visitLoop(stablehlo::WhileOp loop);
  mlir::FailureOr<Carried> writeCounted(stablehlo::WhileOp loop, int64_t trips,
                                        mlir::ValueRange initial);
  mlir::FailureOr<Carried> writeWhile(stablehlo::WhileOp loop, std::optional<int64_t> trips,
                                      mlir::ValueRange initial);
  mlir::FailureOr<mlir::Value> writeCondition(stablehlo::WhileOp loop);
  mlir::FailureOr<Carried> writeBody(stablehlo::WhileOp loop, mlir::ValueRange registers);
  mlir::LogicalResult storeUpdates(stablehlo::WhileOp loop);
  llvm::SmallVector<mlir::Value> inRegisters(stablehlo::WhileOp loop, mlir::ValueRange carried);
  mlir::LogicalResult storeResults();
  mlir::Value bufferOf(unsigned carried);

  mlir::OpBuilder &builder() { return lowering.builder; }
  mlir::Location loc() { return lowering.loc(); }

  FusionLowering &lowering;
  ElementEmitter &emitter;
  const graph::RegisterLoop &plan;
  Position members;
  llvm::DenseMap<mlir::Value, Elements> registers;
};

} // namespace spokeshave::kernel
