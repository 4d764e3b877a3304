//===- Attention.cpp - what the lowerings of attention share ---------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "kernel/Attention.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

int64_t kernel::evenBlock(int64_t extent, int64_t most, int64_t step) {
  int64_t blocks = llvm::divideCeil(extent, most);
  return llvm::alignTo(llvm::divideCeil(extent, blocks), step);
}

AttentionTask kernel::splitAttentionTask(FusionLowering &lowering, ElementEmitter &emitter,
                                         const AttentionView &view, const AttentionBlocks &blocks) {
  OpBuilder &builder = lowering.builder;
  Value number = lowering.kernel.getTask();
  auto split = [&](int64_t count) -> Value {
    Value divisor = lowering.constant(count);
    Value digit = builder.createOrFold<arith::RemUIOp>(lowering.loc(), number, divisor);
    number = builder.createOrFold<arith::DivUIOp>(lowering.loc(), number, divisor);
    return digit;
  };
  IndexSpace &space = emitter.space();
  AttentionTask task;
  task.block = split(blocks.rowBlocks);
  Value run = split(view.rows / view.run);
  Index inner = space.scale(space.variable(task.block, 0, blocks.rowBlocks - 1), blocks.rows);
  Index outer = space.scale(space.variable(run, 0, view.rows / view.run - 1), view.run);
  task.row = space.add(outer, inner);
  task.batch = view.batch == 1 ? Index(0) : space.variable(number, 0, view.batch - 1);
  return task;
}

std::optional<Index> kernel::maskRow(FusionLowering &lowering, ElementEmitter &emitter,
                                     const AttentionView &view, const AttentionTask &task,
                                     int64_t rows) {
  if (!view.causal)
    return std::nullopt;
  IndexSpace &space = emitter.space();
  // A variable for a row of the block: the mask's row must grow with it.
  Value one = lowering.add(lowering.kernel.getTask(), lowering.constant(1));
  Index probe = space.variable(one, 0, std::max<int64_t>(1, rows - 1));
  Index row = view.scores(task.batch, space.add(task.row, probe), Index(0))[view.causal->rowDim];
  Index first = view.scores(task.batch, task.row, Index(0))[view.causal->rowDim];
  return row == space.add(first, probe) ? std::optional(first) : std::nullopt;
}

Value kernel::visibleKeys(FusionLowering &lowering, ElementEmitter &emitter,
                          const AttentionView &view, const AttentionTask &task, int64_t rows) {
  std::optional<Index> first = maskRow(lowering, emitter, view, task, rows);
  if (!first)
    return {};
  Index end = emitter.space().add(*first, rows + view.causal->offset);
  return lowering.minimum(emitter.space().scalar(end), view.keys);
}

LogicalResult kernel::forKeyBlocks(FusionLowering &lowering, ElementEmitter &emitter, int64_t keys,
                                   int64_t perBlock, Value visible,
                                   llvm::function_ref<LogicalResult(const Index &, int64_t)> body) {
  OpBuilder &builder = lowering.builder;
  int64_t whole = keys / perBlock, rest = keys % perBlock;
  Value end = lowering.constant(whole);
  if (visible) {
    Value rounded = lowering.add(visible, lowering.constant(perBlock - 1));
    Value needed =
        builder.create<arith::DivUIOp>(lowering.loc(), rounded, lowering.constant(perBlock));
    end = lowering.minimum(needed, whole);
  }
  if (whole && failed(forRange(emitter, lowering.constant(0), end, whole, [&](const Index &block) {
        return body(emitter.space().scale(block, perBlock), perBlock);
      })))
    return failure();
  if (!rest)
    return success();
  Value seen = visible ? builder
                             .create<arith::CmpIOp>(lowering.loc(), arith::CmpIPredicate::sgt,
                                                    visible, lowering.constant(whole * perBlock))
                             .getResult()
                       : builder.create<arith::ConstantIntOp>(lowering.loc(), 1, 1).getResult();
  auto branch = builder.create<scf::IfOp>(lowering.loc(), seen);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  ElementEmitter::Level level(emitter, branch);
  return body(Index(whole * perBlock), rest);
}
