//===- Machine.h - what a CPU is, as far as the compiler cares -------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tile sizes, grids and instruction selection are chosen from these facts, so
// all of them are hashed into the key of each compiled program. They may change
// tiles and the number of tasks, never the order of a reduction.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace spokeshave::machine {

/// The instruction sets that code is generated for, each including the former.
enum class Isa {
  X86_64, ///< "x86-64": SSE2, what every x86-64 has
  Avx2,   ///< "avx2": AVX2, FMA, F16C, BMI2 (x86-64-v3)
  Avx512, ///< "avx512": AVX-512 F, BW, CD, DQ, VL (x86-64-v4)
  Amx,    ///< "amx": VNNI and BF16 of AVX-512, tiles of bf16 and int8 beside it
};

llvm::StringRef nameOf(Isa isa);

struct Machine {
  Isa isa = Isa::X86_64;
  std::string cpu = "x86-64"; ///< LLVM's name of the processor to generate code for
  std::string features;       ///< LLVM's feature string, "+avx2,+fma,..."
  std::string model;          ///< what the processor calls itself; for people only

  int64_t vectorBits = 128;
  int64_t numVectorRegisters = 16;
  int64_t minLaneBits = 8; ///< narrower elements take a lane of this width
  int64_t maxLanes = 64;   ///< of a register tile of elementwise work
  int64_t matrixTile = 0;  ///< rows and columns of a matrix unit; 0: there is none
  int64_t matrixUnits = 0; ///< of a core
  /// Cycles for 8 rows of floats, of bytes; 0: it does not multiply these.
  int64_t matrixPushCycles = 8, matrixPushCyclesOfBytes = 0;
  int64_t matrixLatency = 0;      ///< cycles from a push to its result
  int64_t matrixWeightCycles = 0; ///< to load a tile of weights
  double farBytesPerCycle = 0;    ///< between far memory and all cores' near memory
  double farWriteCost = 1;        ///< of a byte written there, in bytes read
  int64_t farGranule = 1;         ///< bytes that a shorter run of a transfer costs
  int64_t farLatency = 0;         ///< cycles of a transfer before its bytes flow
  int64_t cores = 1;              ///< that may share the tasks of a kernel
  int64_t coreMeeting = 0;        ///< cycles that they take to meet
  bool isAmongKernels = false;    ///< the program launches more than one kernel
  /// To round a register of a product's sums to f16, in one task, and after several.
  double halfResultCycles = 1, halfResultCyclesOfTasks = 1;
  int64_t rowLanes = 0;            ///< registers may be rows of so many lanes; 0: one line only
  int64_t taskBytes = 0;           ///< of buffers that a task streams through; 0: tasks by time
  bool convertsBf16 = false;       ///< f32 to bf16, to nearest even, and back: instructions
  bool hasTranscendentals = false; ///< exp2, log2, tanh, rsqrt of f32 in a unit of their own
  bool hasFma = false;
  bool hasF16c = false; ///< conversions between f16 and f32
  bool hasBf16 = false; ///< AVX512-BF16: bf16 dot products and conversions
  bool hasFp16 = false; ///< AVX512-FP16 arithmetic
  bool hasVnni = false; ///< AVX512-VNNI or AVX-VNNI: int8 dot products
  bool hasVbmi = false; ///< AVX512-VBMI: byte permutes
  bool hasAmx = false;  ///< AMX-BF16 and AMX-INT8: products of tiles
  /// Dot products of bf16 are faster than fused multiply-adds of f32: AMD's are,
  /// Intel's take twice the time.
  bool hasFastBf16Dots = false;

  int64_t l1Bytes = 32 << 10;  ///< data, of one core
  int64_t l2Bytes = 512 << 10; ///< of one core
  int64_t l3Bytes = 8 << 20;   ///< of the package
  int64_t threads = 1;         ///< that this process may use: affinity and cgroup quota

  /// Lanes of a vector register for elements of `bits`.
  int64_t lanes(int64_t bits) const { return vectorBits / std::max(bits, minLaneBits); }
  /// Of what a CPU's generated code may depend on. A chip's is kept under Chip::hash.
  uint64_t hash() const;
};

/// The facts for `isa`: "native" (the best that this machine has), "amx", "avx512",
/// "avx2" or "x86-64"; a BadOption error for another name. An instruction set
/// beyond this machine is described as well, so that its code can be looked at.
llvm::Expected<Machine> describe(llvm::StringRef isa = "native");

/// Whether this machine can run code made for `isa`. For AMX this asks the system
/// for the tile registers, once, on behalf of the whole process.
bool canRun(Isa isa);

/// Threads that this process may use: the smaller of its affinity mask and its
/// cgroup's CPU quota, at least 1.
int64_t availableThreads();

/// Bytes of memory that this process may use: the smaller of the physical memory
/// and its cgroup's limit.
int64_t availableMemory();

} // namespace spokeshave::machine
