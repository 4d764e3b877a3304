//===- AttentionView.cpp - attention as (batch, row, key, depth) -----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See AttentionView.h.
//
//===----------------------------------------------------------------------===//
#include "kernel/AttentionView.h"

#include "kernel/Types.h"

#include <numeric>

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

AttentionView::AttentionView(graph::Attention given, IndexSpace &space)
    : attention(std::move(given)), space(space), products(attention.products), mix(attention.mix) {
  batch = mix.batch, keys = mix.k, depth = products.k;
  rows = attention.weightsAreLeft ? mix.m : mix.n;
  width = attention.weightsAreLeft ? mix.n : mix.m;
  causal = graph::causalMaskOf(attention);
  findRun();
}

/// The position of an element of mix's weights in the value `to`, of which they are
/// made.
Position AttentionView::traced(const Index &b, const Index &row, const Index &key, Value to) const {
  hlo::DotGeneralOp op = attention.mix;
  bool left = attention.weightsAreLeft;
  Value value = left ? op.getLhs() : op.getRhs();
  Position p = left ? mix.lhs(space, b, row, key) : mix.rhs(space, b, key, row);
  while (value != to) {
    Value below = attention.source.lookup(value);
    if (auto reshape = value.getDefiningOp<hlo::ReshapeOp>()) {
      Index linear = space.linearize(p, typeOf(value).getShape());
      p = space.delinearize(linear, typeOf(below).getShape());
    } else if (auto transpose = value.getDefiningOp<hlo::TransposeOp>()) {
      Position moved(p.size());
      for (auto [d, dim] : llvm::enumerate(transpose.getPermutation()))
        moved[dim] = p[d];
      p = moved;
    }
    value = below;
  }
  return p;
}

Position AttentionView::scores(const Index &b, const Index &row, const Index &key) const {
  return traced(b, row, key, attention.scores);
}

Position AttentionView::query(const Index &b, const Index &row, const Index &k) const {
  hlo::DotGeneralOp op = attention.products;
  Position p = traced(b, row, Index(0), op);
  Index outer = p.size() == 3 ? p[0] : Index(0);
  return attention.keysAreColumns ? products.lhs(space, outer, p[p.size() - 2], k)
                                  : products.rhs(space, outer, k, p[p.size() - 1]);
}

Position AttentionView::key(const Index &b, const Index &row, const Index &key,
                            const Index &k) const {
  hlo::DotGeneralOp op = attention.products;
  Position p = traced(b, row, Index(0), op);
  Index outer = p.size() == 3 ? p[0] : Index(0);
  return attention.keysAreColumns ? products.rhs(space, outer, k, key)
                                  : products.lhs(space, outer, key, k);
}

Position AttentionView::value(const Index &b, const Index &key, const Index &column) const {
  return attention.weightsAreLeft ? mix.rhs(space, b, key, column) : mix.lhs(space, b, column, key);
}

/// Tried with numbers: all batches are alike.
void AttentionView::findRun() {
  hlo::DotGeneralOp op = attention.products;
  auto at = [&](int64_t row) {
    Position p = traced(Index(0), Index(row), Index(0), op);
    return std::pair(p.size() == 3 ? p[0].constant : 0,
                     p[p.size() - (attention.keysAreColumns ? 2 : 1)].constant);
  };
  run = rows;
  auto before = at(0);
  std::optional<int64_t> step;
  for (int64_t row = 1; row < rows; ++row) {
    auto now = at(row);
    int64_t moved = now.second - before.second;
    if (!step)
      step = moved;
    if (now.first != before.first || moved != *step)
      run = std::gcd(run, row);
    before = now;
  }
}
