//===- Walk.cpp - the path through a decoded kernel ------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes the path through a decoded kernel (Decode.h) that execution takes, and ends
// with the same cycles, stalls and slots. Without values trips of a loop of one block
// are skipped once two in a row took the same time and left the same queues: the
// machine's state then repeats, whatever the number of trips.
//
//===----------------------------------------------------------------------===//
#include "runtime/tpu/Core.h"

#include "support/Error.h"

#include "llvm/ADT/STLExtras.h"

namespace spokeshave::runtime::tpu {

using namespace spokeshave::tpu;
using Kind = WalkedOp::Kind;

static Lane cut(Lane value, unsigned bits) {
  return bits >= 64 ? value : value & ((Lane(1) << bits) - 1);
}

static int64_t signedOf(Lane value, unsigned bits) {
  return int64_t(value << (64 - bits)) >> (64 - bits);
}

static bool holds(IntPredicate predicate, Lane a, Lane b, unsigned bits) {
  int64_t x = signedOf(a, bits), y = signedOf(b, bits);
  switch (predicate) {
  case IntPredicate::Eq:
    return a == b;
  case IntPredicate::Ne:
    return a != b;
  case IntPredicate::Slt:
    return x < y;
  case IntPredicate::Sle:
    return x <= y;
  case IntPredicate::Sgt:
    return x > y;
  case IntPredicate::Sge:
    return x >= y;
  case IntPredicate::Ult:
    return a < b;
  case IntPredicate::Ule:
    return a <= b;
  case IntPredicate::Ugt:
    return a > b;
  case IntPredicate::Uge:
    return a >= b;
  }
  return false;
}

void Core::walkScalar(const WalkedOp &op) {
  if (op.kind == Kind::Unknown || (hasUnknown && dependsOnData(*op.instruction))) {
    // Only without values.
    unknown[op.dst] = hasUnknown = true;
    return;
  }
  unknown[op.dst] = false;
  Lane a = op.aImm ? op.imm : scalars[op.a], b = op.useImm ? op.imm : scalars[op.b];
  Lane &dst = scalars[op.dst];
  switch (op.kind) {
  case Kind::Constant:
    dst = op.imm;
    return;
  case Kind::Argument:
    dst = buffers[op.imm];
    return;
  case Kind::Add:
    dst = cut(a + b, op.bits);
    return;
  case Kind::Sub:
    dst = cut(a - b, op.bits);
    return;
  case Kind::Mul:
    dst = cut(a * b, op.bits);
    return;
  case Kind::And:
    dst = cut(a & b, op.bits);
    return;
  case Kind::Or:
    dst = cut(a | b, op.bits);
    return;
  case Kind::Xor:
    dst = cut(a ^ b, op.bits);
    return;
  case Kind::Shl:
    dst = b < op.bits ? cut(a << b, op.bits) : 0;
    return;
  case Kind::ShrU:
    dst = b < op.bits ? cut(a >> b, op.bits) : 0;
    return;
  case Kind::DivU: // a zero divisor: as Lanes.cpp has it
    dst = cut(b ? a / b : ~Lane(0), op.bits);
    return;
  case Kind::RemU:
    dst = cut(b ? a % b : a, op.bits);
    return;
  case Kind::Move:
    dst = a;
    return;
  case Kind::Compare:
    compared[0] = signedOf(a, op.bits), compared[1] = signedOf(b, op.bits);
    dst = holds(IntPredicate(op.predicate), a, b, op.bits);
    return;
  default:
    break;
  }
  const Instruction &instruction = *op.instruction;
  compute(instruction, operand(instruction, instruction.a, 1),
          operand(instruction, instruction.b, 2), operand(instruction, instruction.c, 3), &dst);
}

/// Trips from now on for which `x predicate y` still holds, of values that change by
/// dx and dy a trip; 0 if that cannot be said.
static int64_t tripsWhile(IntPredicate predicate, int64_t x, int64_t y, int64_t dx, int64_t dy,
                          unsigned bits) {
  // Far from any overflow, of the difference too.
  int64_t most = (int64_t(1) << (std::min(bits, 62u) - 1)) - 1;
  auto isSmall = [&](__int128 value) { return value <= most && value >= -most; };
  __int128 distance = __int128(x) - y, step = __int128(dx) - dy;
  bool isUnsigned = predicate >= IntPredicate::Ult;
  switch (predicate) {
  case IntPredicate::Sgt:
  case IntPredicate::Sge:
  case IntPredicate::Ugt:
  case IntPredicate::Uge:
    distance = -distance, step = -step;
    break;
  case IntPredicate::Ne:
    if (distance > 0)
      distance = -distance, step = -step;
    if (step == 0 || distance % step != 0)
      return 0;
    break;
  case IntPredicate::Eq:
    return 0;
  default:
    break;
  }
  if (step <= 0 || distance > 0)
    return 0;
  bool orEqual = predicate == IntPredicate::Sle || predicate == IntPredicate::Sge ||
                 predicate == IntPredicate::Ule || predicate == IntPredicate::Uge;
  // The largest k with distance + k * step < 0, or <= 0.
  __int128 trips = orEqual ? -distance / step : (-distance - 1) / step;
  for (__int128 end : {x + (trips + 1) * dx, y + (trips + 1) * dy})
    if (!isSmall(end) || (isUnsigned && end < 0))
      return 0;
  if (!isSmall(x) || !isSmall(y) || (isUnsigned && (x < 0 || y < 0)))
    return 0;
  return int64_t(std::max<__int128>(0, trips));
}

/// At a return to the begin of a loop of one block.
void Core::skipTrips(const DecodedBlock &block) {
  constexpr unsigned kMostReturns = 32; // that are watched for a repetition
  if (loop.block != position.block)
    loop.block = position.block, loop.returns = 0;
  if (++loop.returns > kMostReturns || hasUnknown)
    return;
  std::vector<Lane> values;
  for (DecodedBlock::Written written : block.written)
    values.push_back(scalars[written.reg]);
  std::vector<int64_t> queues;
  if (block.hasMatrix)
    for (const MatrixUnit &unit : matrixUnits)
      unit.appendState(cycle, queues);
  bool repeats = loop.returns > 1 && queues == loop.queues;
  int64_t trips = 0, perTrip = cycle - loop.cycle;
  if (repeats) {
    const WalkedOp &compare = block.ops[block.loopCompare];
    trips =
        tripsWhile(IntPredicate(compare.predicate), compared[0], compared[1],
                   compared[0] - loop.compared[0], compared[1] - loop.compared[1], compare.bits);
    for (auto [written, now, before] : llvm::zip_equal(block.written, values, loop.values)) {
      int64_t from = signedOf(now, written.bits), by = from - signedOf(before, written.bits);
      __int128 end = from + __int128(by) * trips;
      if (signedOf(cut(Lane(int64_t(end)), written.bits), written.bits) != end)
        trips = 0; // it wraps around
    }
  }
  if (trips > 0) {
    for (auto [written, now, before] : llvm::zip_equal(block.written, values, loop.values))
      if (now != before)
        scalars[written.reg] = now = cut(now + (now - before) * Lane(trips), written.bits);
    for (int side : {0, 1})
      compared[side] += (compared[side] - loop.compared[side]) * trips;
    time.matrixStall += (time.matrixStall - loop.matrixStall) * trips;
    visits[position.block] += trips;
    cycle += perTrip * trips;
    for (MatrixUnit &unit : matrixUnits)
      unit.shift(perTrip * trips);
    traceBlock(cycle - perTrip * trips, trips);
  }
  loop.cycle = cycle, loop.matrixStall = time.matrixStall;
  loop.compared[0] = compared[0], loop.compared[1] = compared[1];
  loop.values = std::move(values), loop.queues = std::move(queues);
}

llvm::Expected<bool> Core::walkBlock(const DecodedBlock &block, bool pauses) {
  for (; position.instruction < block.ops.size(); ++position.instruction) {
    const WalkedOp &op = block.ops[position.instruction];
    if (op.kind < Kind::Compute || (op.kind < Kind::Branch && !options.computeValues)) {
      walkScalar(op);
      continue;
    }
    if (op.kind < Kind::Branch) {
      if (llvm::Error error = executeValue(*op.instruction))
        return error;
      continue;
    }
    cycle = entered + op.at;
    switch (op.kind) {
    case Kind::Branch:
      branchTo(op.imm);
      break;
    case Kind::BranchIf:
      if (hasUnknown && unknown[op.a]) // never with values
        branchOnData(*op.instruction);
      else if (scalars[op.a])
        branchTo(op.imm);
      break;
    case Kind::Halt:
      position.next = -1;
      break;
    case Kind::Matrix:
      if (llvm::Error error = executeMatrix(*op.instruction))
        return error;
      break;
    case Kind::DmaStart:
      if (pauses && !position.paused) {
        position.paused = true;
        return false;
      }
      position.paused = false;
      [[fallthrough]];
    default:
      if (llvm::Error error = execute(*op.instruction))
        return error;
    }
    entered = cycle - op.at; // what was waited
  }
  cycle = entered + block.cycles;
  return true;
}

/// Bundles and slots of the blocks that were visited.
void Core::countVisits() {
  for (auto [block, count] : llvm::zip_equal(decoded->blocks, visits)) {
    time.bundles += block.bundles * count;
    for (unsigned unit = 0; unit < kNumUnits; ++unit)
      time.busy[unit] += block.busy[unit] * count;
  }
}

llvm::Expected<bool> Core::walk(bool pauses) {
  constexpr unsigned kBlocksPerPoll = 4096;
  for (unsigned count = 1; position.paused || position.next >= 0; ++count) {
    if (!position.paused) {
      if (count % kBlocksPerPoll == 0 && isCancelled())
        return makeError(ErrorCode::Cancelled, "the simulation was interrupted");
      position.block = position.next++;
      position.instruction = 0;
      entered = blockBegun = cycle;
      ++visits[position.block];
      if (loop.block != position.block)
        loop.block = -1;
    }
    const DecodedBlock &block = decoded->blocks[position.block];
    llvm::Expected<bool> ended = walkBlock(block, pauses);
    if (!ended || !*ended)
      return ended;
    traceBlock(blockBegun, 1);
    if (position.next == position.block && block.loopCompare >= 0) // not with values
      skipTrips(block);
  }
  countVisits();
  return true;
}

} // namespace spokeshave::runtime::tpu
