//===- IciPort.cpp - a chip's end of the links between chips ---------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/tpu/IciPort.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <cstring>

namespace spokeshave::runtime::tpu {

using spokeshave::tpu::Collective;

namespace {
/// What a chip shows the others.
struct Shown {
  const char *data;
  int64_t now;
};

/// The members that meet with chip `self`; empty if it is in no group. In a permute
/// all chips of all pairs meet.
std::vector<int64_t> membersOf(const Collective &collective, int64_t self) {
  if (collective.kind != Collective::Kind::Permute) {
    for (const std::vector<int64_t> &group : collective.groups)
      if (llvm::is_contained(group, self))
        return group;
    return {};
  }
  std::vector<int64_t> everyone;
  for (const std::vector<int64_t> &pair : collective.groups)
    for (int64_t chip : pair)
      if (!llvm::is_contained(everyone, chip))
        everyone.push_back(chip);
  llvm::sort(everyone);
  return llvm::is_contained(everyone, self) ? everyone : std::vector<int64_t>();
}

void move(const Collective &collective, int64_t self, const std::vector<int64_t> &members,
          llvm::ArrayRef<const void *> shown, int64_t bytes, char *to, int64_t toBytes) {
  auto dataOf = [&](size_t member) { return static_cast<const Shown *>(shown[member])->data; };
  size_t place = llvm::find(members, self) - members.begin();
  int64_t part = bytes / static_cast<int64_t>(members.size());
  switch (collective.kind) {
  case Collective::Kind::Gather:
    for (size_t i = 0; i < members.size(); ++i)
      std::memcpy(to + i * bytes, dataOf(i), bytes);
    return;
  case Collective::Kind::Exchange:
  case Collective::Kind::ReduceScatter:
    for (size_t i = 0; i < members.size(); ++i)
      std::memcpy(to + i * part, dataOf(i) + place * part, part);
    return;
  case Collective::Kind::Broadcast:
    std::memcpy(to, dataOf(0), bytes);
    return;
  case Collective::Kind::Permute:
    for (const std::vector<int64_t> &pair : collective.groups)
      if (pair[1] == self)
        return (void)std::memcpy(to, dataOf(llvm::find(members, pair[0]) - members.begin()), bytes);
    std::memset(to, 0, toBytes);
    return;
  case Collective::Kind::ReplicaId:
  case Collective::Kind::PartitionId: // numbers that each chip knows
  case Collective::Kind::Send:
  case Collective::Kind::Receive:
  case Collective::Kind::Infeed:
  case Collective::Kind::Outfeed: // see transfer()
    return;
  }
}

llvm::Error fill(const std::string &what, const Exchange::Values &values,
                 llvm::ArrayRef<llvm::MutableArrayRef<char>> results) {
  if (values.size() != results.size())
    return makeError(ErrorCode::DevicesApart, what + " gets another number of values");
  for (auto [value, result] : llvm::zip_equal(values, results)) {
    if (value.size() != result.size())
      return makeError(ErrorCode::DevicesApart, what + " gets a value of another size");
    llvm::copy(value, result.begin());
  }
  return llvm::Error::success();
}
} // namespace

double IciPort::secondsOf(const Collective &collective, int64_t bytes) const {
  const Torus &torus = *grid.torus;
  const ChipGroups &groups = collective.groups;
  switch (collective.kind) {
  case Collective::Kind::Gather:
    return torus.gatherSeconds(groups, bytes * static_cast<int64_t>(groups.front().size()));
  case Collective::Kind::ReduceScatter:
    return torus.reduceScatterSeconds(groups, bytes);
  case Collective::Kind::Exchange:
    return torus.exchangeSeconds(groups, bytes);
  case Collective::Kind::Broadcast:
    return torus.broadcastSeconds(groups, bytes);
  case Collective::Kind::Permute:
    return torus.permuteSeconds(groups, bytes);
  case Collective::Kind::Send: { // one link, whichever chip it leads to
    const machine::Chip &chip = program.chip;
    return double(bytes) / chip.ici.bandwidth + chip.ici.hopLatency;
  }
  case Collective::Kind::ReplicaId:
  case Collective::Kind::PartitionId:
  case Collective::Kind::Receive: // its sender has waited for the link
  case Collective::Kind::Infeed:  // the host's link is no part of the machine
  case Collective::Kind::Outfeed:
    return 0;
  }
  llvm_unreachable("a collective is one of these");
}

llvm::Error IciPort::start(uint32_t number, const std::string &location, int64_t now, Range operand,
                           Range result, const char *operandData, char *resultData,
                           const volatile int32_t *cancel) {
  const Collective &collective = program.collectives[number];
  if (collective.kind == Collective::Kind::ReplicaId ||
      collective.kind == Collective::Kind::PartitionId) {
    auto id = static_cast<uint32_t>(collective.kind == Collective::Kind::ReplicaId
                                        ? grid.self / program.partitions
                                        : grid.self % program.partitions);
    if (resultData)
      std::memcpy(resultData, &id, sizeof id);
    return llvm::Error::success();
  }
  int64_t bytes = operand.end - operand.begin, begin = std::max(now, linksFree);
  std::vector<int64_t> members = membersOf(collective, grid.self);
  if (grid.exchange && members.empty()) {
    if (resultData)
      std::memset(resultData, 0, result.end - result.begin);
    return llvm::Error::success();
  }
  if (grid.exchange) {
    Shown own{operandData, begin};
    std::string what = collective.name + (location.empty() ? "" : " (at " + location + ")");
    llvm::Error error =
        grid.exchange->meet(grid.self, {std::to_string(number), what, members, &own, bytes}, cancel,
                            [&](llvm::ArrayRef<const void *> shown) {
                              for (const void *one : shown)
                                begin = std::max(begin, static_cast<const Shown *>(one)->now);
                              if (resultData)
                                move(collective, grid.self, members, shown, bytes, resultData,
                                     result.end - result.begin);
                            });
    if (error)
      return error;
  }
  auto cycles =
      static_cast<int64_t>(std::ceil(secondsOf(collective, bytes) * program.timing.clock));
  linksFree = begin + cycles;
  inFlight.push_back({number, operand, result, linksFree});
  CollectiveTime &time = times[number];
  ++time.count;
  time.cycles += cycles;
  time.bytes += bytes;
  return llvm::Error::success();
}

llvm::Expected<int64_t> IciPort::transfer(uint32_t number, const std::string &location, int64_t now,
                                          int64_t bytes, Exchange::Values operands,
                                          llvm::ArrayRef<llvm::MutableArrayRef<char>> results,
                                          const volatile int32_t *cancel) {
  const Collective &collective = program.collectives[number];
  std::string what = collective.name + (location.empty() ? "" : " (at " + location + ")");
  bool hasValues = !operands.empty() || !results.empty();
  if (hasValues && !grid.exchange)
    return makeError(ErrorCode::UnsupportedProgram,
                     what + ": the program runs where nobody is at its other end");
  int64_t cycles = std::ceil(secondsOf(collective, bytes) * program.timing.clock);
  int64_t arrives = std::max(now, linksFree) + cycles, end = now;
  CollectiveTime &time = times[number];
  ++time.count, time.cycles += cycles, time.bytes += bytes;
  if (collective.kind == Collective::Kind::Send) {
    linksFree = arrives;
    if (hasValues) { // the last value says when
      operands.push_back(std::to_string(arrives));
      grid.exchange->send(collective.channel, std::move(operands));
    }
  } else if (collective.kind == Collective::Kind::Outfeed) {
    if (hasValues)
      grid.exchange->putOut(std::move(operands));
  } else if (hasValues) {
    Exchange::Values values;
    if (collective.kind == Collective::Kind::Infeed) {
      std::optional<Exchange::Values> fed = grid.exchange->takeFed();
      if (!fed)
        return makeError(ErrorCode::BadArgument, what + " reads past the end of the infeed");
      values = std::move(*fed);
    } else {
      what += " on channel " + std::to_string(collective.channel);
      if (llvm::Error error =
              grid.exchange->receive(grid.self, collective.channel, what, cancel, values))
        return std::move(error);
      end = std::max<int64_t>(now, std::stoll(values.back()));
      values.pop_back();
    }
    if (llvm::Error error = fill(what, values, results))
      return std::move(error);
  }
  time.exposed += end - now;
  return end;
}

int64_t IciPort::waitFor(const Transfer &transfer, int64_t now) {
  if (transfer.end <= now)
    return now;
  times[transfer.number].exposed += transfer.end - now;
  return transfer.end;
}

int64_t IciPort::readyAt(int64_t now, Range range, bool isWritten) {
  for (const Transfer &transfer : inFlight)
    if (transfer.result.overlaps(range) || (isWritten && transfer.operand.overlaps(range)))
      now = waitFor(transfer, now);
  llvm::erase_if(inFlight, [&](const Transfer &transfer) { return transfer.end <= now; });
  return now;
}

int64_t IciPort::allDone(int64_t now) {
  for (const Transfer &transfer : inFlight)
    now = waitFor(transfer, now);
  inFlight.clear();
  return now;
}

} // namespace spokeshave::runtime::tpu
