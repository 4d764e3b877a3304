//===- DeviceRun.cpp - runs programs of several devices ---------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/DeviceRun.h"

#include "graph/Processes.h"
#include "runtime/Exchange.h"
#include "support/Error.h"
#include "tools/Execution.h"
#include "tools/TpuTarget.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::tools;
using reference::Tensor;

namespace {

using Tensors = std::vector<Tensor>;
using Specs = std::vector<cpu::ValueSpec>;

/// Calls `visit(whole, part)` for each row of the part that `device` has: byte offsets
/// in both.
void forEachRow(const cpu::ValueSpec &part, const Tensor &whole, int64_t device,
                llvm::function_ref<void(int64_t, int64_t)> visit) {
  size_t rank = part.shape.size();
  reference::Index first(rank), rows(part.shape.begin(), part.shape.end());
  int64_t number = part.parts[rank + device], bytes = whole.elementType().bytes(), from = 0;
  for (size_t dim = rank; dim-- > 0;) {
    first[dim] = number % part.parts[dim] * part.shape[dim];
    number /= part.parts[dim];
  }
  int64_t width = rows.back() * bytes;
  rows.back() = 1;
  reference::forEachIndex(rows, [&](ArrayRef<int64_t> index) {
    reference::Index at(first);
    for (size_t dim = 0; dim < rank; ++dim)
      at[dim] += index[dim];
    visit(whole.linearIndex(at) * bytes, from);
    from += width;
  });
}

int64_t rowBytes(const cpu::ValueSpec &part, const Tensor &whole) {
  return part.shape.back() * whole.elementType().bytes();
}

/// What `device` gets of `whole`.
Tensor cut(const cpu::ValueSpec &part, const Tensor &whole, int64_t device) {
  if (part.parts.empty())
    return whole;
  Tensor result(whole.elementType(), part.shape);
  char *to = result.mutableData();
  forEachRow(part, whole, device, [&](int64_t from, int64_t at) {
    std::memcpy(to + at, whole.data() + from, rowBytes(part, whole));
  });
  return result;
}

/// Puts what `device` has into `whole`.
void join(const cpu::ValueSpec &part, const Tensor &own, int64_t device, Tensor &whole) {
  char *to = whole.mutableData();
  forEachRow(part, whole, device, [&](int64_t at, int64_t from) {
    std::memcpy(to + at, own.data() + from, rowBytes(part, whole));
  });
}

using RunOne = llvm::function_ref<llvm::Error(int64_t, Tensors &, Tensors &, runtime::Exchange &)>;

llvm::Error runAll(int64_t replicas, int64_t partitions, const Specs &argumentSpecs,
                   const Specs &resultSpecs, const Tensors &arguments, Tensors &results,
                   RunOne runOne) {
  if (arguments.size() != argumentSpecs.size() || results.size() != resultSpecs.size())
    return makeError(ErrorCode::UnsupportedProgram, "the program takes or gives tokens");
  runtime::Exchange exchange(replicas, partitions);
  std::vector<Tensors> ins(exchange.devices()), outs(exchange.devices());
  bool isSplit = false;
  for (int64_t device = 0; device < exchange.devices(); ++device) {
    for (auto [spec, whole] : llvm::zip_equal(argumentSpecs, arguments)) {
      ins[device].push_back(cut(spec, whole, device));
      ins[device].back().mutableData(); // a copy of its own
      isSplit |= !spec.parts.empty();
    }
    for (auto [spec, whole] : llvm::zip_equal(resultSpecs, results)) {
      outs[device].emplace_back(whole.elementType(), spec.shape);
      isSplit |= !spec.parts.empty();
    }
  }
  if (llvm::Error error = runtime::runTogether(exchange, [&](int64_t device) {
        return runOne(device, ins[device], outs[device], exchange);
      }))
    return error;
  if (!isSplit) {
    results.clear();
    for (Tensors &own : outs)
      llvm::append_range(results, own);
    return llvm::Error::success();
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (resultSpecs[i].parts.empty()) {
      results[i] = outs[0][i];
      continue;
    }
    for (int64_t device = 0; device < exchange.devices(); ++device)
      join(resultSpecs[i], outs[device][i], device, results[i]);
  }
  return llvm::Error::success();
}

} // namespace

int64_t tools::deviceCount(ModuleOp module) {
  return graph::Processes::of(module).count();
}

llvm::Error tools::runOnDevices(OwningOpRef<ModuleOp> module, const cpu::CompileOptions &options,
                                const Tensors &arguments, Tensors &results) {
  auto program = cpu::compile(std::move(module), options);
  if (!program)
    return program.takeError();
  auto executable = runtime::Executable::create(std::move(*program));
  if (!executable)
    return executable.takeError();
  const cpu::Program &made = (*executable)->program();
  return runAll(made.replicas, made.partitions, made.arguments, made.results, arguments, results,
                [&](int64_t device, Tensors &ins, Tensors &outs, runtime::Exchange &exchange) {
                  int64_t nanoseconds = 0;
                  return executeOnTensors(**executable, ins, outs, nanoseconds, &exchange, device);
                });
}

llvm::Error tools::runOnChips(OwningOpRef<ModuleOp> module, const tpu::CompileOptions &options,
                              StringRef chips, const Tensors &arguments, Tensors &results) {
  auto made = tpu::compile(std::move(module), options);
  if (!made)
    return made.takeError();
  const tpu::Program &program = **made;
  auto torus = torusFor(program, chips);
  if (!torus)
    return torus.takeError();
  runtime::tpu::Report first;
  auto runOne = [&](int64_t chip, Tensors &ins, Tensors &outs,
                    runtime::Exchange &exchange) -> llvm::Error {
    auto report = simulateOnTensors(program, {&*torus, &exchange, chip}, ins, outs);
    if (report && chip == 0)
      first = *report;
    return report.takeError();
  };
  if (llvm::Error error = runAll(program.replicas, program.partitions, program.arguments,
                                 program.results, arguments, results, runOne))
    return error;
  printTpuReport(program, first, llvm::outs());
  return llvm::Error::success();
}
