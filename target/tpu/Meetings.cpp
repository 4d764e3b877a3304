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

/// Cores that work at all.
static int64_t coresAtWork(const Program &program) {
  int64_t cores = 1;
  for (const Kernel &kernel : program.kernels)
    cores = std::max(cores, kernel.cores);
  return cores;
}

int64_t spokeshave::tpu::coresOf(const Program &program, const Step &step) {
  switch (step.kind) {
  case Step::Kind::Launch:
    return program.kernels[step.kernel].cores;
  case Step::Kind::Start:
    return std::max<int64_t>(1, step.parts.size());
  case Step::Kind::While:
  case Step::Kind::Case:
    return coresAtWork(program);
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
    uses.push_back(
        {core, place.first + begin, place.last + end, writes, place.stride, end - begin});
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
    case Step::Kind::Collective:
      use(buffer, 0, 0, buffer.bytes, i >= step.inputs);
      break;
    default:
      use(buffer, 0, 0, buffer.bytes, i + 1 == step.buffers.size());
      break;
    }
  }
  return uses;
}

/// Of two layers of one stack what matters is where in their layers they lie.
bool HbmUse::meets(const HbmUse &other) const {
  if (begin >= other.end || other.begin >= end)
    return false;
  if (stride == 0 || stride != other.stride)
    return true;
  int64_t apart = ((other.begin - begin) % stride + stride) % stride;
  return apart < bytes || apart + other.bytes > stride;
}

bool HbmUse::holds(const HbmUse &other) const {
  bool isSame =
      stride == 0 || (stride == other.stride && bytes == other.bytes && begin == other.begin);
  return core == other.core && writes >= other.writes && isSame && begin <= other.begin &&
         other.end <= end;
}

bool UsesSinceMeeting::allows(llvm::ArrayRef<HbmUse> next) const {
  return llvm::none_of(next, [&](const HbmUse &a) {
    return llvm::any_of(uses, [&](const HbmUse &b) {
      return a.core != b.core && (a.writes || b.writes) && a.meets(b);
    });
  });
}

bool UsesSinceMeeting::add(llvm::ArrayRef<HbmUse> next) {
  bool grows = false;
  for (const HbmUse &use : next) {
    if (llvm::none_of(uses, [&](const HbmUse &old) { return old.holds(use); }))
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
  bool allowsBody(const Step &step) const;
  llvm::SmallVector<HbmUse> usesIn(const Step &step) const {
    return usesOf(program, step, [&](const BufferRef &buffer) { return placeOf(buffer); });
  }
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
    number =
        program.results[number].alias >= 0 ? program.results[number].alias : arguments + number;
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
  int64_t stride = buffer.starts.size() == 1 ? buffer.starts.front().stride : 0;
  return {address, address + buffer.reach(), stride};
}

void Placement::visit(Step &step) {
  llvm::SmallVector<HbmUse> next = usesIn(step);
  if (!step.meets && !uses.allows(next))
    step.meets = changed = true;
  if (step.meets)
    uses.clear();
  // What the sequencer read it has by the time that the cores go on.
  if (step.blocks.empty())
    uses.add(next);
}

/// Whether nothing in the loop uses what another core used before it.
bool Placement::allowsBody(const Step &step) const {
  return llvm::all_of(step.blocks, [&](const std::vector<Step> &block) {
    return llvm::all_of(
        block, [&](const Step &inner) { return uses.allows(usesIn(inner)) && allowsBody(inner); });
  });
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
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].kind == Step::Kind::While && !allowsBody(steps[i])) {
      // Once before the loop, rather than in each trip.
      Step meeting;
      meeting.kind = Step::Kind::Meet, meeting.meets = true;
      meeting.location = steps[i].location;
      steps.insert(steps.begin() + i, std::move(meeting));
      changed = true;
    }
    Step &step = steps[i];
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
  if (coresAtWork(program) > 1)
    Placement(program).walk(program.steps);
}
