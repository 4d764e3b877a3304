//===- Xplane.cpp - a simulated execution as a profile for XProf -----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The messages of tsl/profiler/protobuf/xplane.proto, with the names of planes, lines
// and statistics by which XProf knows a TPU (tsl/profiler/utils/xplane_schema.cc).
//
//===----------------------------------------------------------------------===//
#include "tools/Commands.h"
#include "tools/ProtoWriter.h"
#include "tools/Timeline.h"
#include "tools/TpuTarget.h"

#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace spokeshave;
using namespace spokeshave::tools;

namespace {

// Numbers of fields.
namespace space {
enum { planes = 1, hostnames = 4 };
} // namespace space
namespace plane {
enum { id = 1, name = 2, lines = 3, eventMetadata = 4, statMetadata = 5, stats = 6 };
} // namespace plane
namespace line {
enum { id = 1, name = 2, timestampNs = 3, events = 4, durationPs = 9, displayName = 11 };
} // namespace line
namespace event {
enum { metadataId = 1, offsetPs = 2, durationPs = 3, stats = 4 };
} // namespace event
namespace stat {
enum { metadataId = 1, real = 2, unsignedInteger = 3, string = 5, bytes = 6 };
} // namespace stat
namespace metadata {
enum { id = 1, name = 2, displayName = 4, stats = 5 };
} // namespace metadata
namespace entry {
enum { key = 1, value = 2 };
} // namespace entry

constexpr uint64_t kProgramId = 1, kRunId = 1;

class PlaneWriter {
public:
  PlaneWriter(const tpu::Program &program, const runtime::tpu::Trace &trace)
      : program(program), trace(trace) {}
  ProtoMessage run();

private:
  ProtoMessage statOf(llvm::StringRef name, ProtoMessage value) {
    auto [found, isNew] = statNames.try_emplace(name.str(), statNames.size() + 1);
    return value.integer(stat::metadataId, found->second);
  }
  ProtoMessage statOf(llvm::StringRef name, uint64_t value) {
    return statOf(name, ProtoMessage().integer(stat::unsignedInteger, value));
  }
  ProtoMessage statOf(llvm::StringRef name, double value) {
    return statOf(name, ProtoMessage().real(stat::real, value));
  }
  ProtoMessage statOf(llvm::StringRef name, llvm::StringRef value) {
    return statOf(name, ProtoMessage().string(stat::string, value));
  }

  void addPeaks();
  void addLines();
  uint64_t picoseconds(int64_t cycles) const {
    return uint64_t(double(cycles) / program.timing.clock * 1e12);
  }
  ProtoMessage eventOf(uint64_t metadata, int64_t begin, int64_t end) const {
    uint64_t from = picoseconds(begin);
    return std::move(ProtoMessage()
                         .integer(event::metadataId, metadata)
                         .integer(event::offsetPs, from)
                         .integer(event::durationPs, picoseconds(end) - from));
  }
  ProtoMessage describe(uint32_t kernel, const runtime::tpu::KernelTime &time);
  /// The number of an event's metadata; `fill` adds to them when they are new.
  uint64_t metadataOf(const std::string &key, llvm::function_ref<ProtoMessage()> made);

  const tpu::Program &program;
  const runtime::tpu::Trace &trace;
  ProtoMessage result;
  std::map<std::string, uint64_t> statNames;
  std::map<std::string, uint64_t> eventNumbers;
};

/// Of "FILE:LINE:COLUMN (OPERATION)": "FILE:LINE" and the operation.
static std::pair<llvm::StringRef, llvm::StringRef> splitLocation(llvm::StringRef location) {
  auto [source, operation] = location.split(" (");
  operation.consume_back(")");
  auto [line, column] = source.rsplit(':');
  int64_t number;
  bool hasColumn = !column.getAsInteger(10, number) && line.contains(':');
  return {hasColumn ? line : source, operation};
}

/// MemoryAccessBreakdown of xprof's op_metrics.proto: bytes of HBM read and written.
static ProtoMessage breakdownOf(const runtime::tpu::KernelTime &time) {
  enum { accesses = 1, operation = 1, memorySpace = 2, bytes = 3 };
  enum { reads = 1, writes = 2, hbm = 1 };
  ProtoMessage made;
  for (auto [kind, moved] : {std::pair(uint64_t(reads), time.hbmBytes - time.hbmWritten),
                             std::pair(uint64_t(writes), time.hbmWritten)})
    made.message(accesses, ProtoMessage()
                               .integer(operation, kind)
                               .integer(memorySpace, hbm)
                               .integer(bytes, uint64_t(moved)));
  return ProtoMessage().message(stat::bytes, made);
}

/// What the chip can do, for rooflines: of a device, that is of all cores of a megacore.
void PlaneWriter::addPeaks() {
  const machine::Chip &chip = program.chip;
  auto cores = double(chip.coresOfDevice());
  auto add = [&](llvm::StringRef name, auto value) {
    result.message(plane::stats, statOf(name, value));
  };
  auto peak = chip.peakFlops(machine::MxuType::Bf16) / double(chip.core.count) * cores;
  add("device_type_string", llvm::StringRef(llvm::formatv("TPU {0}", chip.name).str()));
  add("peak_teraflops_per_second", peak * 1e-12);
  add("peak_hbm_bw_gigabytes_per_second", chip.hbmBandwidthOfDevice() * 1e-9);
  for (llvm::StringRef memory : {"sram", "vmem"}) {
    add(llvm::formatv("peak_{0}_rd_bw_gigabytes_per_second", memory).str(),
        chip.memory.vmemRead * cores * 1e-9);
    add(llvm::formatv("peak_{0}_wr_bw_gigabytes_per_second", memory).str(),
        chip.memory.vmemWrite * cores * 1e-9);
  }
  add("core_count", uint64_t(chip.coresOfDevice()));
  add("clock_rate", uint64_t(chip.core.clock * 1e-3));
  add("memory_size", uint64_t(chip.hbmOfDevice()));
  add("has_megacore", uint64_t(chip.core.megacore));
}

uint64_t PlaneWriter::metadataOf(const std::string &key, llvm::function_ref<ProtoMessage()> made) {
  auto [found, isNew] = eventNumbers.try_emplace(key, eventNumbers.size() + 1);
  if (isNew)
    result.message(plane::eventMetadata,
                   ProtoMessage()
                       .integer(entry::key, found->second)
                       .message(entry::value, made().integer(metadata::id, found->second)));
  return found->second;
}

/// An operation: a kernel of the program.
ProtoMessage PlaneWriter::describe(uint32_t number, const runtime::tpu::KernelTime &time) {
  const tpu::KernelInfo &info = program.infos[number];
  const std::string &name = program.kernels[number].name;
  bool multiplies = time.busy[unsigned(tpu::Unit::MatrixPush)] > 0;
  std::string category = multiplies ? "convolution fusion" : info.kind + " fusion";
  ProtoMessage made;
  made.string(metadata::name, llvm::formatv("%{0} = {1}", name, info.name).str());
  made.string(metadata::displayName, name);
  auto add = [&](llvm::StringRef what, auto value) {
    made.message(metadata::stats, statOf(what, value));
  };
  add("hlo_category", llvm::StringRef(category));
  add("program_id", kProgramId);
  add("symbol_id", uint64_t(number + 1));
  add("flops", uint64_t(info.flops));
  add("model_flops", uint64_t(info.flops));
  add("bytes_accessed", uint64_t(time.hbmBytes));
  add("raw_bytes_accessed", uint64_t(info.bytes));
  add("deduplicated_name", llvm::StringRef(name));
  auto [source, operation] = splitLocation(info.location);
  add("tf_op", llvm::StringRef((operation.empty() ? info.name : operation.str()) + ":"));
  add("source", source);
  add("memory_access_breakdown", breakdownOf(time));
  return made;
}

void PlaneWriter::addLines() {
  auto lineOf = [&](unsigned id, llvm::StringRef name) {
    return std::move(ProtoMessage()
                         .integer(line::id, id)
                         .string(line::name, name)
                         .string(line::displayName, name)
                         .integer(line::timestampNs, 1'000'000'000)); // of an own clock
  };
  int64_t end = 0;
  for (const runtime::tpu::LaunchSlice &launch : trace.launches)
    end = std::max(end, launch.end);
  for (const runtime::tpu::StepSlice &step : trace.steps)
    end = std::max(end, step.end);
  ProtoMessage steps = lineOf(1, "Steps"), modules = lineOf(2, "XLA Modules"),
               ops = lineOf(3, "XLA Ops"), beside = lineOf(4, "Async XLA Ops");
  uint64_t step = metadataOf("step", [] {
    return std::move(ProtoMessage().string(metadata::name, "0").string(metadata::displayName, "0"));
  });
  uint64_t module = metadataOf("module", [&] {
    auto name = llvm::formatv("{0}({1})", program.name, kProgramId).str();
    return std::move(ProtoMessage()
                         .string(metadata::name, name)
                         .string(metadata::displayName, program.name)
                         .message(metadata::stats, statOf("program_id", kProgramId)));
  });
  steps.message(line::events, eventOf(step, 0, end)
                                  .message(event::stats, statOf("group_id", uint64_t(0)))
                                  .message(event::stats, statOf("step_num", uint64_t(0))));
  modules.message(line::events, eventOf(module, 0, end)
                                    .message(event::stats, statOf("run_id", kRunId))
                                    .message(event::stats, statOf("group_id", uint64_t(0))));
  for (const runtime::tpu::LaunchSlice &launch : trace.launches) {
    uint64_t kernel = metadataOf(llvm::formatv("kernel {0}", launch.kernel),
                                 [&] { return describe(launch.kernel, launch.time); });
    ProtoMessage made = eventOf(kernel, launch.begin, launch.end);
    auto add = [&](llvm::StringRef name, auto value) {
      made.message(event::stats, statOf(name, value));
    };
    add("group_id", uint64_t(0));
    add("run_id", kRunId);
    add("bound", boundOf(program, launch.time));
    add("cycles", uint64_t(launch.end - launch.begin));
    add("dma_stall_cycles", uint64_t(launch.time.dmaStall));
    add("matrix_stall_cycles", uint64_t(launch.time.matrixStall));
    ops.message(line::events, made);
  }
  bool hasBeside = false;
  for (const runtime::tpu::StepSlice &slice : trace.steps) {
    using Kind = runtime::tpu::StepSlice::Kind;
    bool isCollective = slice.kind == Kind::Collective;
    std::string name = isCollective                  ? program.collectives[slice.collective].name
                       : slice.kind == Kind::Copy    ? "copy"
                       : slice.kind == Kind::Meeting ? "meeting"
                                                     : "wait";
    uint64_t number = metadataOf(name, [&] {
      return std::move(ProtoMessage()
                           .string(metadata::name, llvm::formatv("%{0} = {0}", name).str())
                           .string(metadata::displayName, name)
                           .message(metadata::stats, statOf("hlo_category", llvm::StringRef(name)))
                           .message(metadata::stats, statOf("program_id", kProgramId)));
    });
    (isCollective ? beside : ops).message(line::events, eventOf(number, slice.begin, slice.end));
    hasBeside |= isCollective;
  }
  for (const ProtoMessage &made : {steps, modules, ops})
    result.message(plane::lines, made);
  if (hasBeside)
    result.message(plane::lines, beside);
}

ProtoMessage PlaneWriter::run() {
  result.integer(plane::id, 1).string(plane::name, "/device:TPU:0");
  addPeaks();
  addLines();
  for (auto &[name, number] : statNames)
    result.message(
        plane::statMetadata,
        ProtoMessage()
            .integer(entry::key, number)
            .message(entry::value,
                     ProtoMessage().integer(metadata::id, number).string(metadata::name, name)));
  return std::move(result);
}

} // namespace

llvm::Error tools::writeXplane(llvm::StringRef file, const tpu::Program &program,
                               const runtime::tpu::Trace &trace) {
  ProtoMessage made;
  made.message(space::planes, PlaneWriter(program, trace).run());
  made.string(space::hostnames, "simulated");
  return writeFile(file, [&](llvm::raw_ostream &os) { os << made.data(); });
}
