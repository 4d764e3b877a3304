//===- MakeProgram.h - small programs written by hand ----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/tpu/Simulator.h"

namespace spokeshave::runtime::tpu::test {

using spokeshave::tpu::BufferRef;
using spokeshave::tpu::Instruction;
using spokeshave::tpu::Kernel;
using spokeshave::tpu::Opcode;
using spokeshave::tpu::Program;
using spokeshave::tpu::Step;

/// For chip v5e, with one argument and one result of `bytes` each.
Program emptyProgram(int64_t bytes);

/// One instruction of `kernel`'s block `block`, in a bundle of its own that waits
/// for its latency.
Instruction &add(Kernel &kernel, size_t block, Instruction instruction);

/// A kernel that adds 1 to the 1024 lanes of i32 at `offset` of VMEM, `times` times,
/// in a loop with one store per trip.
Kernel incrementKernel(int64_t offset, int64_t times);

Step launch(uint32_t kernel);
Step start(BufferRef::Base base, int64_t bytes, int64_t vmemOffset, int64_t semaphore, bool toVmem);
Step wait(int64_t semaphore);

/// An error's message, or nothing.
std::string messageOf(llvm::Error error);

} // namespace spokeshave::runtime::tpu::test
