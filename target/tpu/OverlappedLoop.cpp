//===- OverlappedLoop.cpp - prologue, steady state, epilogue ----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "target/tpu/OverlappedLoop.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace spokeshave::tpu {

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// The register in which an iteration keeps what `writer` writes.
Reg OverlappedLoop::copyOf(uint32_t writer, int64_t iteration) const {
  int64_t copy = ((iteration % copies) + copies) % copies;
  return {body.code[writer].dst.file, uint32_t(firstCopy + writer * copies + copy)};
}

Instruction OverlappedLoop::of(const Issue &issue, int64_t last) const {
  Instruction made = body.code[issue.number];
  int64_t lead = body.addressLead(issue.number, schedule);
  if (made.dst)
    made.dst = copyOf(issue.number, issue.iteration);
  Reg *sources[] = {&made.a, &made.b, &made.c, &made.mask};
  for (auto [reg, source] : llvm::zip_equal(sources, body.sources[issue.number])) {
    if (source.writer < 0)
      continue;
    int64_t from = issue.iteration - int64_t(source.distance);
    if (reg == &made.a && lead > 0) {
      int64_t later = std::max(from, std::min(from + lead, last));
      made.imm -= (later - from) * *body.slopes[issue.number];
      from = later;
    }
    *reg = copyOf(source.writer, from);
  }
  return made;
}

void OverlappedLoop::append(Block &block, std::vector<Issue> issues, int64_t last) const {
  llvm::sort(issues);
  for (const Issue &issue : issues)
    block.instructions.push_back(of(issue, last));
}

Instruction OverlappedLoop::moveOf(Reg to, Reg from, uint32_t writer) const {
  const Instruction &made = body.code[writer];
  Instruction move;
  move.op = Opcode::Move;
  bool isWide = to.file == File::Scalar || bitsOf(made.type) == 64;
  move.type = move.from = to.file == File::Mask ? ElementType::I1
                          : isWide              ? ElementType::I64
                                                : ElementType::I32;
  move.lanes = to.file == File::Scalar ? 1 : kRegisterLanes;
  move.dst = to, move.a = from;
  move.location = made.location;
  return move;
}

Instruction OverlappedLoop::scalar(Opcode op, Reg dst, Reg a, int64_t imm,
                                   unsigned immediate) const {
  Instruction made;
  made.op = op;
  made.type = made.from = ElementType::I64;
  made.dst = dst;
  (immediate == 1 ? made.b : made.a) = a;
  made.immediate = immediate, made.imm = imm;
  made.location = body.code.front().location;
  return made;
}

static Instruction branchTo(int64_t target, Reg condition, uint32_t location) {
  Instruction made;
  made.op = condition ? Opcode::BranchIf : Opcode::Branch;
  made.type = made.from = ElementType::I64;
  made.a = condition, made.imm = target;
  made.location = location;
  return made;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// How many passes there are; to the loop as it was if that is none.
Block OverlappedLoop::makeGuard() {
  Block block;
  auto &code = block.instructions;
  passes = newScalar();
  if (loop.trips) {
    Instruction made = scalar(Opcode::Constant, passes, {}, (*loop.trips - ahead) / copies, 0);
    code.push_back(made);
    hasRest = (*loop.trips - ahead) % copies != 0;
    return block;
  }
  Reg left = newScalar();
  if (loop.bound) {
    code.push_back(scalar(Opcode::Sub, left, loop.bound, 0, 0));
    code.back().b = loop.counter;
  } else {
    code.push_back(scalar(Opcode::Sub, left, loop.counter, loop.last, 1));
  }
  auto divide = [&](Reg number, int64_t by) {
    if (by == 1)
      return number;
    Reg quotient = newScalar();
    bool shifts = llvm::isPowerOf2_64(by);
    code.push_back(scalar(shifts ? Opcode::ShrS : Opcode::DivS, quotient, number,
                          shifts ? llvm::Log2_64(by) : by));
    return quotient;
  };
  if (loop.step > 1) {
    Reg rounded = newScalar();
    code.push_back(scalar(Opcode::Add, rounded, left, loop.step - 1));
    left = divide(rounded, loop.step);
  }
  Reg begun = newScalar(), tooFew = newScalar();
  code.push_back(scalar(Opcode::Sub, begun, left, ahead));
  code.push_back(scalar(Opcode::Move, passes, divide(begun, copies), 0, 0));
  code.push_back(scalar(Opcode::CompareI, tooFew, begun, copies));
  code.back().predicate = uint8_t(IntPredicate::Slt);
  code.push_back(branchTo(-1 - kRest, tooFew, code.back().location));
  return block;
}

Block OverlappedLoop::makePrologue() {
  Block block;
  for (const LoopBody::Name &name : body.initial)
    block.instructions.push_back(moveOf(copyOf(name.writer, -1), name.reg, name.writer));
  std::vector<Issue> issues;
  for (int64_t iteration = 0; iteration < ahead; ++iteration)
    for (auto [number, cycle] : llvm::enumerate(schedule.cycles))
      if (int64_t at = iteration * schedule.interval + cycle; at < ahead * schedule.interval)
        issues.push_back({at, iteration, uint32_t(number)});
  append(block, std::move(issues), ahead - 1);
  return block;
}

/// Bundles in the cycles of the schedule, so that results that are under way at the
/// end arrive in time in the next pass.
Block OverlappedLoop::makeSteady() {
  Block block;
  std::vector<Issue> issues;
  for (int64_t copy = 0; copy < copies; ++copy)
    for (auto [number, cycle] : llvm::enumerate(schedule.cycles))
      issues.push_back({copy * schedule.interval + cycle % schedule.interval,
                        ahead + copy - cycle / schedule.interval, uint32_t(number)});
  llvm::sort(issues);
  int64_t last = -1;
  for (const Issue &issue : issues) {
    if (issue.cycle != last) {
      if (last < 0 && issue.cycle > 0)
        block.bundles.push_back({0, 0, 0}), last = 0;
      if (!block.bundles.empty())
        block.bundles.back().idle = issue.cycle - last - 1;
      block.bundles.push_back({uint32_t(block.instructions.size()), 0, 0});
      last = issue.cycle;
    }
    ++block.bundles.back().count;
    block.instructions.push_back(of(issue, INT64_MAX));
  }
  block.bundles.back().idle = copies * schedule.interval - 1 - last;
  closeSteady(block, copies * schedule.interval);
  block.steady.interval = schedule.interval;
  block.steady.stages = ahead + 1;
  block.steady.copies = copies;
  block.steady.loop = loop.block;
  return block;
}

/// The count of passes and the branch go where scalar slots are left, the branch into
/// the last bundle; else into bundles of their own behind.
void OverlappedLoop::closeSteady(Block &block, int64_t end) {
  auto room = [&](const Bundle &bundle, bool immediate) {
    unsigned scalars = 0, immediates = 0;
    for (unsigned i = 0; i < bundle.count; ++i) {
      const Instruction &here = block.instructions[bundle.begin + i];
      scalars += unitOf(here) == Unit::Scalar;
      immediates += here.immediate != 0;
    }
    return scalars < timing.slots[unsigned(Unit::Scalar)] &&
           (!immediate || immediates < timing.immediates);
  };
  auto insert = [&](size_t place, const Instruction &made) {
    Bundle &bundle = block.bundles[place];
    block.instructions.insert(block.instructions.begin() + bundle.begin + bundle.count, made);
    ++bundle.count;
    for (Bundle &later : llvm::drop_begin(block.bundles, place + 1))
      ++later.begin;
  };
  auto addBundle = [&] {
    block.bundles.push_back({uint32_t(block.instructions.size()), 0, 0});
    ++end;
  };
  Instruction count = scalar(Opcode::Sub, passes, passes, 1);
  Instruction again = branchTo(-1 - kSteady, passes, count.location);
  if (block.bundles.back().idle > 0) {
    --block.bundles.back().idle, --end;
    addBundle();
  }
  if (!room(block.bundles.back(), false))
    addBundle();
  int64_t branchAt = end - 1, at = end;
  size_t place = block.bundles.size();
  while (place > 0) {
    at -= 1 + block.bundles[--place].idle;
    if (at + timing.latency(count) <= branchAt && room(block.bundles[place], true))
      break;
    if (place == 0) { // none: behind, with the branch after it
      addBundle();
      place = block.bundles.size() - 1;
      insert(place, count);
      block.bundles.back().idle = timing.latency(count) - 1;
      addBundle();
      insert(block.bundles.size() - 1, again);
      return;
    }
  }
  insert(place, count);
  insert(block.bundles.size() - 1, again);
}

Block OverlappedLoop::makeEpilogue() {
  Block block;
  std::vector<Issue> issues;
  for (int64_t iteration = 0; iteration < ahead; ++iteration)
    for (auto [number, cycle] : llvm::enumerate(schedule.cycles))
      if (int64_t at = iteration * schedule.interval + cycle; at >= ahead * schedule.interval)
        issues.push_back({at, iteration, uint32_t(number)});
  append(block, std::move(issues), ahead - 1);
  const llvm::BitVector &liveBehind = liveness.liveIn[loop.block + 1];
  const llvm::BitVector &liveInRest = liveness.liveIn[loop.block];
  for (const LoopBody::Name &name : body.written)
    if (liveBehind.test(name.reg.number) || (hasRest && liveInRest.test(name.reg.number)))
      block.instructions.push_back(moveOf(name.reg, copyOf(name.writer, ahead - 1), name.writer));
  if (loop.trips || !hasRest)
    return block;
  Reg done = newScalar();
  Instruction compare = scalar(Opcode::CompareI, done, loop.counter, loop.last, loop.bound ? 0 : 2);
  compare.b = loop.bound;
  compare.predicate = uint8_t(IntPredicate::Sge);
  block.instructions.push_back(compare);
  block.instructions.push_back(branchTo(loop.block + 1, done, compare.location));
  return block;
}

/// Gives copies that live within the block registers of their own: what allocation
/// finds for the steady state need not suit the prologue and the epilogue as well. Of
/// those in `leaving` the last value keeps its name.
void OverlappedLoop::renameLocals(Block &block, const llvm::DenseSet<uint32_t> &leaving) {
  llvm::DenseMap<uint32_t, size_t> lastWrite;
  for (auto [number, here] : llvm::enumerate(block.instructions))
    if (here.dst)
      lastWrite[here.dst.number] = number;
  llvm::DenseMap<uint32_t, uint32_t> names;
  for (auto [number, here] : llvm::enumerate(block.instructions)) {
    for (Reg *source : {&here.a, &here.b, &here.c, &here.mask})
      if (auto name = names.find(source->number); *source && name != names.end())
        source->number = name->second;
    uint32_t written = here.dst.number;
    if (!here.dst || written < firstCopy)
      continue;
    bool leaves = lastWrite[written] == number && leaving.contains(written);
    names[written] = here.dst.number = leaves ? written : next++;
  }
}

Block OverlappedLoop::makeRest() const {
  Block block = kernel.blocks[loop.block];
  block.instructions[loop.branch].imm = -1 - kRest;
  return block;
}

std::vector<Block> OverlappedLoop::run() {
  firstCopy = next;
  next += body.code.size() * copies;
  std::vector<Block> blocks;
  blocks.push_back(makeGuard());
  blocks.push_back(makePrologue());
  blocks.push_back(makeSteady());
  llvm::DenseSet<uint32_t> written, readFirst;
  for (const Instruction &here : blocks[kSteady].instructions) {
    for (Reg source : here.sources())
      if (source && !written.contains(source.number))
        readFirst.insert(source.number);
    if (here.dst)
      written.insert(here.dst.number);
  }
  renameLocals(blocks[kPrologue], readFirst);
  blocks.push_back(makeEpilogue());
  renameLocals(blocks[kEpilogue], {});
  if (hasRest)
    blocks.push_back(makeRest());
  return blocks;
}

} // namespace spokeshave::tpu
