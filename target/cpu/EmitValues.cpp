//===- EmitValues.cpp - arith, math and vector to LLVM IR ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One line per operation. Only operations that x86 computes with instructions
// are translated: LLVM would turn the others into calls of libm.
//
//===----------------------------------------------------------------------===//
#include "target/cpu/KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::cpu;

llvm::Type *KernelEmitter::convert(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return llvm::FixedVectorType::get(convert(vector.getElementType()), vector.getNumElements());
  if (isa<MemRefType>(type))
    return builder.getPtrTy();
  if (type.isIndex())
    return builder.getInt64Ty();
  if (type.isF64())
    return builder.getDoubleTy();
  if (type.isF32())
    return builder.getFloatTy();
  if (type.isF16())
    return builder.getHalfTy();
  if (type.isBF16())
    return builder.getBFloatTy();
  return builder.getIntNTy(type.getIntOrFloatBitWidth());
}

llvm::Constant *KernelEmitter::constant(Attribute value, Type type) {
  llvm::Type *target = convert(type);
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return llvm::ConstantInt::get(target,
                                  integer.getValue().zextOrTrunc(target->getScalarSizeInBits()));
  if (auto number = dyn_cast<FloatAttr>(value))
    return llvm::ConstantFP::get(target, number.getValue());
  auto elements = dyn_cast<DenseElementsAttr>(value);
  if (!elements)
    return nullptr;
  Type elementType = elements.getElementType();
  if (elements.isSplat())
    return llvm::ConstantVector::getSplat(
        cast<llvm::FixedVectorType>(target)->getElementCount(),
        constant(elements.getSplatValue<Attribute>(), elementType));
  SmallVector<llvm::Constant *> lanes;
  for (Attribute lane : elements.getValues<Attribute>())
    lanes.push_back(constant(lane, elementType));
  return llvm::ConstantVector::get(lanes);
}

/// A call of the overloaded intrinsic `id` with the operands of `op`.
llvm::Value *KernelEmitter::intrinsic(llvm::Intrinsic::ID id, Operation &op) {
  SmallVector<llvm::Value *> operands;
  for (Value operand : op.getOperands())
    operands.push_back(get(operand));
  return builder.CreateIntrinsic(id, {convert(op.getResult(0).getType())}, operands);
}

llvm::Value *KernelEmitter::emitValue(Operation &op) {
  if (auto constantOp = dyn_cast<arith::ConstantOp>(op))
    return constant(constantOp.getValue(), constantOp.getType());
  if (auto load = dyn_cast<kernel::LoadOp>(op))
    return emitLoad(load);
  if (isa<kernel::CancelledOp>(op)) {
    llvm::Value *word = builder.CreateLoad(builder.getInt32Ty(), cancelWord, /*isVolatile=*/true);
    return builder.CreateICmpNE(word, builder.getInt32(0));
  }
  if (auto table = dyn_cast<kernel::TableOp>(op))
    return emitTable(table);
  if (auto view = dyn_cast<kernel::ScratchOp>(op))
    return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), scratch, view.getOffset());
  if (llvm::Value *value = emitInteger(op))
    return value;
  if (llvm::Value *value = emitFloat(op))
    return value;
  if (llvm::Value *value = emitConversion(op))
    return value;
  return emitVector(op);
}

static llvm::CmpInst::Predicate predicateOf(arith::CmpIPredicate predicate) {
  using P = llvm::CmpInst::Predicate;
  static constexpr P table[] = {P::ICMP_EQ,  P::ICMP_NE,  P::ICMP_SLT, P::ICMP_SLE, P::ICMP_SGT,
                                P::ICMP_SGE, P::ICMP_ULT, P::ICMP_ULE, P::ICMP_UGT, P::ICMP_UGE};
  return table[unsigned(predicate)];
}

static llvm::CmpInst::Predicate predicateOf(arith::CmpFPredicate predicate) {
  using P = llvm::CmpInst::Predicate;
  static constexpr P table[] = {P::FCMP_FALSE, P::FCMP_OEQ, P::FCMP_OGT, P::FCMP_OGE,
                                P::FCMP_OLT,   P::FCMP_OLE, P::FCMP_ONE, P::FCMP_ORD,
                                P::FCMP_UEQ,   P::FCMP_UGT, P::FCMP_UGE, P::FCMP_ULT,
                                P::FCMP_ULE,   P::FCMP_UNE, P::FCMP_UNO, P::FCMP_TRUE};
  return table[unsigned(predicate)];
}

llvm::Value *KernelEmitter::emitInteger(Operation &op) {
  auto a = [&] { return operand(op, 0); };
  auto b = [&] { return operand(op, 1); };
  using llvm::Intrinsic::ID;
  namespace I = llvm::Intrinsic;
  auto bitCount = [&](ID id) -> llvm::Value * {
    return builder.CreateIntrinsic(id, {a()->getType()}, {a(), builder.getFalse()});
  };
  return TypeSwitch<Operation *, llvm::Value *>(&op)
      .Case([&](arith::AddIOp) { return builder.CreateAdd(a(), b()); })
      .Case([&](arith::SubIOp) { return builder.CreateSub(a(), b()); })
      .Case([&](arith::MulIOp) { return builder.CreateMul(a(), b()); })
      .Case([&](arith::DivSIOp) { return builder.CreateSDiv(a(), b()); })
      .Case([&](arith::DivUIOp) { return builder.CreateUDiv(a(), b()); })
      .Case([&](arith::RemSIOp) { return builder.CreateSRem(a(), b()); })
      .Case([&](arith::RemUIOp) { return builder.CreateURem(a(), b()); })
      .Case([&](arith::AndIOp) { return builder.CreateAnd(a(), b()); })
      .Case([&](arith::OrIOp) { return builder.CreateOr(a(), b()); })
      .Case([&](arith::XOrIOp) { return builder.CreateXor(a(), b()); })
      .Case([&](arith::ShLIOp) { return builder.CreateShl(a(), b()); })
      .Case([&](arith::ShRSIOp) { return builder.CreateAShr(a(), b()); })
      .Case([&](arith::ShRUIOp) { return builder.CreateLShr(a(), b()); })
      .Case([&](arith::MaxSIOp) { return intrinsic(I::smax, op); })
      .Case([&](arith::MinSIOp) { return intrinsic(I::smin, op); })
      .Case([&](arith::MaxUIOp) { return intrinsic(I::umax, op); })
      .Case([&](arith::MinUIOp) { return intrinsic(I::umin, op); })
      .Case([&](arith::CmpIOp cmp) {
        return builder.CreateICmp(predicateOf(cmp.getPredicate()), a(), b());
      })
      .Case([&](arith::SelectOp) { return builder.CreateSelect(a(), b(), operand(op, 2)); })
      .Case([&](math::CtPopOp) { return intrinsic(I::ctpop, op); })
      .Case([&](math::CountLeadingZerosOp) { return bitCount(I::ctlz); })
      .Case([&](math::CountTrailingZerosOp) { return bitCount(I::cttz); })
      .Default([](Operation *) { return nullptr; });
}

llvm::Value *KernelEmitter::emitFloat(Operation &op) {
  auto a = [&] { return operand(op, 0); };
  auto b = [&] { return operand(op, 1); };
  namespace I = llvm::Intrinsic;
  // SSE2 rounds with library calls only; kernel/ does it with integers there.
  bool rounds = machine.isa != machine::Isa::X86_64;
  auto rounding = [&](llvm::Intrinsic::ID id) { return rounds ? intrinsic(id, op) : nullptr; };
  return TypeSwitch<Operation *, llvm::Value *>(&op)
      .Case([&](arith::AddFOp) { return builder.CreateFAdd(a(), b()); })
      .Case([&](arith::SubFOp) { return builder.CreateFSub(a(), b()); })
      .Case([&](arith::MulFOp) { return builder.CreateFMul(a(), b()); })
      .Case([&](arith::DivFOp) { return builder.CreateFDiv(a(), b()); })
      .Case([&](arith::NegFOp) { return builder.CreateFNeg(a()); })
      .Case([&](arith::MaximumFOp) { return intrinsic(I::maximum, op); })
      .Case([&](arith::MinimumFOp) { return intrinsic(I::minimum, op); })
      .Case([&](arith::CmpFOp cmp) {
        return builder.CreateFCmp(predicateOf(cmp.getPredicate()), a(), b());
      })
      .Case([&](math::SqrtOp) { return intrinsic(I::sqrt, op); })
      .Case([&](math::AbsFOp) { return intrinsic(I::fabs, op); })
      .Case([&](math::CopySignOp) { return intrinsic(I::copysign, op); })
      .Case([&](math::FloorOp) { return rounding(I::floor); })
      .Case([&](math::CeilOp) { return rounding(I::ceil); })
      .Case([&](math::TruncOp) { return rounding(I::trunc); })
      .Case([&](math::RoundEvenOp) { return rounding(I::roundeven); })
      .Case<math::FmaOp, vector::FMAOp>([&](auto) -> llvm::Value * {
        return machine.hasFma ? intrinsic(I::fma, op)
                              : builder.CreateFAdd(builder.CreateFMul(a(), b()), operand(op, 2));
      })
      .Default([](Operation *) { return nullptr; });
}

llvm::Value *KernelEmitter::emitConversion(Operation &op) {
  if (op.getNumOperands() != 1)
    return nullptr;
  llvm::Value *from = operand(op, 0);
  llvm::Type *to = convert(op.getResult(0).getType());
  return TypeSwitch<Operation *, llvm::Value *>(&op)
      .Case([&](arith::ExtSIOp) { return builder.CreateSExt(from, to); })
      .Case([&](arith::ExtUIOp) { return builder.CreateZExt(from, to); })
      .Case([&](arith::TruncIOp) { return builder.CreateTrunc(from, to); })
      .Case([&](arith::SIToFPOp) { return builder.CreateSIToFP(from, to); })
      .Case([&](arith::UIToFPOp) { return builder.CreateUIToFP(from, to); })
      .Case([&](arith::FPToSIOp) { return builder.CreateFPToSI(from, to); })
      .Case([&](arith::FPToUIOp) { return builder.CreateFPToUI(from, to); })
      .Case([&](arith::ExtFOp) { return builder.CreateFPExt(from, to); })
      .Case([&](arith::TruncFOp) { return builder.CreateFPTrunc(from, to); })
      .Case<arith::BitcastOp, vector::BitCastOp>(
          [&](auto) { return builder.CreateBitCast(from, to); })
      .Case([&](arith::IndexCastOp) { return builder.CreateSExtOrTrunc(from, to); })
      .Case([&](arith::IndexCastUIOp) { return builder.CreateZExtOrTrunc(from, to); })
      .Default([](Operation *) { return nullptr; });
}

static llvm::Value *emitReduction(llvm::IRBuilder<> &builder, vector::CombiningKind kind,
                                  llvm::Value *v) {
  using Kind = vector::CombiningKind;
  switch (kind) {
  case Kind::ADD:
    return v->getType()->isFPOrFPVectorTy() ? nullptr : builder.CreateAddReduce(v);
  case Kind::MUL:
    return v->getType()->isFPOrFPVectorTy() ? nullptr : builder.CreateMulReduce(v);
  case Kind::AND:
    return builder.CreateAndReduce(v);
  case Kind::OR:
    return builder.CreateOrReduce(v);
  case Kind::XOR:
    return builder.CreateXorReduce(v);
  case Kind::MINSI:
    return builder.CreateIntMinReduce(v, /*IsSigned=*/true);
  case Kind::MAXSI:
    return builder.CreateIntMaxReduce(v, /*IsSigned=*/true);
  case Kind::MINUI:
    return builder.CreateIntMinReduce(v);
  case Kind::MAXUI:
    return builder.CreateIntMaxReduce(v);
  default:
    return nullptr; // of floats: kernel/ writes the order down with shuffles
  }
}

llvm::Value *KernelEmitter::emitVector(Operation &op) {
  auto lanesOf = [](Type type) { return cast<VectorType>(type).getNumElements(); };
  auto position = [&](ArrayRef<int64_t> fixed, ValueRange dynamic) -> llvm::Value * {
    if (fixed.size() != 1)
      return nullptr;
    return dynamic.empty() ? builder.getInt64(fixed[0]) : get(dynamic[0]);
  };
  auto isScalar = [](Value value) { return !isa<VectorType>(value.getType()); };
  return TypeSwitch<Operation *, llvm::Value *>(&op)
      .Case<vector::BroadcastOp, vector::SplatOp>([&](auto broadcast) -> llvm::Value * {
        if (!isScalar(op.getOperand(0)))
          return nullptr;
        return builder.CreateVectorSplat(lanesOf(broadcast.getType()), operand(op, 0));
      })
      .Case([&](vector::ShuffleOp shuffle) -> llvm::Value * {
        SmallVector<int> mask;
        for (Attribute lane : shuffle.getMask())
          mask.push_back(cast<IntegerAttr>(lane).getInt());
        llvm::Value *a = operand(op, 0), *b = operand(op, 1);
        if (a->getType() == b->getType())
          return builder.CreateShuffleVector(a, b, mask);
        return nullptr;
      })
      .Case([&](vector::ExtractOp extract) -> llvm::Value * {
        llvm::Value *at = position(extract.getStaticPosition(), extract.getDynamicPosition());
        return at ? builder.CreateExtractElement(operand(op, 0), at) : nullptr;
      })
      .Case([&](vector::InsertOp insert) -> llvm::Value * {
        llvm::Value *at = position(insert.getStaticPosition(), insert.getDynamicPosition());
        if (!at || !isScalar(insert.getSource()))
          return nullptr;
        return builder.CreateInsertElement(get(insert.getDest()), get(insert.getSource()), at);
      })
      .Case([&](vector::ExtractStridedSliceOp slice) -> llvm::Value * {
        SmallVector<int> mask;
        int64_t begin = cast<IntegerAttr>(slice.getOffsets()[0]).getInt();
        for (int64_t i = 0; i < lanesOf(slice.getType()); ++i)
          mask.push_back(begin + i);
        return builder.CreateShuffleVector(operand(op, 0), mask);
      })
      .Case([&](vector::InterleaveOp interleave) -> llvm::Value * {
        SmallVector<int> mask;
        int64_t lanes = lanesOf(interleave.getType()) / 2;
        for (int64_t i = 0; i < lanes; ++i)
          mask.append({int(i), int(i + lanes)});
        return builder.CreateShuffleVector(operand(op, 0), operand(op, 1), mask);
      })
      .Case([&](vector::ReductionOp reduction) -> llvm::Value * {
        if (reduction.getAcc())
          return nullptr;
        return emitReduction(builder, reduction.getKind(), operand(op, 0));
      })
      .Default([](Operation *) { return nullptr; });
}
