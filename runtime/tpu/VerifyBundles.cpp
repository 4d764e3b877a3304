//===- VerifyBundles.cpp - is a kernel scheduled as the machine demands? ---===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// There is no interlock, so this is what hardware would silently get wrong. Each
// block starts with all registers ready and ends so; hence blocks are checked one
// by one.
//
//===----------------------------------------------------------------------===//
#include "runtime/tpu/Core.h"

#include "support/Error.h"

#include "llvm/ADT/DenseMap.h"

namespace spokeshave::runtime::tpu {

using namespace spokeshave::tpu;

static llvm::Error hazard(const Kernel &kernel, const Instruction &instruction,
                          llvm::Twine message) {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(instruction, os);
  return makeError(ErrorCode::Internal,
                   "kernel @" + kernel.name + ": " + message + " in `" + text + "`");
}

llvm::Error verifyBundles(const Kernel &kernel, const Timing &timing) {
  for (const Block &block : kernel.blocks) {
    llvm::DenseMap<uint64_t, int64_t> readyAt;
    std::map<std::pair<unsigned, int64_t>, int64_t> used;
    auto key = [](Reg reg) { return uint64_t(reg.file) << 32 | reg.number; };
    int64_t cycle = 0, last = 0;
    for (const Bundle &bundle : block.bundles) {
      for (unsigned i = 0; i < bundle.count; ++i) {
        const Instruction &here = block.instructions[bundle.begin + i];
        for (Reg source : here.sources())
          if (source && readyAt.lookup(key(source)) > cycle)
            return hazard(kernel, here, "a register is read before it is ready");
        unsigned unit = unsigned(unitOf(here));
        bool keeps = here.op != Opcode::MatrixPush; // keeps its unit, not the slot
        for (int64_t c = 0; c < (keeps ? timing.occupancy(here) : 1); ++c)
          if (++used[{unit, cycle + c}] > timing.slots[unit])
            return hazard(kernel, here, "more instructions than slots");
        last = std::max(last, cycle + timing.latency(here));
      }
      for (unsigned i = 0; i < bundle.count; ++i) {
        const Instruction &here = block.instructions[bundle.begin + i];
        if (here.dst)
          readyAt[key(here.dst)] = cycle + timing.latency(here);
      }
      cycle += 1 + bundle.idle;
    }
    if (last > cycle)
      return makeError(ErrorCode::Internal,
                       "kernel @" + kernel.name + ": a block ends before its results are there");
  }
  return llvm::Error::success();
}

} // namespace spokeshave::runtime::tpu
