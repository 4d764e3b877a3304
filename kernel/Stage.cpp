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
//===----------------------------------------------------------------------===//
#include "kernel/Stage.h"

#include "kernel/Windows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

namespace {

constexpr int64_t kAlignment = 4096;

/// How one buffer is staged.
struct Staged {
  BlockArgument buffer;
  MemRefType type;
  bool isRead = false, isWritten = false; ///< in far memory
  std::optional<Window> window;           ///< nothing: as a whole
  int64_t offset = 0, slotElements = 0, slots = 1;
  Value scratch;

  int64_t elementBytes() const {
    return std::max<int64_t>(1, type.getElementType().getIntOrFloatBitWidth() / 8);
  }
  int64_t bytes() const { return slots * llvm::alignTo(slotElements * elementBytes(), kAlignment); }
};

class Stager {
public:
  Stager(FuncOp kernel, const StageOptions &options)
      : kernel(kernel), options(options), builder(kernel.getContext()), loc(kernel.getLoc()),
        tasks(kernel.getTasks()) {}
  LogicalResult run();

private:
  void describe();
  LogicalResult layOut();
  void wrapInLoop();
  void redirect(Staged &buffer);
  void redirectDot(TileDotOp dot, const Staged &buffer, Value shift);
  Value relative(Value index, Value shift);
  Value linearIndex(ValueRange indices, MemRefType type);
  Value slotOrigin(const Staged &buffer, Value slot);
  Value constant(int64_t value) { return builder.create<arith::ConstantIndexOp>(loc, value); }
  Value slotOf(Value task, const Staged &buffer);
  /// Semaphore of a slot of a buffer, for one direction.
  Value semaphore(const Staged &buffer, unsigned number, Value slot, bool out);
  void startTransfer(Staged &buffer, unsigned number, Value task, bool out);
  void wait(Staged &buffer, unsigned number, Value task, bool out);
  void advance(Staged &buffer, unsigned number, Value task);
  void guarded(Value condition, llvm::function_ref<void()> body);

  FuncOp kernel;
  const StageOptions &options;
  OpBuilder builder;
  Location loc;
  int64_t tasks;
  SmallVector<Staged> buffers;
  scf::ForOp loop;
};

void Stager::describe() {
  bool updates = kernel.getUpdatesOutputs();
  for (auto [number, value] : llvm::enumerate(kernel.getBuffers())) {
    Staged staged;
    staged.buffer = cast<BlockArgument>(value);
    staged.type = cast<MemRefType>(value.getType());
    bool isOutput = number >= kernel.getNumInputs();
    staged.isRead = !isOutput || updates;
    staged.isWritten = isOutput;
    if (staged.type.getNumElements() > 0 && !value.use_empty()) {
      if (tasks > 1)
        staged.window = findWindow(kernel, staged.buffer);
      staged.slotElements =
          staged.window ? staged.window->elements() : staged.type.getNumElements();
      staged.slots = staged.window ? options.buffers : 1;
      buffers.push_back(staged);
    }
  }
}

LogicalResult Stager::layOut() {
  int64_t offset = llvm::alignTo(kernel.getScratchBytes(), kAlignment);
  for (Staged &buffer : buffers) {
    buffer.offset = offset;
    offset += buffer.bytes();
  }
  if (offset > options.nearBytes) {
    InFlightDiagnostic error = emitError(loc)
                               << "kernel @" << kernel.getSymName() << " needs " << offset
                               << " bytes of near memory, the chip has " << options.nearBytes;
    error.attachNote() << "scratch: " << kernel.getScratchBytes() << " bytes";
    for (auto [number, buffer] : llvm::enumerate(buffers))
      error.attachNote() << "buffer " << buffer.buffer.getArgNumber() - 1 << " of " << buffer.type
                         << ": " << buffer.bytes() << " bytes"
                         << (buffer.window ? " in windows" : ", as a whole");
    return failure();
  }
  kernel.setScratchBytes(offset);
  return success();
}

/// The body goes into a loop over the tasks.
void Stager::wrapInLoop() {
  Block &block = kernel.getBlock();
  builder.setInsertionPointToStart(&block);
  Value zero = constant(0), one = constant(1), end = constant(tasks);
  loop = builder.create<scf::ForOp>(loc, zero, end, one);
  Block *body = loop.getBody();
  auto first = std::next(Block::iterator(loop));
  body->getOperations().splice(body->begin(), block.getOperations(), first, block.end());
  kernel.getTask().replaceAllUsesWith(loop.getInductionVar());
  kernel.setTasks(1);
}

/// The slot of the window that `task` uses.
Value Stager::slotOf(Value task, const Staged &buffer) {
  if (buffer.slots == 1)
    return constant(0);
  int64_t period = buffer.window->period();
  if (period > 1)
    task = builder.createOrFold<arith::DivUIOp>(loc, task, constant(period));
  return builder.createOrFold<arith::RemUIOp>(loc, task, constant(buffer.slots));
}

Value Stager::semaphore(const Staged &buffer, unsigned number, Value slot, bool out) {
  int64_t first = 2 * options.buffers * number + (out ? options.buffers : 0);
  return builder.createOrFold<arith::AddIOp>(loc, slot, constant(first));
}

/// The first element of a slot in the buffer's scratch.
Value Stager::slotOrigin(const Staged &buffer, Value slot) {
  int64_t bytes = llvm::alignTo(buffer.slotElements * buffer.elementBytes(), kAlignment);
  return builder.createOrFold<arith::MulIOp>(loc, slot, constant(bytes / buffer.elementBytes()));
}

void Stager::startTransfer(Staged &buffer, unsigned number, Value task, bool out) {
  Value slot = slotOf(task, buffer);
  Value near = slotOrigin(buffer, slot), far = constant(0), count = constant(buffer.slotElements);
  if (buffer.window) {
    std::tie(far, count) = buffer.window->clipped(builder, loc, task);
    Value origin = buffer.window->origin(builder, loc, task);
    Value skipped = builder.createOrFold<arith::SubIOp>(loc, far, origin);
    near = builder.createOrFold<arith::AddIOp>(loc, near, skipped);
  }
  Value signal = semaphore(buffer, number, slot, out);
  SmallVector<Value> counts{count};
  SmallVector<int64_t> nearStrides{1}, farStrides{1};
  if (buffer.window && buffer.window->rows > 1) {
    counts.insert(counts.begin(), constant(buffer.window->rows));
    nearStrides.insert(nearStrides.begin(), buffer.window->count);
    farStrides.insert(farStrides.begin(), buffer.window->rowStride);
  }
  if (out)
    builder.create<DmaStartOp>(loc, buffer.scratch, near, buffer.buffer, far, counts, signal,
                               nearStrides, farStrides);
  else
    builder.create<DmaStartOp>(loc, buffer.buffer, far, buffer.scratch, near, counts, signal,
                               farStrides, nearStrides);
}

void Stager::wait(Staged &buffer, unsigned number, Value task, bool out) {
  builder.create<DmaWaitOp>(loc, semaphore(buffer, number, slotOf(task, buffer), out));
}

void Stager::guarded(Value condition, llvm::function_ref<void()> body) {
  auto branch = builder.create<scf::IfOp>(loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  body();
}

/// `index` of an access, counted from the window's slot instead of the buffer. A
/// constant stays the last term, which the access can take for nothing.
Value Stager::relative(Value index, Value shift) {
  auto sum = index.getDefiningOp<arith::AddIOp>();
  if (sum && index.getType().isIndex() && sum.getRhs().getDefiningOp<arith::ConstantOp>()) {
    Value moved = builder.create<arith::AddIOp>(loc, sum.getLhs(), shift);
    return builder.create<arith::AddIOp>(loc, moved, sum.getRhs());
  }
  if (auto vector = dyn_cast<VectorType>(index.getType())) {
    shift = builder.createOrFold<arith::IndexCastOp>(loc, vector.getElementType(), shift);
    shift = builder.create<vector::BroadcastOp>(loc, vector, shift);
  }
  return builder.createOrFold<arith::AddIOp>(loc, index, shift);
}

void Stager::redirectDot(TileDotOp dot, const Staged &buffer, Value shift) {
  if (dot.getB() == buffer.buffer) {
    dot.getBMutable().assign(buffer.scratch);
    dot.getBOffsetMutable().assign(relative(dot.getBOffset(), shift));
    if (buffer.window->rows > 1)
      dot.setBDepthStride(buffer.window->count);
    return;
  }
  dot.getAMutable().assign(buffer.scratch);
  dot.getAOffsetMutable().assign(relative(dot.getAOffset(), shift));
}

/// Loads and stores go to scratch.
void Stager::redirect(Staged &buffer) {
  SmallVector<Operation *> users(buffer.buffer.getUsers());
  if (!buffer.window) {
    for (Operation *user : users)
      user->replaceUsesOfWith(buffer.buffer, buffer.scratch);
    return;
  }
  builder.setInsertionPointToStart(loop.getBody());
  Value task = loop.getInductionVar();
  Value shift = builder.createOrFold<arith::SubIOp>(loc, slotOrigin(buffer, slotOf(task, buffer)),
                                                    buffer.window->origin(builder, loc, task));
  for (Operation *user : users) {
    builder.setInsertionPoint(user);
    auto moveRows = [&](auto access) {
      access.getOffsetMutable().assign(relative(access.getOffset(), shift));
      access.getBufferMutable().assign(buffer.scratch);
    };
    auto move = [&](auto access) {
      Value linear = relative(linearIndex(access.getIndices(), buffer.type), shift);
      access.getIndicesMutable().assign(linear);
      access.getBufferMutable().assign(buffer.scratch);
    };
    if (auto load = dyn_cast<LoadOp>(user))
      move(load);
    else if (auto store = dyn_cast<StoreOp>(user))
      move(store);
    else if (auto rows = dyn_cast<LoadRowsOp>(user))
      moveRows(rows);
    else if (auto stored = dyn_cast<StoreRowsOp>(user))
      moveRows(stored);
    else
      redirectDot(cast<TileDotOp>(user), buffer, shift);
  }
}

/// The row-major number of an element.
Value Stager::linearIndex(ValueRange indices, MemRefType type) {
  if (indices.size() == 1)
    return indices[0];
  Value sum = constant(0);
  int64_t stride = 1;
  for (int64_t d = int64_t(indices.size()) - 1; d >= 0; --d) {
    Value term = builder.createOrFold<arith::MulIOp>(loc, indices[d], constant(stride));
    sum = builder.createOrFold<arith::AddIOp>(loc, sum, term);
    stride *= type.getDimSize(d);
  }
  return sum;
}

LogicalResult Stager::run() {
  describe();
  if (tasks == 0)
    return kernel.getBlock().clear(), success();
  if (failed(layOut()))
    return failure();
  wrapInLoop();
  builder.setInsertionPoint(loop);
  for (Staged &buffer : buffers) {
    auto type =
        MemRefType::get({buffer.bytes() / buffer.elementBytes()}, buffer.type.getElementType());
    buffer.scratch =
        builder.create<ScratchOp>(loc, buffer.window ? type : buffer.type, buffer.offset);
  }
  for (Staged &buffer : buffers)
    redirect(buffer);

  // Before the loop: what is read as a whole, and the first windows.
  builder.setInsertionPoint(loop);
  int64_t ahead = options.buffers - 1;
  for (auto [number, buffer] : llvm::enumerate(buffers)) {
    if (!buffer.isRead)
      continue;
    int64_t period = buffer.window ? buffer.window->period() : 1;
    int64_t windows = llvm::divideCeil(tasks, period);
    int64_t starts = buffer.window ? std::min(ahead, windows) : 1;
    for (int64_t window = 0; window < starts; ++window)
      startTransfer(buffer, number, constant(window * period), false);
  }
  for (auto [number, buffer] : llvm::enumerate(buffers))
    if (buffer.isRead && !buffer.window)
      wait(buffer, number, constant(0), false);

  // In the loop: the next windows, then wait for this task's.
  Value task = loop.getInductionVar();
  builder.setInsertionPointToStart(loop.getBody());
  for (auto [number, buffer] : llvm::enumerate(buffers))
    if (buffer.isRead && buffer.window)
      advance(buffer, number, task);
  // A slot of results is free when its last transfer is done.
  for (auto [number, buffer] : llvm::enumerate(buffers))
    if (buffer.isWritten && buffer.window)
      wait(buffer, number, task, true);
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  for (auto [number, buffer] : llvm::enumerate(buffers))
    if (buffer.isWritten && buffer.window)
      startTransfer(buffer, number, task, true);

  // After the loop: what was written as a whole.
  builder.setInsertionPointAfter(loop);
  for (auto [number, buffer] : llvm::enumerate(buffers)) {
    if (!buffer.isWritten || buffer.window)
      continue;
    startTransfer(buffer, number, constant(0), true);
  }
  for (auto [number, buffer] : llvm::enumerate(buffers)) {
    if (!buffer.isWritten)
      continue;
    for (int64_t slot = 0; slot < buffer.slots; ++slot)
      wait(buffer, number, constant(slot), true);
  }
  return success();
}

/// At the first task of a window: starts the transfer of a later one, and waits for
/// its own.
void Stager::advance(Staged &buffer, unsigned number, Value task) {
  int64_t period = buffer.window->period();
  auto step = [&] {
    Value next =
        builder.createOrFold<arith::AddIOp>(loc, task, constant(period * (options.buffers - 1)));
    Value hasNext =
        builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, next, constant(tasks));
    guarded(hasNext, [&] { startTransfer(buffer, number, next, false); });
    wait(buffer, number, task, false);
  };
  if (period == 1)
    return step();
  Value within = builder.createOrFold<arith::RemUIOp>(loc, task, constant(period));
  guarded(builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, within, constant(0)), step);
}

} // namespace

LogicalResult kernel::stageBuffers(FuncOp kernel, const StageOptions &options) {
  return Stager(kernel, options).run();
}
