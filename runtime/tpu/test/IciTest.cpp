//===- IciTest.cpp - what collectives take between chips -------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/tpu/Ici.h"

#include "gtest/gtest.h"

using namespace spokeshave;
using namespace spokeshave::runtime::tpu;

namespace {
constexpr double kBandwidth = 1e9, kHop = 1e-6;
constexpr int64_t kBytes = 1 << 20;

Torus torus(int64_t dimensions, int64_t chips) {
  machine::Chip chip;
  chip.ici.dimensions = dimensions;
  chip.ici.bandwidth = kBandwidth;
  chip.ici.hopLatency = kHop;
  return Torus(chip, chips);
}

std::vector<int64_t> range(int64_t count) {
  std::vector<int64_t> list;
  for (int64_t i = 0; i < count; ++i)
    list.push_back(i);
  return list;
}
} // namespace

TEST(Ici, ShapesAreAsEvenAsTheChipAllows) {
  EXPECT_EQ(torus(2, 16).text(), "4x4");
  EXPECT_EQ(torus(2, 8).text(), "2x4");
  EXPECT_EQ(torus(3, 8).text(), "2x2x2");
  EXPECT_EQ(torus(3, 64).text(), "4x4x4");
  EXPECT_EQ(torus(1, 6).text(), "6");
  EXPECT_EQ(torus(2, 7).text(), "1x7");
  EXPECT_EQ(torus(2, 1).chips(), 1);
}

TEST(Ici, GatherUsesBothDirectionsOfEachDimension) {
  double ring = torus(1, 8).gatherSeconds({range(8)}, kBytes);
  EXPECT_NEAR(ring, kBytes * 7.0 / 8 / (2 * kBandwidth) + 4 * kHop, 1e-12);
  double square = torus(2, 16).gatherSeconds({range(16)}, kBytes);
  EXPECT_NEAR(square, kBytes * 15.0 / 16 / (4 * kBandwidth) + 4 * kHop, 1e-12);
  EXPECT_EQ(torus(2, 16).reduceScatterSeconds({range(16)}, kBytes), square);
  // Rows of the square, all at once.
  double rows = torus(2, 16).gatherSeconds(
      {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}, kBytes);
  EXPECT_NEAR(rows, kBytes * 3.0 / 4 / (2 * kBandwidth) + 2 * kHop, 1e-12);
  EXPECT_EQ(torus(2, 16).gatherSeconds({{0}, {1}}, kBytes), 0);
}

TEST(Ici, GroupsThatAreNoSubTorus) {
  // Half of a ring: the edge back is long, and nothing is faster than on a ring.
  double half = torus(1, 8).gatherSeconds({range(4)}, kBytes);
  EXPECT_GT(half, kBytes * 3.0 / 4 / (2 * kBandwidth));
  // Interleaved groups share links.
  double one = torus(1, 8).gatherSeconds({{0, 2, 4, 6}}, kBytes);
  double both = torus(1, 8).gatherSeconds({{0, 2, 4, 6}, {1, 3, 5, 7}}, kBytes);
  EXPECT_GT(both, 1.5 * one);
}

TEST(Ici, ExchangeIsBoundByTheFullestLink) {
  // V / (8 B) on a ring, V being all members' bytes.
  double seconds = torus(1, 8).exchangeSeconds({range(8)}, kBytes);
  EXPECT_NEAR(seconds, 8.0 * kBytes / (8 * kBandwidth) + 4 * kHop, 1e-9);
}

TEST(Ici, PermuteGoesTheShorterWay) {
  Torus ring = torus(1, 8);
  EXPECT_NEAR(ring.permuteSeconds({{0, 1}}, kBytes), kBytes / kBandwidth + kHop, 1e-12);
  EXPECT_NEAR(ring.permuteSeconds({{0, 7}}, kBytes), kBytes / kBandwidth + kHop, 1e-12);
  // Half each way around.
  EXPECT_NEAR(ring.permuteSeconds({{0, 4}}, kBytes), kBytes / (2 * kBandwidth) + 4 * kHop, 1e-12);
  // A shift of all: one part on each link.
  std::vector<std::vector<int64_t>> shift;
  for (int64_t i = 0; i < 8; ++i)
    shift.push_back({i, (i + 1) % 8});
  EXPECT_NEAR(ring.permuteSeconds(shift, kBytes), kBytes / kBandwidth + kHop, 1e-12);
  EXPECT_EQ(ring.permuteSeconds({{3, 3}}, kBytes), 0);
}

TEST(Ici, Broadcast) {
  EXPECT_NEAR(torus(2, 16).broadcastSeconds({range(16)}, kBytes), kBytes / kBandwidth + 4 * kHop,
              1e-12);
}
