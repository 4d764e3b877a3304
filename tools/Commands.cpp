//===- Commands.cpp - what the subcommands have in common ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/Commands.h"

#include "input/Reader.h"
#include "support/Error.h"

#include "llvm/Support/MemoryBuffer.h"

using namespace spokeshave;
using namespace spokeshave::tools;

bool ArgumentReader::isOption(llvm::StringRef name, llvm::StringRef &value) {
  llvm::StringRef text = current;
  if (!text.consume_front(name))
    return false;
  if (text.consume_front("=")) {
    value = text;
    return true;
  }
  if (!text.empty() || rest.empty())
    return false;
  value = rest.front();
  rest = rest.drop_front();
  return true;
}

llvm::Expected<bool> ArgumentReader::takeCompileOption(cpu::CompileOptions &options) {
  llvm::StringRef value;
  for (llvm::StringRef name : {"isa", "threads"})
    if (isOption(("--" + name).str(), value)) {
      if (llvm::Error error = options.set(name, value))
        return error;
      return true;
    }
  if (!isOption("--option", value))
    return false;
  auto [name, setting] = value.split('=');
  if (llvm::Error error = options.set(name, setting))
    return error;
  return true;
}

llvm::Expected<bool> ArgumentReader::takeCompileOption(tpu::CompileOptions &options) {
  llvm::StringRef value;
  if (!isOption("--option", value))
    return false;
  auto [name, setting] = value.split('=');
  if (llvm::Error error = options.set(name, setting))
    return error;
  return true;
}

llvm::Expected<bool> ArgumentReader::takeCompileOption(cpu::CompileOptions &options,
                                                       tpu::CompileOptions &chip) {
  llvm::StringRef value;
  if (!isOption("--option", value))
    return takeCompileOption(options);
  auto [name, setting] = value.split('=');
  llvm::Error ofCpu = options.set(name, setting), ofChip = chip.set(name, setting);
  if (ofCpu && ofChip) {
    llvm::consumeError(std::move(ofChip));
    return std::move(ofCpu);
  }
  llvm::consumeError(std::move(ofCpu));
  llvm::consumeError(std::move(ofChip));
  return true;
}

llvm::Error ArgumentReader::unknown() const {
  return makeError(ErrorCode::BadOption, "no option '" + current + "' here; see --help");
}

llvm::Error tools::writeFile(llvm::StringRef path,
                             llvm::function_ref<void(llvm::raw_ostream &)> write) {
  std::error_code problem;
  llvm::raw_fd_ostream os(path, problem);
  if (!problem) {
    write(os);
    os.close();
    problem = os.error();
    os.clear_error();
  }
  if (problem)
    return makeError(ErrorCode::BadArgument, "cannot write '" + path + "': " + problem.message());
  return llvm::Error::success();
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
tools::readProgramFile(llvm::StringRef path, mlir::MLIRContext &context) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (!buffer)
    return makeError(ErrorCode::BadArgument,
                     "cannot read '" + path + "': " + buffer.getError().message());
  return readValidProgram((*buffer)->getBuffer(), path, context);
}
