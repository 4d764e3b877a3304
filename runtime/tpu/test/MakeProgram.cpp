//===- MakeProgram.cpp - small programs written by hand --------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/tpu/test/MakeProgram.h"

namespace spokeshave::runtime::tpu::test {

using namespace spokeshave::tpu;

Program emptyProgram(int64_t bytes) {
  Program program;
  program.name = "test";
  program.chip = llvm::cantFail(machine::loadChip("v5e"));
  program.timing = timingOf(program.chip);
  cpu::ValueSpec spec{};
  spec.byteSize = bytes;
  program.arguments = {spec};
  spec.alias = -1;
  program.results = {spec};
  return program;
}

Instruction &add(Kernel &kernel, size_t block, Instruction instruction) {
  if (kernel.blocks.size() <= block)
    kernel.blocks.resize(block + 1);
  Block &here = kernel.blocks[block];
  constexpr uint16_t kLongest = 40;
  here.bundles.push_back({uint32_t(here.instructions.size()), 1, kLongest});
  here.instructions.push_back(instruction);
  return here.instructions.back();
}

Kernel incrementKernel(int64_t offset, int64_t times) {
  Kernel kernel;
  kernel.name = "increment";
  kernel.vmemBytes = offset + kRegisterBytes;
  kernel.kept = {{offset, kRegisterBytes}};
  Reg counter{File::Scalar, 0}, again{File::Scalar, 1}, value{File::Vector, 0};
  auto immediate = [&](size_t block, Opcode op, Reg dst, Reg a, int64_t imm, uint16_t lanes) {
    Instruction made;
    made.op = op, made.dst = dst, made.a = a, made.imm = imm, made.lanes = lanes;
    made.immediate = a ? 2 : 1;
    return add(kernel, block, made), &kernel.blocks[block].instructions.back();
  };
  immediate(0, Opcode::Constant, counter, {}, times, 1);
  Instruction load;
  load.op = Opcode::Load, load.dst = value, load.lanes = kRegisterLanes;
  load.imm = offset, load.stride = 4;
  add(kernel, 1, load);
  immediate(1, Opcode::Add, value, value, 1, kRegisterLanes);
  Instruction store = load;
  store.op = Opcode::Store, store.dst = {}, store.b = value;
  add(kernel, 1, store);
  immediate(1, Opcode::Sub, counter, counter, 1, 1);
  immediate(1, Opcode::CompareI, again, counter, 0, 1)->predicate = uint8_t(IntPredicate::Ne);
  Instruction branch;
  branch.op = Opcode::BranchIf, branch.a = again, branch.imm = 1;
  add(kernel, 1, branch);
  add(kernel, 2, {}).op = Opcode::Halt;
  return kernel;
}

Step launch(uint32_t kernel) {
  Step step;
  step.kernel = kernel;
  return step;
}

Step start(BufferRef::Base base, int64_t bytes, int64_t vmemOffset, int64_t semaphore,
           bool toVmem) {
  Step step;
  step.kind = Step::Kind::Start;
  step.buffers = {{{base, 0, 0, bytes}}, {{BufferRef::Base::Vmem, 0, vmemOffset, bytes}}};
  if (!toVmem)
    std::swap(step.buffers[0], step.buffers[1]);
  step.semaphore = semaphore;
  return step;
}

Step waitFor(int64_t semaphore) {
  Step step;
  step.kind = Step::Kind::Wait;
  step.semaphore = semaphore;
  return step;
}

std::string messageOf(llvm::Error error) {
  return llvm::toString(std::move(error));
}

} // namespace spokeshave::runtime::tpu::test
