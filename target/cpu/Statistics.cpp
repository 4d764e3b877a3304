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
  int64_t flops = 0, transcendentals = 0, bytes = 0, movedBytes = 0;
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

/// Bytes that a kernel reads of one input: what is cut out of it where it is
/// only ever cut, nothing of what it updates in place.
int64_t bytesRead(BlockArgument input) {
  int64_t whole = schedule::byteSizeOf(cast<ShapedType>(input.getType())), cut = 0;
  for (OpOperand &use : input.getUses()) {
    Operation *user = use.getOwner();
    size_t updated = 0; // how many operands, the first ones, are updated in place
    if (isa<stablehlo::DynamicUpdateSliceOp>(user))
      updated = 1;
    else if (auto scatter = dyn_cast<stablehlo::ScatterOp>(user))
      updated = scatter.getInputs().size();
    if (use.getOperandNumber() < updated)
      continue;
    if (user->getBlock() != input.getOwner())
      return whole; // read in each trip of a loop, most often another part
    bool isCut = isa<stablehlo::SliceOp, stablehlo::DynamicSliceOp, stablehlo::GatherOp>(user);
    if (!isCut || use.getOperandNumber() != 0)
      return whole;
    cut += schedule::byteSizeOf(cast<ShapedType>(user->getResult(0).getType()));
  }
  return std::min(cut, whole);
}

/// Bytes that a kernel writes for one result; of what is updated in place, the
/// update alone.
int64_t bytesWritten(Value result) {
  if (auto update = result.getDefiningOp<stablehlo::DynamicUpdateSliceOp>())
    result = update.getUpdate();
  else if (auto scatter = result.getDefiningOp<stablehlo::ScatterOp>())
    result = scatter.getUpdates()[cast<OpResult>(result).getResultNumber()];
  return schedule::byteSizeOf(cast<ShapedType>(result.getType()));
}

/// Does it compute nothing, but put elements to other places? Arithmetic on
/// single elements finds the place.
bool onlyMoves(graph::FusionOp fusion) {
  auto hasArray = [](TypeRange types) {
    return llvm::any_of(types, [](Type type) { return graph::numElements(type) > 1; });
  };
  if (!hasArray(fusion.getResultTypes()))
    return false;
  return llvm::all_of(fusion.getBlock().without_terminator(), [&](Operation &op) {
    graph::OpClass kind = graph::classify(&op);
    return kind == graph::OpClass::Constant || kind == graph::OpClass::Index ||
           kind == graph::OpClass::View || isa<stablehlo::DynamicUpdateSliceOp>(op) ||
           !hasArray(op.getResultTypes());
  });
}

/// Adds what `block` computes when it runs `times` times, loops inside included.
void addOperations(Block &block, int64_t times, Work &work) {
  for (Operation &op : block.without_terminator()) {
    if (isa<stablehlo::WhileOp, stablehlo::IfOp, stablehlo::CaseOp>(op)) {
      auto trips = op.getAttrOfType<IntegerAttr>("graph.trip_count");
      for (Region &region : op.getRegions())
        addOperations(region.front(), times * (trips ? trips.getInt() : 1), work);
      continue;
    }
    if (op.getNumResults() == 0)
      continue;
    work.flops += times * flopsOf(op);
    if (graph::isTranscendental(&op))
      work.transcendentals += times * graph::numElements(op.getResult(0).getType());
  }
}

Work workOf(schedule::KernelOp kernel) {
  Work work;
  graph::FusionOp fusion = kernel.getFusion();
  addOperations(fusion.getBlock(), 1, work);
  for (BlockArgument input : fusion.getBlock().getArguments())
    work.bytes += bytesRead(input);
  int64_t written = 0;
  for (Value result : fusion.getYield().getValues())
    written += bytesWritten(result);
  work.bytes += written;
  work.movedBytes = onlyMoves(fusion) ? written : 0;
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
    info.movedBytes = work.movedBytes;
    numbers[info.symbol] = {stats.kernels.size() - 1, work};
  }

  /// Adds the steps of `block`, which runs `times` times, to the totals. Returns
  /// what one run of it is made of.
  Structure addBlock(Block &block, int64_t times, int64_t depth) {
    Structure structure;
    for (Operation &op : block) {
      if (auto loop = dyn_cast<schedule::WhileOp>(op)) {
        int64_t trips = loop.getTripCount().value_or(1);
        add(structure, addLoop(loop, times * trips, depth), trips);
        continue;
      }
      if (auto launch = dyn_cast<schedule::LaunchOp>(op))
        add(structure, addLaunch(launch, times), 1);
      else if (auto copy = dyn_cast<schedule::CopyOp>(op))
        add(structure, addCopy(copy, times), 1);
      structure.regions += isa<schedule::ParallelOp>(op);
      stats.libraryCalls += isa<schedule::LibraryOp>(op) ? times : 0;
      stats.customCalls += isa<schedule::CustomCallOp>(op) ? times : 0;
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          add(structure, addBlock(inner, times, depth), 1);
    }
    return structure;
  }

private:
  static void add(Structure &sum, const Structure &part, int64_t times) {
    sum.regions += part.regions * times;
    sum.launches += part.launches * times;
    sum.copies += part.copies * times;
    sum.copiedBytes += part.copiedBytes * times;
    sum.movedBytes += part.movedBytes * times;
  }

  /// Lists a loop before those inside of it. Returns one iteration.
  Structure addLoop(schedule::WhileOp loop, int64_t times, int64_t depth) {
    size_t number = stats.loops.size();
    stats.loops.emplace_back();
    Structure iteration;
    for (Region &region : loop->getRegions())
      for (Block &inner : region)
        add(iteration, addBlock(inner, times, depth + 1), 1);
    LoopInfo &info = stats.loops[number];
    info.location = describeLocation(loop.getLoc());
    info.depth = depth;
    info.trips = loop.getTripCount() ? static_cast<int64_t>(*loop.getTripCount()) : -1;
    info.iteration = iteration;
    return iteration;
  }

  Structure addLaunch(schedule::LaunchOp launch, int64_t times) {
    Structure structure;
    structure.launches = 1;
    auto found = numbers.find(launch.getKernel());
    if (found == numbers.end())
      return structure;
    auto &[number, work] = found->second;
    structure.movedBytes = work.movedBytes;
    stats.kernels[number].launches += times;
    stats.flops += work.flops * times;
    stats.transcendentals += work.transcendentals * times;
    stats.bytesAccessed += work.bytes * times;
    return structure;
  }

  Structure addCopy(schedule::CopyOp copy, int64_t times) {
    Structure structure;
    structure.copies = 1;
    structure.copiedBytes = schedule::byteSizeOf(cast<ShapedType>(copy.getTarget().getType()));
    stats.bytesAccessed += 2 * structure.copiedBytes * times;
    return structure;
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
    stats.structure = counter.addBlock(program.getBlock(), 1, 0);
}
