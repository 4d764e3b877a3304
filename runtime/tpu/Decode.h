//===- Decode.h - what of a kernel decides its time ------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private to runtime/tpu/. A kernel is decoded once. Slots and cycles of a block are
// sums that do not depend on the path; what is left to be walked without values are
// transfers, the queues of matrix units, branches, and the arithmetic on scalars that
// these read, found by liveness over all blocks. With values all is walked.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/tpu/Lanes.h"
#include "target/tpu/Timing.h"

namespace spokeshave::runtime::tpu {

/// An instruction that a walk executes.
struct WalkedOp {
  enum class Kind : uint8_t {
    Constant, ///< dst = imm
    Argument, ///< dst = address of buffer imm
    Add,      ///< dst = a + b, and so on; with `useImm` b is imm
    Sub,
    Mul,
    And,
    Or,
    Xor,
    Shl,
    ShrU,
    DivU,
    RemU,
    Move,
    Compare,
    Compute, ///< any other arithmetic on scalars
    Unknown, ///< dst depends on data; with values: any other instruction
    Branch,
    BranchIf,
    Halt,
    DmaCount,
    DmaStart,
    DmaWait,
    Matrix,
  } kind = Kind::Unknown;
  uint8_t bits = 32;   ///< of the result, which is cut to them
  bool useImm = false; ///< b is imm
  bool aImm = false;   ///< a is imm
  uint8_t predicate = 0;
  uint16_t dst = 0, a = 0, b = 0;
  uint32_t at = 0; ///< cycles since the block's begin, without stalls
  Lane imm = 0;
  const spokeshave::tpu::Instruction *instruction = nullptr;
};

struct DecodedBlock {
  std::vector<WalkedOp> ops;
  int64_t cycles = 0, bundles = 0;
  std::array<int64_t, spokeshave::tpu::kNumUnits> busy{};
  bool hasMatrix = false; ///< instructions of matrix units
  /// A loop of this block alone, without transfers, whose scalars change by the same
  /// amounts in each trip: the number of the comparison that ends it in `ops`, or -1.
  int32_t loopCompare = -1;
  /// Of such a loop: the scalars that it writes, and their widths.
  struct Written {
    uint16_t reg;
    uint8_t bits;
  };
  std::vector<Written> written;
};

struct DecodedKernel {
  std::vector<DecodedBlock> blocks;
};

/// `values`: what a walk with values executes, which is every instruction.
DecodedKernel decode(const spokeshave::tpu::Kernel &kernel, const spokeshave::tpu::Timing &timing,
                     bool values);

} // namespace spokeshave::runtime::tpu
