//===- ChipSchema.cpp - the figures of a chip, their units and ranges ------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "machine/ChipSchema.h"

#include "support/Error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace spokeshave;
using namespace spokeshave::machine;

namespace {

constexpr double kMany = 1 << 16;
constexpr double kBytes = 1ull << 50;
constexpr double kRate = 1e18;

// A slot is a captureless lambda: the table stays plain data.
#define SLOT(member) [](Chip &chip) -> FigureField::Slot { return &chip.member; }

// clang-format off
const FigureField kFields[] = {
    {"core", "count", "cores", Dimension::Count, "cores", 1, 64, SLOT(core.count),
     "TensorCores of the chip"},
    {"core", "megacore", "megacore", Dimension::Flag, "flag", 0, 1, SLOT(core.megacore),
     "all cores are one device and share a program"},
    {"core", "clock", "clock", Dimension::Frequency, "MHz", 1e6, 1e11, SLOT(core.clock),
     "the core's clock"},

    {"mxu", "count", "mxu", Dimension::Count, "units", 1, 64, SLOT(mxu.count),
     "matrix units of a core"},
    {"mxu", "size", "mxu_size", Dimension::Count, "cells", 8, 1024, SLOT(mxu.size),
     "rows and columns of cells"},
    {"mxu", "bf16_rate", "", Dimension::Ratio, "macs/cell/cycle", 0.125, 64, SLOT(mxu.bf16Rate),
     "multiply-adds of a cell in a cycle, operands in bf16"},
    {"mxu", "f8_rate", "", Dimension::Ratio, "macs/cell/cycle", 0, 64, SLOT(mxu.f8Rate),
     "the same in f8; 0: computed in bf16"},
    {"mxu", "int8_rate", "", Dimension::Ratio, "macs/cell/cycle", 0, 64, SLOT(mxu.int8Rate),
     "the same in int8; 0: not there"},
    {"mxu", "int4_rate", "", Dimension::Ratio, "macs/cell/cycle", 0, 64, SLOT(mxu.int4Rate),
     "the same in int4; 0: not there"},
    {"mxu", "f32_passes", "", Dimension::Count, "passes", 1, 64, SLOT(mxu.f32Passes),
     "bf16 passes of a product of full f32 precision"},
    {"mxu", "push_rows", "", Dimension::Count, "rows", 1, 1024, SLOT(mxu.pushRows),
     "rows of the left operand in one push"},
    {"mxu", "push_stall", "", Dimension::Cycles, "cycles", 0, kMany, SLOT(mxu.pushStall),
     "of a push beyond what the rate gives"},
    {"mxu", "latency", "mxu_latency", Dimension::Cycles, "cycles", 1, kMany, SLOT(mxu.latency),
     "from a push to its result at the pop port"},
    {"mxu", "weight_load", "", Dimension::Cycles, "cycles", 1, kMany, SLOT(mxu.weightLoad),
     "to load one tile of weights"},
    {"mxu", "weight_sets", "", Dimension::Count, "tiles", 1, 64, SLOT(mxu.weightSets),
     "tiles of weights that a unit holds"},
    {"mxu", "result_tiles", "", Dimension::Count, "tiles", 1, kMany, SLOT(mxu.resultTiles),
     "results of a push that may wait for their pop"},

    {"vector", "sublanes", "", Dimension::Count, "sublanes", 1, 64, SLOT(vector.sublanes),
     "rows of a vector register"},
    {"vector", "lanes", "", Dimension::Count, "lanes", 8, 1024, SLOT(vector.lanes),
     "32-bit words in such a row"},
    {"vector", "registers", "vregs", Dimension::Count, "registers", 8, 4096,
     SLOT(vector.registers), "vector registers"},
    {"vector", "mask_registers", "", Dimension::Count, "registers", 1, 4096,
     SLOT(vector.maskRegisters), "mask registers"},
    {"vector", "alus", "alus", Dimension::Count, "slots", 1, 64, SLOT(vector.alus),
     "ALU operations on whole registers in a bundle"},
    {"vector", "latency", "", Dimension::Cycles, "cycles", 1, kMany, SLOT(vector.latency),
     "of an ALU operation"},
    {"vector", "loads", "", Dimension::Count, "slots", 1, 64, SLOT(vector.loads),
     "loads from VMEM in a bundle"},
    {"vector", "stores", "", Dimension::Count, "slots", 1, 64, SLOT(vector.stores),
     "stores to VMEM in a bundle"},
    {"vector", "load_latency", "", Dimension::Cycles, "cycles", 1, kMany,
     SLOT(vector.loadLatency), "from a load to its register"},
    {"vector", "transcendental_rate", "eup", Dimension::Ratio, "registers/cycle", 0.0625, 64,
     SLOT(vector.transcendentalRate), "through the transcendental unit"},
    {"vector", "transcendental_latency", "", Dimension::Cycles, "cycles", 1, kMany,
     SLOT(vector.transcendentalLatency), "of the transcendental unit"},
    {"vector", "xlus", "xlu", Dimension::Count, "units", 1, 64, SLOT(vector.xlus),
     "cross-lane units"},
    {"vector", "xlu_latency", "", Dimension::Cycles, "cycles", 1, kMany,
     SLOT(vector.xluLatency), "of a cross-lane operation"},
    {"vector", "bf16", "", Dimension::Flag, "flag", 0, 1, SLOT(vector.bf16),
     "ALUs work on packed bf16"},

    {"scalar", "slots", "", Dimension::Count, "slots", 1, 64, SLOT(scalar.slots),
     "scalar operations in a bundle"},
    {"scalar", "registers", "", Dimension::Count, "registers", 4, 4096, SLOT(scalar.registers),
     "scalar registers"},
    {"scalar", "latency", "", Dimension::Cycles, "cycles", 1, kMany, SLOT(scalar.latency),
     "of a scalar operation"},
    {"scalar", "branch_delay", "", Dimension::Cycles, "cycles", 0, kMany,
     SLOT(scalar.branchDelay), "lost at a taken branch"},

    {"bundle", "pushes", "", Dimension::Count, "slots", 1, 64, SLOT(bundle.pushes),
     "matrix slots that push rows or weights"},
    {"bundle", "pops", "", Dimension::Count, "slots", 1, 64, SLOT(bundle.pops),
     "matrix slots that pop results"},
    {"bundle", "misc", "", Dimension::Count, "slots", 1, 64, SLOT(bundle.misc),
     "slots for DMA, semaphores and control"},
    {"bundle", "immediates", "", Dimension::Count, "slots", 1, 64, SLOT(bundle.immediates),
     "immediates"},

    {"memory", "vmem", "vmem", Dimension::Bytes, "MiB", 1 << 14, kBytes, SLOT(memory.vmem),
     "vector memory of a core"},
    {"memory", "smem", "smem", Dimension::Bytes, "KiB", 1 << 10, kBytes, SLOT(memory.smem),
     "scalar memory of a core"},
    {"memory", "cmem", "cmem", Dimension::Bytes, "MiB", 0, kBytes, SLOT(memory.cmem),
     "common memory of the chip; 0: not there"},
    {"memory", "hbm", "hbm_capacity", Dimension::Bytes, "GiB", 1 << 20, kBytes,
     SLOT(memory.hbm), "HBM of the chip"},
    {"memory", "hbm_bandwidth", "hbm", Dimension::Bandwidth, "GB/s", 1e6, kRate,
     SLOT(memory.hbmBandwidth), "of the chip, reads and writes together"},
    {"memory", "cmem_bandwidth", "", Dimension::Bandwidth, "GB/s", 0, kRate,
     SLOT(memory.cmemBandwidth), "of the chip; 0 without CMEM"},
    {"memory", "vmem_read", "", Dimension::Bandwidth, "GB/s", 1e6, kRate, SLOT(memory.vmemRead),
     "of a core's VMEM"},
    {"memory", "vmem_write", "", Dimension::Bandwidth, "GB/s", 1e6, kRate,
     SLOT(memory.vmemWrite), "of a core's VMEM"},
    {"memory", "vmem_banks", "", Dimension::Count, "banks", 1, 4096, SLOT(memory.vmemBanks),
     "banks of a core's VMEM, interleaved by registers"},

    {"dma", "engines", "dma", Dimension::Count, "engines", 1, 256, SLOT(dma.engines),
     "transfers of a core that run at once"},
    {"dma", "latency", "dma_latency", Dimension::Time, "ns", 0, 1, SLOT(dma.latency),
     "from issue to the first byte"},
    {"dma", "issue", "", Dimension::Cycles, "cycles", 0, kMany, SLOT(dma.issue),
     "of the scalar core per descriptor"},
    {"dma", "granule", "", Dimension::Bytes, "B", 1, 1 << 20, SLOT(dma.granule),
     "shorter runs of bytes cost as much as this"},

    {"ici", "links", "", Dimension::Count, "links", 0, 64, SLOT(ici.links),
     "to neighbouring chips"},
    {"ici", "dimensions", "", Dimension::Count, "dimensions", 1, 6, SLOT(ici.dimensions),
     "of the torus"},
    {"ici", "bandwidth", "ici", Dimension::Bandwidth, "GB/s", 0, kRate, SLOT(ici.bandwidth),
     "of one link in one direction"},
    {"ici", "hop_latency", "", Dimension::Time, "us", 0, 1, SLOT(ici.hopLatency),
     "of one link"},

    {"cost", "kernel_overhead", "", Dimension::Time, "us", 0, 1, SLOT(cost.kernelOverhead),
     "of a kernel beyond its work"},
    {"cost", "core_sync", "", Dimension::Time, "us", 0, 1, SLOT(cost.coreSync),
     "more where the cores of a device work together"},
    {"cost", "hbm_efficiency", "", Dimension::Ratio, "ratio", 0.01, 1, SLOT(cost.hbmEfficiency),
     "of the HBM bandwidth that streams reach"},
    {"cost", "write_cost", "", Dimension::Ratio, "ratio", 0.5, 4, SLOT(cost.writeCost),
     "of a byte written to HBM, in bytes read"},
    {"cost", "step_overhead", "", Dimension::Time, "us", 0, 1, SLOT(cost.stepOverhead),
     "that a step through windows takes at least"},
    {"cost", "overlap", "", Dimension::Ratio, "ratio", 0, 1, SLOT(cost.overlap),
     "share of the shorter of moving data and working that the longer hides"},
    {"cost", "mxu_efficiency", "", Dimension::Ratio, "ratio", 0.01, 1, SLOT(cost.mxuEfficiency),
     "of the peak that long products reach"},
    {"cost", "result_cycles", "", Dimension::Ratio, "cycles/register", 0, 1000,
     SLOT(cost.resultCycles), "per result register while the matrix units wait"},
    {"cost", "carry_cycles", "", Dimension::Ratio, "cycles/register", 0, 1000,
     SLOT(cost.carryCycles), "more per result register where windows share sums"},
    {"cost", "vector_efficiency", "", Dimension::Ratio, "ratio", 0.01, 1,
     SLOT(cost.vectorEfficiency), "of the ALU slots that loops fill"},
    {"cost", "vmem_efficiency", "", Dimension::Ratio, "ratio", 0.01, 1,
     SLOT(cost.vmemEfficiency), "of the load and store slots that loops fill"},
    {"cost", "f16_unpack", "", Dimension::Ratio, "operations", 0, 1000, SLOT(cost.f16Unpack),
     "ALU operations to turn a register of f16 into f32"},
    {"cost", "f16_pack", "", Dimension::Ratio, "operations", 0, 1000, SLOT(cost.f16Pack),
     "ALU operations to turn a register of f32 into f16"},
    {"cost", "attention_ops", "", Dimension::Ratio, "operations", 0, 1000,
     SLOT(cost.attentionOps), "ALU operations on each score of attention"},
    {"cost", "window", "", Dimension::Bytes, "MiB", 1 << 10, kBytes, SLOT(cost.window),
     "of a core's windows of a product's operands"},
    {"cost", "stream_window", "", Dimension::Bytes, "KiB", 1 << 10, kBytes,
     SLOT(cost.streamWindow), "of a core's windows of a loop's operands"},
    {"cost", "window_rows", "", Dimension::Ratio, "rows", 1, 1 << 20, SLOT(cost.windowRows),
     "of a window of a kernel over rows"},

    {"published", "bf16_flops", "", Dimension::Work, "TFLOP/s", 0, kRate,
     SLOT(published.bf16Flops), "stated peak of the chip", true, false},
    {"published", "int8_ops", "", Dimension::Work, "TFLOP/s", 0, kRate, SLOT(published.int8Ops),
     "stated peak of the chip", true, false},
    {"published", "f8_flops", "", Dimension::Work, "TFLOP/s", 0, kRate, SLOT(published.f8Flops),
     "stated peak of the chip", true, false},
};
// clang-format on
#undef SLOT

std::optional<double> some(double scale) {
  return scale > 0 ? std::optional(scale) : std::nullopt;
}

double bytesScale(llvm::StringRef unit) {
  return llvm::StringSwitch<double>(unit)
      .Case("B", 1)
      .Case("KiB", 1ull << 10)
      .Case("MiB", 1ull << 20)
      .Case("GiB", 1ull << 30)
      .Case("TiB", 1ull << 40)
      .Cases("kB", "KB", 1e3)
      .Case("MB", 1e6)
      .Case("GB", 1e9)
      .Case("TB", 1e12)
      .Default(0);
}

} // namespace

llvm::ArrayRef<FigureField> machine::figureFields() {
  return kFields;
}

std::optional<double> machine::unitScale(const FigureField &field, llvm::StringRef unit) {
  using llvm::StringSwitch;
  switch (field.dimension) {
  case Dimension::Flag:
  case Dimension::Count:
    return unit == field.unit ? std::optional(1.0) : std::nullopt;
  case Dimension::Ratio:
    if (unit == "%")
      return 0.01;
    return unit == field.unit ? std::optional(1.0) : std::nullopt;
  case Dimension::Cycles:
    return unit == "cycles" ? std::optional(1.0) : std::nullopt;
  case Dimension::Bytes:
    return some(bytesScale(unit));
  case Dimension::Bandwidth:
    return unit.consume_back("/s") ? some(bytesScale(unit)) : std::nullopt;
  case Dimension::Frequency:
    return some(StringSwitch<double>(unit)
                    .Case("Hz", 1)
                    .Case("kHz", 1e3)
                    .Case("MHz", 1e6)
                    .Case("GHz", 1e9)
                    .Default(0));
  case Dimension::Time:
    return some(StringSwitch<double>(unit)
                    .Case("s", 1)
                    .Case("ms", 1e-3)
                    .Case("us", 1e-6)
                    .Case("ns", 1e-9)
                    .Default(0));
  case Dimension::Work:
    return some(StringSwitch<double>(unit).Case("TFLOP/s", 1e12).Default(0));
  }
  return std::nullopt;
}

llvm::StringRef machine::unitsOf(const FigureField &field) {
  switch (field.dimension) {
  case Dimension::Bytes:
    return "B, KiB, MiB, GiB, TiB, kB, MB, GB or TB";
  case Dimension::Bandwidth:
    return "B/s, kB/s, MB/s, GB/s or TB/s";
  case Dimension::Frequency:
    return "Hz, kHz, MHz or GHz";
  case Dimension::Time:
    return "s, ms, us or ns";
  default:
    return field.unit;
  }
}

llvm::Error machine::store(Chip &chip, const FigureField &field, double value) {
  // Written so that a NaN fails as well.
  if (!(value >= field.least && value <= field.most))
    return makeError(ErrorCode::BadOption,
                     llvm::formatv("{0} is out of range: {1} to {2} are allowed, in base units",
                                   value, field.least, field.most));
  FigureField::Slot slot = field.slot(chip);
  if (auto *flag = std::get_if<bool *>(&slot)) {
    if (value != 0 && value != 1)
      return makeError(ErrorCode::BadOption, "must be true or false");
    **flag = value != 0;
  } else if (auto *integer = std::get_if<int64_t *>(&slot)) {
    // Decimal sizes ("17.2 GB") need not come out even.
    if (field.dimension != Dimension::Bytes && value != std::floor(value))
      return makeError(ErrorCode::BadOption, "must be a whole number");
    **integer = static_cast<int64_t>(std::llround(value));
  } else {
    *std::get<double *>(slot) = value;
  }
  return llvm::Error::success();
}

std::vector<ChipField> machine::chipSchema() {
  static const std::vector<std::string> paths = [] {
    std::vector<std::string> result;
    for (const FigureField &field : kFields)
      result.push_back(field.path());
    return result;
  }();
  std::vector<ChipField> schema;
  for (auto [field, path] : llvm::zip(kFields, paths))
    schema.push_back({path, field.alias, field.unit, field.meaning});
  return schema;
}
