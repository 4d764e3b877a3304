//===- KeepNear.cpp - values in VMEM from kernel to kernel -----------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "target/tpu/KeepNear.h"

#include "schedule/Views.h"

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
  Keeper(ModuleOp module, const kernel::StageOptions &stage, tpu::CoresOf coresOf)
      : module(module), stage(stage), coresOf(coresOf) {
    for (auto kernel : module.getOps<kernel::FuncOp>())
      kernels[kernel.getSymName()] = kernel;
  }
  int64_t need(schedule::LaunchOp launch, const llvm::BitVector &near);
  schedule::ByteRange touches(schedule::LaunchOp launch, unsigned buffer, int64_t core);
  bool updatesOutputs(schedule::LaunchOp launch) {
    return kernels.lookup(launch.getKernel()).getUpdatesOutputs();
  }
  void specialize(schedule::ProgramOp program);

private:
  void specialize(schedule::LaunchOp launch);
  const kernel::StageNeed &needOf(StringRef kernel);

  ModuleOp module;
  const kernel::StageOptions &stage;
  tpu::CoresOf coresOf;
  llvm::StringMap<kernel::FuncOp> kernels;
  llvm::StringMap<kernel::StageNeed> needs;
  std::map<std::pair<std::string, std::vector<int64_t>>, std::string> variants;
  llvm::SmallSetVector<Operation *, 16> used;
};

const kernel::StageNeed &Keeper::needOf(StringRef name) {
  auto [found, isNew] = needs.try_emplace(name);
  if (isNew) {
    kernel::FuncOp kernel = kernels.lookup(name);
    kernel::StageOptions shared = stage;
    shared.cores = coresOf(kernel);
    found->second = kernel::stageNeed(kernel, shared);
  }
  return found->second;
}

int64_t Keeper::need(schedule::LaunchOp launch, const llvm::BitVector &near) {
  const kernel::StageNeed &need = needOf(launch.getKernel());
  int64_t bytes = need.scratch + kReserve;
  for (unsigned i = 0; i < near.size(); ++i)
    bytes += near[i] ? need.near[i] : need.far[i];
  return bytes;
}

/// A kernel that is not shared touches everything on the first core.
schedule::ByteRange Keeper::touches(schedule::LaunchOp launch, unsigned buffer, int64_t core) {
  const kernel::StageNeed &need = needOf(launch.getKernel());
  auto type = cast<MemRefType>(launch.getBuffers()[buffer].getType());
  if (need.parts.empty())
    return {0, core == 0 ? schedule::byteSizeOf(type) : 0};
  int64_t cores = need.parts.size() / (2 * launch.getBuffers().size());
  size_t at = 2 * (buffer * cores + core);
  return {need.parts[at], need.parts[at + 1]};
}

/// The byte of VMEM where `value` lies, or -1.
int64_t nearOffsetOf(Value value) {
  auto [base, offset] = schedule::baseOfViews(value);
  auto near = base.getDefiningOp<schedule::NearOp>();
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

/// A value between kernels, what a loop uses again, or an argument that is not read first.
/// A layer of a stack is another one in each trip.
bool isLikelyNear(schedule::LaunchOp launch, Value buffer, bool isFirst, int64_t bytes) {
  buffer = schedule::baseOfViews(buffer).first;
  if (buffer.getDefiningOp<schedule::SliceOp>())
    return false;
  bool isSmall = schedule::byteSizeOf(cast<MemRefType>(buffer.getType())) <= bytes / 4;
  auto argument = dyn_cast<BlockArgument>(buffer);
  auto program = launch->getParentOfType<schedule::ProgramOp>();
  bool isResult = argument && argument.getArgNumber() >= program.getNumArguments();
  bool isMoved = isResult || (argument && isFirst);
  return isSmall && (!isMoved || launch->getParentOfType<schedule::WhileOp>());
}

} // namespace

double tpu::likelyNearShare(ModuleOp module, int64_t bytes) {
  double near = 0, all = 0;
  bool isFirst = true;
  module.walk([&](schedule::LaunchOp launch) {
    for (Value buffer : launch.getBuffers()) {
      auto size = double(schedule::byteSizeOf(cast<MemRefType>(buffer.getType())));
      all += size;
      near += isLikelyNear(launch, buffer, isFirst, bytes) ? size : 0;
    }
    isFirst = false;
  });
  return all > 0 ? near / all : 0;
}

void tpu::expectNear(ModuleOp module, int64_t bytes) {
  struct Votes {
    int64_t launches = 0;
    SmallVector<int64_t> near;
  };
  llvm::StringMap<Votes> votes;
  bool isFirst = true;
  module.walk([&](schedule::LaunchOp launch) {
    Votes &kernel = votes[launch.getKernel()];
    ++kernel.launches;
    kernel.near.resize(launch.getBuffers().size());
    for (auto [i, buffer] : llvm::enumerate(launch.getBuffers()))
      kernel.near[i] += isLikelyNear(launch, buffer, isFirst, bytes);
    isFirst = false;
  });
  for (auto kernel : module.getOps<schedule::KernelOp>()) {
    const Votes &found = votes[kernel.getSymName()];
    SmallVector<int64_t> expected;
    for (auto [i, near] : llvm::enumerate(found.near))
      if (2 * near > found.launches)
        expected.push_back(i);
    kernel->setAttr(schedule::kExpectedNearAttr,
                    DenseI64ArrayAttr::get(module.getContext(), expected));
  }
}

void tpu::keepNear(ModuleOp module, const kernel::StageOptions &stage,
                   const schedule::NearMemoryOptions &options, CoresOf coresOf,
                   llvm::function_ref<int64_t(schedule::LaunchOp)> bytesBeside) {
  Keeper keeper(module, stage, coresOf);
  auto need = [&](schedule::LaunchOp launch, const llvm::BitVector &near) {
    return keeper.need(launch, near);
  };
  auto updates = [&](schedule::LaunchOp launch) { return keeper.updatesOutputs(launch); };
  auto touches = [&](schedule::LaunchOp launch, unsigned buffer, int64_t core) {
    return keeper.touches(launch, buffer, core);
  };
  for (auto program : module.getOps<schedule::ProgramOp>()) {
    schedule::assignNearMemory(program, options, {need, updates, bytesBeside, touches});
    keeper.specialize(program);
  }
}
