//===- KernelEmitter.h - state of the translation of one kernel ------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by EmitKernel.cpp (structure), EmitMemory.cpp (loads and stores) and
// EmitValues.cpp (arith, math, vector). Private to target/cpu.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "kernel/KernelDialect.h"
#include "machine/Machine.h"
#include "target/cpu/EmitKernel.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace spokeshave::cpu {

class KernelEmitter {
public:
  KernelEmitter(llvm::Module &module, const machine::Machine &machine, Callees *callees)
      : module(module), machine(machine), callees(callees), builder(module.getContext()) {}

  mlir::LogicalResult emitFunction(kernel::FuncOp kernel);
  void emitTileFunction(kernel::TileDotOp op, llvm::StringRef symbol);
  mlir::LogicalResult emitLoopFunction(mlir::scf::ForOp loop, const LoopFunction &info);

private:
  // Structure: EmitKernel.cpp.
  mlir::LogicalResult emitBlock(mlir::Block &block);
  mlir::LogicalResult emit(mlir::Operation &op);
  llvm::FunctionType *loopType(const LoopFunction &info);
  void emitLoopCall(mlir::scf::ForOp loop);
  mlir::LogicalResult emitFor(mlir::scf::ForOp op);
  mlir::LogicalResult emitIf(mlir::scf::IfOp op);
  mlir::LogicalResult emitWhile(mlir::scf::WhileOp op);
  mlir::LogicalResult emitBranchOfIf(mlir::Region &region, llvm::BasicBlock *block,
                                     llvm::BasicBlock *join,
                                     llvm::SmallVectorImpl<llvm::PHINode *> &results);
  llvm::SmallVector<llvm::PHINode *> makePhis(mlir::TypeRange types);
  void addIncoming(llvm::ArrayRef<llvm::PHINode *> phis, mlir::ValueRange values);
  llvm::BasicBlock *newBlock(const llvm::Twine &name);

  // Memory: EmitMemory.cpp. Each returns null for an operation not its own.
  llvm::Value *emitLoad(kernel::LoadOp op);
  void emitStore(kernel::StoreOp op);
  llvm::Value *emitTable(kernel::TableOp op);
  void emitPrefetch(kernel::PrefetchOp op);
  void emitReduceAngle(kernel::ReduceAngleOp op);
  // Matrix products: EmitDot.cpp.
  void emitTileDot(kernel::TileDotOp op);
  // Of packed narrow operands: EmitPackedDot.cpp.
  void emitPackedDot(kernel::TileDotOp op);
  /// Rows of the matrix unit's tiles, 0 for a kernel that does not use it.
  static int64_t unitRows(kernel::FuncOp kernel);
  void emitTileConfiguration(int64_t unitRows);
  void emitTileRelease();
  void emitTileLoop(kernel::TileDotOp op, llvm::Value *a, llvm::Value *b, llvm::Value *c,
                    llvm::Value *depth);
  /// The address of an access: a base pointer and, where lanes are apart by
  /// more than a constant, element offsets from it.
  struct Address {
    llvm::Value *base;
    llvm::Value *offsets; ///< a vector, or null
  };
  Address address(mlir::Value buffer, mlir::ValueRange indices, llvm::Type *element);
  llvm::Value *lanePointers(Address address, llvm::Type *element, int64_t lanes, int64_t stride);

  // Values: EmitValues.cpp.
  llvm::Value *emitValue(mlir::Operation &op);
  llvm::Value *emitInteger(mlir::Operation &op);
  llvm::Value *emitFloat(mlir::Operation &op);
  llvm::Value *emitConversion(mlir::Operation &op);
  llvm::Value *emitVector(mlir::Operation &op);
  llvm::Constant *constant(mlir::Attribute value, mlir::Type type);
  llvm::Value *intrinsic(llvm::Intrinsic::ID id, mlir::Operation &op);

  llvm::Type *convert(mlir::Type type);
  llvm::Value *operand(mlir::Operation &op, unsigned i) { return values.lookup(op.getOperand(i)); }
  llvm::Value *get(mlir::Value value) { return values.lookup(value); }

  llvm::Module &module;
  const machine::Machine &machine;
  Callees *callees; ///< null: nothing is called
  llvm::IRBuilder<> builder;
  llvm::Function *function = nullptr;
  llvm::Value *scratch = nullptr;
  llvm::Value *cancelWord = nullptr; ///< its address, if the kernel polls it
  llvm::DenseMap<mlir::Value, llvm::Value *> values;
};

} // namespace spokeshave::cpu
