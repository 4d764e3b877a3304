//===- CheckCommand.cpp - spokeshave check ----------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/Commands.h"
#include "tools/Suite.h"

#include "support/Error.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace spokeshave;
using namespace spokeshave::tools;

namespace {

constexpr llvm::StringLiteral kHelp =
    R"(usage: spokeshave check [options] FILE...
       spokeshave check [options] --suite DIR

Runs programs that check themselves by check.expect_* operations, each in a
process of its own. A file may hold several, separated by lines of `// -----`.

  --suite DIR          all .mlir files below DIR; of a checkout of StableHLO its
                       folders stablehlo/tests/interpret and math
  --target=TARGET      reference (the interpreter), cpu (compiled), both of these, or
                       tpu (a simulated TPU-class chip, with --option precision=highest
                       if not given); reference for files, both for a suite if not given
  --chip=CHIP          of that chip: a name or a file, with settings (default v5e)
  --only GLOB          only cases or files whose name matches
  --require PERCENT    fail where a target passes less of its cases (default 100);
                       or TARGET=PERCENT, for one target
  --json FILE          write the outcome of every case
  --out FILE           write the tables and what did not pass as Markdown
  --timeout SECONDS    per case (default 60)
  --step-limit N       operations after which the interpreter stops
  --quiet              do not print the table
  --isa, --threads, --option   as for compile
)";

struct CheckOptions {
  SuiteOptions suite;
  llvm::StringRef folder, only = "*", json, page;
  std::string target;
  llvm::SmallVector<llvm::StringRef> files;
  double required[std::size(kSuiteTargets)] = {100, 100, 100};
  bool quiet = false, help = false;
};

/// "95" or "cpu=95".
bool parseRequired(llvm::StringRef text, CheckOptions &options) {
  auto [target, percent] = text.split('=');
  if (percent.empty())
    std::swap(target, percent);
  double value = 0;
  if (percent.getAsDouble(value))
    return false;
  bool known = target.empty();
  for (SuiteTarget one : kSuiteTargets)
    if (target.empty() || target == nameOf(one)) {
      options.required[int(one)] = value;
      known = true;
    }
  return known;
}

llvm::Expected<CheckOptions> parse(Arguments arguments) {
  CheckOptions options;
  // What is expected of f32 are numbers of f32.
  options.suite.tpu.precision = stablehlo::Precision::HIGHEST;
  ArgumentReader reader(arguments);
  while (reader.next()) {
    llvm::StringRef value;
    llvm::Expected<bool> taken = reader.takeCompileOption(options.suite.compile, options.suite.tpu);
    if (!taken)
      return taken.takeError();
    if (*taken || reader.isOption("--suite", options.folder) ||
        reader.isOption("--only", options.only) || reader.isOption("--json", options.json) ||
        reader.isOption("--out", options.page))
      continue;
    bool good = true;
    if (reader.isFlag("--help"))
      options.help = true;
    else if (reader.isFlag("--quiet"))
      options.quiet = true;
    else if (reader.isOption("--target", value))
      options.target = value.str();
    else if (reader.isOption("--chip", value))
      options.suite.tpu.chip = value.str();
    else if (reader.isOption("--require", value))
      good = parseRequired(value, options);
    else if (reader.isOption("--timeout", value))
      good = !value.getAsInteger(10, options.suite.seconds) && options.suite.seconds > 0;
    else if (reader.isOption("--step-limit", value))
      good = !value.getAsInteger(10, options.suite.stepLimit);
    else if (reader.isPositional())
      options.files.push_back(reader.get());
    else
      good = false;
    if (!good)
      return reader.unknown();
  }
  if (options.help)
    return options;
  if (options.files.empty() == options.folder.empty())
    return makeError(ErrorCode::BadOption, "name files or a suite; see --help");
  if (options.target.empty())
    options.target = options.folder.empty() ? "reference" : "both";
  if (!llvm::is_contained({"reference", "cpu", "both", "tpu"}, llvm::StringRef(options.target)))
    return makeError(ErrorCode::BadOption, "no target '" + options.target + "'; see --help");
  return options;
}

llvm::Expected<std::vector<SuiteCase>> readCases(const CheckOptions &options) {
  if (!options.folder.empty())
    return findCases(options.folder, options.only);
  std::vector<SuiteCase> cases;
  for (llvm::StringRef file : options.files) {
    auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(file);
    if (!buffer)
      return makeError(ErrorCode::BadArgument,
                       "cannot read '" + file + "': " + buffer.getError().message());
    for (SuiteCase &one : splitCases(file, (*buffer)->getBuffer()))
      cases.push_back(std::move(one));
  }
  return cases;
}

SuiteRow runRow(llvm::ArrayRef<SuiteCase> cases, SuiteTarget target, const CheckOptions &options) {
  SuiteRow row{target, {}};
  for (const SuiteCase &one : cases) {
    row.outcomes.push_back(judgeCase(one, target, options.suite));
    const SuiteOutcome &outcome = row.outcomes.back();
    if (outcome.status != SuiteStatus::Passed)
      llvm::errs() << one.id() << " on " << nameOf(target) << ": " << nameOf(outcome.status) << ": "
                   << outcome.reason << "\n";
  }
  return row;
}

using Printer = void (*)(llvm::ArrayRef<SuiteCase>, llvm::ArrayRef<SuiteRow>, llvm::raw_ostream &);

llvm::Error write(llvm::StringRef path, Printer print, llvm::ArrayRef<SuiteCase> cases,
                  llvm::ArrayRef<SuiteRow> rows) {
  if (path.empty())
    return llvm::Error::success();
  return writeFile(path, [&](llvm::raw_ostream &os) { print(cases, rows, os); });
}

} // namespace

llvm::Error tools::checkCommand(Arguments arguments) {
  auto options = parse(arguments);
  if (!options)
    return options.takeError();
  if (options->help) {
    llvm::outs() << kHelp;
    return llvm::Error::success();
  }
  auto cases = readCases(*options);
  if (!cases)
    return cases.takeError();
  if (cases->empty())
    return makeError(ErrorCode::BadArgument, "there is no case to check");
  std::vector<SuiteRow> rows;
  for (SuiteTarget target : kSuiteTargets)
    if (options->target == nameOf(target) ||
        (options->target == "both" && target != SuiteTarget::Tpu))
      rows.push_back(runRow(*cases, target, *options));
  if (!options->quiet)
    printTable(*cases, rows, llvm::outs());
  if (llvm::Error error = write(options->json, printJson, *cases, rows))
    return error;
  if (llvm::Error error = write(options->page, printPage, *cases, rows))
    return error;
  for (const SuiteRow &row : rows)
    if (double wanted = options->required[int(row.target)]; passedPercent(row) < wanted)
      return makeError(ErrorCode::Internal,
                       llvm::formatv("{0}: {1:F1}% of the cases pass, {2:F1}% are required",
                                     nameOf(row.target), passedPercent(row), wanted));
  return llvm::Error::success();
}
