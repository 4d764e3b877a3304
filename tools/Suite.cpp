//===- Suite.cpp - finds and runs programs that check themselves ------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/Suite.h"

#include "input/Dialects.h"
#include "input/Reader.h"
#include "reference/CheckOps.h"
#include "reference/Interpreter.h"
#include "support/Error.h"
#include "tools/GridCheck.h"
#include "tools/Isolated.h"
#include "tools/SelfCheck.h"
#include "tools/TpuTarget.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <cstring>

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::tools;

std::string SuiteCase::id() const {
  return llvm::formatv("{0}:{1}{2}{3}", file, line, name.empty() ? "" : " @", name);
}

StringRef tools::nameOf(SuiteTarget target) {
  switch (target) {
  case SuiteTarget::Reference:
    return "reference";
  case SuiteTarget::Cpu:
    return "cpu";
  case SuiteTarget::Tpu:
    return "tpu";
  }
  return "";
}

StringRef tools::nameOf(SuiteStatus status) {
  switch (status) {
  case SuiteStatus::Passed:
    return "passed";
  case SuiteStatus::Failed:
    return "failed";
  case SuiteStatus::Unsupported:
    return "not supported";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Finding cases.
//===----------------------------------------------------------------------===//

/// The name of the first public function, or else of the first.
static std::string firstFunction(StringRef text) {
  std::string first;
  for (StringRef rest = text; rest.contains("func.func");) {
    rest = rest.substr(rest.find("func.func") + strlen("func.func"));
    StringRef line = rest.take_until([](char c) { return c == '\n' || c == '('; });
    StringRef name = line.split('@').second.trim();
    if (name.empty())
      continue;
    if (!line.contains("private"))
      return name.str();
    if (first.empty())
      first = name.str();
  }
  return first;
}

std::vector<SuiteCase> tools::splitCases(StringRef file, StringRef text) {
  std::vector<SuiteCase> cases;
  unsigned line = 1;
  std::string program;
  auto finish = [&](unsigned next) {
    std::string name = firstFunction(program);
    // What is only comment is no case.
    if (!name.empty()) {
      bool checks = StringRef(program).contains("check.expect_");
      cases.push_back({file.str(), line, name, std::string(line - 1, '\n') + program, checks});
    }
    program.clear();
    line = next;
  };
  unsigned number = 1;
  for (StringRef rest = text; !rest.empty(); ++number) {
    StringRef current;
    std::tie(current, rest) = rest.split('\n');
    if (current.starts_with("// -----"))
      finish(number + 1);
    else
      program += (current + "\n").str();
  }
  finish(number);
  return cases;
}

/// All .mlir files below `folder`.
static llvm::Error listFiles(const llvm::Twine &folder, std::vector<std::string> &files) {
  std::error_code problem;
  for (llvm::sys::fs::recursive_directory_iterator entry(folder, problem), end;
       entry != end && !problem; entry.increment(problem))
    if (StringRef(entry->path()).ends_with(".mlir"))
      files.push_back(entry->path());
  if (problem)
    return makeError(ErrorCode::BadArgument, "cannot list '" + folder + "': " + problem.message());
  return llvm::Error::success();
}

llvm::Expected<std::vector<SuiteCase>> tools::findCases(StringRef folder, StringRef pattern) {
  auto glob = llvm::GlobPattern::create(pattern);
  if (!glob)
    return makeError(ErrorCode::BadOption, llvm::toString(glob.takeError()));
  SmallString<128> root(folder), tests(folder);
  llvm::sys::path::append(tests, "stablehlo", "tests");
  std::vector<std::string> files;
  if (llvm::sys::fs::is_directory(tests)) {
    root = tests;
    for (StringRef part : {"interpret", "math"})
      if (llvm::Error error = listFiles(root + "/" + part, files))
        return error;
  } else if (llvm::Error error = listFiles(root, files)) {
    return error;
  }
  llvm::sort(files);
  std::vector<SuiteCase> cases;
  for (const std::string &file : files) {
    auto buffer = llvm::MemoryBuffer::getFile(file);
    if (!buffer)
      return makeError(ErrorCode::BadArgument, "cannot read '" + llvm::Twine(file) + "'");
    StringRef shown = file;
    shown.consume_front(root);
    for (SuiteCase &one : splitCases(shown.ltrim('/'), (*buffer)->getBuffer()))
      if (glob->match(one.id()) || glob->match(one.file))
        cases.push_back(std::move(one));
  }
  return cases;
}

//===----------------------------------------------------------------------===//
// Running one.
//===----------------------------------------------------------------------===//

static llvm::Error interpret(func::FuncOp function, const SuiteOptions &options) {
  reference::Options limits;
  limits.stepLimit = options.stepLimit;
  DiagnosticCollector diagnostics(function.getContext());
  if (failed(reference::evaluateFunction(function, {}, limits)))
    return diagnostics.take(ErrorCode::Internal, "interpretation failed");
  return llvm::Error::success();
}

llvm::Error tools::runCase(const SuiteCase &suiteCase, SuiteTarget target,
                           const SuiteOptions &options) {
  DialectRegistry registry;
  registerInputDialects(registry);
  reference::registerCheckDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto module = readValidProgram(suiteCase.text, suiteCase.file, context);
  if (!module)
    return module.takeError();
  for (func::FuncOp function : selfCheckingFunctions(**module)) {
    if (function.getNumArguments() != 0)
      return makeError(ErrorCode::UnsupportedProgram,
                       "'" + function.getSymName() + "' takes arguments, which no one gives");
    if (target == SuiteTarget::Reference) {
      if (llvm::Error error = interpret(function, options))
        return error;
      continue;
    }
    if (runsGrid(function)) {
      GridCompiler compiler =
          target == SuiteTarget::Tpu ? gridOnChips(options.tpu) : gridOnCpu(options.compile);
      if (llvm::Error error = runGridCheck(function, compiler))
        return error;
      continue;
    }
    auto check = cutSelfCheck(function);
    if (!check)
      return check.takeError();
    auto run = [&](OwningOpRef<ModuleOp> program, std::vector<reference::Tensor> &arguments,
                   std::vector<reference::Tensor> &results) {
      if (target == SuiteTarget::Tpu)
        return runOnTpu(std::move(program), options.tpu, {}, arguments, results, llvm::nulls());
      return runOnCpu(std::move(program), options.compile, arguments, results);
    };
    if (llvm::Error error = runSelfCheck(std::move(*check), run))
      return error;
  }
  return llvm::Error::success();
}

/// What a child says of its case: a line with the status, then the reason.
static void tell(llvm::Error error, llvm::raw_ostream &os) {
  if (!error) {
    os << int(SuiteStatus::Passed) << "\n";
    return;
  }
  std::unique_ptr<Error> ours = takeError(std::move(error));
  StringRef message = ours->getMessage();
  SuiteStatus status = SuiteStatus::Failed;
  if (ours->getCode() == ErrorCode::UnsupportedProgram)
    status = SuiteStatus::Unsupported;
  os << int(status) << "\n" << spokeshave::nameOf(ours->getCode()) << ": " << message;
}

SuiteOutcome tools::judgeCase(const SuiteCase &suiteCase, SuiteTarget target,
                              const SuiteOptions &options) {
  IsolatedResult result =
      runIsolated([&](llvm::raw_ostream &os) { tell(runCase(suiteCase, target, options), os); },
                  options.seconds);
  using End = IsolatedResult::End;
  if (result.end == End::TimedOut)
    return {SuiteStatus::Failed, llvm::formatv("does not end within {0} s", options.seconds)};
  if (result.end == End::Crashed)
    return {SuiteStatus::Failed, (llvm::Twine("crashes: ") + strsignal(result.signal)).str()};
  auto [status, reason] = StringRef(result.output).split('\n');
  int number = int(SuiteStatus::Failed);
  if (status.getAsInteger(10, number))
    return {SuiteStatus::Failed, "ends without an outcome"};
  return {SuiteStatus(number), reason.str()};
}
