//===- spokeshave.cpp - the command ----------------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/Commands.h"
#include "tools/Passes.h"

#include "support/Error.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

using namespace spokeshave;

static constexpr llvm::StringLiteral kHelp = R"(usage: spokeshave COMMAND ...

  run FILE       compile a StableHLO program and run it
  compile FILE   compile it and show a level of the road, or what came out
  check FILE     run programs that check themselves, interpreted or compiled
  opt FILE       run single passes on text
  chip CHIP      a TPU-class chip: its figures, and what kernels cost on it
  time FILE      how long it takes on a TPU-class chip, kernel by kernel
  doctor         what this machine is, and what of it is used
  bench          time ordinary JAX programs; Python, as the next two: in a build
                 tree python -m spokeshave.bench, .codesign, .codesign.explain
  codesign PROG  sweep over a TPU-class chip's figures, with plots
  explain PROG   per kernel what bounds it on such a chip, and what would help

Each command takes --help.
)";

int tools::optCommand(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  registerAllPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Spokeshave's optimizer driver\n", registry));
}

/// User errors exit with 1, a bug of ours with 2, the machine's no with 3.
static int exitStatusOf(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::User:
    return 1;
  case ErrorKind::Internal:
    return 2;
  case ErrorKind::Runtime:
    return 3;
  }
  return 2;
}

int main(int argc, char **argv) {
  llvm::SmallVector<llvm::StringRef> arguments(argv + 1, argv + argc);
  llvm::StringRef command = arguments.empty() ? "--help" : arguments.front();
  if (command == "--help" || command == "help") {
    llvm::outs() << kHelp;
    return arguments.empty();
  }
  if (command == "opt") {
    argv[1] = argv[0];
    return tools::optCommand(argc - 1, argv + 1);
  }
  if (command == "bench" || command == "codesign" || command == "explain") {
    // The package's own `spokeshave` does not come here with them.
    llvm::errs() << "spokeshave: " << command << " is Python: python -m spokeshave."
                 << (command == "explain" ? llvm::StringRef("codesign.explain") : command)
                 << " --help\n";
    return 1;
  }
  using Command = llvm::Error (*)(tools::Arguments);
  auto run = llvm::StringSwitch<Command>(command)
                 .Case("compile", tools::compileCommand)
                 .Case("run", tools::runCommand)
                 .Case("chip", tools::chipCommand)
                 .Case("check", tools::checkCommand)
                 .Case("doctor", tools::doctorCommand)
                 .Case("time", tools::timeCommand)
                 .Default(nullptr);
  if (!run) {
    llvm::errs() << "spokeshave: no command '" << command << "'\n" << kHelp;
    return 1;
  }
  if (llvm::Error error = run(llvm::ArrayRef(arguments).drop_front())) {
    std::unique_ptr<Error> ours = takeError(std::move(error));
    llvm::errs() << "spokeshave: " << nameOf(ours->getCode()) << ": " << ours->getMessage() << "\n";
    return exitStatusOf(ours->getKind());
  }
  return 0;
}
