//===- WalkTest.cpp - decoded kernels take the time that they take ---------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels written by hand, walked with and without decoding, and with values.
// tests/e2e/test_tpu_time.py does the same with compiled programs.
//
//===----------------------------------------------------------------------===//
#include "runtime/tpu/test/MakeProgram.h"

#include "gtest/gtest.h"

#include <chrono>
#include <random>

using namespace spokeshave::runtime::tpu;
using namespace spokeshave::runtime::tpu::test;
using spokeshave::tpu::File;
using spokeshave::tpu::IntPredicate;
using spokeshave::tpu::Reg;

namespace {

Report run(const Program &program, bool everyInstruction, bool values = false) {
  SimulationOptions options;
  options.computeValues = values;
  options.everyInstruction = everyInstruction;
  std::vector<char> in(program.arguments[0].byteSize), out(program.results[0].byteSize);
  return llvm::cantFail(simulate(program, {in.data()}, {out.data()}, options));
}

void expectEqual(const Program &program) {
  Report fast = run(program, false), slow = run(program, true), full = run(program, false, true);
  EXPECT_EQ(fast.cycles, slow.cycles);
  EXPECT_EQ(fast.kernels, slow.kernels);
  EXPECT_EQ(full.kernels, slow.kernels);
}

Reg scalar(uint32_t number) {
  return {File::Scalar, number};
}

Instruction make(Opcode op, Reg dst, Reg a, Reg b = {}) {
  Instruction made;
  made.op = op, made.dst = dst, made.a = a, made.b = b;
  return made;
}

Instruction withImmediate(Opcode op, Reg dst, Reg a, int64_t imm) {
  Instruction made = make(op, dst, a);
  made.imm = imm, made.immediate = a ? 2 : 1;
  return made;
}

/// for s0 = first; ; s0 += step: body; while (s0 `predicate` last).
void addLoop(Kernel &kernel, int64_t first, int64_t step, int64_t last, IntPredicate predicate,
             llvm::ArrayRef<Instruction> body, uint16_t idle = 0) {
  size_t before = kernel.blocks.empty() ? 0 : kernel.blocks.size() - 1, loop = before + 1;
  add(kernel, before, withImmediate(Opcode::Constant, scalar(0), {}, first));
  for (const Instruction &instruction : body)
    add(kernel, loop, instruction);
  add(kernel, loop, withImmediate(Opcode::Add, scalar(0), scalar(0), step));
  Instruction compare = withImmediate(Opcode::CompareI, scalar(1), scalar(0), last);
  compare.predicate = uint8_t(predicate);
  add(kernel, loop, compare);
  Instruction branch = make(Opcode::BranchIf, {}, scalar(1));
  branch.imm = int64_t(loop);
  add(kernel, loop, branch);
  for (auto &bundle : kernel.blocks[loop].bundles)
    bundle.idle = idle ? idle : bundle.idle;
  kernel.blocks.resize(loop + 2);
}

Program programOf(Kernel kernel) {
  kernel.name = "loops";
  kernel.vmemBytes = std::max<int64_t>(kernel.vmemBytes, 8192);
  add(kernel, kernel.blocks.size() - 1, make(Opcode::Halt, {}, {}));
  Program program = emptyProgram(4096);
  program.kernels = {std::move(kernel)};
  program.steps = {launch(0)};
  return program;
}

TEST(Walk, CountedLoops) {
  for (auto [first, step, last, predicate] :
       {std::tuple(0, 1, 1000, IntPredicate::Slt), std::tuple(0, 7, 1000, IntPredicate::Sle),
        std::tuple(1000, -3, 0, IntPredicate::Sgt), std::tuple(1000, -4, 0, IntPredicate::Ne),
        std::tuple(-50, 1, 50, IntPredicate::Slt), std::tuple(0, 1, 1, IntPredicate::Slt),
        std::tuple(0, 1, 2, IntPredicate::Slt), std::tuple(0, 1, 3, IntPredicate::Slt),
        std::tuple(5, 5, 4, IntPredicate::Eq), std::tuple(3, 2, 77, IntPredicate::Ult),
        std::tuple(100, -1, 0, IntPredicate::Sge)}) {
    Kernel kernel;
    addLoop(kernel, first, step, last, predicate, {});
    Program program = programOf(std::move(kernel));
    expectEqual(program);
  }
}

TEST(Walk, WhatALoopLeavesDecidesTheNext) {
  Kernel kernel;
  add(kernel, 0, withImmediate(Opcode::Constant, scalar(2), {}, 0));
  // s2 += 3 in each of 40 trips, s3 = 5 * s2; then a loop up to s3.
  addLoop(kernel, 0, 1, 40, IntPredicate::Slt,
          {withImmediate(Opcode::Add, scalar(2), scalar(2), 3),
           withImmediate(Opcode::Mul, scalar(3), scalar(2), 5)});
  addLoop(kernel, 0, 1, 0, IntPredicate::Slt, {});
  for (Instruction &instruction : kernel.blocks[3].instructions)
    if (instruction.op == Opcode::CompareI)
      instruction.b = scalar(3), instruction.immediate = 0;
  Program program = programOf(std::move(kernel));
  expectEqual(program);
  // 600 trips of three bundles, each with 40 idle cycles.
  EXPECT_GT(run(program, false).cycles, 600 * 3 * 41);
}

TEST(Walk, MatrixQueuesSettle) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    Kernel kernel;
    std::vector<Instruction> body;
    int pairs = 1 + int(random() % 3);
    for (int i = 0; i < pairs; ++i) {
      Instruction push = make(Opcode::MatrixPush, {}, {File::Vector, 0});
      push.type = push.from = spokeshave::tpu::ElementType::F32;
      push.imm = int64_t(random() % 2);
      body.push_back(push);
      Instruction pop = make(Opcode::MatrixPop, {File::Vector, 1}, {});
      pop.imm = push.imm;
      body.push_back(pop);
    }
    // Fewer cycles than the unit needs: it waits; more: it does not.
    addLoop(kernel, 0, 1, 200, IntPredicate::Slt, body, uint16_t(random() % 30));
    Program program = programOf(std::move(kernel));
    expectEqual(program);
  }
}

TEST(Walk, DataDecides) {
  // A loop that ends on a scalar which a vector holds.
  Kernel kernel;
  Instruction extract = make(Opcode::Extract, scalar(2), {File::Vector, 0});
  addLoop(kernel, 0, 1, 5, IntPredicate::Slt, {extract});
  kernel.blocks[1].instructions.back().a = scalar(2);
  Program program = programOf(std::move(kernel));
  Report fast = run(program, false), slow = run(program, true);
  EXPECT_EQ(fast.kernels, slow.kernels);
}

TEST(Walk, IsTheSameEachTime) {
  Kernel kernel;
  addLoop(kernel, 0, 1, 1000, IntPredicate::Slt, {});
  Program program = programOf(std::move(kernel));
  Report once = run(program, false);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(run(program, false).kernels, once.kernels);
}

/// 20 million bundles a second are wanted, of blocks whose scalars must be followed. The
/// threshold leaves room for a machine that does other things too.
TEST(Walk, IsFast) {
  Kernel kernel;
  // s2 is no loop of constant amounts: nothing is skipped.
  std::vector<Instruction> body(8, make(Opcode::Xor, scalar(2), scalar(2), scalar(0)));
  addLoop(kernel, 0, 1, 300'000, IntPredicate::Slt, body);
  add(kernel, 2, make(Opcode::DmaWait, {}, scalar(2)));
  Program program = programOf(std::move(kernel));
  auto begin = std::chrono::steady_clock::now();
  Report report = run(program, false);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  ASSERT_GT(report.simulatedBundles, 3'000'000);
  RecordProperty("bundles_per_second", int(double(report.simulatedBundles) / seconds));
  EXPECT_GT(double(report.simulatedBundles) / seconds, 5e6);
}

} // namespace
