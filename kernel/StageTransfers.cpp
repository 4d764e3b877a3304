//===- StageTransfers.cpp - transfers of the windows of a staged kernel ----===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "kernel/Stager.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

Value Stager::quotient(Value value, int64_t divisor) {
  if (divisor == 1)
    return value;
  if (llvm::isPowerOf2_64(divisor))
    return builder.createOrFold<arith::ShRUIOp>(loc, value, constant(llvm::Log2_64(divisor)));
  return builder.createOrFold<arith::DivUIOp>(loc, value, constant(divisor));
}

Value Stager::remainder(Value value, int64_t divisor) {
  if (llvm::isPowerOf2_64(divisor))
    return builder.createOrFold<arith::AndIOp>(loc, value, constant(divisor - 1));
  return builder.createOrFold<arith::RemUIOp>(loc, value, constant(divisor));
}

/// The slot of the window that `task` uses.
Value Stager::slotOf(Value task, const Staged &buffer) {
  if (buffer.slots == 1)
    return constant(0);
  return remainder(quotient(task, buffer.period()), buffer.slots);
}

Value Stager::semaphore(const Staged &buffer, unsigned number, Value slot, bool out) {
  int64_t first = 2 * options.buffers * number + (out ? options.buffers : 0);
  return builder.createOrFold<arith::AddIOp>(loc, slot, constant(first));
}

/// The first element of a slot in the buffer's scratch.
Value Stager::slotOrigin(const Staged &buffer, Value slot) {
  int64_t bytes = llvm::alignTo(buffer.slotElements * buffer.elementBytes(), kNearAlignment);
  return builder.createOrFold<arith::MulIOp>(loc, slot, constant(bytes / buffer.elementBytes()));
}

void Stager::startTransfer(Staged &buffer, unsigned number, Value task, bool out) {
  Value slot = slotOf(task, buffer);
  Value near = slotOrigin(buffer, slot), far = constant(0);
  SmallVector<Value> counts{constant(buffer.slotElements)};
  SmallVector<int64_t> nearStrides{1}, farStrides{1};
  if (buffer.declared) {
    SmallVector<Value> all;
    std::tie(far, all) = DeclaredWindow(buffer.declared).place(builder, loc, task);
    counts.clear(), nearStrides.clear(), farStrides.clear();
    ArrayRef<int64_t> sizes = buffer.declared.getSizes();
    int64_t stride = buffer.slotElements;
    for (auto [d, count] : llvm::enumerate(all)) {
      stride /= sizes[d];
      if (sizes[d] == 1 && d + 1 < all.size())
        continue;
      counts.push_back(count);
      nearStrides.push_back(stride);
      farStrides.push_back(buffer.declared.getStrides()[d]);
    }
  } else if (buffer.window) {
    std::tie(far, counts[0]) = buffer.window->clipped(builder, loc, task);
    Value origin = buffer.window->origin(builder, loc, task);
    Value skipped = builder.createOrFold<arith::SubIOp>(loc, far, origin);
    near = builder.createOrFold<arith::AddIOp>(loc, near, skipped);
    if (buffer.window->rows > 1) {
      counts.insert(counts.begin(), constant(buffer.window->rows));
      nearStrides.insert(nearStrides.begin(), buffer.window->count);
      farStrides.insert(farStrides.begin(), buffer.window->rowStride);
    }
  }
  Value signal = semaphore(buffer, number, slot, out);
  Value home = buffer.home ? buffer.home : buffer.buffer;
  if (out)
    builder.create<DmaStartOp>(loc, buffer.scratch, near, home, far, counts, signal, nearStrides,
                               farStrides);
  else
    builder.create<DmaStartOp>(loc, home, far, buffer.scratch, near, counts, signal, farStrides,
                               nearStrides);
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

void Stager::atPlace(Staged &buffer, Value task, int64_t place, llvm::function_ref<void()> body) {
  int64_t period = buffer.period();
  if (period == 1)
    return body();
  Value within = remainder(task, period);
  guarded(builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, within, constant(place)),
          body);
}

/// Before the loop: starts the transfer of the window of a core's task `task`, or of
/// the whole buffer. The last core may have fewer tasks.
void Stager::startFirst(Staged &buffer, unsigned number, int64_t task) {
  Value first = builder.createOrFold<arith::AddIOp>(loc, begin, constant(task));
  auto start = [&] { startTransfer(buffer, number, first, false); };
  int64_t least = tasks - (llvm::divideCeil(tasks, share) - 1) * share;
  if (task < least)
    return start();
  guarded(builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, first, end), start);
}

/// At the first task of a window: starts the transfer of a later one, and waits for
/// its own.
void Stager::advance(Staged &buffer, unsigned number, Value task) {
  int64_t ahead = buffer.period() * (options.buffers - 1);
  atPlace(buffer, task, 0, [&] {
    Value next = builder.createOrFold<arith::AddIOp>(loc, task, constant(ahead));
    Value hasNext = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, next, end);
    guarded(hasNext, [&] { startTransfer(buffer, number, next, false); });
    wait(buffer, number, task, false);
  });
}

/// What is read as a whole, and the first windows.
void Stager::transferBeforeLoop() {
  builder.setInsertionPoint(loop);
  int64_t ahead = options.buffers - 1;
  for (auto [number, buffer] : llvm::enumerate(buffers)) {
    if (!buffer.isRead)
      continue;
    int64_t period = buffer.period();
    int64_t starts =
        buffer.slots > 1 ? std::min(ahead, int64_t(llvm::divideCeil(share, period))) : 1;
    if (buffer.slots == 1 && !isWhole(buffer))
      starts = 0; // no copies: each starts when it is needed
    for (int64_t window = 0; window < starts; ++window)
      startFirst(buffer, number, window * period);
  }
  for (auto [number, buffer] : llvm::enumerate(buffers))
    if (buffer.isRead && isWhole(buffer))
      wait(buffer, number, constant(0), false);
}

/// The next windows start, then this task's are waited for.
void Stager::transferInLoop() {
  Value task = loop.getInductionVar();
  builder.setInsertionPointToStart(loop.getBody());
  for (auto [number, buffer] : llvm::enumerate(buffers))
    if (buffer.isRead && !isWhole(buffer))
      advance(buffer, number, task);
  // A slot of results is free when its last transfer is done.
  for (auto [number, buffer] : llvm::enumerate(buffers))
    if (buffer.isWritten && !isWhole(buffer))
      atPlace(buffer, task, 0, [&] { wait(buffer, number, task, true); });
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  for (auto [number, buffer] : llvm::enumerate(buffers))
    if (buffer.isWritten && !isWhole(buffer))
      atPlace(buffer, task, buffer.period() - 1,
              [&] { startTransfer(buffer, number, task, true); });
}

/// What was written as a whole, and the last windows of results.
void Stager::transferAfterLoop() {
  builder.setInsertionPointAfter(loop);
  for (auto [number, buffer] : llvm::enumerate(buffers))
    if (buffer.isWritten && isWhole(buffer))
      startTransfer(buffer, number, constant(0), true);
  for (auto [number, buffer] : llvm::enumerate(buffers)) {
    if (!buffer.isWritten)
      continue;
    for (int64_t slot = 0; slot < buffer.slots; ++slot)
      wait(buffer, number, constant(slot * buffer.period()), true);
  }
}
