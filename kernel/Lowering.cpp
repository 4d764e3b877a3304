//===- Lowering.cpp - fusions become kernels -------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives each fusion to the function of its kind, and the loops that they share.
//
//===----------------------------------------------------------------------===//
#include "kernel/Lowering.h"

#include "kernel/LowerFusion.h"
#include "schedule/ScheduleDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;

void kernel::registerKernelDialects(DialectRegistry &registry) {
  registry.insert<KernelDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                  vector::VectorDialect>();
}

static LogicalResult lowerKind(FusionLowering &lowering) {
  switch (lowering.fusion.getKind()) {
  case graph::FusionKind::Loop:
    return lowerLoop(lowering);
  case graph::FusionKind::Reduce:
    return lowerReduce(lowering);
  case graph::FusionKind::Rows:
    return lowerRows(lowering);
  case graph::FusionKind::Update:
    return lowerUpdate(lowering);
  case graph::FusionKind::Dot:
    return lowerDot(lowering);
  case graph::FusionKind::Convolution:
    return lowerConvolution(lowering);
  case graph::FusionKind::Window:
    return lowerWindow(lowering);
  case graph::FusionKind::Scan:
    return lowerScan(lowering);
  case graph::FusionKind::Scatter:
    return lowerScatter(lowering);
  case graph::FusionKind::Sort:
    return lowerSort(lowering);
  case graph::FusionKind::Decomposition:
    return lowerDecomposition(lowering);
  case graph::FusionKind::While:
    return lowerWhile(lowering);
  case graph::FusionKind::Attention:
    return lowerAttention(lowering);
  default:
    return lowering.fusion.emitOpError("of this kind is not supported yet");
  }
}

/// Positions are worked out in full, and often not all of it is needed.
static void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        eraseDead(inner);
    if (isOpTriviallyDead(&op))
      op.erase();
  }
}

FailureOr<FuncOp> kernel::lowerKernel(schedule::KernelOp op, const machine::Machine &machine) {
  auto fusions = op.getBody().getOps<graph::FusionOp>();
  if (fusions.empty())
    return op.emitOpError("holds no fusion");
  graph::FusionOp fusion = *fusions.begin();
  SmallVector<Type> buffers;
  for (Type type : fusion.getInputs().getTypes())
    buffers.push_back(bufferType(cast<RankedTensorType>(type)));
  for (Type type : fusion.getResultTypes())
    buffers.push_back(bufferType(cast<RankedTensorType>(type)));
  OpBuilder builder(op);
  auto kernel = builder.create<FuncOp>(fusion.getLoc(), op.getSymName(), /*tasks=*/1,
                                       fusion.getNumOperands(), buffers);
  kernel.setFusionName(fusion.getName());
  kernel.setUpdatesOutputs(fusion.getKind() == graph::FusionKind::Update ||
                           fusion.getKind() == graph::FusionKind::Scatter ||
                           fusion.getKind() == graph::FusionKind::While);
  builder.setInsertionPointToStart(&kernel.getBlock());
  FusionLowering lowering{builder, kernel, fusion, machine};
  if (failed(lowerKind(lowering)))
    return failure();
  eraseDead(kernel.getBlock());
  op.erase();
  return kernel;
}

LogicalResult kernel::lowerKernels(ModuleOp module, const machine::Machine &machine) {
  module.getContext()
      ->loadDialect<KernelDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                    vector::VectorDialect>();
  for (auto op : llvm::make_early_inc_range(module.getOps<schedule::KernelOp>()))
    if (failed(lowerKernel(op, machine)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// What lowerings share
//===----------------------------------------------------------------------===//

Value FusionLowering::constant(int64_t value) {
  return builder.create<arith::ConstantIndexOp>(loc(), value);
}
Value FusionLowering::minimum(Value index, int64_t bound) {
  return builder.createOrFold<arith::MinSIOp>(loc(), index, constant(bound));
}
Value FusionLowering::add(Value a, Value b) {
  return builder.createOrFold<arith::AddIOp>(loc(), a, b);
}
Value FusionLowering::multiply(Value a, int64_t factor) {
  return builder.createOrFold<arith::MulIOp>(loc(), a, constant(factor));
}

Value kernel::makeMask(OpBuilder &builder, Location loc, int64_t count, int64_t lanes) {
  if (count >= lanes)
    return {};
  auto type = VectorType::get({lanes}, builder.getI1Type());
  SmallVector<bool> on(lanes, false);
  std::fill(on.begin(), on.begin() + count, true);
  return builder.create<arith::ConstantOp>(loc, DenseElementsAttr::get(type, on));
}

Value kernel::makeMask(OpBuilder &builder, Location loc, Value count, int64_t lanes) {
  auto type = VectorType::get({lanes}, builder.getI32Type());
  SmallVector<int32_t> numbers;
  for (int64_t i = 0; i < lanes; ++i)
    numbers.push_back(i);
  Value lane =
      builder.create<arith::ConstantOp>(loc, DenseElementsAttr::get(type, ArrayRef(numbers)));
  Value limit = builder.create<arith::IndexCastOp>(loc, builder.getI32Type(), count);
  limit = builder.create<vector::BroadcastOp>(loc, type, limit);
  return builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, lane, limit);
}

FailureOr<Carried> kernel::forLanesCarrying(ElementEmitter &emitter, Value lower, Value upper,
                                            int64_t extent, int64_t lanes, ValueRange init,
                                            CarryingBody body, int64_t unroll) {
  OpBuilder &builder = emitter.getBuilder();
  Location loc = emitter.loc();
  auto constant = [&](int64_t i) -> Value {
    return builder.create<arith::ConstantIndexOp>(loc, i);
  };
  int64_t whole = extent / lanes * lanes, rest = extent - whole;
  auto withLane = [&](Index index) {
    index.lane = lanes > 1 ? 1 : 0;
    return index;
  };
  Carried carried(init);
  // Tiles of [begin, end), `count` in a trip.
  auto loopOver = [&](int64_t begin, int64_t end, int64_t count) -> LogicalResult {
    if (begin == end)
      return success();
    int64_t step = count * lanes;
    Value from =
        begin == 0 ? lower : builder.createOrFold<arith::MaxSIOp>(loc, lower, constant(begin));
    Value to = builder.createOrFold<arith::MinSIOp>(loc, upper, constant(end));
    auto loop = builder.create<scf::ForOp>(loc, from, to, constant(step), carried);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    ElementEmitter::Level level(emitter, loop);
    ElementEmitter::Tile tile(emitter, lanes);
    Index index = emitter.space().variable(loop.getInductionVar(), begin, end - step, step);
    Carried now(loop.getRegionIterArgs());
    for (int64_t k = 0; k < count; ++k) {
      FailureOr<Carried> next = body(withLane(emitter.space().add(index, k * lanes)), now);
      if (failed(next))
        return failure();
      now = *next;
    }
    if (!carried.empty())
      builder.create<scf::YieldOp>(loc, now);
    carried.assign(loop.getResults().begin(), loop.getResults().end());
    return success();
  };
  int64_t unrolled = whole / (unroll * lanes) * (unroll * lanes);
  if (failed(loopOver(0, unrolled, unroll)) || failed(loopOver(unrolled, whole, 1)))
    return failure();
  if (rest) {
    Value here =
        builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sgt, upper, constant(whole));
    bool yields = !carried.empty();
    auto branch = builder.create<scf::IfOp>(loc, ValueRange(carried).getTypes(), here, yields);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    ElementEmitter::Level level(emitter, branch);
    Value mask = makeMask(builder, loc, rest, lanes);
    ElementEmitter::Tile tile(emitter, lanes, mask, rest);
    FailureOr<Carried> next = body(withLane(Index(whole)), carried);
    if (failed(next))
      return failure();
    if (yields) {
      builder.create<scf::YieldOp>(loc, *next);
      builder.setInsertionPointToStart(branch.elseBlock());
      builder.create<scf::YieldOp>(loc, carried);
      carried.assign(branch.getResults().begin(), branch.getResults().end());
    }
  }
  return carried;
}

LogicalResult kernel::forLanes(ElementEmitter &emitter, Value lower, Value upper, int64_t extent,
                               int64_t lanes, llvm::function_ref<LogicalResult(const Index &)> body,
                               int64_t unroll) {
  return forLanesCarrying(
      emitter, lower, upper, extent, lanes, {},
      [&](const Index &index, ValueRange) -> FailureOr<Carried> {
        if (failed(body(index)))
          return failure();
        return Carried();
      },
      unroll);
}

FailureOr<Carried> kernel::forRangeCarrying(ElementEmitter &emitter, Value lower, Value upper,
                                            int64_t extent, ValueRange init, CarryingBody body) {
  if (extent == 1) // nothing to loop over: callers give a range that is not empty
    return body(Index(0), init);
  OpBuilder &builder = emitter.getBuilder();
  Location loc = emitter.loc();
  Value one = builder.create<arith::ConstantIndexOp>(loc, 1);
  auto loop = builder.create<scf::ForOp>(loc, lower, upper, one, init);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  ElementEmitter::Level level(emitter, loop);
  Index index = emitter.space().variable(loop.getInductionVar(), 0, extent - 1);
  FailureOr<Carried> next = body(index, loop.getRegionIterArgs());
  if (failed(next))
    return failure();
  if (!init.empty())
    builder.create<scf::YieldOp>(loc, *next);
  return Carried(loop.getResults());
}

LogicalResult kernel::forRange(ElementEmitter &emitter, Value lower, Value upper, int64_t extent,
                               llvm::function_ref<LogicalResult(const Index &)> body) {
  return forRangeCarrying(emitter, lower, upper, extent, {},
                          [&](const Index &index, ValueRange) -> FailureOr<Carried> {
                            if (failed(body(index)))
                              return failure();
                            return Carried();
                          });
}
