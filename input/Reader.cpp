//===- Reader.cpp - programs as text or bytecode ---------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Reader.h.
//
//===----------------------------------------------------------------------===//
#include "input/Reader.h"

#include "input/Dialects.h"
#include "input/bytecode/Reader.h"

#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace spokeshave {

OwningOpRef<ModuleOp> readProgram(StringRef bytesOrText, StringRef name, MLIRContext *context) {
  if (isPortableBytecode(bytesOrText)) {
    FailureOr<OwningOpRef<ModuleOp>> module = readPortableBytecode(bytesOrText, context, name);
    return succeeded(module) ? std::move(*module) : OwningOpRef<ModuleOp>();
  }
  loadInputDialects(*context);
  return parseSourceString<ModuleOp>(bytesOrText, ParserConfig(context), name);
}

} // namespace spokeshave
