//===- AttentionView.h - attention as (batch, row, key, depth) -------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to kernel/. Batches, rows and columns are those of the second product,
// `mix`; positions in other tensors are worked out from them through the moves
// between the two products.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "graph/Attention.h"
#include "kernel/LowerFusion.h"
#include "kernel/MatrixPlan.h"

namespace spokeshave::kernel {

class AttentionView {
public:
  AttentionView(graph::Attention attention, IndexSpace &space);

  const graph::Attention attention;
  int64_t batch = 1, rows = 1, keys = 1, width = 1; ///< of mix: columns of the values
  int64_t depth = 1;                                ///< of the first product
  /// Of each so many rows, beginning at a multiple, queries lie one after another in
  /// one batch of the first product.
  int64_t run = 1;
  /// Row r sees the keys up to r + offset alone; counted within the mask's rows, of
  /// which `maskRun` follow one another.
  std::optional<graph::CausalMask> causal;

  Position scores(const Index &b, const Index &row, const Index &key) const;
  Position query(const Index &b, const Index &row, const Index &k) const;
  Position key(const Index &b, const Index &row, const Index &key, const Index &k) const;
  Position value(const Index &b, const Index &key, const Index &column) const;
  mlir::Value queries() const { return factor(attention.keysAreColumns); }
  mlir::Value keysTensor() const { return factor(!attention.keysAreColumns); }
  mlir::Value values() const {
    stablehlo::DotGeneralOp mix = attention.mix;
    return attention.weightsAreLeft ? mix.getRhs() : mix.getLhs();
  }

private:
  mlir::Value factor(bool left) const {
    stablehlo::DotGeneralOp products = attention.products;
    return left ? products.getLhs() : products.getRhs();
  }
  Position traced(const Index &b, const Index &row, const Index &key, mlir::Value to) const;
  void findRun();

  IndexSpace &space;
  MatrixView products, mix;
};

} // namespace spokeshave::kernel
