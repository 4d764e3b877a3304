//===- spokeshave-check.cpp - runs programs that check themselves ----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interprets every public function without arguments of the given files (or
// only main, where there is one), so that their check.expect_* operations run.
// Files may hold several programs, separated by lines of `// -----`. Exits with
// 1 if anything fails.
//
//===----------------------------------------------------------------------===//
#include "input/Dialects.h"
#include "reference/CheckOps.h"
#include "reference/Interpreter.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/ToolUtilities.h"

using namespace mlir;
using namespace spokeshave;

static llvm::cl::list<std::string> files(llvm::cl::Positional, llvm::cl::OneOrMore,
                                         llvm::cl::desc("FILE..."));
static llvm::cl::opt<bool> quiet("quiet", llvm::cl::desc("print no line per failing file"));
static llvm::cl::opt<uint64_t> stepLimit("step-limit", llvm::cl::init(100000000),
                                         llvm::cl::desc("operations after which to stop"));

/// Interprets one program.
static LogicalResult runProgram(std::unique_ptr<llvm::MemoryBuffer> buffer) {
  DialectRegistry registry;
  registerInputDialects(registry);
  reference::registerCheckDialects(registry);
  MLIRContext context(registry);
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  SourceMgrDiagnosticHandler diagnostics(*sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return failure();

  reference::Options options;
  options.stepLimit = stepLimit;
  bool allPassed = true;
  auto run = [&](func::FuncOp function) {
    allPassed &= succeeded(reference::evaluateFunction(function, {}, options));
  };
  // One file may wrap its programs in modules of their own.
  SmallVector<ModuleOp> modules = {*module};
  llvm::append_range(modules, module->getOps<ModuleOp>());
  for (ModuleOp current : modules) {
    if (auto main = current.lookupSymbol<func::FuncOp>("main")) {
      run(main);
      continue;
    }
    for (auto function : current.getOps<func::FuncOp>())
      if (!function.isPrivate() && function.getNumArguments() == 0)
        run(function);
  }
  return success(allPassed);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::cl::ParseCommandLineOptions(argc, argv, "runs programs that check themselves\n");
  int programs = 0, failures = 0;
  for (const std::string &file : files) {
    auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(file);
    if (!buffer) {
      llvm::errs() << file << ": " << buffer.getError().message() << '\n';
      ++failures;
      continue;
    }
    int failuresBefore = failures;
    auto runChunk = [&](std::unique_ptr<llvm::MemoryBuffer> chunk, raw_ostream &) {
      ++programs;
      failures += failed(runProgram(std::move(chunk)));
      return success();
    };
    (void)splitAndProcessBuffer(std::move(*buffer), runChunk, llvm::outs(), "// -----", "");
    if (failures != failuresBefore && !quiet)
      llvm::errs() << file << ": " << failures - failuresBefore << " failed\n";
  }
  llvm::errs() << programs - failures << " of " << programs << " programs passed\n";
  return failures ? 1 : 0;
}
