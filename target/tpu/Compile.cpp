//===- Compile.cpp - from a StableHLO module to a program for the chip -----===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The road in one place, as in target/cpu/Compile.cpp: graph, schedule and kernel with
// what only the chip has (docs/architecture.md); then buffers are staged in VMEM, and
// instructions selected, allocated and bundled.
//
//===----------------------------------------------------------------------===//
#include "target/tpu/Compile.h"

#include "graph/Pipeline.h"
#include "graph/Processes.h"
#include "graph/Rematerialize.h"
#include "input/StablehloOps.h"
#include "kernel/Lowering.h"
#include "kernel/Stage.h"
#include "schedule/Passes.h"
#include "schedule/SliceStacks.h"
#include "support/Error.h"
#include "target/cpu/Statistics.h"
#include "target/tpu/Backend.h"
#include "target/tpu/Driver.h"
#include "target/tpu/ExpandDots.h"
#include "target/tpu/KeepNear.h"
#include "target/tpu/Meetings.h"
#include "target/tpu/Pipeline.h"
#include "target/tpu/Select.h"
#include "target/tpu/ShareKernels.h"
#include "target/tpu/Simplify.h"
#include "target/tpu/UnrollLoops.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::tpu;

namespace {

/// What kernel/ must know: registers of 1024 lanes of 32 bits.
machine::Machine machineOf(const machine::Chip &chip, const Timing &timing, int64_t vmemBytes,
                           const CompileOptions &options) {
  machine::Machine machine;
  machine.isa = machine::Isa::Avx2; // rounds to integers with instructions
  machine.cpu = "tpu";
  machine.model = "a TPU-class chip";
  machine.vectorBits = kRegisterBytes * 8;
  machine.minLaneBits = 32;
  machine.maxLanes = kRegisterLanes;
  machine.numVectorRegisters = timing.vectorRegisters;
  machine.hasFma = false;
  machine.matrixTile = timing.matrixSize;
  machine.matrixUnits = timing.matrixUnits;
  machine.matrixPushCycles = timing.matrixRows;
  machine.matrixPushCyclesOfBytes = timing.matrixRowsOfBytes;
  machine.matrixLatency = timing.matrix;
  machine.matrixWeightCycles = timing.matrixSize / 8 * timing.matrixLatch;
  machine.cores = options.megacore ? chip.coresOfDevice() : 1;
  machine.coreMeeting = timing.coreSync;
  machine.halfResultCycles = double(timing.roundResultToF16) / double(chip.vector.alus);
  machine.halfResultCyclesOfTasks = double(timing.roundCarriedToF16) / double(chip.vector.alus);
  machine.farBytesPerCycle = timing.hbmBytesPerCycle;
  machine.farWriteCost = chip.cost.writeCost;
  machine.farGranule = timing.dmaGranule;
  machine.farLatency = timing.dmaLatency;
  machine.l2Bytes = vmemBytes;
  machine.rowLanes = options.rowTiles ? kLanes : 0;
  machine.taskBytes = 2 << 20; // moving them takes several times a transfer's latency
  machine.convertsBf16 = machine.hasF16c = true; // f16 by sequences: SelectHalf.cpp
  machine.hasTranscendentals = options.transcendentals;
  return machine;
}

/// Bytes of a buffer that may be staged as a whole for a slice of it.
constexpr int64_t kSmallStack = 64 << 10;

class Compilation {
public:
  Compilation(ModuleOp module, const CompileOptions &options, const cpu::Snapshot &snapshot)
      : module(module), options(options), snapshot(snapshot), diagnostics(module.getContext()) {}
  llvm::Expected<std::unique_ptr<Program>> run();

private:
  llvm::Error findChip();
  llvm::Error lowerToSchedule();
  llvm::Expected<int64_t> bytesOfSchedule();
  llvm::Error fitHbm();
  llvm::Error lowerToKernels();
  llvm::Error emitCode();
  llvm::Error emitKernel(spokeshave::kernel::FuncOp op);
  llvm::Error keepBuffers(spokeshave::kernel::FuncOp op, Kernel &kernel);
  void describeKernels(const llvm::StringMap<uint32_t> &numbers);
  bool keepsNear() const { return options.keep || options.prefetch; }
  int64_t coresInUse() const { return options.megacore ? program->chip.coresOfDevice() : 1; }
  std::optional<schedule::NearMemoryOptions> nearOptions() const;
  int64_t scopedBytes();
  int64_t countLaunches();
  llvm::Error runPasses(llvm::function_ref<void(PassManager &)> build, llvm::StringRef level);
  void show(llvm::StringRef level, llvm::function_ref<void(llvm::raw_ostream &)> print);
  void showModule(llvm::StringRef level) {
    show(level, [&](llvm::raw_ostream &os) { module->print(os); });
  }

  ModuleOp module;
  const CompileOptions &options;
  const cpu::Snapshot &snapshot;
  DiagnosticCollector diagnostics;
  std::unique_ptr<Program> program = std::make_unique<Program>();
  int64_t vmemBytes = 0;
  graph::DeviceParts parts;
  std::string selected; ///< text before allocation, for the snapshot
};

void Compilation::show(llvm::StringRef level, llvm::function_ref<void(llvm::raw_ostream &)> print) {
  if (snapshot)
    snapshot(level, print);
}

llvm::Error Compilation::runPasses(llvm::function_ref<void(PassManager &)> build,
                                   llvm::StringRef level) {
  PassManager manager(module.getContext(), ModuleOp::getOperationName());
  manager.enableVerifier(options.verifyEachPass);
  build(manager);
  if (failed(manager.run(module)))
    return diagnostics.take(ErrorCode::UnsupportedProgram,
                            ("the " + level + " level failed").str());
  showModule(level);
  return llvm::Error::success();
}

llvm::Error Compilation::findChip() {
  llvm::Expected<machine::Chip> chip = machine::loadChip(options.chip);
  if (!chip)
    return chip.takeError();
  program->chip = std::move(*chip);
  program->timing = timingOf(program->chip);
  program->hbmBytes = program->chip.hbmOfDevice();
  if (options.hbmLimit)
    program->hbmBytes = std::min(program->hbmBytes, options.hbmLimit);
  vmemBytes = program->chip.memory.vmem;
  return llvm::Error::success();
}

/// What the program would take of HBM.
llvm::Expected<int64_t> Compilation::bytesOfSchedule() {
  OwningOpRef<ModuleOp> copy(module.clone());
  PassManager manager(module.getContext(), ModuleOp::getOperationName());
  schedule::buildSchedulePipeline(manager, /*verifyPlan=*/false);
  if (failed(manager.run(*copy)))
    return diagnostics.take(ErrorCode::UnsupportedProgram, "the schedule level failed");
  int64_t bytes = 0;
  auto addBytes = [&](int64_t size) { bytes += int64_t(llvm::alignTo(size, kHbmAlignment)); };
  auto add = [&](Value value) {
    addBytes(schedule::byteSizeOf(cast<MemRefType>(value.getType())));
  };
  for (auto driver : copy->getOps<schedule::ProgramOp>()) {
    addBytes(driver.getArenaBytes());
    llvm::for_each(driver.getProgramArguments(), add);
    for (auto [result, alias] : llvm::zip_equal(driver.getProgramResults(), driver.getAliases()))
      if (alias < 0)
        add(result);
    driver.walk([&](schedule::ConstantOp constant) { add(constant); });
  }
  return bytes;
}

/// Computes values again until the program fits HBM, or nothing more helps. The
/// schedule lets values share memory and leaves holes, so what it takes is measured.
llvm::Error Compilation::fitHbm() {
  constexpr int kMostRounds = 8;
  auto main = module.lookupSymbol<func::FuncOp>("main");
  int64_t around = 0; // beside what is between operations
  for (Type type : llvm::concat<const Type>(main.getArgumentTypes(), main.getResultTypes()))
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      around += schedule::byteSizeOf(tensor);
  int64_t peak = graph::peakOfValues(main);
  if (peak + around <= program->hbmBytes / 2) // far from it
    return llvm::Error::success();
  for (int round = 0; round < kMostRounds; ++round) {
    llvm::Expected<int64_t> bytes = bytesOfSchedule();
    if (!bytes)
      return bytes.takeError();
    if (*bytes <= program->hbmBytes)
      break;
    std::vector<graph::Recomputed> more =
        graph::rematerialize(main, graph::peakOfValues(main) - (*bytes - program->hbmBytes));
    if (more.empty())
      break;
    llvm::append_range(program->recomputed, more);
  }
  return llvm::Error::success();
}

llvm::Error Compilation::lowerToSchedule() {
  graph::GraphOptions graphOptions;
  graphOptions.registerLoops = false; // 1024 lanes: a state of scalars leaves them idle
  graphOptions.hasLibrary = false;
  graphOptions.multipliesBf16 = true;
  graphOptions.precision = options.precision;
  graphOptions.fullPasses = program->chip.mxu.f32Passes;
  graphOptions.fusion = options.fusion;
  graphOptions.attention = options.attention;
  graphOptions.overlapExchanges = options.overlap;
  if (llvm::Error error = runPasses(
          [&](PassManager &manager) { graph::buildGraphPipeline(manager, graphOptions); }, "graph"))
    return error;
  if (options.rematerialize)
    if (llvm::Error error = fitHbm())
      return error;
  parts = graph::DeviceParts::of(module.lookupSymbol<func::FuncOp>("main"));
  if (llvm::Error error = runPasses(
          [&](PassManager &manager) {
            schedule::buildSchedulePipeline(manager, options.verifyEachPass);
          },
          "schedule"))
    return error;
  if (options.sliceStacks) {
    // What is smaller may as well be in VMEM as a whole, if anything stays there.
    schedule::sliceStacks(module, keepsNear() ? vmemBytes / 8 : kSmallStack);
    showModule("slices");
    if (options.verifyEachPass && failed(verify(module)))
      return diagnostics.take(ErrorCode::Internal, "invalid slices");
  }
  cpu::countSchedule(module, program->stats);
  graph::Processes processes = graph::Processes::of(module);
  program->replicas = processes.replicas;
  program->partitions = processes.partitions;
  return llvm::Error::success();
}

/// What kernels choose their blocks for: where values between them, or what loops use
/// again, are a part of the traffic worth the room, the rest is for these.
int64_t Compilation::scopedBytes() {
  constexpr double kWorthARoom = 0.1;
  bool isShared =
      keepsNear() && countLaunches() > 1 && likelyNearShare(module, vmemBytes / 2) > kWorthARoom;
  return isShared ? vmemBytes / 2 : vmemBytes;
}

/// Those in loops as several.
int64_t Compilation::countLaunches() {
  int64_t launches = 0;
  module.walk([&](schedule::LaunchOp launch) {
    launches += launch->getParentOfType<schedule::WhileOp>() ? 2 : 1;
  });
  return launches;
}

std::optional<schedule::NearMemoryOptions> Compilation::nearOptions() const {
  if (!keepsNear())
    return std::nullopt;
  schedule::NearMemoryOptions near;
  near.bytes = vmemBytes - kRegisterBytes; // a register of the last value may reach beyond it
  near.latencyBytes = program->timing.dmaLatency * int64_t(program->timing.hbmBytesPerCycle);
  near.keep = options.keep;
  near.prefetch = options.prefetch;
  near.slices = options.slicedPrefetch;
  bool isAlone = program->replicas * program->partitions == 1;
  near.acrossRuns = options.prefetch && options.crossProgramPrefetch && isAlone;
  near.cores = coresInUse();
  return near;
}

llvm::Error Compilation::lowerToKernels() {
  DialectRegistry registry;
  kernel::registerKernelDialects(registry);
  module.getContext()->appendDialectRegistry(registry);
  module.getContext()->loadAllAvailableDialects();
  int64_t scoped = scopedBytes();
  machine::Machine machine = machineOf(program->chip, program->timing, scoped, options);
  machine.isAmongKernels = countLaunches() > 1;
  if (options.keep && machine.isAmongKernels)
    expectNear(module, vmemBytes - scoped);
  if (failed(kernel::lowerKernels(module, machine)))
    return diagnostics.take(ErrorCode::UnsupportedProgram, "a kernel cannot be lowered");
  kernel::StageOptions stage;
  stage.nearBytes = vmemBytes;
  stage.buffers = options.buffers;
  std::optional<schedule::NearMemoryOptions> near = nearOptions();
  ShareKernels sharing(module, *program, stage, near, coresInUse());
  sharing.choose();
  auto coresFor = [&](kernel::FuncOp op) { return sharing.coresFor(op); };
  if (near) {
    keepNear(module, stage, *near, coresFor,
             [&](schedule::LaunchOp launch) { return sharing.bytesBeside(launch); });
    showModule("near");
  }
  for (auto op : module.getOps<kernel::FuncOp>()) {
    stage.cores = coresFor(op);
    if (failed(kernel::stageBuffers(op, stage)))
      return diagnostics.take(ErrorCode::OutOfMemory, "a kernel does not fit the chip's VMEM");
  }
  for (auto op : module.getOps<kernel::FuncOp>())
    if (failed(expandDots(op, program->timing)))
      return diagnostics.take(ErrorCode::UnsupportedProgram, "a matrix product cannot be lowered");
  if (options.unrolling)
    for (auto op : module.getOps<kernel::FuncOp>())
      unrollLoops(op);
  // Addresses are written without care for what is known already.
  PassManager manager(module.getContext(), ModuleOp::getOperationName());
  manager.enableVerifier(options.verifyEachPass);
  manager.addPass(createCSEPass());
  manager.addPass(createLoopInvariantCodeMotionPass());
  if (failed(manager.run(module)))
    return diagnostics.take(ErrorCode::Internal, "kernels cannot be simplified");
  showModule("kernel");
  if (options.verifyEachPass && failed(verify(module)))
    return diagnostics.take(ErrorCode::Internal, "invalid kernels");
  return llvm::Error::success();
}

llvm::Error Compilation::emitKernel(kernel::FuncOp op) {
  FailureOr<Kernel> made = selectInstructions(op);
  if (failed(made))
    return diagnostics.take(ErrorCode::UnsupportedProgram, "a kernel has no instructions");
  simplifyInstructions(*made, program->timing);
  if (snapshot) {
    llvm::raw_string_ostream os(selected);
    made->print(os);
  }
  if (llvm::Error error = overlapAndAllocate(*made, program->timing, options.pipelining))
    return error;
  // Tables and spilled registers came after the buffers were staged.
  if (made->vmemBytes > vmemBytes)
    return makeError(ErrorCode::OutOfMemory,
                     llvm::formatv("kernel @{0} needs {1} bytes of VMEM with its tables and {2} "
                                   "spilled registers, the chip has {3}",
                                   made->name, made->vmemBytes, made->spills, vmemBytes));
  if (llvm::Error error = keepBuffers(op, *made))
    return error;
  formBundles(*made, program->timing);
  if (auto parts = op.getCoreParts(); parts && made->cores > 1)
    for (size_t i = 0; i < parts->size(); i += 2)
      made->parts.push_back({(*parts)[i], (*parts)[i + 1]});
  program->kernels.push_back(std::move(*made));
  return llvm::Error::success();
}

/// Bytes of the kernel's buffers that are in VMEM already.
static int64_t nearBytesOf(kernel::FuncOp op) {
  int64_t bytes = 0;
  if (auto offsets = op.getNearOffsets())
    for (auto [buffer, offset] : llvm::zip_equal(op.getBuffers(), *offsets))
      if (offset >= 0)
        bytes += schedule::byteSizeOf(cast<MemRefType>(buffer.getType()));
  return bytes;
}

/// What the kernel finds in VMEM and leaves there.
llvm::Error Compilation::keepBuffers(kernel::FuncOp op, Kernel &made) {
  auto offsets = op.getNearOffsets();
  if (!offsets)
    return llvm::Error::success();
  int64_t own = made.vmemBytes;
  for (auto [buffer, offset] : llvm::zip_equal(op.getBuffers(), *offsets)) {
    if (offset < 0)
      continue;
    if (offset < own)
      return makeError(ErrorCode::OutOfMemory,
                       llvm::formatv("kernel @{0} needs {1} bytes of VMEM with its tables and {2} "
                                     "spilled registers, above {3} are values of other kernels: "
                                     "compile with keep off",
                                     made.name, own, made.spills, offset));
    int64_t bytes = schedule::byteSizeOf(cast<MemRefType>(buffer.getType()));
    made.kept.push_back({offset, bytes});
  }
  llvm::sort(made.kept, [](const Kernel::Kept &a, const Kernel::Kept &b) {
    return std::pair(a.offset, a.bytes) < std::pair(b.offset, b.bytes);
  });
  // The same value may be several buffers of a launch.
  std::vector<Kernel::Kept> joined;
  for (const Kernel::Kept &kept : made.kept) {
    if (!joined.empty() && kept.offset < joined.back().offset + joined.back().bytes)
      joined.back().bytes =
          std::max(joined.back().bytes, kept.offset + kept.bytes - joined.back().offset);
    else
      joined.push_back(kept);
  }
  made.kept = std::move(joined);
  return llvm::Error::success();
}

void Compilation::describeKernels(const llvm::StringMap<uint32_t> &numbers) {
  llvm::StringMap<const cpu::KernelInfo *> infos;
  for (const cpu::KernelInfo &info : program->stats.kernels)
    infos[info.symbol] = &info;
  program->infos.resize(program->kernels.size());
  for (auto op : module.getOps<kernel::FuncOp>()) {
    const cpu::KernelInfo *info = infos.lookup(originOf(op));
    if (!info)
      continue;
    program->infos[numbers.lookup(op.getSymName())] = {
        info->name,
        info->kind,
        info->location,
        info->flops,
        std::max<int64_t>(0, info->bytes - nearBytesOf(op)),
        info->launches};
  }
}

llvm::Error Compilation::emitCode() {
  llvm::StringMap<uint32_t> numbers;
  for (auto op : module.getOps<kernel::FuncOp>()) {
    numbers[op.getSymName()] = program->kernels.size();
    if (llvm::Error error = emitKernel(op))
      return error;
  }
  describeKernels(numbers);
  show("tpu", [&](llvm::raw_ostream &os) { os << selected; });
  show("bundles", [&](llvm::raw_ostream &os) {
    for (const Kernel &kernel : program->kernels)
      kernel.print(os);
  });
  auto drivers = module.getOps<schedule::ProgramOp>();
  if (failed(makeSteps(*drivers.begin(), numbers, *program)))
    return diagnostics.take(ErrorCode::UnsupportedProgram, "the program has no steps");
  placeMeetings(*program);
  for (auto [spec, held] : llvm::zip_equal(program->arguments, parts.arguments))
    spec.parts = std::move(held);
  for (auto [spec, held] : llvm::zip_equal(program->results, parts.results))
    spec.parts = std::move(held);
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<Program>> Compilation::run() {
  program->name = module.getName().value_or("program").str();
  showModule("stablehlo");
  if (failed(verify(module)))
    return diagnostics.take(ErrorCode::InvalidProgram, "the program is against the specification");
  if (llvm::Error error = findChip())
    return error;
  if (llvm::Error error = lowerToSchedule())
    return error;
  if (llvm::Error error = lowerToKernels())
    return error;
  if (llvm::Error error = emitCode())
    return error;
  return std::move(program);
}

} // namespace

llvm::Expected<std::unique_ptr<Program>> tpu::compile(OwningOpRef<ModuleOp> module,
                                                      const CompileOptions &options,
                                                      const cpu::Snapshot &snapshot) {
  return Compilation(*module, options, snapshot).run();
}
