//===- LiveSet.h - where in the program a buffer holds a value -------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps of a program are numbered in order; a step's number is its window.
// A live set is a sorted list of half-open ranges of windows: with holes, since
// a loop-carried buffer holds nothing between the last use of the old value and
// the arrival of the new one, and that hole is what makes work in place possible.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace spokeshave::schedule {

struct Interval {
  int32_t begin, end;
};

class LiveSet {
public:
  /// Adds [begin, end), joining what it touches.
  void add(int32_t begin, int32_t end) {
    if (begin >= end)
      return;
    auto *first = firstEndingAt(begin);
    auto *last = first;
    for (; last != intervals.end() && last->begin <= end; ++last) {
      begin = std::min(begin, last->begin);
      end = std::max(end, last->end);
    }
    if (first == last) {
      intervals.insert(first, {begin, end});
      return;
    }
    *first = {begin, end};
    intervals.erase(first + 1, last);
  }

  void add(const LiveSet &other) {
    for (Interval interval : other.intervals)
      add(interval.begin, interval.end);
  }

  llvm::ArrayRef<Interval> get() const { return intervals; }
  bool empty() const { return intervals.empty(); }
  int32_t begin() const { return intervals.front().begin; }
  int32_t end() const { return intervals.back().end; }

  /// The windows that are in both sets, or none if they are more than `most`.
  /// Walks the shorter list and searches in the longer one.
  std::optional<llvm::SmallVector<int32_t, 4>> overlap(const LiveSet &other, size_t most) const {
    if (other.intervals.size() < intervals.size())
      return other.overlap(*this, most);
    llvm::SmallVector<int32_t, 4> windows;
    for (Interval mine : intervals)
      for (auto *theirs = other.firstEndingAfter(mine.begin);
           theirs != other.intervals.end() && theirs->begin < mine.end; ++theirs)
        for (int32_t window = std::max(mine.begin, theirs->begin);
             window < std::min(mine.end, theirs->end); ++window) {
          if (windows.size() == most)
            return std::nullopt;
          windows.push_back(window);
        }
    return windows;
  }

private:
  using List = llvm::SmallVector<Interval, 2>;

  List::iterator firstEndingAt(int32_t position) {
    return std::partition_point(intervals.begin(), intervals.end(),
                                [&](Interval interval) { return interval.end < position; });
  }
  List::const_iterator firstEndingAfter(int32_t position) const {
    return std::partition_point(intervals.begin(), intervals.end(),
                                [&](Interval interval) { return interval.end <= position; });
  }

  List intervals;
};

} // namespace spokeshave::schedule
