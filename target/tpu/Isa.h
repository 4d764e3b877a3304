//===- Isa.h - instructions, bundles, kernels of the TPU-class chip --------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An abstract instruction set: what a kernel is after selection (virtual
// registers, no bundles), after allocation, and after bundling. The machine is
// described in docs/tpu-machine.md, the instructions in Isa.def.
//
// A vector register has 8 sublanes of 128 lanes of 32 bits; lane l of 1024 stands
// at sublane l / 128. Narrow integers occupy a lane each, with zeros above their
// width. Elements of 64 bits are emulated: a register of them stands for a pair, and
// instructions on them take several cycles.
//
// Code is scheduled statically: there is no interlock. A register that is read
// before its producer's latency has passed is an error of the compiler, which the
// simulator detects.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace spokeshave::tpu {

constexpr int64_t kSublanes = 8, kLanes = 128, kRegisterLanes = kSublanes * kLanes;
constexpr int64_t kRegisterBytes = kRegisterLanes * 4;

enum class Opcode : uint8_t {
#define TPU_OPCODE(name, mnemonic, unit, latency) name,
#include "target/tpu/Isa.def"
};

/// Slots of a bundle. Alu stands for Scalar or VectorAlu, by the destination.
enum class Unit : uint8_t {
  Alu,
  Scalar,
  VectorAlu,
  VectorLoad,
  VectorStore,
  Transcendental,
  CrossLane,
  MatrixPush,
  MatrixPop,
  Misc,
};
constexpr unsigned kNumUnits = unsigned(Unit::Misc) + 1;

/// What decides an instruction's latency in cycles; see Timing.h.
enum class Latency : uint8_t {
  Simple,
  Multiply,
  Divide,
  Transcendental,
  Load,
  Gather,
  CrossLane,
  MatrixPush,
  MatrixPop,
};

enum class ElementType : uint8_t {
  I1,
  I8,
  I16,
  I32,
  I64,
  BF16,
  F16,
  F32,
  F64,
  F8E4M3FN,
  F8E5M2,
  I2,
  I4
};
int64_t bitsOf(ElementType type);
llvm::StringRef nameOf(ElementType type);

enum class IntPredicate : uint8_t { Eq, Ne, Slt, Sle, Sgt, Sge, Ult, Ule, Ugt, Uge };
/// In the order of MLIR's arith.cmpf.
enum class FloatPredicate : uint8_t {
  False,
  Oeq,
  Ogt,
  Oge,
  Olt,
  Ole,
  One,
  Ord,
  Ueq,
  Ugt,
  Uge,
  Ult,
  Ule,
  Une,
  Uno,
  True
};
enum class ReduceKind : uint8_t { Add, Mul, And, Or, Xor, MinS, MaxS, MinU, MaxU };

/// A register: its file and its number, virtual before allocation.
enum class File : uint8_t { None, Scalar, Vector, Mask };
struct Reg {
  File file = File::None;
  uint32_t number = 0;
  explicit operator bool() const { return file != File::None; }
  bool operator==(const Reg &) const = default;
};

struct Instruction {
  Opcode op = Opcode::Halt;
  ElementType type = ElementType::I32, from = ElementType::I32;
  uint16_t lanes = 1;
  Reg dst, a, b, c, mask;
  int64_t imm = 0;
  int64_t stride = 0;    ///< bytes between lanes, sublanes or per index; step of iota
  uint8_t predicate = 0; ///< of comparisons: IntPredicate or FloatPredicate
  uint8_t immediate = 0; ///< which source is imm in all lanes: 1 a, 2 b, 3 c; its bits
  uint16_t object = 0;   ///< memory accesses: different numbers never overlap; 0 may
  uint32_t location = 0; ///< of Kernel::locations

  std::array<Reg, 4> sources() const { return {a, b, c, mask}; }
};

Unit unitOf(const Instruction &instruction);
Latency latencyOf(Opcode op);
llvm::StringRef mnemonicOf(Opcode op);
bool isTerminator(Opcode op);

/// One transfer between memories: up to four dimensions, outermost first, the
/// innermost of `elementBytes` each and contiguous on both sides. Counts are
/// given when it starts.
enum class Space : uint8_t { Hbm, Vmem };
struct DmaDescriptor {
  Space from = Space::Hbm, to = Space::Vmem;
  int64_t elementBytes = 4;
  llvm::SmallVector<int64_t, 4> fromStrides, toStrides; ///< in bytes
};

/// Instructions that issue in one cycle: [begin, begin + count) of the block.
struct Bundle {
  uint32_t begin = 0;
  uint16_t count = 0;
  uint16_t idle = 0; ///< empty cycles that follow
};

/// Of a block that is the steady state of a pipelined loop (Pipeline.h).
struct SteadyState {
  int64_t interval = 0; ///< cycles from one iteration's start to the next; 0: none
  int64_t stages = 0;   ///< iterations under way at once
  int64_t copies = 0;   ///< iterations that start in one pass
  int64_t resourceBound = 0, recurrenceBound = 0; ///< of the interval
  llvm::StringLiteral resource = "";              ///< that the first comes from
  uint32_t loop = 0;                              ///< block of the loop before pipelining
};

struct Block {
  std::vector<Instruction> instructions;
  std::vector<Bundle> bundles; ///< after bundling; of steady states from the start
  SteadyState steady;
  int64_t usualTrips = 0; ///< of a loop of this block, where they vary; 0: not known
  bool isPipelined() const { return steady.interval > 0; }
  /// Cycles from entry to exit without stalls.
  int64_t cycles() const {
    int64_t sum = 0;
    for (const Bundle &bundle : bundles)
      sum += 1 + bundle.idle;
    return sum;
  }
};

struct Kernel {
  std::string name;
  std::vector<Block> blocks;
  std::vector<DmaDescriptor> descriptors;
  /// Of Permute: source lane of each lane, those of b after those of a.
  std::vector<std::vector<uint16_t>> tables;
  /// Bytes that the kernel's VMEM holds at `first` when it starts: kernel.table.
  struct VmemData {
    int64_t offset = 0;
    std::vector<char> bytes;
  };
  std::vector<VmemData> data;
  /// Bytes of VMEM that the kernel uses as earlier kernels and transfers of steps left
  /// them, in order of their offsets; they may lie beyond vmemBytes. The rest of
  /// [0, vmemBytes) has no sensible value when the kernel starts.
  struct Kept {
    int64_t offset = 0, bytes = 0;
  };
  std::vector<Kept> kept;
  std::vector<std::string> locations; ///< user's source lines
  int64_t vmemBytes = 0;
  /// Cores that share the kernel's work. Each runs the same code, with its number as
  /// the argument after the buffers.
  int64_t cores = 1;
  /// Bytes [begin, end) of a buffer that a core touches: all cores' of the first buffer,
  /// then of the next one. Empty: one core touches everything.
  struct Part {
    int64_t begin = 0, end = 0;
  };
  std::vector<Part> parts;
  Part partOf(size_t buffer, int64_t core, int64_t bytes) const {
    return parts.empty() ? Part{0, core == 0 ? bytes : 0} : parts[buffer * cores + core];
  }
  /// Registers used, and spilled values; for reports.
  int64_t vectorRegisters = 0, scalarRegisters = 0, spills = 0;

  void print(llvm::raw_ostream &os) const;
};

/// A block that may follow another one.
struct Successor {
  uint32_t block = 0;
  bool isTaken = false; ///< by a branch; else by falling through
};
llvm::SmallVector<Successor, 2> successorsOf(const Kernel &kernel, uint32_t number);

/// One more location, or the number of an equal one.
uint32_t addLocation(Kernel &kernel, llvm::StringRef location);
void print(const Instruction &instruction, llvm::raw_ostream &os);

} // namespace spokeshave::tpu
