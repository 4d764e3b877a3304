//===- UnitStream.cpp - products through the matrix units without a gap ----===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of the code is about that of time: registers are given in its order, and
// a value that is made long before its use keeps one for all that while.
//
//===----------------------------------------------------------------------===//
#include "kernel/UnitStream.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace mlir;
using namespace spokeshave::kernel;

void spokeshave::kernel::latchAll(const UnitStep &step) {
  for (int64_t i = 0; i < step.latches; ++i)
    step.latch(i);
}

void UnitStream::write(ArrayRef<UnitStep> before, ArrayRef<UnitStep> now, const UnitStep *next,
                       std::vector<SideWork> side, bool drains) const {
  // Of each slot of the sequence: its step, and its number within it.
  SmallVector<std::pair<const UnitStep *, int64_t>> slots;
  auto append = [&](ArrayRef<UnitStep> steps) {
    for (const UnitStep &step : steps)
      for (int64_t i = 0; i < step.slots; ++i)
        slots.push_back({&step, i});
  };
  append(before);
  const int64_t begin = slots.size();
  append(now);
  const int64_t end = slots.size();

  SmallVector<UnitStep::Registers> prepared(end - begin);
  int64_t numPrepared = begin;
  auto popBehind = [&](int64_t place) {
    if (place >= lag)
      slots[place - lag].first->pop(slots[place - lag].second);
  };
  std::multimap<int64_t, SideWork *> waiting;
  for (SideWork &work : side)
    waiting.emplace(work.at, &work);
  auto workBehind = [&](int64_t slot) {
    for (; !waiting.empty() && waiting.begin()->first <= slot; waiting.erase(waiting.begin()))
      waiting.begin()->second->emit();
  };

  const UnitStep *following = nullptr;
  for (int64_t place = begin; place < end; ++place) {
    auto [step, slot] = slots[place];
    if (slot == 0) {
      step->swap();
      following = step == &now.back() ? next : step + 1;
    }
    for (; numPrepared < std::min(end, place + 1 + ahead); ++numPrepared) {
      auto [later, number] = slots[numPrepared];
      prepared[numPrepared - begin] = later->prepare(number);
    }
    step->push(slot, prepared[place - begin]);
    if (following)
      for (int64_t i = slot * following->latches / step->slots;
           i < (slot + 1) * following->latches / step->slots; ++i)
        following->latch(i);
    popBehind(place);
    workBehind(place - begin);
  }
  for (int64_t place = end; drains && place < end + lag; ++place)
    popBehind(place);
  workBehind(INT64_MAX);
}
