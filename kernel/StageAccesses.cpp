//===- StageAccesses.cpp - accesses of a staged kernel ---------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads, stores and products that named a buffer in far memory take their place in
// its window.
//
//===----------------------------------------------------------------------===//
#include "kernel/LinearTerms.h"
#include "kernel/Stager.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

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

void Stager::redirectDot(TileDotOp dot, Value from, const Staged &buffer, Value shift) {
  if (dot.getC() == from) {
    dot.getCMutable().assign(buffer.scratch);
    dot.getCOffsetMutable().assign(relative(dot.getCOffset(), shift));
  }
  if (dot.getB() == from) {
    dot.getBMutable().assign(buffer.scratch);
    dot.getBOffsetMutable().assign(relative(dot.getBOffset(), shift));
    if (buffer.window && buffer.window->rows > 1)
      dot.setBDepthStride(buffer.window->count);
  }
  if (dot.getA() == from) {
    dot.getAMutable().assign(buffer.scratch);
    dot.getAOffsetMutable().assign(relative(dot.getAOffset(), shift));
  }
}

/// Loads and stores of `from`, the buffer or its view, go to scratch, `shift` elements
/// further.
void Stager::redirectAccesses(Value from, const Staged &buffer, Value shift) {
  auto type = cast<MemRefType>(from.getType());
  SmallVector<Operation *> users(from.getUsers());
  for (Operation *user : users) {
    if (isa<WindowOp>(user))
      continue;
    builder.setInsertionPoint(user);
    auto move = [&](auto access) {
      Value linear = relative(linearIndex(access.getIndices(), type), shift);
      access.getIndicesMutable().assign(linear);
      access.getBufferMutable().assign(buffer.scratch);
    };
    auto moveRows = [&](auto access) {
      access.getOffsetMutable().assign(relative(access.getOffset(), shift));
      access.getBufferMutable().assign(buffer.scratch);
    };
    if (auto load = dyn_cast<LoadOp>(user))
      move(load);
    else if (auto store = dyn_cast<StoreOp>(user))
      move(store);
    else if (auto load = dyn_cast<LoadRowsOp>(user))
      moveRows(load);
    else if (auto store = dyn_cast<StoreRowsOp>(user))
      moveRows(store);
    else
      redirectDot(cast<TileDotOp>(user), from, buffer, shift);
  }
}

/// Loads of a box's elements, whose rows lie closer together in scratch. A constant
/// stays the last term, as in relative().
void Stager::redirectRows(const Staged &buffer, Value shift) {
  const Window &window = *buffer.window;
  SmallVector<Operation *> users(buffer.buffer.getUsers());
  for (Operation *user : users) {
    auto load = cast<LoadOp>(user);
    builder.setInsertionPoint(load);
    LinearTerms index =
        LinearTerms::of(load.getIndices()[0]).repitched(window.rowStride, window.count);
    Value place = builder.create<arith::AddIOp>(loc, index.variable(builder, loc), shift);
    if (index.constant)
      place = builder.create<arith::AddIOp>(loc, place, constant(index.constant));
    load.getIndicesMutable().assign(place);
    load.getBufferMutable().assign(buffer.scratch);
  }
}

/// The view that a lowering uses becomes a slot of scratch.
void Stager::redirectDeclared(Staged &buffer) {
  Value view = buffer.declared.getResult();
  if (buffer.inPlace) {
    builder.setInsertionPointToStart(loop.getBody());
    Value task = loop.getInductionVar();
    redirectAccesses(view, buffer, DeclaredWindow(buffer.declared).place(builder, loc, task).first);
    return;
  }
  if (buffer.slots == 1) {
    view.replaceAllUsesWith(buffer.scratch);
    return;
  }
  builder.setInsertionPointToStart(loop.getBody());
  redirectAccesses(view, buffer, slotOrigin(buffer, slotOf(loop.getInductionVar(), buffer)));
}

/// Loads and stores go to scratch.
void Stager::redirect(Staged &buffer) {
  if (buffer.declared)
    return redirectDeclared(buffer);
  if (!buffer.window) {
    buffer.buffer.replaceUsesWithIf(buffer.scratch,
                                    [](OpOperand &use) { return !isa<WindowOp>(use.getOwner()); });
    return;
  }
  builder.setInsertionPointToStart(loop.getBody());
  Value task = loop.getInductionVar(), slot = slotOrigin(buffer, slotOf(task, buffer));
  auto shiftOf = [&](const Window &window) {
    return builder.createOrFold<arith::SubIOp>(loc, slot, window.origin(builder, loc, task));
  };
  bool isOfDots = llvm::any_of(buffer.buffer.getUsers(), llvm::IsaPred<TileDotOp>);
  if (buffer.window->rows > 1 && !isOfDots)
    redirectRows(buffer, shiftOf(buffer.window->withinBox()));
  else
    redirectAccesses(buffer.buffer, buffer, shiftOf(*buffer.window));
}
