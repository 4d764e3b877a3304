//===- Selector.h - the state of instruction selection ---------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to Select*.cpp.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "target/tpu/Select.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/DenseMap.h"

#include <map>
#include <optional>

namespace spokeshave::tpu {

class Selector {
public:
  explicit Selector(spokeshave::kernel::FuncOp kernel) : source(kernel) {}
  mlir::FailureOr<Kernel> run();

private:
  // Structure: Select.cpp.
  mlir::LogicalResult selectBlock(mlir::Block &block);
  mlir::LogicalResult select(mlir::Operation &op);
  mlir::LogicalResult selectFor(mlir::scf::ForOp op);
  mlir::LogicalResult selectIf(mlir::scf::IfOp op);
  mlir::LogicalResult selectWhile(mlir::scf::WhileOp op);
  void moveAll(llvm::ArrayRef<Reg> to, mlir::ValueRange from);
  /// A new block; code that follows goes there.
  uint32_t beginBlock();
  void branchUnless(mlir::Value condition, std::vector<std::pair<uint32_t, uint32_t>> &exits);

  // Values: SelectValues.cpp.
  mlir::LogicalResult selectValue(mlir::Operation &op);
  std::optional<Opcode> opcodeOf(mlir::Operation &op);
  mlir::LogicalResult selectArithmetic(mlir::Operation &op, Opcode opcode);
  mlir::LogicalResult selectConversion(mlir::Operation &op, Opcode opcode);
  mlir::LogicalResult selectVector(mlir::Operation &op);
  mlir::LogicalResult selectShuffle(mlir::vector::ShuffleOp op);

  // f16: SelectHalf.cpp.
  static bool isHalf(mlir::Type to, mlir::Type from);
  Reg unpackHalf(mlir::Type f32, Reg half);
  Reg packHalf(mlir::Type f32, Reg value);
  Reg alu(Opcode opcode, mlir::Type type, Reg a, int64_t immediate);
  Reg compare(mlir::Type type, Reg a, IntPredicate predicate, int64_t immediate);
  Reg select(mlir::Type type, Reg condition, int64_t immediate, Reg otherwise);

  // Memory: SelectMemory.cpp.
  mlir::LogicalResult selectLoad(spokeshave::kernel::LoadOp op);
  mlir::LogicalResult selectStore(spokeshave::kernel::StoreOp op);
  mlir::LogicalResult selectTable(spokeshave::kernel::TableOp op);
  mlir::LogicalResult selectDma(spokeshave::kernel::DmaStartOp op);
  /// Scalar and per-lane parts of an access, in elements.
  struct Address {
    Reg scalar, lanes;
    int64_t constant = 0;
  };
  mlir::FailureOr<Address> address(mlir::Value buffer, mlir::ValueRange indices);
  Reg bytesOf(Reg elements, int64_t elementBytes);
  int64_t vmemOffset(mlir::Value buffer);
  uint16_t objectOf(mlir::Value buffer);

  // Matrix units: SelectMatrix.cpp.
  mlir::LogicalResult selectRows(mlir::Operation &op);
  mlir::LogicalResult selectMatrix(mlir::Operation &op);

  // Registers.
  Reg newReg(File file) { return {file, next++}; }
  Reg newReg(mlir::Type type);
  /// The register of a value; a constant is made here.
  Reg get(mlir::Value value);
  /// The bits of a splat or scalar constant.
  std::optional<int64_t> immediateOf(mlir::Value value);
  Instruction &emit(Opcode op, mlir::Type type, Reg dst = {}, Reg a = {}, Reg b = {}, Reg c = {});
  Instruction &emitWith(Opcode op, Reg dst, Reg a, mlir::Value b);
  Instruction &emitScalar(Opcode op, Reg dst, Reg a = {}, Reg b = {});
  Reg constant(mlir::Attribute value, mlir::Type type);
  Reg scalarConstant(int64_t value);
  /// Data beside the code, at the start of the kernel's VMEM: its offset.
  int64_t addData(std::vector<char> bytes);

  static ElementType elementOf(mlir::Type type);
  static uint16_t lanesOf(mlir::Type type);

  spokeshave::kernel::FuncOp source;
  Kernel kernel;
  uint32_t next = 1;
  uint32_t location = 0;
  llvm::DenseMap<mlir::Value, Reg> values;
  llvm::DenseMap<mlir::Value, int64_t> tables;
  llvm::DenseMap<int64_t, uint16_t> objects;
  /// By block, register of the number of elements, and bytes of one.
  std::map<std::tuple<size_t, uint32_t, int64_t>, Reg> byteOffsets;
};

} // namespace spokeshave::tpu
