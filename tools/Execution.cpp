//===- Execution.cpp - runs compiled programs on the interpreter's tensors --===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/Execution.h"

#include "input/StablehloOps.h"
#include "runtime/Memory.h"
#include "support/Error.h"

using namespace mlir;
using namespace spokeshave;
using reference::Tensor;

llvm::Expected<std::vector<Tensor>> tools::emptyResults(func::FuncOp main) {
  std::vector<Tensor> results;
  for (Type type : main.getResultTypes()) {
    if (isa<stablehlo::TokenType>(type))
      continue; // has no buffer
    auto tensorType = dyn_cast<RankedTensorType>(type);
    if (!tensorType || !tensorType.hasStaticShape())
      return makeError(ErrorCode::UnsupportedProgram, "a result of @main is no static tensor");
    auto element = reference::ElementType::get(tensorType.getElementType());
    if (failed(element))
      return makeError(ErrorCode::UnsupportedProgram, "a result of @main has a type unknown here");
    results.emplace_back(*element, tensorType.getShape());
  }
  return results;
}

llvm::Error tools::executeOnTensors(const runtime::Executable &executable,
                                    std::vector<Tensor> &arguments, std::vector<Tensor> &results,
                                    int64_t &nanoseconds, runtime::Exchange *exchange,
                                    int64_t device) {
  SmallVector<runtime::ExecuteArgument> ins;
  for (Tensor &argument : arguments)
    ins.push_back({argument.mutableData(), argument.byteSize(), /*donated=*/false});
  std::vector<runtime::ScopedMemory> memory;
  SmallVector<runtime::ExecuteResult> outs;
  for (Tensor &result : results) {
    auto block = runtime::ScopedMemory::create(result.byteSize());
    if (!block)
      return block.takeError();
    outs.push_back({block->get(), result.byteSize()});
    memory.push_back(std::move(*block));
  }
  runtime::ExecuteCounters counters;
  runtime::ExecuteArgs run;
  run.arguments = ins;
  run.results = outs;
  run.counters = &counters;
  run.exchange = exchange;
  run.device = device;
  if (llvm::Error error = executable.execute(run))
    return error;
  nanoseconds = counters.nanoseconds;
  for (auto [tensor, block] : llvm::zip_equal(results, memory))
    if (tensor.byteSize() > 0)
      memcpy(tensor.mutableData(), block.get(), tensor.byteSize());
  return llvm::Error::success();
}
