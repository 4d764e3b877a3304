//===- RunCommand.cpp - spokeshave run -------------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/Commands.h"
#include "tools/Execution.h"
#include "tools/TpuTarget.h"

#include "graph/Pipeline.h"
#include "reference/Interpreter.h"
#include "reference/Npy.h"
#include "runtime/Executable.h"
#include "schedule/Evaluate.h"
#include "schedule/Passes.h"
#include "support/Error.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <random>

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::tools;
using reference::Tensor;

namespace {

constexpr llvm::StringLiteral kHelp =
    R"(usage: spokeshave run [options] FILE

Compiles and runs a StableHLO program and prints its results.

  --arg FILE.npy       the next argument; give as many as @main takes
  --random-args[=SEED] make up the arguments that are not given
  --out PREFIX         write the results to PREFIX0.npy, PREFIX1.npy, ...
  --quiet              do not print the results
  --check[=TOLERANCE]  compare with the reference interpreter; fails where the
                       relative difference is larger (default 1e-5)
  --level=LEVEL        executable (the default); schedule: plays the schedule
                       with each kernel's fusion in the reference interpreter;
                       reference: interprets the program as the specification says
  --repeat=N           run N times and print the least time
  --isa, --threads, --option   as for compile
  --target=TARGET      cpu (the default); or tpu: a simulated TPU-class chip
  --chip=CHIP          of that target: a chip's name or a chip file (default v5e)
  --trace=FILE, --xplane=FILE   of that target: see spokeshave time --help
)";

struct RunOptions {
  cpu::CompileOptions compile;
  StringRef file, out;
  SmallVector<StringRef> arguments;
  std::optional<uint64_t> seed;
  std::optional<double> tolerance;
  int repeat = 1;
  StringRef level = "executable", target = "cpu";
  tpu::CompileOptions tpu;
  TraceFiles traces;
  bool quiet = false, help = false;
};

llvm::Expected<RunOptions> parse(Arguments arguments) {
  RunOptions options;
  ArgumentReader reader(arguments);
  while (reader.next()) {
    StringRef value;
    llvm::Expected<bool> taken = reader.takeCompileOption(options.compile, options.tpu);
    if (!taken)
      return taken.takeError();
    if (*taken || reader.isOption("--out", options.out) ||
        reader.isOption("--level", options.level) || reader.isOption("--target", options.target))
      continue;
    if (reader.isOption("--chip", value)) {
      options.tpu.chip = value.str();
      continue;
    }
    if (reader.isOption("--trace", value)) {
      options.traces.timeline = value.str();
      continue;
    }
    if (reader.isOption("--xplane", value)) {
      options.traces.xplane = value.str();
      continue;
    }
    if (reader.isFlag("--help")) {
      options.help = true;
    } else if (reader.isFlag("--quiet")) {
      options.quiet = true;
    } else if (reader.isFlag("--random-args")) {
      options.seed = 0;
    } else if (reader.isFlag("--check")) {
      options.tolerance = 1e-5;
    } else if (reader.isOption("--random-args", value)) {
      if (value.getAsInteger(10, options.seed.emplace()))
        return reader.unknown();
    } else if (reader.isOption("--check", value)) {
      if (value.getAsDouble(options.tolerance.emplace()))
        return reader.unknown();
    } else if (reader.isOption("--repeat", value)) {
      if (value.getAsInteger(10, options.repeat) || options.repeat < 1)
        return reader.unknown();
    } else if (reader.isOption("--arg", value)) {
      options.arguments.push_back(value);
    } else if (reader.isPositional() && options.file.empty()) {
      options.file = reader.get();
    } else {
      return reader.unknown();
    }
  }
  if (options.file.empty() && !options.help)
    return makeError(ErrorCode::BadOption, "name a file to run; see --help");
  if (options.level != "executable" && options.level != "schedule" && options.level != "reference")
    return makeError(ErrorCode::BadOption, "no level '" + options.level + "'; see --help");
  options.tpu.fusion = options.compile.fusion;
  options.tpu.attention = options.compile.attention;
  if (options.target != "cpu" && options.target != "tpu")
    return makeError(ErrorCode::BadOption, "no target '" + options.target + "'; see --help");
  if (options.traces.any() && options.target != "tpu")
    return makeError(ErrorCode::BadOption, "--trace and --xplane are of --target=tpu");
  return options;
}

/// Made-up values: floats around zero, small integers.
Tensor randomTensor(RankedTensorType type, std::mt19937_64 &random) {
  auto element = reference::ElementType::get(type.getElementType());
  Tensor tensor(*element, type.getShape());
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int64_t> small(0, 9);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    reference::Scalar value;
    if (element->isFloat() || element->isComplex()) {
      value.re = normal(random);
      value.im = element->isComplex() ? normal(random) : 0;
    } else {
      value.i = element->isBoolean() ? small(random) % 2 : small(random);
    }
    tensor.set(i, element->round(value));
  }
  return tensor;
}

llvm::Expected<std::vector<Tensor>> makeArguments(func::FuncOp main, const RunOptions &options) {
  size_t wanted = main.getNumArguments(), given = options.arguments.size();
  if (given > wanted || (given < wanted && !options.seed))
    return makeError(ErrorCode::BadArgument,
                     llvm::formatv("@main takes {0} arguments, not {1}", wanted, given));
  std::mt19937_64 random(options.seed.value_or(0));
  std::vector<Tensor> tensors;
  for (auto [index, type] : llvm::enumerate(main.getArgumentTypes())) {
    auto tensorType = dyn_cast<RankedTensorType>(type);
    if (!tensorType || failed(reference::ElementType::get(tensorType.getElementType())))
      return makeError(ErrorCode::UnsupportedProgram, "an argument of @main is no tensor");
    if (index >= given) {
      tensors.push_back(randomTensor(tensorType, random));
      continue;
    }
    llvm::Expected<Tensor> tensor = reference::readNpy(options.arguments[index], tensorType);
    if (!tensor)
      return makeError(ErrorCode::BadArgument, llvm::toString(tensor.takeError()));
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

llvm::Error runExecutable(OwningOpRef<ModuleOp> module, const RunOptions &options,
                          std::vector<Tensor> &arguments, std::vector<Tensor> &results,
                          int64_t &best) {
  auto program = cpu::compile(std::move(module), options.compile);
  if (!program)
    return program.takeError();
  auto executable = runtime::Executable::create(std::move(*program));
  if (!executable)
    return executable.takeError();
  for (int i = 0; i < options.repeat; ++i) {
    int64_t nanoseconds = 0;
    if (llvm::Error error = executeOnTensors(**executable, arguments, results, nanoseconds))
      return error;
    best = std::min(best, nanoseconds);
  }
  return llvm::Error::success();
}

/// Without kernels and code: what is wrong then is wrong in schedule/ or before.
llvm::Error runSchedule(ModuleOp module, const RunOptions &options,
                        const std::vector<Tensor> &arguments, std::vector<Tensor> &results) {
  DiagnosticCollector diagnostics(module.getContext());
  PassManager manager(module.getContext(), ModuleOp::getOperationName());
  graph::GraphOptions graphOptions;
  graphOptions.fusion = options.compile.fusion;
  graphOptions.attention = options.compile.attention;
  graph::buildGraphPipeline(manager, graphOptions);
  schedule::buildSchedulePipeline(manager, /*verifyPlan=*/true);
  if (failed(manager.run(module)))
    return diagnostics.take(ErrorCode::UnsupportedProgram, "the program has no schedule");
  schedule::EvaluationCounters counters;
  auto played = schedule::evaluateProgram(module, arguments, &counters);
  if (failed(played))
    return diagnostics.take(ErrorCode::Internal, "the schedule cannot be played");
  results.assign(played->begin(), played->end());
  llvm::outs() << llvm::formatv("{0} launches in {1} regions, {2} calls, {3} copies of {4} bytes\n",
                                counters.launches, counters.regions, counters.calls,
                                counters.copies, counters.copiedBytes);
  return llvm::Error::success();
}

/// Nothing is compiled at all: the results that others are compared with.
llvm::Error runReference(ModuleOp module, const std::vector<Tensor> &arguments,
                         std::vector<Tensor> &results) {
  auto interpreted = reference::evaluate(module, arguments);
  if (!interpreted)
    return interpreted.takeError();
  results.assign(interpreted->begin(), interpreted->end());
  return llvm::Error::success();
}

/// Brings `module` to the level that the options name and runs it there.
llvm::Error runLevel(OwningOpRef<ModuleOp> module, const RunOptions &options,
                     std::vector<Tensor> &arguments, std::vector<Tensor> &results, int64_t &best) {
  if (options.level == "executable" && options.target == "tpu")
    return runOnTpu(std::move(module), options.tpu, options.traces, arguments, results);
  if (options.level == "schedule")
    return runSchedule(*module, options, arguments, results);
  if (options.level == "reference")
    return runReference(*module, arguments, results);
  return runExecutable(std::move(module), options, arguments, results, best);
}

/// The largest difference of two results, relative to the larger of the values
/// and 1; NaN equals NaN.
double difference(const Tensor &a, const Tensor &b) {
  double largest = 0;
  auto compare = [&](double x, double y) {
    if (x == y || (std::isnan(x) && std::isnan(y)))
      return;
    double scale = std::max({1.0, std::abs(x), std::abs(y)});
    double relative = std::abs(x - y) / scale;
    largest = std::max(largest, std::isnan(relative) ? INFINITY : relative);
  };
  for (int64_t i = 0; i < a.size(); ++i) {
    reference::Scalar x = a.at(i), y = b.at(i);
    compare(double(x.i), double(y.i));
    compare(x.re, y.re);
    compare(x.im, y.im);
  }
  return largest;
}

llvm::Error check(ModuleOp module, ArrayRef<Tensor> arguments, ArrayRef<Tensor> results,
                  double tolerance) {
  auto expected = reference::evaluate(module, arguments);
  if (!expected)
    return expected.takeError();
  double largest = 0;
  for (auto [index, pair] : llvm::enumerate(llvm::zip_equal(results, *expected))) {
    double found = difference(std::get<0>(pair), std::get<1>(pair));
    largest = std::max(largest, found);
    if (!(found <= tolerance))
      return makeError(
          ErrorCode::Internal,
          llvm::formatv("result {0} differs from the reference by {1:E2}", index, found));
  }
  llvm::outs() << llvm::formatv("agrees with the reference: largest difference {0:E2}\n", largest);
  return llvm::Error::success();
}

llvm::Error report(const RunOptions &options, ArrayRef<Tensor> results) {
  for (auto [index, result] : llvm::enumerate(results)) {
    if (!options.out.empty()) {
      std::string path = (options.out + llvm::Twine(index) + ".npy").str();
      if (llvm::Error error = reference::writeNpy(path, result))
        return makeError(ErrorCode::BadArgument, llvm::toString(std::move(error)));
    }
    if (!options.quiet) {
      result.print(llvm::outs());
      llvm::outs() << "\n";
    }
  }
  return llvm::Error::success();
}

} // namespace

llvm::Error tools::runCommand(Arguments commandLine) {
  auto options = parse(commandLine);
  if (!options)
    return options.takeError();
  if (options->help) {
    llvm::outs() << kHelp;
    return llvm::Error::success();
  }
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto module = readProgramFile(options->file, context);
  if (!module)
    return module.takeError();
  auto main = (*module)->lookupSymbol<func::FuncOp>("main");
  if (!main)
    return makeError(ErrorCode::InvalidProgram, "the program has no function @main");
  auto arguments = makeArguments(main, *options);
  if (!arguments)
    return arguments.takeError();
  auto empty = emptyResults(main);
  if (!empty)
    return empty.takeError();
  std::vector<Tensor> results = std::move(*empty);

  OwningOpRef<ModuleOp> original = cast<ModuleOp>((*module)->getOperation()->clone());
  int64_t best = INT64_MAX;
  if (llvm::Error error = runLevel(std::move(*module), *options, *arguments, results, best))
    return error;
  if (llvm::Error error = report(*options, results))
    return error;
  if (options->repeat > 1)
    llvm::outs() << llvm::formatv("least time of {0} runs: {1:F3} ms\n", options->repeat,
                                  double(best) / 1e6);
  return options->tolerance ? check(*original, *arguments, results, *options->tolerance)
                            : llvm::Error::success();
}
