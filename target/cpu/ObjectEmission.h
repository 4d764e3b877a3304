//===- ObjectEmission.h - LLVM IR to object code ---------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "machine/Machine.h"

#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace llvm {
class Module;
class LLVMContext;
} // namespace llvm

namespace spokeshave::cpu {

/// A module with the context that it lives in, so that threads may work on
/// several at once.
struct CodeModule {
  CodeModule(llvm::StringRef name);
  CodeModule(CodeModule &&);
  CodeModule &operator=(CodeModule &&);
  ~CodeModule();

  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

struct EmittedCode {
  std::vector<char> object;              ///< an ELF relocatable object
  std::string ir, assembly;              ///< if asked for
  double optimizeMs = 0, generateMs = 0; ///< processor time
};

struct EmissionOptions {
  bool wantIr = false, wantAssembly = false;
  int64_t threads = 1;
};

/// Verifies, optimises and emits modules, several at once. Helping threads begin
/// with the first modules, while the caller still makes the next ones.
class ObjectEmitter {
public:
  ObjectEmitter(const machine::Machine &machine, const EmissionOptions &options);
  /// Waits for modules that a helper is working on, drops the others.
  ~ObjectEmitter();

  /// Takes a module over; `cost` is about its number of instructions. Gives the
  /// number of its result.
  size_t add(CodeModule code, int64_t cost);
  /// Works on what is left and waits for the helpers. Error Internal if a module
  /// is not valid LLVM IR.
  llvm::Expected<std::vector<EmittedCode>> finish();

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace spokeshave::cpu
