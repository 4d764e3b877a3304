//===- DoctorCommand.cpp - spokeshave doctor -------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says what this machine is and what of it is used; compiles nothing.
//
//===----------------------------------------------------------------------===//
#include "tools/Commands.h"

#include "machine/Machine.h"
#include "machine/Measure.h"
#include "runtime/Memory.h"
#include "runtime/ThreadPool.h"
#include "support/Error.h"
#include "target/cpu/Abi.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FormatVariadic.h"

using namespace spokeshave;

#ifndef SPOKESHAVE_VERSION
#define SPOKESHAVE_VERSION "unknown"
#endif

static constexpr llvm::StringLiteral kHelp = R"(usage: spokeshave doctor [--measure]

Says what this machine is, and what of it is used.

  --measure   also how fast it is at best, on one thread and on all (a second)
)";

/// A machine's best rates in one line.
static std::string describeRates(const machine::Rates &rates) {
  std::string text = llvm::formatv("f32 multiply-add {0:F1} GFLOP/s", rates.fmaGflops).str();
  if (rates.bf16Gflops > 0)
    text += llvm::formatv(", bf16 {0:F0} GFLOP/s", rates.bf16Gflops).str();
  if (rates.int8Gops > 0)
    text += llvm::formatv(", int8 {0:F0} Gop/s", rates.int8Gops).str();
  return text +
         llvm::formatv("; memory read {0:F1} GB/s, copy {1:F1} GB/s", rates.readGBs, rates.copyGBs)
             .str();
}

llvm::Error tools::doctorCommand(Arguments arguments) {
  bool measure = false;
  ArgumentReader reader(arguments);
  while (reader.next()) {
    if (reader.isFlag("--help")) {
      llvm::outs() << kHelp;
      return llvm::Error::success();
    }
    if (!reader.isFlag("--measure"))
      return reader.unknown();
    measure = true;
  }
  llvm::Expected<machine::Machine> machine = machine::describe();
  if (!machine)
    return machine.takeError();
  auto yes = [](bool value) { return value ? "yes" : "no"; };
  auto line = [](llvm::StringRef name, const llvm::Twine &value) {
    llvm::outs() << llvm::formatv("{0,-16} {1}\n", name, value.str());
  };
  line("spokeshave", SPOKESHAVE_VERSION);
  line("LLVM and MLIR", LLVM_VERSION_STRING);
  line("ABI", llvm::Twine(cpu::kAbiVersion));
  line("processor", machine->model);
  line("ISA", machine::nameOf(machine->isa) + " (" + llvm::Twine(machine->vectorBits) +
                  "-bit vectors, " + llvm::Twine(machine->numVectorRegisters) + " registers)");
  line("extensions",
       llvm::formatv("FMA {0}, F16C {1}, BF16 {2}, FP16 {3}, VNNI {4}, VBMI {5}, AMX {6}",
                     yes(machine->hasFma), yes(machine->hasF16c), yes(machine->hasBf16),
                     yes(machine->hasFp16), yes(machine->hasVnni), yes(machine->hasVbmi),
                     yes(machine->hasAmx))
           .str());
  line("caches", llvm::formatv("L1 {0} KiB, L2 {1} KiB, L3 {2} KiB", machine->l1Bytes >> 10,
                               machine->l2Bytes >> 10, machine->l3Bytes >> 10)
                     .str());
  line("threads", llvm::Twine(runtime::defaultThreadCount()) + " used, " +
                      llvm::Twine(machine->threads) + " available");
  line("memory", llvm::formatv("{0} MiB, {1} MiB free", runtime::machineMemoryTotal() >> 20,
                               runtime::machineMemoryAvailable() >> 20)
                     .str());
  if (!measure)
    return llvm::Error::success();
  line("on one thread", describeRates(machine::measureRates(1)));
  if (int threads = runtime::defaultThreadCount(); threads > 1)
    line("on " + llvm::Twine(threads).str() + " threads",
         describeRates(machine::measureRates(threads)));
  return llvm::Error::success();
}
