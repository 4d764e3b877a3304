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
#include "input/ExpandChlo.h"
#include "input/NarrowFloats.h"
#include "input/bytecode/Reader.h"
#include "support/Error.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace spokeshave {

/// Reading and verifying are two steps, because their errors have two codes.
static OwningOpRef<ModuleOp> parse(StringRef bytesOrText, StringRef name, MLIRContext *context) {
  if (isPortableBytecode(bytesOrText)) {
    FailureOr<OwningOpRef<ModuleOp>> module = readPortableBytecode(bytesOrText, context, name);
    return succeeded(module) ? std::move(*module) : OwningOpRef<ModuleOp>();
  }
  loadInputDialects(*context);
  ParserConfig config(context, /*verifyAfterParse=*/false);
  std::optional<std::string> rewritten = narrow::rewriteText(bytesOrText);
  return parseSourceString<ModuleOp>(rewritten ? *rewritten : bytesOrText, config, name);
}

OwningOpRef<ModuleOp> readProgram(StringRef bytesOrText, StringRef name, MLIRContext *context) {
  OwningOpRef<ModuleOp> module = parse(bytesOrText, name, context);
  if (!module || failed(verify(*module)) || failed(chlo::expand(*module)))
    return {};
  return module;
}

llvm::Expected<OwningOpRef<ModuleOp>> readValidProgram(StringRef bytesOrText, StringRef name,
                                                       MLIRContext &context) {
  DiagnosticCollector diagnostics(&context);
  OwningOpRef<ModuleOp> module = parse(bytesOrText, name, &context);
  if (!module)
    return diagnostics.take(ErrorCode::MalformedProgram, "the program cannot be read");
  if (failed(verify(*module)))
    return diagnostics.take(ErrorCode::InvalidProgram, "the program breaks the specification");
  if (failed(chlo::expand(*module)))
    return diagnostics.take(ErrorCode::UnsupportedProgram, "an operation of chlo has no meaning");
  return module;
}

} // namespace spokeshave
