//===- Statistics.cpp - what was compiled, in numbers ----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "target/cpu/Statistics.h"

#include "graph/Classify.h"
#include "input/StablehloOps.h"
#include "support/Location.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::cpu;

namespace {

struct Work {
  int64_t flops = 0, transcendentals = 0, bytes = 0;
};

int64_t product(ArrayRef<int64_t> sizes, ArrayRef<int64_t> dims) {
  int64_t result = 1;
  for (int64_t dim : dims)
    result *= sizes[dim];
  return result;
}

/// Floating-point operations as the literature counts them: two for a
/// multiplication and addition.
int64_t flopsOf(Operation &op) {
  auto result = dyn_cast<ShapedType>(op.getResult(0).getType());
  if (!result)
    return 0;
  int64_t elements = result.getNumElements();
  if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op)) {
    auto lhs = cast<ShapedType>(dot.getLhs().getType());
    return 2 * elements *
           product(lhs.getShape(), dot.getDotDimensionNumbers().getLhsContractingDimensions());
  }
  if (auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op)) {
    auto kernel = cast<ShapedType>(convolution.getRhs().getType());
    int64_t features =
        kernel.getDimSize(convolution.getDimensionNumbers().getKernelOutputFeatureDimension());
    return features == 0 ? 0 : 2 * elements * (kernel.getNumElements() / features);
  }
  if (isa<stablehlo::ReduceOp, stablehlo::ReduceWindowOp>(op))
    return cast<ShapedType>(op.getOperand(0).getType()).getNumElements();
  bool isArithmetic =
      isa<stablehlo::AddOp, stablehlo::SubtractOp, stablehlo::MulOp, stablehlo::DivOp,
          stablehlo::MaxOp, stablehlo::MinOp, stablehlo::NegOp, stablehlo::AbsOp>(op);
  return isArithmetic && isa<FloatType, ComplexType>(result.getElementType()) ? elements : 0;
}

Work workOf(schedule::KernelOp kernel) {
  Work work;
  graph::FusionOp fusion = kernel.getFusion();
  for (Operation &op : fusion.getBlock().without_terminator()) {
    if (op.getNumResults() == 0)
      continue;
    work.flops += flopsOf(op);
    if (graph::isTranscendental(&op))
      work.transcendentals += graph::numElements(op.getResult(0).getType());
  }
  for (Type type : fusion.getOperandTypes())
    work.bytes += schedule::byteSizeOf(cast<ShapedType>(type));
  for (Type type : fusion.getResultTypes())
    work.bytes += schedule::byteSizeOf(cast<ShapedType>(type));
  return work;
}

class Counter {
public:
  explicit Counter(CompileStats &stats) : stats(stats) {}

  void addKernel(schedule::KernelOp kernel) {
    KernelInfo &info = stats.kernels.emplace_back();
    graph::FusionOp fusion = kernel.getFusion();
    info.symbol = kernel.getSymName().str();
    info.name = fusion.getName().str();
    info.kind = graph::stringifyFusionKind(fusion.getKind()).str();
    info.location = describeLocation(fusion.getLoc());
    Work work = workOf(kernel);
    info.flops = work.flops;
    info.bytes = work.bytes;
    numbers[info.symbol] = {stats.kernels.size() - 1, work};
    stats.instructionsAfter += llvm::range_size(fusion.getBlock().without_terminator());
  }

  /// Adds the steps of `block`, which runs `times` times.
  void addBlock(Block &block, int64_t times) {
    for (Operation &op : block) {
      if (auto launch = dyn_cast<schedule::LaunchOp>(op))
        addLaunch(launch, times);
      stats.libraryCalls += isa<schedule::LibraryOp>(op) ? times : 0;
      stats.customCalls += isa<schedule::CustomCallOp>(op) ? times : 0;
      int64_t trips = 1;
      if (auto loop = dyn_cast<schedule::WhileOp>(op))
        trips = loop.getTripCount().value_or(1);
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          addBlock(inner, times * trips);
    }
  }

private:
  void addLaunch(schedule::LaunchOp launch, int64_t times) {
    auto found = numbers.find(launch.getKernel());
    if (found == numbers.end())
      return;
    auto &[number, work] = found->second;
    stats.kernels[number].launches += times;
    stats.flops += work.flops * times;
    stats.transcendentals += work.transcendentals * times;
    stats.bytesAccessed += work.bytes * times;
  }

  CompileStats &stats;
  llvm::StringMap<std::pair<size_t, Work>> numbers;
};

} // namespace

void cpu::countSchedule(ModuleOp module, CompileStats &stats) {
  Counter counter(stats);
  for (auto kernel : module.getOps<schedule::KernelOp>())
    counter.addKernel(kernel);
  for (auto program : module.getOps<schedule::ProgramOp>())
    counter.addBlock(program.getBlock(), 1);
}
