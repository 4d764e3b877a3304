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
// With --arg or --out it interprets main of one file, text or bytecode, on
// arguments from .npy files and writes the results as such.
//
//===----------------------------------------------------------------------===//
#include "input/Dialects.h"
#include "input/Reader.h"
#include "reference/CheckOps.h"
#include "reference/Interpreter.h"
#include "reference/Npy.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/ToolUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace spokeshave;

static llvm::cl::list<std::string> files(llvm::cl::Positional, llvm::cl::OneOrMore,
                                         llvm::cl::desc("FILE..."));
static llvm::cl::opt<bool> quiet("quiet", llvm::cl::desc("print no line per failing file"));
static llvm::cl::opt<uint64_t> stepLimit("step-limit", llvm::cl::init(100000000),
                                         llvm::cl::desc("operations after which to stop"));
static llvm::cl::list<std::string> arguments("arg", llvm::cl::desc("an argument, FILE.npy"));
static llvm::cl::opt<std::string> out("out", llvm::cl::desc("write results to PREFIX0.npy, ..."));

/// Interprets main of a program on files.
static llvm::Error runOnFiles(llvm::StringRef file) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(file);
  if (!buffer)
    return llvm::createStringError(buffer.getError(), file);
  MLIRContext context;
  loadInputDialects(context);
  OwningOpRef<ModuleOp> module = readProgram((*buffer)->getBuffer(), file, &context);
  auto main = module ? module->lookupSymbol<func::FuncOp>("main") : func::FuncOp();
  if (!main)
    return llvm::createStringError(file + ": no program with a function main");
  llvm::SmallVector<reference::Tensor> tensors;
  for (auto [path, type] : llvm::zip(arguments, main.getArgumentTypes())) {
    auto tensorType = dyn_cast<RankedTensorType>(type);
    if (!tensorType)
      return llvm::createStringError(path + ": stands for an argument that is no tensor");
    llvm::Expected<reference::Tensor> tensor = reference::readNpy(path, tensorType);
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }
  auto results = reference::evaluate(*module, tensors);
  if (!results)
    return results.takeError();
  for (auto [i, result] : llvm::enumerate(*results))
    if (llvm::Error error = reference::writeNpy(out + std::to_string(i) + ".npy", result))
      return error;
  return llvm::Error::success();
}

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
  if (!arguments.empty() || !out.empty()) {
    llvm::Error error = runOnFiles(files.front());
    bool isError = static_cast<bool>(error);
    llvm::logAllUnhandledErrors(std::move(error), llvm::errs());
    return isError;
  }
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
