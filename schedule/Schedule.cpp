//===- Schedule.cpp - from the fused graph to a program over buffers -------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "schedule/NearMemory.h"
#include "schedule/Passes.h"
#include "schedule/Plan.h"
#include "schedule/SliceStacks.h"

#include "graph/GraphDialect.h"

#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace spokeshave::schedule {

#define GEN_PASS_DEF_SCHEDULEPROGRAMS
#define GEN_PASS_DEF_SCHEDULENEARMEMORY
#define GEN_PASS_DEF_SCHEDULESLICESTACKS
#include "schedule/Passes.h.inc"

namespace {
struct SchedulePass : impl::ScheduleProgramsBase<SchedulePass> {
  using SchedulePrograms = impl::ScheduleProgramsBase<SchedulePass>;
  using SchedulePrograms::SchedulePrograms;

  /// Which values share memory: as the program is written, and if loops copy, with
  /// those doubled that copy less for it.
  LogicalResult chooseMemory(func::FuncOp function, Plan &plan) {
    auto make = [&](Plan &plan, const LoopSet &doubled) {
      if (failed(linearize(function, plan, doubled)))
        return failure();
      computeLiveness(plan);
      coalesce(plan);
      return success();
    };
    if (failed(make(plan, {})))
      return failure();
    LoopSet doubled = loopsThatCopy(plan);
    while (!doubled.empty()) {
      Plan next;
      if (failed(make(next, doubled)))
        return failure();
      LoopSet gained = loopsThatGained(doubled, plan, next);
      if (gained.size() == doubled.size()) {
        plan = std::move(next);
        break;
      }
      doubled = std::move(gained);
    }
    return success();
  }

  LogicalResult schedule(func::FuncOp function) {
    Plan plan;
    if (failed(chooseMemory(function, plan)))
      return failure();
    orderCopies(plan);
    // After orderCopies, which may ask for temporaries of its own.
    assignArena(plan);
    if (verifyPlan && failed(checkPlan(plan)))
      return failure();
    return emitProgram(plan, getOperation());
  }

  void runOnOperation() override {
    auto function = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!function) {
      getOperation().emitError() << "has no function @main";
      return signalPassFailure();
    }
    if (failed(schedule(function)))
      return signalPassFailure();
  }
};

struct SliceStacksPass : impl::ScheduleSliceStacksBase<SliceStacksPass> {
  using ScheduleSliceStacks = impl::ScheduleSliceStacksBase<SliceStacksPass>;
  using ScheduleSliceStacks::ScheduleSliceStacks;
  void runOnOperation() override { sliceStacks(getOperation(), leastBytes); }
};

struct NearMemoryPass : impl::ScheduleNearMemoryBase<NearMemoryPass> {
  using ScheduleNearMemory = impl::ScheduleNearMemoryBase<NearMemoryPass>;
  using ScheduleNearMemory::ScheduleNearMemory;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto need = [](LaunchOp launch, const llvm::BitVector &near) {
      int64_t sum = 0;
      for (auto [i, buffer] : llvm::enumerate(launch.getBuffers()))
        sum += near[i] ? 0 : byteSizeOf(cast<MemRefType>(buffer.getType()));
      return sum;
    };
    auto updates = [&](LaunchOp launch) {
      auto kernel = module.lookupSymbol<KernelOp>(launch.getKernel());
      graph::FusionKind kind = kernel.getFusion().getKind();
      return kind == graph::FusionKind::Update || kind == graph::FusionKind::Scatter ||
             kind == graph::FusionKind::While;
    };
    auto idle = [](LaunchOp) { return int64_t(1) << 30; };
    for (auto program : module.getOps<ProgramOp>())
      assignNearMemory(program, {bytes, 0, keep, prefetch, slices, acrossRuns},
                       {need, updates, idle});
  }
};
} // namespace

void buildSchedulePipeline(OpPassManager &manager, bool verifyPlan) {
  manager.addNestedPass<func::FuncOp>(createScheduleOrder());
  manager.addPass(createSchedulePrograms({verifyPlan}));
}

void registerSchedulePasses() {
  registerScheduleLevelPasses();
  PassPipelineRegistration<>(
      "schedule", "the schedule level: order, buffers, parallel regions",
      [](OpPassManager &manager) { buildSchedulePipeline(manager, /*verifyPlan=*/true); });
}

} // namespace spokeshave::schedule
