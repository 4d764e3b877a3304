//===- Meetings.cpp - where the cores of a device wait for each other ------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program is walked with all that cores may have done since they met. Bodies of
// loops are walked until another trip brings nothing new.
//
//===----------------------------------------------------------------------===//
#include "target/tpu/Meetings.h"

#include "llvm/ADT/STLExtras.h"

using namespace spokeshave::tpu;

int64_t spokeshave::tpu::coresOf(const Program &program, const Step &step) {
  switch (step.kind) {
  case Step::Kind::Launch:
    return program.kernels[step.kernel].cores;
  case Step::Kind::Start:
    return std::max<int64_t>(1, step.parts.size());
  case Step::Kind::While:
  case Step::Kind::Case:
  case Step::Kind::Wait:
    return program.chip.coresOfDevice();
  default:
    return 1;
  }
}

llvm::SmallVector<HbmUse> spokeshave::tpu::usesOf(const Program &program, const Step &step,
                                                  PlaceOf placeOf) {
  llvm::SmallVector<HbmUse> uses;
  auto use = [&](const BufferRef &buffer, int64_t core, int64_t begin, int64_t end, bool writes) {
    if (buffer.base == BufferRef::Base::Vmem || begin >= end)
      return;
    if (buffer.rows > 1) // all between its rows as well
      begin = 0, end = buffer.extent();
    HbmPlace place = placeOf(buffer);
    uses.push_back({core, place.first + begin, place.last + end, writes});
  };
  int64_t cores = coresOf(program, step);
  for (auto [i, buffer] : llvm::enumerate(step.buffers)) {
    for (const SliceStart &start : buffer.starts)
      for (int64_t core = 0; start.at && core < cores; ++core)
        use(BufferRef{*start.at}, core, 0, start.at->bytes, false);
    switch (step.kind) {
    case Step::Kind::Launch: {
      const Kernel &kernel = program.kernels[step.kernel];
      for (int64_t core = 0; core < cores; ++core) {
        Kernel::Part part = kernel.partOf(i, core, buffer.bytes);
        use(buffer, core, part.begin, part.end, i >= step.inputs);
      }
      break;
    }
    case Step::Kind::Start:
      if (step.parts.empty())
        use(buffer, 0, 0, buffer.bytes, i == 1);
      for (auto [core, part] : llvm::enumerate(step.parts))
        use(buffer, core, part.begin, part.end, i == 1);
      break;
    case Step::Kind::While:
    case Step::Kind::Case:
      for (int64_t core = 0; core < cores; ++core)
        use(buffer, core, 0, buffer.bytes, false);
      break;
    default:
      use(buffer, 0, 0, buffer.bytes, i + 1 == step.buffers.size());
      break;
    }
  }
  return uses;
}

bool UsesSinceMeeting::allows(llvm::ArrayRef<HbmUse> next) const {
  return llvm::none_of(next, [&](const HbmUse &a) {
    return llvm::any_of(uses, [&](const HbmUse &b) {
      return a.core != b.core && (a.writes || b.writes) && a.begin < b.end && b.begin < a.end;
    });
  });
}

bool UsesSinceMeeting::add(llvm::ArrayRef<HbmUse> next) {
  bool grows = false;
  for (const HbmUse &use : next) {
    bool isKnown = llvm::any_of(uses, [&](const HbmUse &old) {
      return old.core == use.core && old.writes >= use.writes && old.begin <= use.begin &&
             use.end <= old.end;
    });
    if (!isKnown)
      uses.push_back(use), grows = true;
  }
  return grows;
}

namespace {

class Placement {
public:
  explicit Placement(Program &program) : program(program) {}
  void walk(std::vector<Step> &steps);

private:
  void visit(Step &step);
  void loop(Step &step);
  HbmPlace placeOf(const BufferRef &buffer) const;

  Program &program;
  UsesSinceMeeting uses;
  bool changed = false; ///< a meeting was placed
};

/// Each memory apart from the others; a result that takes over an argument is one
/// with it.
HbmPlace Placement::placeOf(const BufferRef &buffer) const {
  constexpr int64_t kApart = int64_t(1) << 44;
  int64_t arguments = program.arguments.size(), results = program.results.size();
  int64_t number = buffer.index;
  switch (buffer.base) {
  case BufferRef::Base::Result:
    number = program.results[number].alias >= 0 ? program.results[number].alias
                                                : arguments + number;
    break;
  case BufferRef::Base::Constant:
    number += arguments + results;
    break;
  case BufferRef::Base::Arena:
    number = arguments + results + int64_t(program.constants.size());
    break;
  default:
    break;
  }
  int64_t address = number * kApart + buffer.offset;
  return {address, address + buffer.reach()};
}

void Placement::visit(Step &step) {
  llvm::SmallVector<HbmUse> next =
      usesOf(program, step, [&](const BufferRef &buffer) { return placeOf(buffer); });
  if (!step.meets && !uses.allows(next))
    step.meets = changed = true;
  if (step.meets)
    uses.clear();
  // What the sequencer read it has by the time that the cores go on.
  if (step.blocks.empty())
    uses.add(next);
}

void Placement::loop(Step &step) {
  UsesSinceMeeting before = uses;
  bool again = true;
  while (again) {
    uses = before;
    changed = false;
    if (step.trips < 0) {
      walk(step.blocks[0]);
      visit(step);
    }
    walk(step.blocks[1]);
    again = before.add(uses) || changed;
  }
  if (step.trips > 0)
    return; // as the last trip left it
  uses = before;
  if (step.trips < 0) {
    walk(step.blocks[0]);
    visit(step);
  }
}

void Placement::walk(std::vector<Step> &steps) {
  for (Step &step : steps) {
    if (step.kind == Step::Kind::While) {
      loop(step);
    } else if (step.kind == Step::Kind::Case) {
      visit(step);
      UsesSinceMeeting before = uses, after;
      for (std::vector<Step> &branch : step.blocks) {
        uses = before;
        walk(branch);
        after.add(uses);
      }
      uses = after;
    } else {
      visit(step);
    }
  }
}

} // namespace

void spokeshave::tpu::placeMeetings(Program &program) {
  if (llvm::any_of(program.kernels, [](const Kernel &kernel) { return kernel.cores > 1; }))
    Placement(program).walk(program.steps);
}
