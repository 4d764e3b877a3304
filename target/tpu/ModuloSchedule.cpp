//===- ModuloSchedule.cpp - iterations of a loop, overlapped ----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "target/tpu/ModuloSchedule.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <set>

namespace spokeshave::tpu {

namespace {

/// What an instruction takes: slots of its unit, an immediate.
struct Need {
  unsigned resource;
  int64_t cycles;
};
constexpr unsigned kImmediates = kNumUnits;

llvm::SmallVector<Need, 2> needsOf(const Instruction &here, const Timing &timing) {
  llvm::SmallVector<Need, 2> needs;
  needs.push_back({unsigned(unitOf(here)), timing.occupancy(here)});
  if (here.immediate)
    needs.push_back({kImmediates, 1});
  return needs;
}

int64_t capacityOf(unsigned resource, const Timing &timing) {
  // Of Alu, which stands for two units, there are none.
  return std::max<int64_t>(1, resource < kNumUnits ? timing.slots[resource] : timing.immediates);
}

llvm::StringLiteral nameOfResource(unsigned resource) {
  switch (resource < kNumUnits ? Unit(resource) : Unit::Alu) {
  case Unit::Scalar:
    return "scalar slots";
  case Unit::VectorAlu:
    return "vector ALUs";
  case Unit::VectorLoad:
    return "loads";
  case Unit::VectorStore:
    return "stores";
  case Unit::Transcendental:
    return "transcendental unit";
  case Unit::CrossLane:
    return "cross-lane units";
  default:
    return "immediates";
  }
}

/// The longest ways from each instruction to the end of an iteration, edges to later
/// ones shortened by the interval; nothing if a circle is longer than the interval
/// allows.
std::optional<std::vector<int64_t>> heightsOf(llvm::ArrayRef<Instruction> body,
                                              const DependenceGraph &graph, const Timing &timing,
                                              int64_t interval) {
  std::vector<int64_t> heights;
  int64_t longest = 1;
  for (auto [number, here] : llvm::enumerate(body)) {
    int64_t most = timing.latency(here);
    heights.push_back(most);
    for (const Dependence &edge : graph.users[number])
      most = std::max<int64_t>(most, edge.latency);
    longest += most;
  }
  // A round goes once around each circle; ways that need so many are not worth it.
  constexpr int kRounds = 100;
  int round = 0;
  for (bool changed = true; changed;) {
    if (++round > kRounds)
      return std::nullopt;
    changed = false;
    for (size_t i = body.size(); i-- > 0;)
      for (const Dependence &edge : graph.users[i]) {
        int64_t height = heights[edge.to] + edge.latency - interval * int64_t(edge.distance);
        if (height > heights[i])
          heights[i] = height, changed = true;
        if (heights[i] > longest)
          return std::nullopt;
      }
  }
  return heights;
}

class Scheduler {
public:
  Scheduler(llvm::ArrayRef<Instruction> body, const DependenceGraph &graph, const Timing &timing,
            int64_t interval)
      : body(body), graph(graph), timing(timing), interval(interval), before(body.size()),
        needs(body.size()), cycle(body.size(), -1), last(body.size(), -1) {}
  std::optional<ModuloSchedule> run();

private:
  struct Row {
    std::vector<llvm::SmallVector<uint32_t, 4>> users; ///< by cycle modulo the interval
  };

  int64_t earliest(uint32_t number) const;
  int64_t latest(uint32_t number) const;
  bool fits(uint32_t number, int64_t at);
  void take(uint32_t number, int64_t at);
  void free(uint32_t number);
  void force(uint32_t number, int64_t at);
  bool placeAll();
  void moveTowardsUses();
  Row &rowOf(unsigned resource) {
    if (resource >= rows.size())
      rows.resize(resource + 1);
    if (rows[resource].users.empty())
      rows[resource].users.resize(interval);
    return rows[resource];
  }

  llvm::ArrayRef<Instruction> body;
  const DependenceGraph &graph;
  const Timing &timing;
  int64_t interval;
  std::vector<llvm::SmallVector<Dependence, 4>> before; ///< edges turned around
  std::vector<llvm::SmallVector<Need, 2>> needs;
  std::vector<int64_t> heights, cycle, last;
  std::vector<Row> rows;
  std::set<std::pair<int64_t, uint32_t>> waiting; ///< the greatest height first
};

int64_t Scheduler::earliest(uint32_t number) const {
  int64_t at = 0;
  for (const Dependence &edge : before[number])
    if (cycle[edge.to] >= 0)
      at = std::max(at, cycle[edge.to] + edge.latency - interval * int64_t(edge.distance));
  return at;
}

int64_t Scheduler::latest(uint32_t number) const {
  int64_t at = INT64_MAX;
  for (const Dependence &edge : graph.users[number])
    if (edge.to != number)
      at = std::min(at, cycle[edge.to] - edge.latency + interval * int64_t(edge.distance));
  return at;
}

bool Scheduler::fits(uint32_t number, int64_t at) {
  for (Need need : needs[number]) {
    Row &row = rowOf(need.resource);
    int64_t capacity = capacityOf(need.resource, timing);
    // Longer than the interval: it meets itself.
    int64_t whole = need.cycles / interval, rest = need.cycles % interval;
    if (whole + (rest > 0) > capacity)
      return false;
    for (int64_t c = 0; c < std::min(need.cycles, interval); ++c)
      if (int64_t(row.users[(at + c) % interval].size()) + whole + (c < rest) > capacity)
        return false;
  }
  return true;
}

void Scheduler::take(uint32_t number, int64_t at) {
  cycle[number] = last[number] = at;
  for (Need need : needs[number])
    for (int64_t c = 0; c < need.cycles; ++c)
      rowOf(need.resource).users[(at + c) % interval].push_back(number);
}

void Scheduler::free(uint32_t number) {
  for (Need need : needs[number])
    for (int64_t c = 0; c < std::min(need.cycles, interval); ++c)
      llvm::erase(rowOf(need.resource).users[(cycle[number] + c) % interval], number);
  cycle[number] = -1;
}

/// Displaces whatever holds what `number` needs at `at`.
void Scheduler::force(uint32_t number, int64_t at) {
  for (Need need : needs[number]) {
    int64_t capacity = capacityOf(need.resource, timing);
    for (int64_t c = 0; c < std::min(need.cycles, interval); ++c) {
      auto &users = rowOf(need.resource).users[(at + c) % interval];
      int64_t wanted = llvm::divideCeil(need.cycles - c, interval);
      while (!users.empty() && int64_t(users.size()) + wanted > capacity) {
        uint32_t displaced = users.back();
        free(displaced);
        waiting.insert({-heights[displaced], displaced});
      }
    }
  }
  take(number, at);
}

bool Scheduler::placeAll() {
  for (uint32_t number = 0; number < body.size(); ++number)
    waiting.insert({-heights[number], number});
  constexpr size_t kAttempts = 6; // for each instruction, on average
  for (size_t budget = kAttempts * body.size(); !waiting.empty(); --budget) {
    if (budget == 0)
      return false;
    uint32_t number = waiting.begin()->second;
    waiting.erase(waiting.begin());
    int64_t first = earliest(number), at = first;
    while (at < first + interval && !fits(number, at))
      ++at;
    if (at < first + interval) {
      take(number, at);
    } else {
      // Later than the last time, or it would go round in circles.
      force(number, std::max(first, last[number] + 1));
    }
    for (const Dependence &edge : graph.users[number]) {
      int64_t earliestUse = cycle[number] + edge.latency - interval * int64_t(edge.distance);
      if (edge.to == number || cycle[edge.to] < 0 || cycle[edge.to] >= earliestUse)
        continue;
      free(edge.to);
      waiting.insert({-heights[edge.to], edge.to});
    }
  }
  return true;
}

/// What reads no vector register may come later without keeping one for longer.
void Scheduler::moveTowardsUses() {
  std::vector<uint32_t> order(body.size());
  for (uint32_t i = 0; i < order.size(); ++i)
    order[i] = i;
  llvm::sort(order, [&](uint32_t a, uint32_t b) {
    return std::pair(cycle[a], a) > std::pair(cycle[b], b);
  });
  for (uint32_t number : order) {
    bool isSource =
        body[number].dst.file == File::Vector && llvm::none_of(body[number].sources(), [](Reg reg) {
          return reg.file == File::Vector || reg.file == File::Mask;
        });
    int64_t until = latest(number), now = cycle[number];
    if (!isSource || until == INT64_MAX || until <= now)
      continue;
    free(number);
    int64_t at = until;
    while (at > now && !fits(number, at))
      --at;
    take(number, at);
  }
}

std::optional<ModuloSchedule> Scheduler::run() {
  std::optional<std::vector<int64_t>> found = heightsOf(body, graph, timing, interval);
  if (!found)
    return std::nullopt;
  heights = std::move(*found);
  for (uint32_t number = 0; number < body.size(); ++number) {
    needs[number] = needsOf(body[number], timing);
    for (Need need : needs[number])
      if (llvm::divideCeil(need.cycles, interval) > uint64_t(capacityOf(need.resource, timing)))
        return std::nullopt;
    for (const Dependence &edge : graph.users[number])
      if (edge.to != number)
        before[edge.to].push_back({number, edge.latency, edge.distance});
  }
  if (!placeAll())
    return std::nullopt;
  moveTowardsUses();
  ModuloSchedule schedule;
  schedule.interval = interval;
  int64_t first = *llvm::min_element(cycle);
  first -= first % interval;
  for (int64_t at : cycle)
    schedule.cycles.push_back(at - first);
  return schedule;
}

} // namespace

int64_t ModuloSchedule::stages() const {
  return *llvm::max_element(cycles) / interval + 1;
}

IntervalBounds boundsOf(llvm::ArrayRef<Instruction> body, const DependenceGraph &graph,
                        const Timing &timing) {
  IntervalBounds bounds;
  std::vector<int64_t> sums(kImmediates + 1);
  for (const Instruction &here : body)
    for (Need need : needsOf(here, timing)) {
      sums[need.resource] += need.cycles;
      // It keeps a slot for all of its time, and there are so many.
      bounds.resource = std::max<int64_t>(
          bounds.resource, llvm::divideCeil(need.cycles, capacityOf(need.resource, timing)));
    }
  for (auto [resource, sum] : llvm::enumerate(sums)) {
    int64_t cycles = llvm::divideCeil(sum, capacityOf(resource, timing));
    if (cycles > bounds.resource || bounds.unit.empty())
      bounds.unit = nameOfResource(resource);
    bounds.resource = std::max(bounds.resource, cycles);
  }
  // Without what later iterations need: the way through one.
  DependenceGraph within(body.size());
  for (auto [number, users] : llvm::enumerate(graph.users))
    for (const Dependence &edge : users)
      if (edge.distance == 0)
        within.users[number].push_back(edge);
  bounds.sequential = bounds.resource;
  if (auto heights = heightsOf(body, within, timing, 1))
    bounds.sequential = std::max(bounds.resource, *llvm::max_element(*heights));
  int64_t low = 1, high = std::max<int64_t>(1, bounds.sequential);
  while (low < high) {
    int64_t middle = (low + high) / 2;
    if (heightsOf(body, graph, timing, middle))
      high = middle;
    else
      low = middle + 1;
  }
  bounds.recurrence = low;
  return bounds;
}

std::optional<ModuloSchedule> scheduleModulo(llvm::ArrayRef<Instruction> body,
                                             const DependenceGraph &graph, const Timing &timing,
                                             int64_t interval) {
  return Scheduler(body, graph, timing, interval).run();
}

} // namespace spokeshave::tpu
