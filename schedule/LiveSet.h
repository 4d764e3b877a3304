//===- LiveSet.h - where in the program a buffer holds a value -------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps of a program are numbered in order; a step's number is its window.
// Each window has two moments: in the first the step reads, in the second it
// writes. A value is live from the moment 2 * window + 1 in which it is written
// to the moment 2 * window of its last read. A live set is a sorted list of
// half-open ranges of moments: with holes, since a loop-carried buffer holds
// nothing between the last use of the old value and the arrival of the new one,
// and that hole is what makes work in place possible.
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
  /// The first window in which something is live, and the one after the last.
  int32_t firstWindow() const { return intervals.front().begin / 2; }
  int32_t endWindow() const { return (intervals.back().end + 1) / 2; }

  /// The windows in which a value of one set is read for the last time and one
  /// of the other is written; none if both are live in any moment. Walks the
  /// shorter list and searches in the longer one.
  std::optional<llvm::SmallVector<int32_t, 4>> handovers(const LiveSet &other) const {
    if (other.intervals.size() < intervals.size())
      return other.handovers(*this);
    llvm::SmallVector<int32_t, 4> windows;
    for (Interval mine : intervals)
      for (auto *theirs = other.firstEndingAt(mine.begin);
           theirs != other.intervals.end() && theirs->begin <= mine.end; ++theirs) {
        int32_t begin = std::max(mine.begin, theirs->begin);
        if (begin < std::min(mine.end, theirs->end))
          return std::nullopt;
        if (begin % 2 == 1)
          windows.push_back(begin / 2);
      }
    return windows;
  }

private:
  using List = llvm::SmallVector<Interval, 2>;

  List::iterator firstEndingAt(int32_t position) {
    return std::partition_point(intervals.begin(), intervals.end(),
                                [&](Interval interval) { return interval.end < position; });
  }
  List::const_iterator firstEndingAt(int32_t position) const {
    return const_cast<LiveSet *>(this)->firstEndingAt(position);
  }

  List intervals;
};

} // namespace spokeshave::schedule
