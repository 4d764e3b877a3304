//===- Abi.h - what generated code and the runtime know of each other ------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plain C structs: generated code addresses their fields by offset. Change
// kAbiVersion with every change; it is part of the hash of each executable.
//
// Generated code does not unwind: each call out returns a status, 0 for success,
// and the driver returns at once with the first status that is not 0.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>

namespace spokeshave::cpu {

constexpr uint32_t kAbiVersion = 1;

/// One kernel: runs tasks [begin, end) of its grid. `buffers` are the launch's
/// memrefs, inputs then outputs, as base pointers aligned to 64 bytes (user
/// buffers to their element at least). `scratch` is this worker's own memory of
/// the size the kernel asked for, aligned to 64 bytes.
using KernelFunction = void (*)(void *const *buffers, int64_t begin, int64_t end, void *scratch);

/// A launch within a parallel region.
struct Launch {
  KernelFunction kernel;
  void *const *buffers;
  int64_t tasks;
  /// Rough cost of a task in nanoseconds: decides how many threads take part.
  int64_t nanosecondsPerTask;
  int64_t scratchBytes;
};

struct RunContext;

/// Runs `count` launches in order on the pool, with a barrier between them.
using ParallelFunction = int32_t (*)(RunContext *context, const Launch *launches, int64_t count);
/// Calls library routine or custom call number `index` of the program's table.
using CallFunction = int32_t (*)(RunContext *context, int64_t index, void *const *buffers);
/// Long loops poll `cancel` and leave through this function.
using CancelledFunction = int32_t (*)(RunContext *context);

/// What the driver gets besides the buffers.
struct RunContext {
  uint32_t abiVersion;
  uint32_t reserved;
  const volatile int32_t *cancel; ///< not 0: stop as soon as possible
  ParallelFunction parallel;
  CallFunction call;
  CancelledFunction cancelled;
  void *const *constants; ///< data of schedule.constant, in order of the program's table
  void *runtime;          ///< the runtime's own
};

/// The program: `arguments` and `results` are base pointers in the order of
/// schedule.program's block arguments. Returns 0 or the status of a failed call.
using DriverFunction = int32_t (*)(RunContext *context, void *const *arguments,
                                   void *const *results, char *arena, char *scratch);

} // namespace spokeshave::cpu
