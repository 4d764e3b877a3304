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
  bool operator==(const HbmUse &) const = default;
};

/// What a step itself does, without those within it; the sequencer's reads are of
/// all cores. `addressOf`: where a buffer that is not in VMEM begins.
llvm::SmallVector<HbmUse> usesOf(const Program &program, const Step &step,
                                 llvm::function_ref<int64_t(const BufferRef &)> addressOf);

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
