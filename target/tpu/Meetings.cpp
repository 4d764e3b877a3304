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

llvm::SmallVector<HbmUse>
spokeshave::tpu::usesOf(const Program &program, const Step &step,
                        llvm::function_ref<int64_t(const BufferRef &)> addressOf) {
  llvm::SmallVector<HbmUse> uses;
  auto use = [&](const BufferRef &buffer, int64_t core, int64_t begin, int64_t end, bool writes) {
    if (buffer.base != BufferRef::Base::Vmem && begin < end)
      uses.push_back({core, addressOf(buffer) + begin, addressOf(buffer) + end, writes});
  };
  for (auto [i, buffer] : llvm::enumerate(step.buffers)) {
    switch (step.kind) {
    case Step::Kind::Launch: {
      const Kernel &kernel = program.kernels[step.kernel];
      for (int64_t core = 0; core < kernel.cores; ++core) {
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
      for (int64_t core = 0; core < coresAtWork(program); ++core)
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
  bool allowsBody(const Step &step) const;
  llvm::SmallVector<HbmUse> usesIn(const Step &step) const {
    return usesOf(program, step, [&](const BufferRef &buffer) { return addressOf(buffer); });
  }
  int64_t addressOf(const BufferRef &buffer) const;

  Program &program;
  UsesSinceMeeting uses;
  bool changed = false; ///< a meeting was placed
};

/// Each memory apart from the others; a result that takes over an argument is one
/// with it.
int64_t Placement::addressOf(const BufferRef &buffer) const {
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
  return number * kApart + buffer.offset;
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
