//===- EmitMemory.cpp - loads and stores of register tiles -----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses are aligned to their element only: buffers may be the user's.
//
//===----------------------------------------------------------------------===//
#include "target/cpu/KernelEmitter.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::cpu;

static llvm::Align alignmentOf(llvm::Type *element) {
  return llvm::Align(std::max<uint64_t>(1, element->getScalarSizeInBits() / 8));
}

static SmallVector<int> reversed(int64_t lanes) {
  SmallVector<int> order;
  for (int64_t i = lanes - 1; i >= 0; --i)
    order.push_back(i);
  return order;
}

KernelEmitter::Address KernelEmitter::address(Value buffer, ValueRange indices,
                                              llvm::Type *element) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides(indices.size(), 1);
  for (int64_t d = int64_t(indices.size()) - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * type.getDimSize(d + 1);
  // The outermost dimension first, which the outermost loop runs over: what an
  // inner loop does not change is then one value that can stand before it.
  llvm::Value *base = get(buffer), *vector = nullptr;
  for (auto [operand, stride] : llvm::zip_equal(indices, strides)) {
    llvm::Value *index = get(operand);
    if (stride != 1)
      index = builder.CreateMul(index, llvm::ConstantInt::getSigned(index->getType(), stride));
    if (!isa<VectorType>(operand.getType()))
      base = builder.CreateGEP(element, base, index);
    else
      vector = vector ? builder.CreateAdd(vector, index) : index;
  }
  return {base, vector};
}

/// A pointer for each lane, for gathers and scatters.
llvm::Value *KernelEmitter::lanePointers(Address address, llvm::Type *element, int64_t lanes,
                                         int64_t stride) {
  llvm::Value *offsets = address.offsets;
  if (!offsets) {
    SmallVector<llvm::Constant *> steps;
    for (int64_t i = 0; i < lanes; ++i)
      steps.push_back(builder.getInt64(i * stride));
    offsets = llvm::ConstantVector::get(steps);
  }
  return builder.CreateGEP(element, address.base, offsets);
}

llvm::Value *KernelEmitter::emitLoad(kernel::LoadOp op) {
  llvm::Type *type = convert(op.getType());
  llvm::Type *element = type->getScalarType();
  Address from = address(op.getBuffer(), op.getIndices(), element);
  llvm::Value *mask = op.getMask() ? get(op.getMask()) : nullptr;
  llvm::Align align = alignmentOf(element);
  int64_t stride = op.getLaneStride();
  auto *vector = dyn_cast<llvm::FixedVectorType>(type);
  llvm::Value *zero = llvm::Constant::getNullValue(type);

  // A masked scalar is a masked vector of one lane: LLVM makes it a branch.
  auto loadScalar = [&](llvm::Value *condition) -> llvm::Value * {
    if (!condition)
      return builder.CreateAlignedLoad(element, from.base, align);
    auto *one = llvm::FixedVectorType::get(element, 1);
    llvm::Value *lane = builder.CreateInsertElement(
        llvm::PoisonValue::get(llvm::FixedVectorType::get(builder.getInt1Ty(), 1)), condition,
        uint64_t(0));
    llvm::Value *loaded =
        builder.CreateMaskedLoad(one, from.base, align, lane, llvm::Constant::getNullValue(one));
    return builder.CreateExtractElement(loaded, uint64_t(0));
  };
  if (!vector)
    return loadScalar(mask);

  int64_t lanes = vector->getNumElements();
  if (!from.offsets && stride == 0) {
    llvm::Value *any = mask ? builder.CreateOrReduce(mask) : nullptr;
    llvm::Value *splat = builder.CreateVectorSplat(lanes, loadScalar(any));
    return mask ? builder.CreateSelect(mask, splat, zero) : splat;
  }
  if (!from.offsets && (stride == 1 || stride == -1)) {
    if (stride == -1) {
      from.base = builder.CreateConstGEP1_64(element, from.base, 1 - lanes);
      if (mask)
        mask = builder.CreateShuffleVector(mask, reversed(lanes));
    }
    llvm::Value *loaded =
        mask ? (llvm::Value *)builder.CreateMaskedLoad(type, from.base, align, mask, zero)
             : builder.CreateAlignedLoad(type, from.base, align);
    return stride == 1 ? loaded : builder.CreateShuffleVector(loaded, reversed(lanes));
  }
  if (!mask)
    mask = llvm::ConstantInt::getTrue(llvm::FixedVectorType::get(builder.getInt1Ty(), lanes));
  return builder.CreateMaskedGather(type, lanePointers(from, element, lanes, stride), align, mask,
                                    zero);
}

void KernelEmitter::emitStore(kernel::StoreOp op) {
  llvm::Value *value = get(op.getValue());
  llvm::Type *element = value->getType()->getScalarType();
  Address to = address(op.getBuffer(), op.getIndices(), element);
  llvm::Value *mask = op.getMask() ? get(op.getMask()) : nullptr;
  llvm::Align align = alignmentOf(element);
  int64_t stride = op.getLaneStride();
  auto *vector = dyn_cast<llvm::FixedVectorType>(value->getType());
  if (!vector) {
    if (mask) {
      value = builder.CreateVectorSplat(1, value);
      mask = builder.CreateVectorSplat(1, mask);
      builder.CreateMaskedStore(value, to.base, align, mask);
    } else {
      builder.CreateAlignedStore(value, to.base, align);
    }
    return;
  }
  int64_t lanes = vector->getNumElements();
  if (!to.offsets && (stride == 1 || stride == -1)) {
    if (stride == -1) {
      to.base = builder.CreateConstGEP1_64(element, to.base, 1 - lanes);
      value = builder.CreateShuffleVector(value, reversed(lanes));
      if (mask)
        mask = builder.CreateShuffleVector(mask, reversed(lanes));
    }
    if (mask)
      builder.CreateMaskedStore(value, to.base, align, mask);
    else
      builder.CreateAlignedStore(value, to.base, align);
    return;
  }
  builder.CreateMaskedScatter(value, lanePointers(to, element, lanes, stride), align, mask);
}

llvm::Value *KernelEmitter::emitTable(kernel::TableOp op) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elements)
    return nullptr;
  llvm::Type *element = convert(cast<MemRefType>(op.getType()).getElementType());
  SmallVector<llvm::Constant *> constants;
  auto add = [&](const APInt &bits) {
    llvm::Constant *integer = llvm::ConstantInt::get(
        module.getContext(), bits.zextOrTrunc(element->getScalarSizeInBits()));
    constants.push_back(
        element->isIntegerTy()
            ? integer
            : llvm::ConstantFP::get(element, APFloat(element->getFltSemantics(), bits)));
  };
  if (isa<FloatType>(elements.getElementType()))
    for (APFloat value : elements.getValues<APFloat>())
      add(value.bitcastToAPInt());
  else if (elements.getElementType().isIntOrIndex())
    for (APInt value : elements.getValues<APInt>())
      add(value);
  else
    return nullptr;
  auto *type = llvm::ArrayType::get(element, constants.size());
  auto *global =
      new llvm::GlobalVariable(module, type, /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage,
                               llvm::ConstantArray::get(type, constants), "table");
  global->setAlignment(llvm::Align(64));
  global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  return global;
}

void KernelEmitter::emitPrefetch(kernel::PrefetchOp op) {
  llvm::Type *element = convert(cast<MemRefType>(op.getBuffer().getType()).getElementType());
  Address at = address(op.getBuffer(), op.getIndices(), element);
  if (at.offsets)
    return;
  builder.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {builder.getPtrTy()},
      {at.base, builder.getInt32(0), builder.getInt32(op.getLocality()), builder.getInt32(1)});
}
