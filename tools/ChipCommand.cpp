//===- ChipCommand.cpp - spokeshave chip -----------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shows a chip's figures with their sources, and what single kernels cost by
// the closed forms of machine/TpuCost.h. scripts/fit_chips.py and
// scripts/validate_chips.py are written on top of it, so that no second model
// exists in Python.
//
//===----------------------------------------------------------------------===//
#include "tools/Commands.h"

#include "machine/Chip.h"
#include "machine/TpuCost.h"
#include "support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <iostream>
#include <string>

using namespace spokeshave;
using namespace spokeshave::machine;

static constexpr llvm::StringLiteral kHelp = R"(usage: spokeshave chip [CHIP] [options]

CHIP is a name, the path of a chip file, or either with settings after a colon:
v5e, ./mine.json, v6e:vmem=64MiB,mxu=4. Without it: the names that there are.

  (nothing)             the figures, their sources, and the hash
  --schema              the figures that a chip has, as a table
  --gemm M,K,N,TYPE     the time of a product and what it is made of
  --kernels FILE        the times of the kernels in a JSON file, as JSON
  --settings-from-stdin with --kernels: once per line of settings, one answer a line
)";

namespace {

llvm::Error badKernel(size_t index, const llvm::Twine &message) {
  return makeError(ErrorCode::BadArgument,
                   "kernel " + llvm::Twine(index) + " of the list: " + message);
}

/// Reads the fields of one kernel; the first that is wrong makes `error` non-empty.
class KernelReader {
public:
  explicit KernelReader(const llvm::json::Object &object) : object(object) {}

  int64_t size(llvm::StringRef name, std::optional<int64_t> otherwise = std::nullopt) {
    std::optional<int64_t> value = object.getInteger(name);
    if (!object.get(name) && otherwise)
      return *otherwise;
    // Beyond this the products of sizes leave a double's whole numbers.
    if (!value || *value < 1 || *value > (int64_t(1) << 40)) {
      wrong = "'" + name.str() + "' must be a whole number from 1 to 2^40";
      return 1;
    }
    return *value;
  }
  bool flag(llvm::StringRef name) { return object.getBoolean(name).value_or(false); }
  double number(llvm::StringRef name, double otherwise) {
    double value = object.getNumber(name).value_or(otherwise);
    if (!(value >= 0 && value < 1e9))
      wrong = "'" + name.str() + "' must be a number from 0 to 1e9";
    return value;
  }
  TpuType type() {
    llvm::Expected<TpuType> parsed = parseTpuType(object.getString("type").value_or("bf16"));
    if (parsed)
      return *parsed;
    wrong = takeError(parsed.takeError())->getMessage();
    return TpuType::Bf16;
  }

  std::string wrong;

private:
  const llvm::json::Object &object;
};

KernelTime timeGemm(const Chip &chip, KernelReader &reader) {
  Gemm gemm;
  gemm.m = reader.size("m");
  gemm.n = reader.size("n");
  gemm.k = reader.size("k");
  gemm.batch = reader.size("batch", 1);
  gemm.lhs = gemm.rhs = gemm.out = reader.type();
  gemm.lhsInVmem = reader.flag("lhs_in_vmem");
  gemm.rhsInVmem = reader.flag("rhs_in_vmem");
  gemm.outInVmem = reader.flag("out_in_vmem");
  gemm.fullPrecision = reader.flag("full_precision");
  GemmBlocks blocks{reader.size("block_m", 0), reader.size("block_n", 0),
                    reader.size("block_k", 0)};
  if (!reader.wrong.empty())
    return {};
  if (blocks.m > 0 && blocks.n > 0 && blocks.k > 0)
    return gemmTime(chip, gemm, blocks, chip.coresOfDevice());
  return gemmTime(chip, gemm);
}

KernelTime timeElementwise(const Chip &chip, KernelReader &reader) {
  Elementwise loop;
  loop.rows = reader.size("rows", 1);
  loop.columns = reader.size("columns");
  loop.inputs.assign(std::min<int64_t>(reader.size("inputs", 1), 64), reader.type());
  loop.outputs.push_back(reader.type());
  loop.aluOps = reader.number("alu", 1);
  loop.transcendentals = reader.number("transcendentals", 0);
  loop.inVmem = reader.flag("in_vmem");
  return reader.wrong.empty() ? elementwiseTime(chip, loop) : KernelTime();
}

KernelTime timeAttention(const Chip &chip, KernelReader &reader) {
  Attention attention;
  attention.batch = reader.size("batch", 1);
  attention.heads = reader.size("heads", 1);
  attention.kvHeads = reader.size("kv_heads", attention.heads);
  attention.queries = reader.size("queries");
  attention.keys = reader.size("keys");
  attention.dimension = reader.size("dimension");
  attention.type = reader.type();
  attention.causal = reader.flag("causal");
  if (reader.wrong.empty() && attention.heads % attention.kvHeads != 0)
    reader.wrong = "'heads' must be a multiple of 'kv_heads'";
  return reader.wrong.empty() ? attentionTime(chip, attention) : KernelTime();
}

KernelTime timeRows(const Chip &chip, llvm::StringRef form, KernelReader &reader) {
  int64_t rows = reader.size("rows"), columns = reader.size("columns");
  TpuType type = reader.type();
  bool fused = reader.flag("fused");
  if (!reader.wrong.empty())
    return {};
  if (form == "layer_norm")
    return layerNormTime(chip, rows, columns, type, fused);
  if (form == "softmax")
    return softmaxTime(chip, rows, columns, type, fused);
  return rowReductionTime(chip, rows, columns, type, reader.flag("in_vmem"));
}

llvm::Expected<KernelTime> timeKernel(const Chip &chip, const llvm::json::Value &value,
                                      size_t index) {
  const llvm::json::Object *object = value.getAsObject();
  if (!object)
    return badKernel(index, "must be an object");
  llvm::StringRef form = object->getString("kernel").value_or("");
  KernelReader reader(*object);
  KernelTime time;
  if (form == "gemm")
    time = timeGemm(chip, reader);
  else if (form == "elementwise")
    time = timeElementwise(chip, reader);
  else if (form == "attention")
    time = timeAttention(chip, reader);
  else if (form == "layer_norm" || form == "softmax" || form == "row_reduction")
    time = timeRows(chip, form, reader);
  else
    return badKernel(index, "'kernel' is one of gemm, elementwise, attention, layer_norm, "
                            "softmax, row_reduction");
  if (!reader.wrong.empty())
    return badKernel(index, reader.wrong);
  return time;
}

llvm::json::Object describe(const Chip &chip, const KernelTime &time) {
  auto us = [&](double cycles) { return chip.seconds(cycles) * 1e6; };
  return llvm::json::Object{{"microseconds", us(time.cycles)},
                            {"cycles", time.cycles},
                            {"bound", time.bound()},
                            {"matrix_us", us(time.matrix)},
                            {"vector_us", us(time.vector)},
                            {"vmem_us", us(time.vmem)},
                            {"hbm_us", us(time.hbm)},
                            {"exposed_us", us(time.exposed)},
                            {"overhead_us", us(time.overhead)},
                            {"hbm_bytes", time.hbmBytes},
                            {"cores", time.cores}};
}

llvm::Error printKernels(const Chip &chip, const llvm::json::Array &kernels, bool whole) {
  llvm::json::Array answer;
  for (auto [index, kernel] : llvm::enumerate(kernels)) {
    llvm::Expected<KernelTime> time = timeKernel(chip, kernel, index);
    if (!time)
      return time.takeError();
    if (whole)
      answer.push_back(describe(chip, *time));
    else
      answer.push_back(chip.seconds(time->cycles) * 1e6);
  }
  llvm::outs() << llvm::json::Value(std::move(answer)) << '\n';
  llvm::outs().flush();
  return llvm::Error::success();
}

llvm::Error timeKernels(const Chip &chip, llvm::StringRef path, bool settingsFromStdin) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return makeError(ErrorCode::BadArgument,
                     "cannot read '" + path + "': " + buffer.getError().message());
  llvm::Expected<llvm::json::Value> root = llvm::json::parse((*buffer)->getBuffer());
  if (!root)
    return makeError(ErrorCode::BadArgument, path + ": " + llvm::toString(root.takeError()));
  const llvm::json::Array *kernels = root->getAsArray();
  if (!kernels)
    return makeError(ErrorCode::BadArgument, path + ": must be a list of kernels");
  if (!settingsFromStdin)
    return printKernels(chip, *kernels, true);
  for (std::string line; std::getline(std::cin, line);) {
    Chip changed = chip;
    if (llvm::Error error = changed.set(line))
      return error;
    if (llvm::Error error = printKernels(changed, *kernels, false))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error timeOneGemm(const Chip &chip, llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',');
  Gemm gemm;
  int64_t *sizes[] = {&gemm.m, &gemm.k, &gemm.n};
  auto wrong = [&] {
    return makeError(ErrorCode::BadOption, "--gemm takes M,K,N,TYPE, not '" + text + "'");
  };
  if (parts.size() != 3 && parts.size() != 4)
    return wrong();
  for (auto [part, size] : llvm::zip(parts, sizes))
    if (part.getAsInteger(10, *size) || *size < 1 || *size > (int64_t(1) << 40))
      return wrong();
  llvm::Expected<TpuType> type = parseTpuType(parts.size() == 4 ? parts[3] : "bf16");
  if (!type)
    return type.takeError();
  gemm.lhs = gemm.rhs = gemm.out = *type;
  KernelTime time = gemmTime(chip, gemm);
  auto line = [&](llvm::StringRef name, double cycles) {
    llvm::outs() << llvm::formatv("  {0,-10} {1,12:f3} us\n", name, chip.seconds(cycles) * 1e6);
  };
  llvm::outs() << llvm::formatv("{0}: {1:f3} us, {2:f0} cycles on {3} core(s), bound by {4}\n",
                                chip.name, chip.seconds(time.cycles) * 1e6, time.cycles, time.cores,
                                time.bound());
  line("matrix", time.matrix);
  line("vector", time.vector);
  line("hbm", time.hbm);
  line("exposed", time.exposed);
  line("overhead", time.overhead);
  return llvm::Error::success();
}

void printChip(const Chip &chip) {
  llvm::outs() << chip.name << ": " << chip.description << '\n';
  for (const Chip::Provenance &figure : chip.provenance)
    llvm::outs() << llvm::formatv("  {0,-30} {1,-22} {2}{3}\n", figure.field, figure.text,
                                  figure.fitted ? "fitted: " : "", figure.source);
  llvm::outs() << llvm::formatv("  {0,-30} {1:x-}\n", "hash", chip.hash());
}

void printSchema() {
  llvm::outs() << "| figure | short name | unit | meaning |\n| --- | --- | --- | --- |\n";
  for (const ChipField &field : chipSchema())
    llvm::outs() << llvm::formatv("| `{0}` | {1} | {2} | {3} |\n", field.name,
                                  field.alias.empty() ? "" : ("`" + field.alias + "`").str(),
                                  field.unit, field.meaning);
}

} // namespace

llvm::Error tools::chipCommand(Arguments arguments) {
  ArgumentReader reader(arguments);
  llvm::StringRef name, kernels, gemm, value;
  bool settingsFromStdin = false;
  while (reader.next()) {
    if (reader.isFlag("--help")) {
      llvm::outs() << kHelp;
      return llvm::Error::success();
    }
    if (reader.isFlag("--schema")) {
      printSchema();
      return llvm::Error::success();
    }
    if (reader.isOption("--kernels", value))
      kernels = value;
    else if (reader.isOption("--gemm", value))
      gemm = value;
    else if (reader.isFlag("--settings-from-stdin"))
      settingsFromStdin = true;
    else if (reader.isPositional() && name.empty())
      name = reader.get();
    else
      return reader.unknown();
  }
  if (name.empty() && kernels.empty() && gemm.empty()) {
    llvm::outs() << llvm::join(chipNames(), "\n") << '\n';
    return llvm::Error::success();
  }
  llvm::Expected<Chip> chip = loadChip(name);
  if (!chip)
    return chip.takeError();
  if (!gemm.empty())
    return timeOneGemm(*chip, gemm);
  if (!kernels.empty())
    return timeKernels(*chip, kernels, settingsFromStdin);
  printChip(*chip);
  return llvm::Error::success();
}
