//===- KeepNear.cpp - values in VMEM from kernel to kernel -----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "target/tpu/KeepNear.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

#include <map>

using namespace mlir;
using namespace spokeshave;

namespace {

/// Tables and spilled registers come after the choice: room is left for them.
constexpr int64_t kReserve = 1 << 20;

class Keeper {
public:
  Keeper(ModuleOp module, const kernel::StageOptions &stage) : module(module), stage(stage) {
    for (auto kernel : module.getOps<kernel::FuncOp>())
      kernels[kernel.getSymName()] = kernel;
  }
  int64_t need(schedule::LaunchOp launch, const llvm::BitVector &near);
  bool updatesOutputs(schedule::LaunchOp launch) {
    return kernels.lookup(launch.getKernel()).getUpdatesOutputs();
  }
  void specialize(schedule::ProgramOp program);

private:
  void specialize(schedule::LaunchOp launch);

  ModuleOp module;
  const kernel::StageOptions &stage;
  llvm::StringMap<kernel::FuncOp> kernels;
  llvm::StringMap<kernel::StageNeed> needs;
  std::map<std::pair<std::string, std::vector<int64_t>>, std::string> variants;
  llvm::SmallSetVector<Operation *, 16> used;
};

int64_t Keeper::need(schedule::LaunchOp launch, const llvm::BitVector &near) {
  auto [found, isNew] = needs.try_emplace(launch.getKernel());
  if (isNew)
    found->second = kernel::stageNeed(kernels.lookup(launch.getKernel()), stage);
  int64_t bytes = found->second.scratch + kReserve;
  for (unsigned i = 0; i < near.size(); ++i)
    bytes += near[i] ? found->second.near[i] : found->second.far[i];
  return bytes;
}

/// The byte of VMEM where `value` lies, or -1.
int64_t nearOffsetOf(Value value) {
  int64_t offset = 0;
  while (auto view = value.getDefiningOp<schedule::ViewOp>()) {
    offset += view.getByteOffset();
    value = view.getSource();
  }
  auto near = value.getDefiningOp<schedule::NearOp>();
  return near ? int64_t(near.getOffset()) + offset : -1;
}

void Keeper::specialize(schedule::LaunchOp launch) {
  kernel::FuncOp origin = kernels.lookup(launch.getKernel());
  std::vector<int64_t> offsets;
  for (Value buffer : launch.getBuffers())
    offsets.push_back(nearOffsetOf(buffer));
  if (llvm::all_of(offsets, [](int64_t offset) { return offset < 0; })) {
    used.insert(origin);
    return;
  }
  auto [variant, isNew] = variants.try_emplace({launch.getKernel().str(), offsets});
  if (isNew) {
    OpBuilder builder(origin);
    auto copy = cast<kernel::FuncOp>(builder.clone(*origin));
    variant->second = (origin.getSymName() + ".near" + llvm::Twine(variants.size() - 1)).str();
    copy.setSymName(variant->second);
    copy.setNearOffsets(offsets);
    copy->setAttr("tpu.origin", FlatSymbolRefAttr::get(origin.getSymNameAttr()));
    used.insert(copy);
  }
  launch.setKernel(variant->second);
}

void Keeper::specialize(schedule::ProgramOp program) {
  program.walk([&](schedule::LaunchOp launch) { specialize(launch); });
  for (auto kernel : llvm::make_early_inc_range(module.getOps<kernel::FuncOp>()))
    if (!used.contains(kernel))
      kernel.erase();
}

} // namespace

void tpu::keepNear(ModuleOp module, const kernel::StageOptions &stage,
                   const schedule::NearMemoryOptions &options,
                   llvm::function_ref<int64_t(schedule::LaunchOp)> bytesBeside) {
  Keeper keeper(module, stage);
  auto need = [&](schedule::LaunchOp launch, const llvm::BitVector &near) {
    return keeper.need(launch, near);
  };
  auto updates = [&](schedule::LaunchOp launch) { return keeper.updatesOutputs(launch); };
  for (auto program : module.getOps<schedule::ProgramOp>()) {
    schedule::assignNearMemory(program, options, {need, updates, bytesBeside});
    keeper.specialize(program);
  }
}
