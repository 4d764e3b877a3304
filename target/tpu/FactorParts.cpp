//===- FactorParts.cpp - factors of f32 in parts of bf16 -------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts are made where they are pushed or latched, again for each product: the
// vector unit has the time, and nothing more lies in VMEM.
//
//===----------------------------------------------------------------------===//
#include "target/tpu/FactorParts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::tpu;

/// Operations of a test for finite numbers, and of a rounding and its remainder.
constexpr int64_t kGuardCost = 3, kRemainderCost = 3;

SmallVector<PartPair> tpu::partPairsOf(spokeshave::kernel::TileDotOp dot) {
  SmallVector<PartPair> pairs;
  for (int64_t order = dot.getOrder(); order >= 0; --order)
    for (int64_t a = dot.getAParts() - 1; a >= 0; --a)
      if (int64_t b = order - a; b >= 0 && b < int64_t(dot.getBParts()))
        pairs.push_back({a, b});
  return pairs;
}

int64_t tpu::partCost(int64_t part, const PartPair &pair) {
  return pair.isFirst() ? 0 : kGuardCost + part * kRemainderCost;
}

/// Zero where the number does not round to a finite one in bf16.
static Value finite(OpBuilder &builder, Location loc, Value rows) {
  auto type = cast<VectorType>(rows.getType());
  bool isF32 = type.getElementType().isF32();
  auto bitsType = isF32 ? type.clone(builder.getI32Type()) : type;
  auto bitsOf = [&](int64_t bits) -> Value {
    auto attr = builder.getIntegerAttr(bitsType.getElementType(), bits);
    return builder.create<arith::ConstantOp>(loc, DenseElementsAttr::get(bitsType, attr));
  };
  Value bits = isF32 ? builder.create<arith::BitcastOp>(loc, bitsType, rows).getResult() : rows;
  Value magnitude = builder.create<arith::AndIOp>(loc, bits, bitsOf(isF32 ? 0x7fffffff : 0x7fff));
  Value small = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, magnitude,
                                              bitsOf(isF32 ? 0x7f7f8000 : 0x7f80));
  Value zero = builder.create<arith::ConstantOp>(loc, builder.getZeroAttr(type));
  return builder.create<arith::SelectOp>(loc, small, rows, zero);
}

Value tpu::partOf(OpBuilder &builder, Location loc, Value rows, int64_t part,
                  const PartPair &pair) {
  if (pair.isFirst())
    return rows;
  Value rest = finite(builder, loc, rows);
  auto type = cast<VectorType>(rows.getType());
  for (int64_t i = 0; i < part; ++i) {
    Value narrow = builder.create<arith::TruncFOp>(loc, type.clone(builder.getBF16Type()), rest);
    Value rounded = builder.create<arith::ExtFOp>(loc, type, narrow);
    rest = builder.create<arith::SubFOp>(loc, rest, rounded);
  }
  return rest;
}
