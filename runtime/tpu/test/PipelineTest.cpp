//===- PipelineTest.cpp - loops with and without overlapped iterations ------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops made by chance, of additions, loads and stores with carried registers and
// carried memory: pipelined ones store what the others store, and no bundle reads a
// register too early.
//
//===----------------------------------------------------------------------===//
#include "target/tpu/Pipeline.h"
#include "runtime/tpu/Core.h"
#include "support/Error.h"
#include "target/tpu/Backend.h"
#include "target/tpu/ModuloSchedule.h"
#include "target/tpu/Simplify.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

using namespace spokeshave;
using namespace spokeshave::tpu;

namespace {

constexpr int64_t kArrayRegisters = 64, kArrayBytes = kArrayRegisters * kRegisterBytes;

/// A kernel that loops over arrays x (at 0) and y (behind it) in VMEM, and copies y out.
class LoopMaker {
public:
  explicit LoopMaker(unsigned seed) : random(seed) {}
  Kernel run();

private:
  int64_t upTo(int64_t most) { return std::uniform_int_distribution<int64_t>(0, most)(random); }
  Reg newReg(File file) { return {file, next++}; }
  Instruction &emit(Opcode op, ElementType type, Reg dst, Reg a = {}, Reg b = {}) {
    Instruction made;
    made.op = op;
    made.type = made.from = type;
    made.dst = dst, made.a = a, made.b = b;
    made.lanes = type == ElementType::I32 ? kRegisterLanes : 1;
    return kernel.blocks.back().instructions.emplace_back(made);
  }
  Reg constant(int64_t value) {
    Reg reg = newReg(File::Scalar);
    emit(Opcode::Constant, ElementType::I64, reg).imm = value;
    return reg;
  }
  void access(Instruction &made, bool second, int64_t place) {
    made.stride = 4, made.imm = (second ? kArrayBytes : 0) + place * kRegisterBytes;
    made.object = 1 + second;
  }
  void makeBody(Reg counter, std::vector<Reg> &carried);
  void copyOut();

  std::mt19937 random;
  Kernel kernel;
  uint32_t next = 1;
};

void LoopMaker::makeBody(Reg counter, std::vector<Reg> &carried) {
  Reg address = newReg(File::Scalar);
  Instruction &scale = emit(Opcode::Mul, ElementType::I64, address, counter);
  scale.immediate = 2, scale.imm = kRegisterBytes;
  std::vector<Reg> values = carried;
  auto any = [&] { return values[upTo(values.size() - 1)]; };
  for (int64_t count = 3 + upTo(20); count > 0; --count) {
    int64_t kind = upTo(9);
    if (kind < 3) {
      Reg loaded = newReg(File::Vector);
      access(emit(Opcode::Load, ElementType::I32, loaded, address), upTo(1), upTo(4));
      values.push_back(loaded);
    } else if (kind < 5) {
      Reg value = any();
      access(emit(Opcode::Store, ElementType::I32, {}, address, value), true, upTo(4));
    } else if (kind == 5) {
      Reg turned = newReg(File::Vector), from = any();
      emit(Opcode::Rotate, ElementType::I32, turned, from).imm = 1 + upTo(100);
      values.push_back(turned);
    } else {
      Reg sum = newReg(File::Vector), left = any(), right = any();
      emit(kind < 8 ? Opcode::Add : Opcode::Mul, ElementType::I32, sum, left, right);
      values.push_back(sum);
    }
  }
  // All at once: what one of them takes may be another of them.
  std::vector<Reg> given;
  for (size_t i = 0; i < carried.size(); ++i) {
    Reg value = any();
    if (llvm::is_contained(carried, value)) {
      Reg saved = newReg(File::Vector);
      emit(Opcode::Move, ElementType::I32, saved, value);
      value = saved;
    }
    given.push_back(value);
  }
  for (auto [to, from] : llvm::zip_equal(carried, given))
    emit(Opcode::Move, ElementType::I32, to, from);
}

void LoopMaker::copyOut() {
  kernel.descriptors.push_back({Space::Vmem, Space::Hbm, 4, {4}, {4}});
  Reg target = newReg(File::Scalar), count = constant(kArrayBytes / 4), semaphore = constant(0);
  Reg from = constant(kArrayBytes);
  emit(Opcode::Argument, ElementType::I64, target);
  emit(Opcode::DmaCount, ElementType::I64, {}, count);
  emit(Opcode::DmaStart, ElementType::I64, {}, from, target).c = semaphore;
  emit(Opcode::DmaWait, ElementType::I64, {}, semaphore);
  emit(Opcode::Halt, ElementType::I64, {});
}

Kernel LoopMaker::run() {
  kernel.name = "loop";
  kernel.vmemBytes = 2 * kArrayBytes;
  kernel.blocks.emplace_back();
  for (int64_t array = 0; array < 2; ++array) {
    std::vector<char> bytes(kArrayBytes);
    for (char &byte : bytes)
      byte = char(random());
    kernel.data.push_back({array * kArrayBytes, std::move(bytes)});
  }
  int64_t trips = 1 + upTo(50), step = 1 + upTo(1), first = upTo(3);
  while (first + (trips - 1) * step + 5 > kArrayRegisters)
    --trips;
  int64_t last = first + (trips - 1) * step + 1 + upTo(step - 1);
  std::vector<Reg> carried(1 + upTo(3));
  for (Reg &reg : carried) {
    reg = newReg(File::Vector);
    access(emit(Opcode::Load, ElementType::I32, reg), false, upTo(kArrayRegisters - 1));
  }
  Reg counter = newReg(File::Scalar), start = constant(first), bound;
  emit(Opcode::Move, ElementType::I64, counter, start);
  if (upTo(1)) { // known when it runs only
    Reg argument = newReg(File::Scalar), zero = newReg(File::Scalar);
    bound = newReg(File::Scalar);
    emit(Opcode::Argument, ElementType::I64, argument);
    emit(Opcode::Sub, ElementType::I64, zero, argument, argument);
    Instruction &sum = emit(Opcode::Add, ElementType::I64, bound, zero);
    sum.immediate = 2, sum.imm = last;
  }
  kernel.blocks.emplace_back();
  makeBody(counter, carried);
  Instruction &add = emit(Opcode::Add, ElementType::I64, counter, counter);
  add.immediate = 2, add.imm = step;
  Reg again = newReg(File::Scalar);
  Instruction &compare = emit(Opcode::CompareI, ElementType::I64, again, counter, bound);
  compare.predicate = uint8_t(IntPredicate::Slt);
  if (!bound)
    compare.immediate = 2, compare.imm = last;
  emit(Opcode::BranchIf, ElementType::I64, {}, again).imm = 1;
  kernel.blocks.emplace_back();
  for (auto [place, reg] : llvm::enumerate(carried))
    access(emit(Opcode::Store, ElementType::I32, {}, {}, reg), true, place);
  copyOut();
  return std::move(kernel);
}

struct Outcome {
  std::vector<char> bytes;
  int64_t cycles = 0;
  bool isPipelined = false;
};

Outcome runLoop(unsigned seed, const machine::Chip &chip, bool pipelines) {
  Program program;
  program.chip = chip;
  program.timing = timingOf(chip);
  Kernel kernel = LoopMaker(seed).run();
  simplifyInstructions(kernel, program.timing);
  llvm::cantFail(overlapAndAllocate(kernel, program.timing, pipelines));
  formBundles(kernel, program.timing);
  Outcome outcome;
  for (const Block &block : kernel.blocks)
    outcome.isPipelined |= block.isPipelined();
  cpu::ValueSpec spec;
  spec.elementType = "i32", spec.byteSize = kArrayBytes;
  program.results.push_back(spec);
  Step step;
  step.buffers.push_back({{BufferRef::Base::Result, 0, 0, kArrayBytes}});
  program.steps.push_back(step);
  program.kernels.push_back(std::move(kernel));
  outcome.bytes.resize(kArrayBytes);
  char *result = outcome.bytes.data();
  auto report = runtime::tpu::simulate(program, {}, {result});
  EXPECT_TRUE(bool(report)) << "seed " << seed << ": "
                            << (report ? "" : takeError(report.takeError())->getMessage());
  if (report)
    outcome.cycles = report->cycles;
  return outcome;
}

TEST(Pipeline, StoresTheSame) {
  machine::Chip chip = llvm::cantFail(machine::loadChip("v5e"));
  int pipelined = 0, faster = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    Outcome with = runLoop(seed, chip, true), without = runLoop(seed, chip, false);
    ASSERT_EQ(with.bytes, without.bytes) << "seed " << seed;
    pipelined += with.isPipelined;
    faster += with.cycles < without.cycles;
  }
  EXPECT_GT(pipelined, 150);
  EXPECT_GT(faster, pipelined * 9 / 10);
}

/// The interval is what the resources allow, not the latencies.
TEST(Pipeline, ReachesTheResourceBound) {
  Timing timing = timingOf(llvm::cantFail(machine::loadChip("v5e")));
  std::vector<Instruction> body;
  auto emit = [&](Opcode op, uint32_t dst, uint32_t a) {
    Instruction made;
    made.op = op, made.type = made.from = ElementType::F32, made.lanes = kRegisterLanes;
    made.dst = {File::Vector, dst}, made.a = {File::Vector, a};
    body.push_back(made);
  };
  for (uint32_t i = 0; i < 10; ++i)
    emit(Opcode::Rotate, i + 1, i);
  DependenceGraph graph(body.size());
  for (uint32_t i = 1; i < body.size(); ++i)
    graph.add(i - 1, i, timing.crossLane);
  IntervalBounds bounds = boundsOf(body, graph, timing);
  int64_t units = timing.slots[unsigned(Unit::CrossLane)];
  EXPECT_EQ(bounds.resource, llvm::divideCeil(10, units));
  EXPECT_EQ(bounds.unit, "cross-lane units");
  EXPECT_EQ(bounds.recurrence, 1);
  EXPECT_EQ(bounds.sequential, 10 * timing.crossLane);
  auto schedule = scheduleModulo(body, graph, timing, bounds.resource);
  ASSERT_TRUE(schedule.has_value());
  for (uint32_t i = 1; i < body.size(); ++i)
    EXPECT_GE(schedule->cycles[i], schedule->cycles[i - 1] + timing.crossLane);
  // A sum that each iteration continues: the latency around the circle.
  graph.add(9, 0, timing.crossLane, 1);
  bounds = boundsOf(body, graph, timing);
  EXPECT_EQ(bounds.recurrence, 10 * timing.crossLane);
  EXPECT_FALSE(scheduleModulo(body, graph, timing, bounds.recurrence - 1).has_value());
  EXPECT_TRUE(scheduleModulo(body, graph, timing, bounds.recurrence).has_value());
}

} // namespace
