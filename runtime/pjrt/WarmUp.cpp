//===- WarmUp.cpp - the first compilation of a process ---------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first compilation takes some milliseconds more than the next ones: pages of
// the compiler's code come into memory, its symbols are bound, LLVM sets up its
// tables of the target. Between the making of a client and a user's first program
// passes more time than that, while Python imports and traces.
//
//===----------------------------------------------------------------------===//
#include "runtime/pjrt/WarmUp.h"

#include "input/Dialects.h"
#include "input/Reader.h"
#include "runtime/Executable.h"
#include "target/cpu/Compile.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <atomic>
#include <cstdlib>
#include <thread>

#include <unistd.h>

using namespace spokeshave;

/// A product, a reduction and a loop over elements with a polynomial.
static constexpr llvm::StringLiteral kProgram = R"(
module @warm_up {
  func.func @main(%a: tensor<48x64xf32>, %b: tensor<64x32xf32>) -> tensor<48x32xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<48x64xf32>, tensor<64x32xf32>) -> tensor<48x32xf32>
    %1 = stablehlo.tanh %0 : tensor<48x32xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<48x32xf32>, tensor<f32>) -> tensor<48xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<48xf32>) -> tensor<48x32xf32>
    %4 = stablehlo.add %1, %3 : tensor<48x32xf32>
    return %4 : tensor<48x32xf32>
  }
})";

/// Whatever goes wrong here goes wrong again, and is told, in the user's program.
static void compileOnce() {
  mlir::DialectRegistry registry;
  registerInputDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) { return mlir::success(); });
  auto module = readProgram(kProgram, "warm_up", &context);
  if (!module)
    return;
  cpu::CompileOptions options;
  options.threads = 1;
  options.shareKernels = false; // the cache is for kernels that somebody may want
  llvm::Expected<std::unique_ptr<cpu::Program>> program = cpu::compile(std::move(module), options);
  if (!program)
    return llvm::consumeError(program.takeError());
  llvm::Expected<std::unique_ptr<runtime::Executable>> loaded =
      runtime::Executable::create(std::move(*program));
  if (!loaded)
    llvm::consumeError(loaded.takeError());
}

namespace {

/// Static destruction, of LLVM's objects too, waits for the thread's end.
struct Background {
  Background() : owner(getpid()) {
    try {
      thread = std::thread([this] {
        compileOnce();
        isDone = true;
      });
    } catch (const std::system_error &) { // no thread to be had
    }
  }
  ~Background() {
    if (!thread.joinable())
      return;
    if (isDone || getpid() == owner)
      thread.join();
    else // a child of fork does not have it
      thread.detach();
  }

  std::atomic<bool> isDone = false;
  pid_t owner;
  std::thread thread;
};

} // namespace

void pjrt::warmUp() {
  const char *setting = std::getenv("SPOKESHAVE_WARM_UP");
  if (setting && llvm::StringRef(setting) == "0")
    return;
  static Background once;
}
