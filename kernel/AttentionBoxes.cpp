//===- AttentionBoxes.cpp - where the operands of attention lie ------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Positions are followed to the buffers with numbers instead of variables: what lies
// at equal distances shows in the numbers, whatever reshapes and transposes stand
// between.
//
//===----------------------------------------------------------------------===//
#include "kernel/AttentionBoxes.h"

#include "kernel/Product.h"

#include <numeric>

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

namespace {

struct Place {
  Value buffer;
  int64_t offset;
};
using Locate = std::function<std::optional<Place>(int64_t outer, int64_t row, int64_t column)>;

/// Offsets of one operand, for each number `outer`.
struct Operand {
  AttentionBox box;
  SmallVector<int64_t> origins;
};

} // namespace

/// Checks that rows and columns are at equal distances, in the first and the last
/// place; the others are alike.
static std::optional<Operand> measure(const Locate &at, int64_t outer, int64_t rows,
                                      int64_t columns) {
  std::optional<Place> first = at(0, 0, 0);
  if (!first)
    return std::nullopt;
  Operand operand;
  operand.box.buffer = first->buffer, operand.box.base = first->offset;
  operand.box.rowStride = rows > 1 ? at(0, 1, 0)->offset - first->offset : columns;
  if (operand.box.rowStride < columns)
    return std::nullopt;
  for (int64_t o = 0; o < outer; ++o)
    operand.origins.push_back(at(o, 0, 0)->offset);
  auto isAffine = [&](int64_t o, int64_t row, int64_t column) {
    return at(o, row, column)->offset == operand.origins[o] + row * operand.box.rowStride + column;
  };
  for (int64_t row = 0; row < rows; ++row)
    if (!isAffine(0, row, 0) || !isAffine(outer - 1, row, columns - 1))
      return std::nullopt;
  for (int64_t column = 0; column < columns; ++column)
    if (!isAffine(0, 0, column) || !isAffine(outer - 1, rows - 1, column))
      return std::nullopt;
  return operand;
}

/// Finds digits of `outer` with which all origins move evenly; false if there are none.
static bool findRadices(ArrayRef<Operand *> operands, int64_t count,
                        SmallVectorImpl<int64_t> &radices) {
  SmallVector<int64_t> inner; // innermost first
  SmallVector<SmallVector<int64_t>> steps(operands.size());
  int64_t distance = 1;
  while (count > 1) {
    int64_t radix = count;
    for (Operand *operand : operands) {
      auto origin = [&](int64_t i) { return operand->origins[i * distance]; };
      for (int64_t i = 2; i < count; ++i)
        if (origin(i) - origin(i - 1) != origin(1) - origin(0))
          radix = std::gcd(radix, i);
    }
    if (radix == 1)
      return false;
    inner.push_back(radix);
    for (auto [i, operand] : llvm::enumerate(operands))
      steps[i].push_back(operand->origins[distance] - operand->origins[0]);
    distance *= radix;
    count /= radix;
  }
  radices.assign(inner.rbegin(), inner.rend());
  for (auto [i, operand] : llvm::enumerate(operands)) {
    operand->box.outer.assign(steps[i].rbegin(), steps[i].rend());
    if (llvm::any_of(operand->box.outer, [](int64_t step) { return step < 0; }))
      return false;
  }
  return true;
}

AttentionBoxes kernel::findAttentionBoxes(const AttentionView &view, ElementEmitter &emitter) {
  IndexSpace &space = emitter.space();
  int64_t runs = view.rows / view.run, outer = view.batch * runs;
  auto batchOf = [&](int64_t o) { return Index(o / runs); };
  auto rowOf = [&](int64_t o, int64_t row) { return Index(o % runs * view.run + row); };
  auto resolved = [&](Value tensor, const Position &position) -> std::optional<Place> {
    std::optional<DirectRead> read = resolveDirect(emitter, tensor, position, Value(), Value());
    Type element = typeOf(tensor).getElementType();
    if (!read || !read->origin.terms.empty() || !(element.isF32() || element.isBF16()))
      return std::nullopt;
    return Place{read->buffer, read->origin.constant};
  };
  Locate queries = [&](int64_t o, int64_t row, int64_t k) {
    return resolved(view.queries(), view.query(batchOf(o), rowOf(o, row), Index(k)));
  };
  Locate keys = [&](int64_t o, int64_t key, int64_t k) {
    return resolved(view.keysTensor(), view.key(batchOf(o), rowOf(o, 0), Index(key), Index(k)));
  };
  Locate values = [&](int64_t o, int64_t key, int64_t column) {
    return resolved(view.values(), view.value(batchOf(o), Index(key), Index(column)));
  };
  hlo::DotGeneralOp mix = view.attention.mix;
  std::unique_ptr<MatrixProblem> problem = matrixOf(mix);
  if (!view.attention.weightsAreLeft)
    problem = swapped(std::move(problem));
  Value output = emitter.getFusion().getYield().getValues()[0];
  Locate result = [&](int64_t o, int64_t row, int64_t column) -> std::optional<Place> {
    Type element = typeOf(output).getElementType();
    std::optional<Position> at = followProduct(
        space, mix, output, problem->result(space, batchOf(o), rowOf(o, row), Index(column)));
    if (!at || !(element.isF32() || element.isBF16()))
      return std::nullopt;
    return Place{emitter.outputBuffer(0), space.linearize(*at, typeOf(output).getShape()).constant};
  };

  auto q = measure(queries, outer, view.run, view.depth);
  auto k = measure(keys, outer, view.keys, view.depth);
  auto v = measure(values, outer, view.keys, view.width);
  auto r = measure(result, outer, view.run, view.width);
  SmallVector<Operand *> operands;
  for (auto *operand : {&q, &k, &v, &r})
    if (*operand)
      operands.push_back(&**operand);
  AttentionBoxes boxes;
  if (!findRadices(operands, outer, boxes.radices)) {
    boxes.radices = {outer};
    return boxes;
  }
  auto take = [](std::optional<Operand> &from) {
    return from ? std::optional(from->box) : std::nullopt;
  };
  boxes.queries = take(q), boxes.keys = take(k), boxes.values = take(v), boxes.result = take(r);
  return boxes;
}
