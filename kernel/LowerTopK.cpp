//===- LowerTopK.cpp - the k largest of each row ---------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A task takes one row. The best k so far stand in scratch, in order; a register
// of elements is compared with the last of them, and only where some lane is
// larger are elements inserted one by one. Of n random elements about
// k * log(n / k) are. Elements are compared as integers in the order of floats
// (NaN largest); equal ones keep their order.
//
//===----------------------------------------------------------------------===//
#include "input/StablehloOps.h"
#include "kernel/LowerFusion.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

namespace {
class TopKLowering {
public:
  TopKLowering(FusionLowering &lowering, hlo::CompositeOp op, ElementEmitter &emitter)
      : lowering(lowering), op(op), emitter(emitter), space(emitter.space()),
        builder(lowering.builder), type(typeOf(op->getOperand(0))), extent(type.getShape().back()),
        k(typeOf(op->getResult(0)).getShape().back()) {}
  LogicalResult run();

private:
  FailureOr<Num> keyAt(const Index &row, const Index &at);
  Element fromKey(Num key);
  Position place(const Index &row, const Index &at);
  LogicalResult insert(const Index &row, const Index &at, Value count);
  LogicalResult writeResults(const Index &row);
  Value loadScratch(Value buffer, Value at);
  void storeScratch(Value value, Value buffer, Value at) {
    builder.create<StoreOp>(lowering.loc(), value, buffer, ValueRange{at}, Value(), 1);
  }

  FusionLowering &lowering;
  hlo::CompositeOp op;
  ElementEmitter &emitter;
  IndexSpace &space;
  OpBuilder &builder;
  RankedTensorType type;
  int64_t extent, k;
  Type keyType;
  Value keys, numbers;
};
} // namespace

Position TopKLowering::place(const Index &row, const Index &at) {
  Position position = space.delinearize(row, type.getShape().drop_back());
  position.push_back(at);
  return position;
}

/// An integer that is larger for larger elements.
FailureOr<Num> TopKLowering::keyAt(const Index &row, const Index &at) {
  FailureOr<Element> element = emitter.emit(op->getOperand(0), place(row, at));
  if (failed(element))
    return failure();
  Num value = element->re;
  if (value.isFloat()) {
    Num bits = value.asBits();
    int64_t width = bits.bits();
    int64_t magnitude = width == 64 ? INT64_MAX : INT32_MAX;
    return bits ^ (shiftRightSigned(bits, width - 1) & magnitude);
  }
  unsigned width = keyType.getIntOrFloatBitWidth();
  if (isUnsigned(type.getElementType())) {
    Num wide = value.bits() < width ? value.zeroExtended(width) : value;
    return wide ^ (width == 64 ? INT64_MIN : int64_t(INT32_MIN));
  }
  return value.bits() < width ? value.signExtended(width) : value;
}

Element TopKLowering::fromKey(Num key) {
  Type element = registerType(type.getElementType());
  int64_t width = key.bits();
  if (isa<FloatType>(element)) {
    int64_t magnitude = width == 64 ? INT64_MAX : INT32_MAX;
    return {(key ^ (shiftRightSigned(key, width - 1) & magnitude)).asFloat(), {}};
  }
  if (isUnsigned(type.getElementType()))
    key = key ^ (width == 64 ? INT64_MIN : int64_t(INT32_MIN));
  unsigned narrow = element.getIntOrFloatBitWidth();
  return {narrow < width ? key.lowBits(narrow) : key, {}};
}

Value TopKLowering::loadScratch(Value buffer, Value at) {
  return builder.create<LoadOp>(lowering.loc(), cast<MemRefType>(buffer.getType()).getElementType(),
                                buffer, ValueRange{at}, Value(), 1);
}

/// Puts element `at` into the best `count`, behind those that are not smaller;
/// the last falls off if there are k.
LogicalResult TopKLowering::insert(const Index &row, const Index &at, Value count) {
  Location loc = lowering.loc();
  FailureOr<Num> key = keyAt(row, at);
  if (failed(key))
    return failure();
  Value number = builder.create<arith::IndexCastOp>(loc, builder.getI32Type(), space.scalar(at));
  Value zero = lowering.constant(0), one = lowering.constant(1);
  auto isLess = [&](Value a, Value b) -> Value {
    return builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, a, b);
  };
  // Carried: the place that is free.
  auto loop = builder.create<scf::WhileOp>(
      loc, TypeRange{builder.getIndexType()}, ValueRange{count},
      [&](OpBuilder &, Location, ValueRange carried) {
        Value place = carried[0];
        Value more = isLess(zero, place);
        Value before = builder.create<arith::MaxSIOp>(
            loc, builder.create<arith::SubIOp>(loc, place, one), zero);
        Value smaller = isLess(loadScratch(keys, before), *key);
        builder.create<scf::ConditionOp>(loc, builder.create<arith::AndIOp>(loc, more, smaller),
                                         carried);
      },
      [&](OpBuilder &, Location, ValueRange carried) {
        Value before = builder.create<arith::SubIOp>(loc, carried[0], one);
        storeScratch(loadScratch(keys, before), keys, carried[0]);
        storeScratch(loadScratch(numbers, before), numbers, carried[0]);
        builder.create<scf::YieldOp>(loc, before);
      });
  storeScratch(*key, keys, loop.getResult(0));
  storeScratch(number, numbers, loop.getResult(0));
  return success();
}

LogicalResult TopKLowering::writeResults(const Index &row) {
  return forRange(emitter, lowering.constant(0), lowering.constant(k), k, [&](const Index &at) {
    Num key(emitter.context(), loadScratch(keys, space.scalar(at)));
    Num number(emitter.context(), loadScratch(numbers, space.scalar(at)));
    Position here = place(row, at);
    Element results[] = {fromKey(key), {number, {}}};
    for (auto [i, root] : llvm::enumerate(lowering.fusion.getYield().getValues())) {
      auto result = dyn_cast<OpResult>(root);
      if (!result || result.getOwner() != op)
        return LogicalResult(op.emitOpError("does not give the results of its fusion"));
      Element element = results[result.getResultNumber()];
      Type wanted = typeOf(root).getElementType();
      if (result.getResultNumber() == 1)
        element = convertElement(element, builder.getI32Type(), wanted);
      if (failed(emitter.store(element, typeOf(root), emitter.outputBuffer(i), here)))
        return failure();
    }
    return success();
  });
}

LogicalResult TopKLowering::run() {
  int64_t rows = type.getNumElements() / std::max<int64_t>(extent, 1);
  if (rows * k == 0) {
    lowering.kernel.setTasks(0);
    return success();
  }
  if (isa<ComplexType>(type.getElementType()))
    return op.emitOpError("of complex numbers has no order");
  Type element = registerType(type.getElementType());
  keyType = builder.getIntegerType(element.getIntOrFloatBitWidth() > 32 ? 64 : 32);
  keys = builder.create<ScratchOp>(lowering.loc(), MemRefType::get({k}, keyType), 0);
  int64_t bytes = llvm::alignTo(k * keyType.getIntOrFloatBitWidth() / 8, 64);
  numbers =
      builder.create<ScratchOp>(lowering.loc(), MemRefType::get({k}, builder.getI32Type()), bytes);
  lowering.kernel.setScratchBytes(bytes + llvm::alignTo(k * 4, 64));
  lowering.kernel.setTasks(rows);
  lowering.kernel.setTaskCostNs(extent / 4 + 8 * k);

  Index row = space.variable(lowering.kernel.getTask(), 0, rows - 1);
  int64_t lanes = lowering.machine.lanes(keyType.getIntOrFloatBitWidth());
  int64_t first = std::min<int64_t>(extent, llvm::alignTo(k, lanes));
  Value last = lowering.constant(k - 1);
  {
    ElementEmitter::Tile tile(emitter, 1);
    // The first k are inserted whatever they are, those up to a whole register
    // only if they are better.
    LogicalResult done =
        forRange(emitter, lowering.constant(0), lowering.constant(k), k,
                 [&](const Index &at) { return insert(row, at, space.scalar(at)); });
    if (failed(done))
      return failure();
  }
  auto insertBetter = [&](const Index &at) -> LogicalResult {
    ElementEmitter::Tile tile(emitter, 1);
    FailureOr<Num> key = keyAt(row, at);
    if (failed(key))
      return failure();
    Value better = gt(*key, Num(emitter.context(), loadScratch(keys, last)));
    auto branch = builder.create<scf::IfOp>(lowering.loc(), better);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    ElementEmitter::Level level(emitter, branch);
    return insert(row, at, last);
  };
  if (first > k) {
    ElementEmitter::Tile tile(emitter, 1);
    if (failed(
            forRange(emitter, lowering.constant(k), lowering.constant(first), first, insertBetter)))
      return failure();
  }
  // A row of less than a register has been seen as a whole.
  LogicalResult done = success();
  if (first < extent)
    done = forLanes(
        emitter, lowering.constant(first), lowering.constant(extent), extent, lanes,
        [&](const Index &at) -> LogicalResult {
          FailureOr<Num> key = keyAt(row, at);
          if (failed(key))
            return failure();
          Value worst = loadScratch(keys, last);
          worst = builder.create<vector::BroadcastOp>(lowering.loc(), key->type(), worst);
          Value some = anyLane(gt(*key, Num(emitter.context(), worst)));
          auto branch = builder.create<scf::IfOp>(lowering.loc(), some);
          OpBuilder::InsertionGuard guard(builder);
          builder.setInsertionPointToStart(branch.thenBlock());
          ElementEmitter::Level level(emitter, branch);
          // Lanes beyond the row are not there to insert.
          Index start = at;
          start.lane = 0;
          int64_t present = std::min(lanes, extent - space.range(start).min);
          if (!start.isConstant())
            present = lanes;
          return forRange(emitter, lowering.constant(0), lowering.constant(present), present,
                          [&](const Index &l) { return insertBetter(space.add(start, l)); });
        });
  if (failed(done))
    return failure();
  ElementEmitter::Tile tile(emitter, 1);
  return writeResults(row);
}

LogicalResult kernel::lowerTopK(FusionLowering &lowering, hlo::CompositeOp topK,
                                ElementEmitter &emitter) {
  return TopKLowering(lowering, topK, emitter).run();
}
