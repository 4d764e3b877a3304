//===- ShareKernels.cpp - which kernels the cores of a device share --------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cores that share kernels work less, but meet where one needs what the other made,
// and then the value goes through HBM. Which of both counts more depends on the whole
// program: small kernels between long ones are better shared, too, if everything stays
// with the core that made it, and small ones alone are better left to one core.
//
//===----------------------------------------------------------------------===//
#include "target/tpu/ShareKernels.h"

#include "target/tpu/Driver.h"
#include "target/tpu/Meetings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::tpu;

StringRef tpu::originOf(kernel::FuncOp op) {
  auto origin = op->getAttrOfType<FlatSymbolRefAttr>("tpu.origin");
  return origin ? origin.getValue() : op.getSymName();
}

/// Operations on registers that all tasks of the kernel execute, those of 64 bits as
/// many as they are.
static double registerOperations(kernel::FuncOp op, const Timing &timing) {
  double sum = 0;
  op.walk([&](Operation *inner) {
    if (inner->getNumResults() != 1 || isa<arith::ConstantOp>(inner))
      return;
    auto type = dyn_cast<VectorType>(inner->getResult(0).getType());
    if (!type)
      return;
    bool isWide = type.getElementTypeBitWidth() == 64;
    double trips = double(op.getTasks()) * (isWide ? double(timing.wideFactor) : 1);
    for (auto loop = inner->getParentOfType<scf::ForOp>(); loop;
         loop = loop->getParentOfType<scf::ForOp>()) {
      std::optional<int64_t> count =
          constantTripCount(loop.getLowerBound(), loop.getUpperBound(), loop.getStep());
      trips *= double(count.value_or(1));
    }
    sum += trips;
  });
  return sum;
}

ShareKernels::ShareKernels(ModuleOp module, const Program &program,
                           const kernel::StageOptions &stage,
                           const std::optional<schedule::NearMemoryOptions> &near, int64_t cores)
    : module(module), program(program), stage(stage), near(near), cores(cores) {
  for (auto op : module.getOps<kernel::FuncOp>()) {
    auto chosen = op->getAttrOfType<IntegerAttr>(kernel::kCoresAttr);
    work[op.getSymName()] = {cyclesOf(op), chosen && chosen.getInt() == 1};
  }
}

/// The kernel's work: a core's matrix units at a half of their peak, or what the ALUs do.
double ShareKernels::cyclesOf(kernel::FuncOp op) const {
  const machine::Chip &chip = program.chip;
  bool isDot = false;
  op.walk([&](kernel::TileDotOp) { isDot = true; });
  if (!isDot)
    return registerOperations(op, program.timing) / double(chip.vector.alus);
  double peak = double(chip.mxu.size * chip.mxu.size * chip.mxu.count) * chip.mxu.bf16Rate;
  for (const cpu::KernelInfo &info : program.stats.kernels)
    if (info.symbol == op.getSymName())
      return double(info.flops) / peak;
  return 0;
}

int64_t ShareKernels::coresFor(const Work &work) const {
  return !work.isAlone && work.cycles >= shortest ? cores : 1;
}

int64_t ShareKernels::coresFor(kernel::FuncOp op) const {
  return coresFor(work.lookup(originOf(op)));
}

int64_t ShareKernels::bytesBeside(schedule::LaunchOp launch) const {
  Work kernel = work.lookup(launch.getKernel());
  double cycles = kernel.cycles / double(coresFor(kernel)) / 2 + double(program.timing.dmaLatency);
  return int64_t(cycles * program.timing.hbmBytesPerCycle);
}

namespace {

struct KernelCost {
  double work = 0;            ///< on its cores
  SmallVector<int64_t> moved; ///< bytes, by buffers and cores; empty: all
};

/// Sums over the steps of a program, with the trips of its loops.
class Estimate {
public:
  Estimate(const Program &program, ArrayRef<KernelCost> costs) : program(program), costs(costs) {}
  double of(const std::vector<Step> &steps) const;

private:
  double ofLaunch(const Step &step) const;
  double moving(int64_t bytes) const { return double(bytes) / program.timing.hbmBytesPerCycle; }
  const Program &program;
  ArrayRef<KernelCost> costs; ///< of each kernel
};

double Estimate::ofLaunch(const Step &step) const {
  const KernelCost &cost = costs[step.kernel];
  size_t cores = cost.moved.size() / std::max<size_t>(1, step.buffers.size());
  int64_t bytes = 0;
  for (auto [i, buffer] : llvm::enumerate(step.buffers)) {
    if (buffer.base == BufferRef::Base::Vmem)
      continue;
    bytes += cost.moved.empty() ? buffer.bytes : 0;
    for (size_t core = 0; core < cores; ++core)
      bytes += cost.moved[i * cores + core];
  }
  double latency = bytes ? 2 * double(program.timing.dmaLatency) : 0;
  auto [shorter, longer] = std::minmax({cost.work, moving(bytes)});
  double exposed = 1 - program.chip.cost.overlap;
  return double(program.timing.launch) + latency + longer + exposed * shorter;
}

double Estimate::of(const std::vector<Step> &steps) const {
  double sum = 0;
  for (const Step &step : steps) {
    double once = step.meets ? double(program.timing.coreSync) : 0;
    if (step.kind == Step::Kind::Launch)
      once += ofLaunch(step);
    if (step.kind == Step::Kind::Copy)
      once += moving(2 * step.buffers[0].bytes);
    for (const std::vector<Step> &block : step.blocks)
      once += of(block);
    bool isLoop = step.kind == Step::Kind::While;
    sum += once * (!isLoop ? 1 : step.trips < 0 ? schedule::kUnknownTrips : double(step.trips));
  }
  return sum;
}

} // namespace

double ShareKernels::estimate() const {
  OwningOpRef<ModuleOp> copy = module.clone();
  if (near)
    keepNear(
        *copy, stage, *near, [&](kernel::FuncOp op) { return coresFor(op); },
        [&](schedule::LaunchOp launch) { return bytesBeside(launch); });
  Program trial;
  trial.chip = program.chip, trial.timing = program.timing;
  llvm::StringMap<uint32_t> numbers;
  std::vector<KernelCost> costs;
  for (auto op : copy->getOps<kernel::FuncOp>()) {
    kernel::StageOptions shared = stage;
    shared.cores = coresFor(op);
    kernel::StageNeed need = kernel::stageNeed(op, shared);
    Kernel kernel;
    kernel.cores = need.cores;
    if (kernel.cores > 1)
      for (size_t i = 0; i < need.parts.size(); i += 2)
        kernel.parts.push_back({need.parts[i], need.parts[i + 1]});
    numbers[op.getSymName()] = trial.kernels.size();
    trial.kernels.push_back(std::move(kernel));
    costs.push_back({work.lookup(originOf(op)).cycles / double(need.cores), std::move(need.moved)});
  }
  auto drivers = copy->getOps<schedule::ProgramOp>();
  if (failed(makeSteps(*drivers.begin(), numbers, trial)))
    return 0; // what is wrong is said when the program's own steps are made
  placeMeetings(trial);
  return Estimate(trial, costs).of(trial.steps);
}

/// Of the estimate: what gains less is as likely to lose.
constexpr double kWorthwhile = 0.98;

void ShareKernels::choose() {
  if (cores < 2)
    return;
  double longest = 0, least = 0, best = 0;
  for (const auto &kernel : work)
    longest = std::max(longest, kernel.second.cycles);
  double meeting = 2 * double(program.timing.coreSync);
  for (double limit : {meeting, 0.0, longest + 1}) {
    shortest = limit;
    double cycles = estimate();
    if (least == 0 || cycles < kWorthwhile * least)
      least = cycles, best = limit;
  }
  shortest = best;
}
