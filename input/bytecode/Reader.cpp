//===- Reader.cpp - portable bytecode as JAX sends it ----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Reader.h.
//
//===----------------------------------------------------------------------===//
#include "input/bytecode/Reader.h"

#include "input/Dialects.h"
#include "input/bytecode/Container.h"
#include "input/bytecode/Operations.h"

using namespace mlir;

namespace spokeshave {

bool isPortableBytecode(StringRef bytes) {
  return bytecode::isBytecode(bytes);
}

FailureOr<OwningOpRef<ModuleOp>> readPortableBytecode(StringRef bytes, MLIRContext *context,
                                                      StringRef name) {
  loadInputDialects(*context);
  bytecode::Input input(bytes, name, context);
  bytecode::Container container = bytecode::readContainer(input);
  OwningOpRef<ModuleOp> module;
  if (input.ok())
    module = bytecode::readOperations(input, container);
  if (!input.ok() || !module)
    return failure();
  return module;
}

} // namespace spokeshave
