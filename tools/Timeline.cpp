//===- Timeline.cpp - a simulated execution for trace viewers --------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One list of tracks, slices and counter values, in two formats: Chrome's trace
// events (the "Trace Event Format" document) and Perfetto's
// protos/perfetto/trace/trace_packet.proto.
//
//===----------------------------------------------------------------------===//
#include "tools/Timeline.h"

#include "tools/Commands.h"
#include "tools/ProtoWriter.h"
#include "tools/TpuTarget.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <map>
#include <variant>

using namespace spokeshave;
using namespace spokeshave::tools;

namespace {

struct Arg {
  llvm::StringLiteral name;
  std::variant<int64_t, double, std::string> value;
};

struct Slice {
  unsigned track;
  int64_t begin, end; // cycles
  std::string name;
  std::vector<Arg> args;
};

struct Counter {
  int64_t at;
  double value;
};

struct Timeline {
  std::string process;
  std::vector<std::string> tracks;
  std::vector<Slice> slices;      // of a track: nested or apart
  std::vector<Counter> bandwidth; // of HBM, bytes a second
  double nanoseconds;             // of a cycle
};

class Collector {
public:
  Collector(const tpu::Program &program, const runtime::tpu::Trace &trace)
      : program(program), trace(trace) {}

  Timeline run() {
    timeline.process = llvm::formatv("{0} on {1}", program.name, program.chip.name);
    timeline.nanoseconds = 1e9 / program.timing.clock;
    unsigned kernels = trackOf("kernels");
    for (const runtime::tpu::LaunchSlice &launch : trace.launches)
      addLaunch(kernels, launch);
    for (const runtime::tpu::StepSlice &step : trace.steps)
      addStep(step);
    for (const runtime::tpu::BlockSlice &block : trace.blocks)
      addBlock(block);
    for (const runtime::tpu::TransferSlice &transfer : trace.transfers)
      addTransfer(transfer);
    return std::move(timeline);
  }

private:
  unsigned trackOf(const std::string &name) {
    auto [found, isNew] = numbers.try_emplace(name, timeline.tracks.size());
    if (isNew)
      timeline.tracks.push_back(name);
    return found->second;
  }

  void addLaunch(unsigned track, const runtime::tpu::LaunchSlice &launch) {
    const tpu::KernelInfo &info = program.infos[launch.kernel];
    int64_t cycles = std::max<int64_t>(1, launch.end - launch.begin);
    const runtime::tpu::KernelTime &time = launch.time;
    timeline.slices.push_back({track,
                               launch.begin,
                               launch.end,
                               program.kernels[launch.kernel].name,
                               {{"kind", info.kind},
                                {"bound", boundOf(program, time).str()},
                                {"source", info.location},
                                {"cycles", cycles},
                                {"flops", info.flops},
                                {"hbm_bytes", time.hbmBytes},
                                {"dma_stall_cycles", time.dmaStall},
                                {"matrix_stall_cycles", time.matrixStall},
                                {"bundles", time.bundles},
                                {"cores", program.kernels[launch.kernel].cores}}});
    timeline.bandwidth.push_back(
        {launch.begin, double(time.hbmBytes) / double(cycles) * program.timing.clock});
    timeline.bandwidth.push_back({launch.end, 0});
  }

  void addStep(const runtime::tpu::StepSlice &step) {
    using Kind = runtime::tpu::StepSlice::Kind;
    bool isCollective = step.kind == Kind::Collective;
    std::string name = isCollective                 ? program.collectives[step.collective].name
                       : step.kind == Kind::Copy    ? "copy"
                       : step.kind == Kind::Meeting ? "meeting of the cores"
                                                    : "wait for a transfer";
    unsigned track =
        isCollective ? laneOf("links", linkEnds, step.begin, step.end) : trackOf("steps");
    timeline.slices.push_back({track,
                               step.begin,
                               step.end,
                               std::move(name),
                               {{"bytes", step.bytes}, {"source", step.location}}});
  }

  /// The first of the tracks `name` 0, 1, ... that is free from `begin` to `end`.
  unsigned laneOf(const std::string &name, std::vector<int64_t> &ends, int64_t begin, int64_t end) {
    size_t lane = 0;
    while (lane < ends.size() && ends[lane] > begin)
      ++lane;
    ends.resize(std::max(ends.size(), lane + 1));
    ends[lane] = end;
    return trackOf(llvm::formatv("{0} {1}", name, lane));
  }

  /// On the track of each unit that the block uses.
  void addBlock(const runtime::tpu::BlockSlice &slice) {
    using tpu::Unit;
    static constexpr std::pair<llvm::StringLiteral, std::array<Unit, 5>> kUnits[] = {
        {"scalar", {Unit::Scalar, Unit::Misc, Unit::Scalar, Unit::Scalar, Unit::Scalar}},
        {"vector",
         {Unit::VectorAlu, Unit::VectorLoad, Unit::VectorStore, Unit::Transcendental,
          Unit::CrossLane}},
        {"matrix",
         {Unit::MatrixPush, Unit::MatrixPop, Unit::MatrixPush, Unit::MatrixPush, Unit::MatrixPush}},
    };
    const tpu::Kernel &kernel = program.kernels[slice.kernel];
    const tpu::Block &block = kernel.blocks[slice.block];
    std::array<int64_t, tpu::kNumUnits> busy{};
    uint32_t location = 0;
    for (const tpu::Instruction &instruction : block.instructions) {
      busy[unsigned(tpu::unitOf(instruction))] += program.timing.occupancy(instruction);
      location = location ? location : instruction.location;
    }
    double cycles = double(slice.end - slice.begin);
    for (auto &[name, units] : kUnits) {
      double share = 0;
      for (Unit unit : units) {
        double slots = unit == Unit::MatrixPush ? double(program.timing.matrixUnits)
                                                : program.timing.slots[unsigned(unit)];
        share = std::max(share, double(busy[unsigned(unit)] * slice.trips) / slots / cycles);
      }
      if (share == 0)
        continue;
      timeline.slices.push_back(
          {trackOf(llvm::formatv("core {0} {1}", slice.core, name)),
           slice.begin,
           slice.end,
           llvm::formatv("{0} b{1}", kernel.name, slice.block),
           {{"busy", share},
            {"trips", slice.trips},
            {"source", location < kernel.locations.size() ? kernel.locations[location] : ""}}});
    }
  }

  void addTransfer(const runtime::tpu::TransferSlice &slice) {
    int64_t end = std::max(slice.end, slice.begin + 1);
    unsigned track = laneOf(llvm::formatv("core {0} DMA", slice.core), transferEnds[slice.core],
                            slice.begin, end);
    bool isStep = slice.kernel < 0;
    const tpu::Kernel *kernel = isStep ? nullptr : &program.kernels[slice.kernel];
    std::string source;
    if (kernel && slice.location < kernel->locations.size())
      source = kernel->locations[slice.location];
    timeline.slices.push_back({track,
                               slice.begin,
                               end,
                               slice.toVmem ? "HBM to VMEM" : "VMEM to HBM",
                               {{"bytes", slice.bytes},
                                {"kernel", kernel ? kernel->name : "a step of the program"},
                                {"source", source}}});
  }

  const tpu::Program &program;
  const runtime::tpu::Trace &trace;
  Timeline timeline;
  std::map<std::string, unsigned> numbers;
  std::map<int32_t, std::vector<int64_t>> transferEnds;
  std::vector<int64_t> linkEnds;
};

//===----------------------------------------------------------------------===//
// Chrome's JSON
//===----------------------------------------------------------------------===//

llvm::json::Value toJson(const Arg &arg) {
  return std::visit([](const auto &value) { return llvm::json::Value(value); }, arg.value);
}

void writeChrome(const Timeline &timeline, llvm::raw_ostream &os) {
  llvm::json::OStream json(os);
  auto microseconds = [&](int64_t cycles) { return double(cycles) * timeline.nanoseconds * 1e-3; };
  auto name = [&](llvm::StringRef what, int64_t track, llvm::StringRef value) {
    json.object([&] {
      json.attribute("ph", "M");
      json.attribute("name", what);
      json.attribute("pid", 1);
      json.attribute("tid", track);
      json.attributeObject("args", [&] { json.attribute("name", value); });
    });
  };
  json.object([&] {
    json.attribute("displayTimeUnit", "ns");
    json.attributeArray("traceEvents", [&] {
      name("process_name", 0, timeline.process);
      for (auto [track, text] : llvm::enumerate(timeline.tracks))
        name("thread_name", int64_t(track) + 1, text);
      for (const Slice &slice : timeline.slices)
        json.object([&] {
          json.attribute("ph", "X");
          json.attribute("name", slice.name);
          json.attribute("pid", 1);
          json.attribute("tid", slice.track + 1);
          json.attribute("ts", microseconds(slice.begin));
          json.attribute("dur", microseconds(slice.end - slice.begin));
          json.attributeObject("args", [&] {
            for (const Arg &arg : slice.args)
              json.attribute(arg.name, toJson(arg));
          });
        });
      for (const Counter &counter : timeline.bandwidth)
        json.object([&] {
          json.attribute("ph", "C");
          json.attribute("name", "HBM bandwidth");
          json.attribute("pid", 1);
          json.attribute("ts", microseconds(counter.at));
          json.attributeObject("args", [&] { json.attribute("GB/s", counter.value * 1e-9); });
        });
    });
  });
}

//===----------------------------------------------------------------------===//
// Perfetto's protocol buffers
//===----------------------------------------------------------------------===//

ProtoMessage toProto(const Arg &arg) { // DebugAnnotation
  ProtoMessage annotation;
  annotation.string(10, arg.name);
  if (auto *integer = std::get_if<int64_t>(&arg.value))
    annotation.integer(4, uint64_t(*integer));
  else if (auto *real = std::get_if<double>(&arg.value))
    annotation.real(5, *real);
  else
    annotation.string(6, std::get<std::string>(arg.value));
  return annotation;
}

void writePerfetto(const Timeline &timeline, llvm::raw_ostream &os) {
  constexpr uint64_t kProcess = 1, kBandwidth = 2, kFirstTrack = 16; // uuids
  enum Type : uint64_t { SliceBegin = 1, SliceEnd = 2, CounterValue = 4 };
  bool isFirst = true;
  auto packet = [&](unsigned field, const ProtoMessage &content, std::optional<int64_t> cycles) {
    ProtoMessage made;
    if (cycles)
      made.integer(8, uint64_t(double(*cycles) * timeline.nanoseconds)); // timestamp
    made.integer(10, 1);               // trusted_packet_sequence_id
    made.integer(13, isFirst ? 1 : 2); // sequence_flags: state is new, is needed
    made.message(field, content);
    isFirst = false;
    os << ProtoMessage().message(1, made).data(); // Trace.packet
  };
  auto track = [&](uint64_t uuid, llvm::StringRef name) {
    return ProtoMessage().integer(1, uuid).string(2, name);
  };
  packet(60,
         track(kProcess, timeline.process)
             .message(3, ProtoMessage().integer(1, 1).string(6, timeline.process)),
         {});
  packet(60,
         track(kBandwidth, "HBM bandwidth")
             .integer(5, kProcess)
             .message(8, ProtoMessage().string(6, "B/s")),
         {});
  for (auto [number, name] : llvm::enumerate(timeline.tracks))
    packet(60,
           track(kFirstTrack + number, name)
               .integer(5, kProcess)
               .message(4, ProtoMessage().integer(1, 1).integer(2, number + 1).string(5, name)),
           {});
  for (const Slice &slice : timeline.slices) {
    ProtoMessage begin;
    for (const Arg &arg : slice.args)
      begin.message(4, toProto(arg));
    begin.integer(9, SliceBegin).integer(11, kFirstTrack + slice.track).string(23, slice.name);
    packet(11, begin, slice.begin);
    packet(11, ProtoMessage().integer(9, SliceEnd).integer(11, kFirstTrack + slice.track),
           slice.end);
  }
  for (const Counter &counter : timeline.bandwidth)
    packet(11,
           ProtoMessage().integer(9, CounterValue).integer(11, kBandwidth).real(44, counter.value),
           counter.at);
}

} // namespace

llvm::Error tools::writeTimeline(llvm::StringRef file, const tpu::Program &program,
                                 const runtime::tpu::Trace &trace) {
  Timeline timeline = Collector(program, trace).run();
  return writeFile(file, [&](llvm::raw_ostream &os) {
    if (file.ends_with(".pftrace") || file.ends_with(".perfetto-trace"))
      writePerfetto(timeline, os);
    else
      writeChrome(timeline, os);
  });
}
