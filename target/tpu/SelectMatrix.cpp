//===- SelectMatrix.cpp - rows of registers, matrix units ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "target/tpu/Selector.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::tpu;
using spokeshave::kernel::LoadRowsOp;
using spokeshave::kernel::MatrixLatchOp;
using spokeshave::kernel::MatrixPopOp;
using spokeshave::kernel::MatrixPushOp;
using spokeshave::kernel::MatrixSwapOp;
using spokeshave::kernel::StoreRowsOp;

LogicalResult Selector::selectRows(Operation &op) {
  auto load = dyn_cast<LoadRowsOp>(op);
  auto store = dyn_cast<StoreRowsOp>(op);
  Value buffer = load ? load.getBuffer() : store.getBuffer();
  Value maskValue = load ? load.getMask() : store.getMask();
  int64_t stride = load ? load.getRowStride() : store.getRowStride();
  FailureOr<Address> at = address(buffer, ValueRange{load ? load.getOffset() : store.getOffset()});
  if (failed(at))
    return failure();
  int64_t bytes =
      std::max<int64_t>(1, cast<MemRefType>(buffer.getType()).getElementTypeBitWidth() / 8);
  Reg scalar = bytesOf(at->scalar, bytes);
  Reg mask = maskValue ? get(maskValue) : Reg();
  Reg value = store ? get(store.getValue()) : newReg(File::Vector);
  Type type = load ? load.getType() : store.getValue().getType();
  Instruction &made = load ? emit(Opcode::LoadRows, type, value, scalar)
                           : emit(Opcode::StoreRows, type, {}, scalar, value);
  made.stride = stride * bytes;
  made.imm = vmemOffset(buffer) + at->constant * bytes;
  made.mask = mask;
  made.object = objectOf(buffer);
  if (load)
    values[load.getResult()] = value;
  return success();
}

LogicalResult Selector::selectMatrix(Operation &op) {
  if (auto pop = dyn_cast<MatrixPopOp>(op)) {
    Reg rows = newReg(File::Vector);
    emit(Opcode::MatrixPop, pop.getType(), rows).imm = pop.getUnit();
    values[pop.getResult()] = rows;
    return success();
  }
  if (auto swap = dyn_cast<MatrixSwapOp>(op)) {
    emitScalar(Opcode::MatrixSwap, {}).imm = swap.getUnit();
    return success();
  }
  auto latch = dyn_cast<MatrixLatchOp>(op);
  auto push = dyn_cast<MatrixPushOp>(op);
  Reg rows = get(op.getOperand(0));
  Reg more = op.getNumOperands() > 1 ? get(op.getOperand(1)) : Reg();
  Opcode opcode = !latch                  ? Opcode::MatrixPush
                  : latch.getTransposed() ? Opcode::MatrixLatchT
                                          : Opcode::MatrixLatch;
  Instruction &made = emit(opcode, op.getOperand(0).getType(), {}, rows, more);
  made.from = elementOf(latch ? latch.getElement() : push.getElement());
  made.predicate = latch ? latch.getIsUnsigned() : push.getIsUnsigned();
  if (push)
    made.type = elementOf(push.getSum());
  made.imm = latch ? latch.getUnit() : push.getUnit();
  return success();
}
