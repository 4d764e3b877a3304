//===- Commands.h - the subcommands of `spokeshave` ------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "target/cpu/Compile.h"
#include "target/tpu/Compile.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace spokeshave::tools {

using Arguments = llvm::ArrayRef<llvm::StringRef>;

llvm::Error compileCommand(Arguments arguments);
llvm::Error runCommand(Arguments arguments);
llvm::Error chipCommand(Arguments arguments);
llvm::Error checkCommand(Arguments arguments);
llvm::Error doctorCommand(Arguments arguments);
/// spokeshave time: a program's time on a TPU-class chip, without values.
llvm::Error timeCommand(Arguments arguments);
/// MLIR's own driver; returns the exit status.
int optCommand(int argc, char **argv);

/// Walks a command line: `--name=value` or `--name value`, flags, and the rest.
class ArgumentReader {
public:
  explicit ArgumentReader(Arguments arguments) : rest(arguments) {}

  /// Takes the next argument; false at the end.
  bool next() {
    if (rest.empty())
      return false;
    current = rest.front();
    rest = rest.drop_front();
    return true;
  }
  bool isFlag(llvm::StringRef name) const { return current == name; }
  /// If the current argument is option `name`, its value; fills `value`.
  bool isOption(llvm::StringRef name, llvm::StringRef &value);
  bool isPositional() const { return current == "-" || !current.starts_with("-"); }
  llvm::StringRef get() const { return current; }
  /// Sets a compile option if this is one: --isa, --threads, --option name=value.
  llvm::Expected<bool> takeCompileOption(cpu::CompileOptions &options);
  /// The same for the chip, --option name=value; or for both, where the name is known
  /// to one of them.
  llvm::Expected<bool> takeCompileOption(tpu::CompileOptions &options);
  llvm::Expected<bool> takeCompileOption(cpu::CompileOptions &options, tpu::CompileOptions &chip);
  llvm::Error unknown() const;

private:
  Arguments rest;
  llvm::StringRef current;
};

/// Reads a program from a file, or standard input for "-", into `context`.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> readProgramFile(llvm::StringRef path,
                                                                  mlir::MLIRContext &context);

/// Writes a file; an error if that cannot be.
llvm::Error writeFile(llvm::StringRef path, llvm::function_ref<void(llvm::raw_ostream &)> write);

} // namespace spokeshave::tools
