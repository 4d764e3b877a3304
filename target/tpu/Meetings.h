//===- Meetings.h - where the cores of a device wait for each other --------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every core of a device goes through the steps of a program at its own pace and
// does its part of them. Before a core uses what another one made, or writes where
// another one reads, they meet (Step::meets).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "target/tpu/Program.h"

namespace spokeshave::tpu {

/// What a core does with bytes [begin, end) of HBM.
struct HbmUse {
  int64_t core = 0, begin = 0, end = 0;
  bool writes = false;
  /// If not 0: no more than `bytes`, at the begin or some strides behind it.
  int64_t stride = 0, bytes = 0;
  bool meets(const HbmUse &other) const;
  bool holds(const HbmUse &other) const;
  bool operator==(const HbmUse &) const = default;
};

/// Where a buffer of HBM begins: a slice, unless it is known, between two addresses; if
/// there is a stride, some of these behind the first.
struct HbmPlace {
  int64_t first = 0, last = 0, stride = 0;
};
using PlaceOf = llvm::function_ref<HbmPlace(const BufferRef &)>;

/// How many cores do their part of a step; the others go on.
int64_t coresOf(const Program &program, const Step &step);

/// What a step itself does, without those within it; what tells where its slices are
/// is read by all of its cores. `placeOf`: of buffers that are not in VMEM.
llvm::SmallVector<HbmUse> usesOf(const Program &program, const Step &step, PlaceOf placeOf);

/// What the cores did since they met.
class UsesSinceMeeting {
public:
  /// Whether no core uses what another one wrote, or writes what another one used.
  bool allows(llvm::ArrayRef<HbmUse> next) const;
  /// True if something new was among them.
  bool add(llvm::ArrayRef<HbmUse> next);
  bool add(const UsesSinceMeeting &other) { return add(other.uses); }
  void clear() { uses.clear(); }

private:
  std::vector<HbmUse> uses;
};

/// Sets Step::meets where it is needed, on any path through the program.
void placeMeetings(Program &program);

} // namespace spokeshave::tpu
