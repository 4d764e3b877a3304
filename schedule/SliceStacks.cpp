//===- SliceStacks.cpp - launches that touch a layer of a stack ------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel that would have to hold a stack to find one layer in it is made anew for
// the layer; all its launches then name the layer's place. What was found of a
// kernel's slices must be told of each of its launches, else the kernel stays.
//
//===----------------------------------------------------------------------===//
#include "schedule/SliceStacks.h"

#include "schedule/LoopCounters.h"

#include "graph/Classify.h"
#include "input/StablehloOps.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::schedule;
namespace hlo = spokeshave::stablehlo;

namespace {

/// A box of a tensor whose place is known at run time.
struct Box {
  RankedTensorType type;
  SmallVector<Value> starts; ///< as the operation names them
  /// Of the dimensions that move.
  SmallVector<Affine> moving;
  SmallVector<int64_t> limits, strides; ///< strides in bytes
  int64_t rows = 1, pitch = 0;          ///< in bytes
};

/// `sizes` of a tensor from `starts` on; nothing if it is no box of equal runs, or
/// starts where a launch could not tell.
std::optional<Box> boxOf(RankedTensorType whole, RankedTensorType part, OperandRange starts) {
  Box box;
  box.type = part;
  llvm::append_range(box.starts, starts);
  int64_t stride = byteSizeOfElement(whole.getElementType());
  SmallVector<int64_t> strides(whole.getRank());
  for (int64_t d = whole.getRank(); d-- > 0; stride *= whole.getDimSize(d)) {
    strides[d] = stride;
    int64_t limit = whole.getDimSize(d) - part.getDimSize(d);
    if (limit == 0)
      continue;
    std::optional<Affine> start = affineOf(starts[d]);
    if (!start)
      return std::nullopt;
    box.moving.push_back(*start);
    box.limits.push_back(limit), box.strides.push_back(stride);
  }
  // A run ends at the innermost dimension of which there is only a part.
  int64_t cut = whole.getRank() - 1;
  while (cut >= 0 && whole.getDimSize(cut) == part.getDimSize(cut))
    --cut;
  bool isBroken = false; // rows of one pitch cannot go on
  for (int64_t d = cut - 1; d >= 0; --d) {
    if (part.getDimSize(d) > 1 && isBroken)
      return std::nullopt;
    if (part.getDimSize(d) > 1 && box.rows == 1)
      box.pitch = strides[d];
    box.rows *= part.getDimSize(d);
    isBroken |= box.rows > 1 && part.getDimSize(d) != whole.getDimSize(d);
  }
  return box;
}

/// What of a kernel's fusion is made anew.
struct KernelSlices {
  struct Read {
    unsigned input;
    Box box;
    SmallVector<hlo::DynamicSliceOp> ops;
  };
  std::vector<Read> reads;
  /// That is the fusion's only result, or null. Accessors of operations are not const.
  mutable hlo::DynamicUpdateSliceOp update;
  Box updated;
  bool isEmpty() const { return reads.empty() && !update; }
};

class StackSlicer {
public:
  StackSlicer(ModuleOp module, int64_t leastBytes)
      : module(module), leastBytes(leastBytes), counters(module) {}
  void run();

private:
  KernelSlices slicesOf(graph::FusionOp fusion);
  void findUpdate(graph::FusionOp fusion, KernelSlices &slices);
  bool tellsStarts(const Box &box, LaunchOp launch);
  graph::FusionOp makeAnew(KernelOp kernel, const KernelSlices &slices,
                           SmallVectorImpl<int64_t> &inputs);
  Value place(OpBuilder &builder, const Box &box, LaunchOp launch, Value source);
  void relaunch(LaunchOp launch, const KernelSlices &slices, graph::FusionOp fusion,
                ArrayRef<int64_t> inputs);
  Value temporary(OpBuilder &builder, MemRefType type, ProgramOp program);

  ModuleOp module;
  int64_t leastBytes;
  LoopCounters counters;
};

MemRefType bufferType(RankedTensorType type) {
  return MemRefType::get(type.getShape(), type.getElementType());
}

/// An update of a slice whose tensor is read, if at all, at the slice's place only.
void StackSlicer::findUpdate(graph::FusionOp fusion, KernelSlices &slices) {
  if (fusion.getKind() != graph::FusionKind::Update || fusion.getNumResults() != 1)
    return;
  auto update = fusion.getYield().getValues()[0].getDefiningOp<hlo::DynamicUpdateSliceOp>();
  auto target = update ? dyn_cast<BlockArgument>(update.getOperand()) : BlockArgument();
  if (!target || !update->hasOneUse() || byteSizeOf(update.getType()) < leastBytes)
    return;
  auto part = cast<RankedTensorType>(update.getUpdate().getType());
  std::optional<Box> box = boxOf(update.getType(), part, update.getStartIndices());
  if (!box || box->moving.empty() || part.getNumElements() == 0)
    return;
  for (OpOperand &use : target.getUses()) {
    bool isPlace = llvm::any_of(slices.reads, [&](const KernelSlices::Read &read) {
      return llvm::is_contained(read.ops, use.getOwner()) && read.box.starts == box->starts &&
             read.box.type == part;
    });
    if (use.getOwner() != update && !isPlace)
      return;
  }
  slices.update = update, slices.updated = *box;
}

KernelSlices StackSlicer::slicesOf(graph::FusionOp fusion) {
  KernelSlices slices;
  for (BlockArgument argument : fusion.getBlock().getArguments()) {
    if (byteSizeOf(cast<RankedTensorType>(argument.getType())) < leastBytes)
      continue;
    for (Operation *user : argument.getUsers()) {
      auto slice = dyn_cast<hlo::DynamicSliceOp>(user);
      if (!slice || slice->getBlock() != &fusion.getBlock() || slice.getOperand() != argument)
        continue;
      std::optional<Box> box = boxOf(cast<RankedTensorType>(argument.getType()), slice.getType(),
                                     slice.getStartIndices());
      if (!box || box->moving.empty() || box->rows > 1)
        continue;
      auto same = llvm::find_if(slices.reads, [&](const KernelSlices::Read &read) {
        return read.input == argument.getArgNumber() && read.box.type == box->type &&
               read.box.starts == box->starts;
      });
      if (same == slices.reads.end())
        slices.reads.push_back({argument.getArgNumber(), *box, {slice}});
      else
        same->ops.push_back(slice);
    }
  }
  findUpdate(fusion, slices);
  return slices;
}

/// Whether the launch can say where the box begins.
bool StackSlicer::tellsStarts(const Box &box, LaunchOp launch) {
  return llvm::all_of(box.moving, [&](const Affine &start) {
    // What the sequencer reads it takes as it is, or from the end.
    bool isPlain = start.factor == 1 && start.constant == 0;
    return start.input < 0 || isPlain ||
           counters.valueAt(launch.getBuffers()[start.input], start, launch);
  });
}

/// The kernel with slices in the place of what they are taken from. `inputs` are the
/// numbers of its inputs among the old ones, then, less than 0, among the reads.
graph::FusionOp StackSlicer::makeAnew(KernelOp kernel, const KernelSlices &slices,
                                      SmallVectorImpl<int64_t> &inputs) {
  graph::FusionOp old = kernel.getFusion();
  OpBuilder builder(kernel);
  auto made = builder.create<KernelOp>(kernel.getLoc(), (kernel.getSymName() + ".slice").str());
  Block &block = made.getBody().emplaceBlock();
  for (auto [number, argument] : llvm::enumerate(old.getBlock().getArguments()))
    block.addArgument(argument.getType(), argument.getLoc()), inputs.push_back(number);
  for (auto [number, read] : llvm::enumerate(slices.reads))
    block.addArgument(read.box.type, old.getLoc()), inputs.push_back(-1 - int64_t(number));
  builder.setInsertionPointToStart(&block);
  SmallVector<Type> results(old.getResultTypes());
  if (slices.update)
    results = {slices.updated.type};
  auto fusion = builder.create<graph::FusionOp>(
      old.getLoc(), results, block.getArguments(),
      slices.update ? graph::FusionKind::Loop : old.getKind(), old.getName());
  Block &body = fusion.getBlock();
  IRMapping mapping;
  mapping.map(old.getBlock().getArguments(),
              body.getArguments().take_front(old.getBlock().getNumArguments()));
  for (auto [read, argument] :
       llvm::zip_equal(slices.reads, body.getArguments().take_back(slices.reads.size())))
    for (hlo::DynamicSliceOp op : read.ops)
      mapping.map(op.getResult(), argument);
  builder.setInsertionPointToEnd(&body);
  for (Operation &op : old.getBlock().without_terminator()) {
    bool isRead = op.getNumResults() == 1 && mapping.contains(op.getResult(0));
    if (!isRead && &op != slices.update.getOperation())
      builder.clone(op, mapping);
  }
  SmallVector<Value> yielded;
  for (Value value : old.getYield().getValues())
    yielded.push_back(mapping.lookup(slices.update ? Value(slices.update.getUpdate()) : value));
  builder.create<graph::YieldOp>(old.getYield().getLoc(), yielded);
  SmallVector<Operation *> operations;
  for (Operation &op : body.without_terminator())
    operations.push_back(&op);
  for (Operation *op : llvm::reverse(operations))
    if (isOpTriviallyDead(op))
      op->erase();
  for (unsigned number = body.getNumArguments(); number-- > 0;) {
    if (!body.getArgument(number).use_empty())
      continue;
    body.eraseArgument(number);
    fusion->eraseOperand(number);
    block.eraseArgument(number);
    inputs.erase(inputs.begin() + number);
  }
  return fusion;
}

/// The box of `source`, in the terms of a launch.
Value StackSlicer::place(OpBuilder &builder, const Box &box, LaunchOp launch, Value source) {
  SmallVector<Value> starts;
  SmallVector<int64_t> limits, strides, wraps;
  int64_t offset = 0;
  Location loc = launch.getLoc();
  for (auto [start, limit, stride] : llvm::zip_equal(box.moving, box.limits, box.strides)) {
    std::optional<TripNumber> number = TripNumber{start.constant, 0};
    Value scalar = start.input < 0 ? Value() : launch.getBuffers()[start.input];
    if (scalar)
      number = counters.valueAt(scalar, start, launch);
    if (number && number->step == 0) {
      offset += std::clamp<int64_t>(number->begin, 0, limit) * stride;
      continue;
    }
    if (number)
      scalar = builder.create<TripOp>(loc, MemRefType::get({}, builder.getI64Type()), number->begin,
                                      number->step);
    starts.push_back(scalar);
    limits.push_back(limit), strides.push_back(stride);
    wraps.push_back(number ? 0 : start.wraps);
  }
  if (starts.empty() && box.rows == 1)
    return builder.create<ViewOp>(loc, bufferType(box.type), source, offset);
  if (starts.empty()) { // a box, though its place is known
    starts.push_back(builder.create<TripOp>(loc, MemRefType::get({}, builder.getI64Type()), 0, 0));
    limits.push_back(0), strides.push_back(0), wraps.push_back(0);
  }
  return builder.create<SliceOp>(loc, bufferType(box.type), source, starts, limits, strides, wraps,
                                 offset, box.rows, box.pitch);
}

/// More of the arena.
Value StackSlicer::temporary(OpBuilder &builder, MemRefType type, ProgramOp program) {
  int64_t offset = llvm::alignTo(program.getArenaBytes(), 64);
  program.setArenaBytes(offset + byteSizeOf(type));
  return builder.create<ArenaOp>(program.getLoc(), type, offset);
}

void StackSlicer::relaunch(LaunchOp launch, const KernelSlices &slices, graph::FusionOp fusion,
                           ArrayRef<int64_t> inputs) {
  OpBuilder builder(launch);
  auto program = launch->getParentOfType<ProgramOp>();
  SmallVector<Value> buffers;
  for (int64_t input : inputs) {
    if (input >= 0) {
      buffers.push_back(launch.getBuffers()[input]);
      continue;
    }
    const KernelSlices::Read &read = slices.reads[-1 - input];
    buffers.push_back(place(builder, read.box, launch, launch.getBuffers()[read.input]));
  }
  auto symbol = FlatSymbolRefAttr::get(fusion->getParentOfType<KernelOp>().getSymNameAttr());
  ValueRange outputs = launch.getBuffers().drop_front(launch.getNumInputs());
  if (!slices.update) {
    llvm::append_range(buffers, outputs);
    builder.create<LaunchOp>(launch.getLoc(), symbol, builder.getI64IntegerAttr(inputs.size()),
                             buffers);
    return launch.erase();
  }
  Value target = place(builder, slices.updated, launch, outputs[0]), computed = target;
  // A slice that is there already is copied; a box of several runs is computed first.
  Value yielded = fusion.getYield().getValues()[0];
  while (auto reshape = yielded.getDefiningOp<hlo::ReshapeOp>())
    yielded = reshape.getOperand();
  bool isCopy = isa<BlockArgument>(yielded);
  if (isCopy) {
    computed = buffers[cast<BlockArgument>(yielded).getArgNumber()];
  } else if (slices.updated.rows > 1) {
    computed = temporary(builder, cast<MemRefType>(target.getType()), program);
  }
  if (!isCopy) {
    buffers.push_back(computed);
    builder.create<LaunchOp>(launch.getLoc(), symbol, builder.getI64IntegerAttr(inputs.size()),
                             buffers);
  }
  if (computed != target)
    builder.create<CopyOp>(launch.getLoc(), computed, target);
  launch.erase();
}

void StackSlicer::run() {
  llvm::MapVector<KernelOp, SmallVector<LaunchOp>> launches;
  for (auto kernel : module.getOps<KernelOp>())
    launches[kernel];
  SymbolTable symbols(module);
  module.walk([&](LaunchOp launch) {
    launches[symbols.lookup<KernelOp>(launch.getKernel())].push_back(launch);
  });
  for (auto &entry : launches) {
    KernelOp kernel = entry.first;
    ArrayRef<LaunchOp> all = entry.second;
    KernelSlices slices = slicesOf(kernel.getFusion());
    llvm::erase_if(slices.reads, [&](const KernelSlices::Read &read) {
      return !llvm::all_of(all, [&](LaunchOp each) { return tellsStarts(read.box, each); });
    });
    if (slices.update &&
        !llvm::all_of(all, [&](LaunchOp each) { return tellsStarts(slices.updated, each); }))
      slices.update = {};
    if (slices.isEmpty())
      continue;
    SmallVector<int64_t> inputs;
    graph::FusionOp fusion = makeAnew(kernel, slices, inputs);
    for (LaunchOp launch : all)
      relaunch(launch, slices, fusion, inputs);
  }
  for (auto program : module.getOps<ProgramOp>())
    counters.eraseUnread(program);
  for (auto kernel : llvm::make_early_inc_range(module.getOps<KernelOp>()))
    if (SymbolTable::symbolKnownUseEmpty(kernel, module))
      kernel.erase();
}

} // namespace

void spokeshave::schedule::sliceStacks(ModuleOp module, int64_t leastBytes) {
  StackSlicer(module, leastBytes).run();
}
