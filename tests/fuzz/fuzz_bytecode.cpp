//===- fuzz_bytecode.cpp - fuzzes the bytecode reader ----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whatever the bytes: a module that verifies, or a message of reader or verifier.
// Start from the programs in input/bytecode/test/Inputs; a failure prints its seed
// and leaves its input in a file.
//
//===----------------------------------------------------------------------===//
#include "input/bytecode/Reader.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

#include <cstdlib>

using namespace mlir;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // Contexts never free attributes: one per input keeps memory flat.
  MLIRContext context(MLIRContext::Threading::DISABLED);
  int errors = 0;
  context.getDiagEngine().registerHandler([&](Diagnostic &) {
    ++errors;
    return success();
  });
  StringRef bytes(reinterpret_cast<const char *>(data), size);
  FailureOr<OwningOpRef<ModuleOp>> module = spokeshave::readPortableBytecode(bytes, &context);
  bool valid = succeeded(module) && succeeded(verify(**module));
  if (valid == (errors != 0))
    std::abort();
  return 0;
}
