//===- Ici.cpp - chips in a ring or torus, and what collectives take -------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/tpu/Ici.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <set>

namespace spokeshave::runtime::tpu {

Torus::Torus(const machine::Chip &chip, int64_t chips)
    : bandwidth(chip.ici.bandwidth), hopLatency(chip.ici.hopLatency) {
  // The largest divisor not above the root of what is left, dimension by dimension.
  int64_t rest = std::max<int64_t>(1, chips);
  for (int64_t left = std::max<int64_t>(1, chip.ici.dimensions); left > 1; --left) {
    int64_t size = 1;
    for (int64_t candidate = 2; candidate <= rest; ++candidate) {
      int64_t power = 1;
      for (int64_t i = 0; i < left; ++i)
        power *= candidate;
      if (power > rest)
        break;
      if (rest % candidate == 0)
        size = candidate;
    }
    sizes.push_back(size);
    rest /= size;
  }
  sizes.push_back(rest);
}

Torus::Torus(const machine::Chip &chip, llvm::ArrayRef<int64_t> shape)
    : sizes(shape), bandwidth(chip.ici.bandwidth), hopLatency(chip.ici.hopLatency) {}

int64_t Torus::chips() const {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

std::string Torus::text() const {
  return llvm::join(llvm::map_range(sizes, [](int64_t size) { return std::to_string(size); }), "x");
}

llvm::SmallVector<int64_t> Torus::coordinate(int64_t chip) const {
  llvm::SmallVector<int64_t> result(sizes.size());
  for (size_t dim = sizes.size(); dim-- > 0;) {
    result[dim] = chip % sizes[dim];
    chip /= sizes[dim];
  }
  return result;
}

int64_t Torus::hops(int64_t from, int64_t to) const {
  llvm::SmallVector<int64_t> a = coordinate(from), b = coordinate(to);
  int64_t count = 0;
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    int64_t forward = (b[dim] - a[dim] + sizes[dim]) % sizes[dim];
    count += std::min(forward, sizes[dim] - forward);
  }
  return count;
}

//===----------------------------------------------------------------------===//
// Traffic on links
//===----------------------------------------------------------------------===//

class Torus::Traffic {
public:
  explicit Traffic(const Torus &torus)
      : torus(torus), bytes(torus.chips() * torus.sizes.size() * 2) {}

  /// Dimension by dimension, the shorter way around; half each way if they are
  /// as long.
  void add(int64_t from, int64_t to, double amount) {
    llvm::SmallVector<int64_t> at = torus.coordinate(from), target = torus.coordinate(to);
    longest = std::max(longest, torus.hops(from, to));
    for (size_t dim = 0; dim < at.size(); ++dim) {
      int64_t size = torus.sizes[dim], forward = (target[dim] - at[dim] + size) % size;
      double share = 2 * forward < size ? 1 : 2 * forward == size ? 0.5 : 0;
      walk(at, dim, forward, 1, amount * share);
      walk(at, dim, size - forward, -1, forward ? amount * (1 - share) : 0);
      at[dim] = target[dim];
    }
  }

  double fullest() const { return *std::max_element(bytes.begin(), bytes.end()); }
  int64_t longestWay() const { return longest; }

private:
  void walk(llvm::SmallVector<int64_t> at, size_t dim, int64_t steps, int64_t direction,
            double amount) {
    if (amount == 0)
      return;
    int64_t size = torus.sizes[dim];
    for (int64_t step = 0; step < steps; ++step) {
      int64_t chip = 0;
      for (size_t d = 0; d < at.size(); ++d)
        chip = chip * torus.sizes[d] + at[d];
      bytes[(chip * at.size() + dim) * 2 + (direction > 0)] += amount;
      at[dim] = (at[dim] + direction + size) % size;
    }
  }

  const Torus &torus;
  std::vector<double> bytes;
  int64_t longest = 0;
};

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// A whole sub-torus has each combination of the coordinates that occur, and each
/// dimension in which they differ whole.
llvm::SmallVector<int64_t> Torus::extentsOf(llvm::ArrayRef<int64_t> group) const {
  std::vector<std::set<int64_t>> seen(sizes.size());
  for (int64_t chip : group)
    for (auto [dim, at] : llvm::enumerate(coordinate(chip)))
      seen[dim].insert(at);
  llvm::SmallVector<int64_t> extents;
  int64_t count = 1;
  for (auto [dim, values] : llvm::enumerate(seen)) {
    auto extent = static_cast<int64_t>(values.size());
    if (extent > 1 && extent != sizes[dim])
      return {};
    if (extent > 1)
      extents.push_back(extent);
    count *= extent;
  }
  return count == static_cast<int64_t>(group.size()) ? extents : llvm::SmallVector<int64_t>();
}

/// Around the group's own order: each member passes a part each way per step.
double Torus::ringSeconds(const ChipGroups &groups, int64_t bytes) const {
  size_t members = groups.front().size();
  Traffic traffic(*this);
  for (const std::vector<int64_t> &group : groups)
    for (size_t i = 0; i < members; ++i) {
      traffic.add(group[i], group[(i + 1) % members], 0.5);
      traffic.add(group[(i + 1) % members], group[i], 0.5);
    }
  double part = double(bytes) / double(members), steps = double(members - 1);
  return steps * part * traffic.fullest() / bandwidth +
         double(members / 2) * double(traffic.longestWay()) * hopLatency;
}

double Torus::gatherSeconds(const ChipGroups &groups, int64_t bytes) const {
  if (groups.empty() || groups.front().size() < 2)
    return 0;
  double members = double(groups.front().size());
  llvm::SmallVector<int64_t> extents = extentsOf(groups.front());
  bool allWhole = !extents.empty() && llvm::all_of(groups, [&](const auto &group) {
    return extentsOf(group) == extents;
  });
  if (!allWhole)
    return ringSeconds(groups, bytes);
  int64_t steps = 0;
  for (int64_t extent : extents)
    steps += extent / 2;
  return double(bytes) * (members - 1) / members / (2 * double(extents.size()) * bandwidth) +
         double(steps) * hopLatency;
}

double Torus::reduceScatterSeconds(const ChipGroups &groups, int64_t bytes) const {
  return gatherSeconds(groups, bytes);
}

double Torus::exchangeSeconds(const ChipGroups &groups, int64_t bytes) const {
  Traffic traffic(*this);
  for (const std::vector<int64_t> &group : groups)
    for (int64_t from : group)
      for (int64_t to : group)
        if (from != to)
          traffic.add(from, to, double(bytes) / double(group.size()));
  return traffic.fullest() / bandwidth + double(traffic.longestWay()) * hopLatency;
}

double Torus::permuteSeconds(const ChipGroups &pairs, int64_t bytes) const {
  Traffic traffic(*this);
  for (const std::vector<int64_t> &pair : pairs)
    if (pair[0] != pair[1])
      traffic.add(pair[0], pair[1], double(bytes));
  return traffic.fullest() / bandwidth + double(traffic.longestWay()) * hopLatency;
}

double Torus::broadcastSeconds(const ChipGroups &groups, int64_t bytes) const {
  int64_t longest = 0;
  for (const std::vector<int64_t> &group : groups)
    for (int64_t to : group)
      longest = std::max(longest, hops(group.front(), to));
  return longest ? double(bytes) / bandwidth + double(longest) * hopLatency : 0;
}

} // namespace spokeshave::runtime::tpu
