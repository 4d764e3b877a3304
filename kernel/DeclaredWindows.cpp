//===- DeclaredWindows.cpp - windows that a lowering declares --------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the attributes of kernel.window to index arithmetic over the task's number.
//
//===----------------------------------------------------------------------===//
#include "kernel/Windows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

int64_t DeclaredWindow::elements() const {
  int64_t product = 1;
  for (int64_t size : op.getSizes())
    product *= size;
  return product;
}

int64_t DeclaredWindow::period() const {
  int64_t last = -1, product = 1;
  for (auto [digit, step] : llvm::zip_equal(op.getDigits(), op.getSteps()))
    if (digit >= 0 && step != 0 && op.getRadices()[digit] > 1)
      last = std::max(last, digit);
  for (int64_t radix : op.getRadices().drop_front(last + 1))
    product *= radix;
  return product;
}

bool DeclaredWindow::isContiguous() const {
  llvm::ArrayRef<int64_t> sizes = op.getSizes(), strides = op.getStrides();
  int64_t elements = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] > 1 && strides[d] != elements)
      return false;
    elements *= sizes[d];
  }
  return true;
}

bool DeclaredWindow::isExact() const {
  for (auto [d, digit] : llvm::enumerate(op.getDigits())) {
    int64_t last = digit >= 0 ? (op.getRadices()[digit] - 1) * op.getSteps()[d] : 0;
    if (last + op.getSizes()[d] > op.getLimits()[d])
      return false;
  }
  return true;
}

bool DeclaredWindow::movesOnce() const {
  int64_t positions = 1, tasks = 1;
  for (auto [digit, step] : llvm::zip_equal(op.getDigits(), op.getSteps()))
    if (digit >= 0 && step != 0)
      positions *= op.getRadices()[digit];
  for (int64_t radix : op.getRadices())
    tasks *= radix;
  return positions * period() == tasks;
}

std::pair<int64_t, int64_t> DeclaredWindow::rangeAt(int64_t task) const {
  llvm::ArrayRef<int64_t> radices = op.getRadices();
  SmallVector<int64_t> digits(radices.size());
  for (size_t d = radices.size(); d-- > 0; task /= radices[d])
    digits[d] = task % radices[d];
  int64_t begin = op.getBase(), extent = 1;
  for (auto [d, digit] : llvm::enumerate(op.getDigits())) {
    int64_t position = digit >= 0 ? digits[digit] * op.getSteps()[d] : 0;
    int64_t count = std::min(op.getSizes()[d], op.getLimits()[d] - position);
    begin += position * op.getStrides()[d];
    extent += (count - 1) * op.getStrides()[d];
  }
  return {begin, begin + extent};
}

/// Quotients and remainders by powers of two are shifts and masks.
Value DeclaredWindow::digitOf(OpBuilder &builder, Location loc, Value task, int64_t digit) const {
  auto constant = [&](int64_t i) -> Value {
    return builder.create<arith::ConstantIndexOp>(loc, i);
  };
  int64_t divisor = 1, radix = op.getRadices()[digit];
  for (int64_t inner : op.getRadices().drop_front(digit + 1))
    divisor *= inner;
  bool isOutermost =
      llvm::all_of(op.getRadices().take_front(digit), [](int64_t r) { return r == 1; });
  Value value = task;
  if (llvm::isPowerOf2_64(divisor))
    value = divisor == 1 ? value
                         : builder.createOrFold<arith::ShRUIOp>(loc, value,
                                                                constant(llvm::Log2_64(divisor)));
  else
    value = builder.createOrFold<arith::DivUIOp>(loc, value, constant(divisor));
  if (isOutermost)
    return value;
  if (llvm::isPowerOf2_64(radix))
    return builder.createOrFold<arith::AndIOp>(loc, value, constant(radix - 1));
  return builder.createOrFold<arith::RemUIOp>(loc, value, constant(radix));
}

std::pair<Value, SmallVector<Value>> DeclaredWindow::place(OpBuilder &builder, Location loc,
                                                           Value task) const {
  auto constant = [&](int64_t i) -> Value {
    return builder.create<arith::ConstantIndexOp>(loc, i);
  };
  Value origin = constant(op.getBase());
  SmallVector<Value> counts;
  for (auto [d, digit] : llvm::enumerate(op.getDigits())) {
    int64_t size = op.getSizes()[d], limit = op.getLimits()[d], step = op.getSteps()[d];
    if (digit < 0 || step == 0 || op.getRadices()[digit] == 1) {
      counts.push_back(constant(std::min(size, limit)));
      continue;
    }
    Value position = builder.createOrFold<arith::MulIOp>(loc, digitOf(builder, loc, task, digit),
                                                         constant(step));
    Value scaled = builder.createOrFold<arith::MulIOp>(loc, position, constant(op.getStrides()[d]));
    origin = builder.createOrFold<arith::AddIOp>(loc, origin, scaled);
    if ((op.getRadices()[digit] - 1) * step + size <= limit) {
      counts.push_back(constant(size));
      continue;
    }
    Value left = builder.createOrFold<arith::SubIOp>(loc, constant(limit), position);
    counts.push_back(builder.createOrFold<arith::MinSIOp>(loc, left, constant(size)));
  }
  return {origin, counts};
}
