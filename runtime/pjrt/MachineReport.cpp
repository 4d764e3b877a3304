//===- MachineReport.cpp - this machine, for reports -----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/pjrt/MachineReport.h"

#include "machine/Machine.h"
#include "machine/Measure.h"
#include "runtime/ThreadPool.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace spokeshave::pjrt {

static llvm::json::Object describe(const machine::Rates &rates) {
  return llvm::json::Object{
      {"threads", rates.threads},        {"fma_gflops", rates.fmaGflops},
      {"bf16_gflops", rates.bf16Gflops}, {"int8_gops", rates.int8Gops},
      {"read_gb_per_s", rates.readGBs},  {"copy_gb_per_s", rates.copyGBs},
  };
}

std::string machineJson(bool measure) {
  llvm::json::Object report;
  llvm::Expected<machine::Machine> machine = machine::describe();
  if (machine) {
    report["model"] = machine->model;
    report["isa"] = machine::nameOf(machine->isa);
    report["vector_bits"] = machine->vectorBits;
    report["l1_bytes"] = machine->l1Bytes;
    report["l2_bytes"] = machine->l2Bytes;
    report["l3_bytes"] = machine->l3Bytes;
    report["threads_available"] = machine->threads;
  } else {
    report["error"] = llvm::toString(machine.takeError());
  }
  int64_t threads = runtime::defaultThreadCount();
  report["threads_used"] = threads;
  report["memory_bytes"] = machine::availableMemory();
  if (measure) {
    llvm::json::Array rates{describe(machine::measureRates(1))};
    if (threads > 1)
      rates.push_back(describe(machine::measureRates(threads)));
    report["rates"] = std::move(rates);
  }
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(report));
  return text;
}

} // namespace spokeshave::pjrt
