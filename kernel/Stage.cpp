//===- Stage.cpp - kernels for machines with an explicit near memory -------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The near memory of a staged kernel: its own scratch, then what each buffer
// needs. Transfers stand in the kernel as operations, so that what overlaps what
// can be read there:
//
//   start windows of task 0
//   for task:
//     start windows of task + 1     (buffers - 1 ahead)
//     wait for windows of task
//     compute
//     start results of task;  wait for results of task - 1
//
// A window that several tasks in a row share is waited for by the first of them and,
// of results, written by the last. Windows are those that the lowering declares
// (kernel.window), of other buffers those that findWindow finds.
//
//===----------------------------------------------------------------------===//
#include "kernel/Stager.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

/// Windows of tasks that overlap move elements again and again: then not if the
/// buffer as a whole takes no more room than the windows in flight.
bool Stager::paysOff(const Window &window, MemRefType type) const {
  int64_t whole = type.getNumElements();
  int64_t moved = window.elements() * llvm::divideCeil(tasks, window.period());
  return 2 * moved < 3 * whole || whole > options.buffers * window.elements();
}

LogicalResult Stager::describe() {
  bool updates = kernel.getUpdatesOutputs();
  for (auto [number, value] : llvm::enumerate(kernel.getBuffers())) {
    Staged staged;
    staged.buffer = cast<BlockArgument>(value);
    staged.type = cast<MemRefType>(value.getType());
    bool isOutput = number >= kernel.getNumInputs();
    staged.isRead = !isOutput || updates;
    staged.isWritten = isOutput;
    if (kernel.getNearOffsets())
      staged.nearOffset = (*kernel.getNearOffsets())[number];
    if (staged.type.getNumElements() == 0)
      continue;
    bool otherUses = false;
    for (Operation *user : value.getUsers()) {
      auto window = dyn_cast<WindowOp>(user);
      otherUses |= !window;
      if (!window)
        continue;
      DeclaredWindow declared(window);
      if (isOutput && !declared.movesOnce())
        return window.emitOpError("of a result is used again after other ones");
      Staged here = staged;
      here.declared = window;
      here.slotElements = declared.elements();
      here.slots = declared.period() < tasks ? options.buffers : 1;
      here.inPlace = here.nearOffset >= 0 && here.canBeInPlace();
      buffers.push_back(here);
    }
    if (!otherUses)
      continue;
    staged.inPlace = staged.nearOffset >= 0;
    if (tasks > 1 && (!staged.inPlace || options.cores > 1))
      staged.touched = findWindow(kernel, staged.buffer);
    if (!staged.inPlace)
      staged.window = staged.touched;
    if (staged.window && !isOutput && !paysOff(*staged.window, staged.type))
      staged.window.reset();
    staged.slotElements = staged.window ? staged.window->elements() : staged.type.getNumElements();
    staged.slots = staged.window ? options.buffers : 1;
    buffers.push_back(staged);
  }
  return success();
}

LogicalResult Stager::layOut() {
  int64_t offset = llvm::alignTo(kernel.getScratchBytes(), kNearAlignment);
  for (Staged &buffer : buffers) {
    if (buffer.inPlace)
      continue;
    buffer.offset = offset;
    offset += buffer.bytes();
  }
  if (offset > options.nearBytes) {
    InFlightDiagnostic error = emitError(loc)
                               << "kernel @" << kernel.getSymName() << " needs " << offset
                               << " bytes of near memory, the chip has " << options.nearBytes;
    error.attachNote() << "scratch: " << kernel.getScratchBytes() << " bytes";
    for (const Staged &buffer :
         llvm::make_filter_range(buffers, [](const Staged &each) { return !each.inPlace; }))
      error.attachNote() << "buffer " << buffer.buffer.getArgNumber() - 1 << " of " << buffer.type
                         << ": " << buffer.bytes() << " bytes"
                         << (buffer.moves() ? " in windows" : ", as a whole");
    return failure();
  }
  kernel.setScratchBytes(offset);
  return success();
}

SmallVector<TouchedBuffer> Stager::touched() {
  SmallVector<TouchedBuffer> found;
  for (const Staged &buffer : buffers)
    found.push_back({buffer.buffer.getArgNumber() - 1, buffer.type.getNumElements(),
                     buffer.elementBytes(), buffer.buffer.getArgNumber() > kernel.getNumInputs(),
                     buffer.declared, buffer.touched});
  return found;
}

/// Decides how many tasks a core does, and says what these touch; once they are staged,
/// each core moves buffers without windows as a whole.
void Stager::shareTasks(bool isStaged) {
  if (options.cores < 2)
    return;
  SmallVector<TouchedBuffer> all = touched();
  if (!kernel.getUpdatesOutputs())
    share = shareOfCore(tasks, options.cores, all);
  for (auto [each, buffer] : llvm::zip_equal(all, buffers))
    if (isStaged && !buffer.inPlace && !buffer.moves())
      each.window.reset();
  parts = partsOfCores(tasks, share, options.cores, kernel.getBuffers().size(), all);
}

/// The body goes into a loop over the tasks.
void Stager::wrapInLoop() {
  Block &block = kernel.getBlock();
  builder.setInsertionPointToStart(&block);
  begin = constant(0), end = constant(tasks);
  loop = builder.create<scf::ForOp>(loc, begin, end, constant(1));
  Block *body = loop.getBody();
  auto first = std::next(Block::iterator(loop));
  body->getOperations().splice(body->begin(), block.getOperations(), first, block.end());
  Value core = kernel.getTask();
  core.replaceAllUsesWith(loop.getInductionVar());
  kernel.setTasks(llvm::divideCeil(tasks, share));
  if (share == tasks)
    return;
  builder.setInsertionPoint(loop);
  begin = builder.create<arith::MulIOp>(loc, core, constant(share));
  Value next = builder.create<arith::AddIOp>(loc, begin, constant(share));
  end = builder.create<arith::MinSIOp>(loc, next, constant(tasks));
  loop.setLowerBound(begin);
  loop.setUpperBound(end);
}

StageNeed Stager::need() {
  StageNeed need;
  need.scratch = llvm::alignTo(kernel.getScratchBytes(), kNearAlignment);
  need.far.resize(kernel.getBuffers().size());
  need.near.resize(kernel.getBuffers().size());
  if (failed(describe()))
    return need;
  for (Staged &buffer : buffers) {
    unsigned number = buffer.buffer.getArgNumber() - 1;
    need.far[number] += buffer.bytes();
    need.near[number] += buffer.canBeInPlace() ? 0 : buffer.bytes();
  }
  shareTasks(/*isStaged=*/false);
  if (!parts.empty())
    need.moved = movedByCores(tasks, share, options.cores, parts, touched());
  need.parts = std::move(parts);
  need.cores = llvm::divideCeil(tasks, std::max<int64_t>(1, share));
  return need;
}

LogicalResult Stager::run() {
  if (failed(describe()))
    return failure();
  if (tasks == 0)
    return kernel.getBlock().clear(), success();
  if (failed(layOut()))
    return failure();
  shareTasks(/*isStaged=*/true);
  if (!parts.empty())
    kernel.setCoreParts(parts);
  wrapInLoop();
  builder.setInsertionPoint(loop);
  for (Staged &buffer : buffers) {
    auto flat =
        MemRefType::get({buffer.bytes() / buffer.elementBytes()}, buffer.type.getElementType());
    if (buffer.nearOffset >= 0)
      buffer.home = builder.create<ScratchOp>(loc, buffer.type, buffer.nearOffset);
    if (buffer.inPlace) {
      buffer.scratch = buffer.home;
      buffer.isRead = buffer.isWritten = false;
      continue;
    }
    buffer.scratch =
        builder.create<ScratchOp>(loc, buffer.moves() ? flat : buffer.type, buffer.offset);
  }
  for (Staged &buffer : buffers)
    redirect(buffer);

  transferBeforeLoop();
  transferInLoop();
  transferAfterLoop();

  // What is declared is in place.
  SmallVector<WindowOp> declarations;
  kernel.walk([&](WindowOp op) { declarations.push_back(op); });
  for (WindowOp op : declarations)
    op.erase();
  return success();
}

StageNeed kernel::stageNeed(FuncOp kernel, const StageOptions &options) {
  return Stager(kernel, options).need();
}

LogicalResult kernel::stageBuffers(FuncOp kernel, const StageOptions &options) {
  return Stager(kernel, options).run();
}
