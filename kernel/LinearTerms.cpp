//===- LinearTerms.cpp - an index as a sum ---------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "kernel/LinearTerms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

static void addTerms(LinearTerms &sum, Value index, int64_t factor) {
  if (auto constant = index.getDefiningOp<arith::ConstantIndexOp>()) {
    sum.constant += constant.value() * factor;
    return;
  }
  if (auto add = index.getDefiningOp<arith::AddIOp>()) {
    addTerms(sum, add.getLhs(), factor);
    addTerms(sum, add.getRhs(), factor);
    return;
  }
  if (auto product = index.getDefiningOp<arith::MulIOp>()) {
    Value a = product.getLhs(), b = product.getRhs();
    if (a.getDefiningOp<arith::ConstantIndexOp>())
      std::swap(a, b);
    if (auto constant = b.getDefiningOp<arith::ConstantIndexOp>())
      return addTerms(sum, a, factor * constant.value());
  }
  sum.terms.push_back({index, factor});
}

LinearTerms LinearTerms::of(Value index) {
  LinearTerms sum;
  addTerms(sum, index, 1);
  return sum;
}

LinearTerms LinearTerms::repitched(int64_t stride, int64_t pitch) const {
  LinearTerms made;
  made.constant = repitch(constant, stride, pitch);
  for (auto [value, coefficient] : terms)
    made.terms.push_back({value, repitch(coefficient, stride, pitch)});
  return made;
}

Value LinearTerms::variable(OpBuilder &builder, Location loc) const {
  Value sum;
  for (auto [value, coefficient] : terms) {
    Value scaled = value;
    if (coefficient != 1)
      scaled = builder.createOrFold<arith::MulIOp>(
          loc, value, builder.create<arith::ConstantIndexOp>(loc, coefficient));
    sum = sum ? builder.createOrFold<arith::AddIOp>(loc, sum, scaled) : scaled;
  }
  return sum ? sum : builder.create<arith::ConstantIndexOp>(loc, 0);
}
