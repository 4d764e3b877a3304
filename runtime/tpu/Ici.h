//===- Ici.h - chips in a ring or torus, and what collectives take ---------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chips are numbered in row-major order of a torus that wraps around in each of
// its dimensions. Each has two links per dimension, one each way; `bandwidth` is
// that of one link in one direction (ici.bandwidth), and each hop takes
// ici.hop_latency. Links carry traffic of both directions at once.
//
// The algorithms are those of jax-ml/scaling-book, sharding.md at 0819a7d, with N
// members, B bytes per link and second, k dimensions of the torus that a group
// spans, h a hop's latency and V the bytes of the whole array:
//
//   all_gather       bidirectional rings, a part of the data along each dimension
//                    first:  V (N-1)/N / (2 k B) + h * sum over dims ceil((n_d-1)/2)
//   reduce_scatter   the same, V being each member's operand
//   all_to_all       each part on its shortest way, dimension by dimension (both ways
//                    around where they are as long): the fullest link decides; for a
//                    ring that is V / (8 B)
//   permute          as all_to_all, with the pairs' traffic
//   broadcast        pipelined along both directions:  V / B + h * longest way
//
// Groups that are no whole sub-torus go around a ring in their own order, whose
// edges are routed as above: the fullest link slows all steps alike. The groups of
// one collective run at once and share links.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "machine/Chip.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <string>
#include <vector>

namespace spokeshave::runtime::tpu {

using ChipGroups = std::vector<std::vector<int64_t>>;

class Torus {
public:
  /// `chips` in as many dimensions as the chip has, as even as possible, the
  /// largest last.
  Torus(const machine::Chip &chip, int64_t chips);
  /// Of the given shape, which may have more dimensions than the chip.
  Torus(const machine::Chip &chip, llvm::ArrayRef<int64_t> shape);

  int64_t chips() const;
  /// "2x4"
  std::string text() const;

  /// Seconds of collectives in which all `groups` take part at once. `bytes` is the
  /// whole array's for a gather, each member's operand for the others.
  double gatherSeconds(const ChipGroups &groups, int64_t bytes) const;
  double reduceScatterSeconds(const ChipGroups &groups, int64_t bytes) const;
  double exchangeSeconds(const ChipGroups &groups, int64_t bytes) const;
  double broadcastSeconds(const ChipGroups &groups, int64_t bytes) const;
  /// Pairs of source and target.
  double permuteSeconds(const ChipGroups &pairs, int64_t bytes) const;

private:
  /// Bytes on each link: chip, dimension, direction.
  class Traffic;
  llvm::SmallVector<int64_t> coordinate(int64_t chip) const;
  int64_t hops(int64_t from, int64_t to) const;
  /// The extents of the sub-torus that `group` is, in its order; empty if none.
  llvm::SmallVector<int64_t> extentsOf(llvm::ArrayRef<int64_t> group) const;
  double ringSeconds(const ChipGroups &groups, int64_t bytes) const;

  llvm::SmallVector<int64_t> sizes;
  double bandwidth, hopLatency;
};

} // namespace spokeshave::runtime::tpu
