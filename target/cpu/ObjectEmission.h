//===- ObjectEmission.h - LLVM IR to object code ---------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "machine/Machine.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace llvm {
class Module;
class LLVMContext;
} // namespace llvm

namespace spokeshave::cpu {

/// A module with the context that it lives in: one per thread of code generation.
struct CodeModule {
  CodeModule(llvm::StringRef name);
  CodeModule(CodeModule &&);
  ~CodeModule();

  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

struct EmittedCode {
  std::vector<char> object; ///< an ELF relocatable object
  std::string ir, assembly; ///< if asked for
};

struct EmissionOptions {
  bool wantIr = false, wantAssembly = false;
  int64_t threads = 1;
};

/// Verifies, optimises and emits each of `modules`, several at once on
/// `options.threads` threads. Error Internal if one is not valid LLVM IR.
llvm::Expected<std::vector<EmittedCode>> emitObjects(llvm::MutableArrayRef<CodeModule> modules,
                                                     const machine::Machine &machine,
                                                     const EmissionOptions &options);

} // namespace spokeshave::cpu
