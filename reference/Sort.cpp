//===- Sort.cpp - sorting by a comparator ----------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sort. Always stable. The merge is written out, because comparators of users
// need not be orders (they may see NaN) and may fail.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "reference/Body.h"
#include "reference/Ops.h"

#include <numeric>

using namespace mlir;

namespace spokeshave::reference {

/// Sorts `items` from the bottom up; `less` may fail.
template <typename Less> static LogicalResult mergeSort(std::vector<int64_t> &items, Less less) {
  std::vector<int64_t> other(items.size());
  for (size_t width = 1; width < items.size(); width *= 2) {
    for (size_t begin = 0; begin < items.size(); begin += 2 * width) {
      size_t middle = std::min(begin + width, items.size());
      size_t end = std::min(begin + 2 * width, items.size());
      size_t left = begin, right = middle;
      for (size_t out = begin; out < end; ++out) {
        bool takeRight = left == middle;
        if (left < middle && right < end) {
          FailureOr<bool> rightFirst = less(items[right], items[left]);
          if (failed(rightFirst))
            return failure();
          takeRight = *rightFirst;
        }
        other[out] = takeRight ? items[right++] : items[left++];
      }
    }
    std::swap(items, other);
  }
  return success();
}

static LogicalResult evalSort(stablehlo::SortOp op, Call &call) {
  ArrayRef<Tensor> inputs = call.operands;
  size_t count = inputs.size();
  auto dimension = static_cast<int64_t>(op.getDimension());
  if (dimension < 0)
    dimension += inputs[0].rank();
  Body comparator(call, op.getComparator());
  if (failed(comparator.expect(2 * count, 1)))
    return failure();
  if (inputs[0].rank() == 0) { // a scalar is sorted
    call.results.assign(inputs.begin(), inputs.end());
    return success();
  }
  if (dimension < 0 || dimension >= inputs[0].rank())
    return call.error() << "sorts along a dimension that the inputs do not have";
  for (const Tensor &input : inputs)
    if (input.shape() != inputs[0].shape())
      return call.error() << "has inputs of different shapes";

  SmallVector<Tensor> results(inputs);
  SmallVector<char *> to;
  for (Tensor &result : results)
    to.push_back(result.mutableData());
  int64_t size = inputs[0].dim(dimension), stride = stridesOf(inputs[0].shape())[dimension];
  SmallVector<Scalar> arguments(2 * count);
  std::vector<int64_t> order(size);
  int64_t slices = size ? inputs[0].size() / size : 0;
  for (int64_t slice = 0; slice < slices; ++slice) {
    int64_t base = slice / stride * stride * size + slice % stride;
    std::iota(order.begin(), order.end(), 0);
    auto less = [&](int64_t a, int64_t b) -> FailureOr<bool> {
      for (size_t i = 0; i < count; ++i) {
        arguments[2 * i] = inputs[i].at(base + a * stride);
        arguments[2 * i + 1] = inputs[i].at(base + b * stride);
      }
      Scalar result;
      if (failed(comparator(arguments, result)))
        return failure();
      return result.i != 0;
    };
    if (failed(mergeSort(order, less)))
      return failure();
    for (size_t i = 0; i < count; ++i) {
      unsigned bytes = inputs[i].elementType().bytes();
      for (int64_t k = 0; k < size; ++k)
        std::copy_n(inputs[i].data() + (base + order[k] * stride) * bytes, bytes,
                    to[i] + (base + k * stride) * bytes);
    }
  }
  llvm::append_range(call.results, results);
  return success();
}

void addSort(HandlerTable &table) {
  table.add<stablehlo::SortOp, evalSort>();
}

} // namespace spokeshave::reference
