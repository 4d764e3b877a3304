//===- Suite.h - a folder of programs that check themselves -----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A case is one program; a file may hold several, separated by lines of
// `// -----`. Each runs on one of three targets: the reference interpreter, this
// machine's processor by the whole road, or a simulated TPU-class chip.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "target/cpu/Compile.h"
#include "target/tpu/Compile.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace spokeshave::tools {

struct SuiteCase {
  std::string file;  ///< as messages show it
  unsigned line = 0; ///< of the file, where the program begins
  std::string name;  ///< of its first function
  std::string text;  ///< the program, with lines before it to keep the numbers
  bool selfChecking = false;

  /// "add.mlir:12 @add_f32".
  std::string id() const;
};

enum class SuiteTarget { Reference, Cpu, Tpu };
constexpr SuiteTarget kSuiteTargets[] = {SuiteTarget::Reference, SuiteTarget::Cpu,
                                         SuiteTarget::Tpu};
llvm::StringRef nameOf(SuiteTarget target);

enum class SuiteStatus { Passed, Failed, Unsupported };
llvm::StringRef nameOf(SuiteStatus status);

struct SuiteOutcome {
  SuiteStatus status = SuiteStatus::Failed;
  std::string reason; ///< empty where it passed
};

struct SuiteOptions {
  cpu::CompileOptions compile;
  tpu::CompileOptions tpu;
  uint64_t stepLimit = 100000000; ///< of the interpreter
  int seconds = 60;               ///< per case
};

/// The programs in one file's text.
std::vector<SuiteCase> splitCases(llvm::StringRef file, llvm::StringRef text);
/// The cases of all .mlir files below `folder`, sorted; of a checkout of StableHLO
/// those of its folders interpret and math. `pattern` selects by a glob on the
/// case's name within the folder.
llvm::Expected<std::vector<SuiteCase>> findCases(llvm::StringRef folder, llvm::StringRef pattern);

/// Runs a case in this process: its error, or success.
llvm::Error runCase(const SuiteCase &suiteCase, SuiteTarget target, const SuiteOptions &options);
/// Runs it in a child process.
SuiteOutcome judgeCase(const SuiteCase &suiteCase, SuiteTarget target, const SuiteOptions &options);

//===----------------------------------------------------------------------===//
// Reports.
//===----------------------------------------------------------------------===//

struct SuiteRow {
  SuiteTarget target;
  std::vector<SuiteOutcome> outcomes; ///< one per case
};

/// Of the cases that `target` can be asked for (those of one device), the share
/// that passed, in percent.
double passedPercent(const SuiteRow &row);

/// A table per file (the name of an operation, mostly) and the sums.
void printTable(llvm::ArrayRef<SuiteCase> cases, llvm::ArrayRef<SuiteRow> rows,
                llvm::raw_ostream &os);
/// The same as a page, with a list of all that did not pass and why.
void printPage(llvm::ArrayRef<SuiteCase> cases, llvm::ArrayRef<SuiteRow> rows,
               llvm::raw_ostream &os);
void printJson(llvm::ArrayRef<SuiteCase> cases, llvm::ArrayRef<SuiteRow> rows,
               llvm::raw_ostream &os);

} // namespace spokeshave::tools
