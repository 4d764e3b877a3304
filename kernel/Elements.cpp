//===- Elements.cpp - values of a fusion's body at a position --------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The recursion and its memory. See Elements.h.
//
//===----------------------------------------------------------------------===//
#include "kernel/Elements.h"

#include "input/StablehloOps.h"
#include "kernel/LowerFusion.h"
#include "kernel/WithinRows.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::kernel;
namespace hlo = spokeshave::stablehlo;

size_t ElementEmitter::KeyHash::operator()(const Key &key) const {
  llvm::hash_code hash =
      llvm::hash_combine(key.value.getAsOpaquePointer(), key.mask.getAsOpaquePointer(), key.lanes);
  for (const Index &index : key.position)
    hash = llvm::hash_combine(hash, hash_value(index));
  return hash;
}

ElementEmitter::ElementEmitter(OpBuilder &builder, const machine::Machine &machine,
                               graph::FusionOp fusion, ValueRange buffers)
    : builder(builder), fusion(fusion), buffers(buffers), numInputs(fusion.getNumOperands()),
      arithmetic{builder, fusion.getLoc(), machine}, indices(builder, fusion.getLoc()), memos(1),
      insertBefore(1, nullptr) {
  indices.pointOf = [this](unsigned level) { return insertBefore[level]; };
  for (Value buffer : buffers)
    if (cast<MemRefType>(buffer.getType()).getNumElements() > INT32_MAX)
      indices.vectorBits = 64;
}

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

ElementEmitter::Tile::Tile(ElementEmitter &emitter, int64_t lanes, Value mask, int64_t active)
    : emitter(emitter), oldLanes(emitter.indices.lanes), oldActive(emitter.indices.activeLanes),
      oldColumns(emitter.indices.columns), oldRows(emitter.indices.activeRows),
      oldMask(emitter.mask), oldConditional(emitter.conditional) {
  emitter.indices.lanes = lanes;
  emitter.indices.activeLanes = active ? active : lanes;
  emitter.indices.columns = 0;
  emitter.indices.activeRows = 1;
  emitter.mask = mask;
  emitter.conditional = false;
}

ElementEmitter::Tile::Tile(ElementEmitter &emitter, Rows active, Value mask)
    : Tile(emitter, kTileLanes, mask, active.columns) {
  emitter.indices.columns = kTileColumns;
  emitter.indices.activeRows = active.rows;
}

ElementEmitter::Tile::~Tile() {
  emitter.indices.lanes = oldLanes;
  emitter.indices.activeLanes = oldActive;
  emitter.indices.columns = oldColumns;
  emitter.indices.activeRows = oldRows;
  emitter.mask = oldMask;
  emitter.conditional = oldConditional;
}

ElementEmitter::Condition::Condition(ElementEmitter &emitter, Num condition)
    : emitter(emitter), oldMask(emitter.mask), oldConditional(emitter.conditional) {
  if (!condition)
    return;
  emitter.mask = oldMask ? Value(Num(emitter.arithmetic, oldMask) & condition) : Value(condition);
  emitter.conditional = true;
}

ElementEmitter::Condition::~Condition() {
  emitter.mask = oldMask;
  emitter.conditional = oldConditional;
}

ElementEmitter::Level::Level(ElementEmitter &emitter, Operation *beforeLoop) : emitter(emitter) {
  emitter.insertBefore.back() = beforeLoop;
  emitter.transposed.clear();
  emitter.insertBefore.push_back(nullptr);
  emitter.memos.emplace_back();
  emitter.indices.enterLevel();
}

ElementEmitter::Level::~Level() {
  emitter.transposed.clear();
  emitter.insertBefore.pop_back();
  emitter.insertBefore.back() = nullptr;
  emitter.memos.pop_back();
  emitter.indices.leaveLevel();
}

void ElementEmitter::bind(Value value, Binding give) {
  bindings[value] = std::move(give);
  dependents.insert(value);
  for (Operation &op : fusion.getBlock())
    if (llvm::any_of(op.getOperands(), [&](Value v) { return dependents.contains(v); }))
      dependents.insert(op.result_begin(), op.result_end());
}

//===----------------------------------------------------------------------===//
// The recursion
//===----------------------------------------------------------------------===//

Value ElementEmitter::broadcast(Value scalar) {
  if (!scalar || lanes() == 1)
    return scalar;
  return builder.create<vector::BroadcastOp>(loc(), VectorType::get({lanes()}, scalar.getType()),
                                             scalar);
}

Element ElementEmitter::broadcast(Element element) {
  Element result{{arithmetic, broadcast(element.re)}, {}};
  if (element.isComplex())
    result.im = {arithmetic, broadcast(element.im)};
  return result;
}

Element ElementEmitter::selectElement(Num condition, Element yes, Element no) {
  Element result{select(condition, yes.re, no.re), {}};
  if (yes.isComplex())
    result.im = select(condition, yes.im, no.im);
  return result;
}

FailureOr<Element> ElementEmitter::emit(Value value, const Position &position) {
  Key key{value, mask, lanes(), position};
  for (Memo &memo : memos)
    if (auto found = memo.find(key); found != memo.end())
      return found->second;
  bool uniform = kernel::isUniform(position);
  bool outer = indices.levelOf(position) < indices.level && !conditional &&
               !dependents.contains(value) && !arithmetic.wide;
  FailureOr<Element> result =
      uniform && (lanes() > 1 || outer) ? emitUniform(value, position) : emitHere(value, position);
  if (succeeded(result))
    memos.back()[key] = *result;
  return result;
}

FailureOr<SmallVector<Element>> ElementEmitter::emitAll(ValueRange values,
                                                        const Position &position) {
  SmallVector<Element> elements;
  for (Value value : values) {
    FailureOr<Element> element = emit(value, position);
    if (failed(element))
      return failure();
    elements.push_back(*element);
  }
  return elements;
}

/// All lanes stand at the same place: computes a scalar, at the outermost level
/// that knows the position, and spreads it.
FailureOr<Element> ElementEmitter::emitUniform(Value value, const Position &position) {
  // What is bound may hold only where it was bound.
  bool stays = conditional || dependents.contains(value);
  unsigned level = stays ? indices.level : indices.levelOf(position);
  FailureOr<Element> scalar = failure();
  {
    OpBuilder::InsertionGuard guard(builder);
    Value condition = conditional ? anyLane({arithmetic, mask}) : Value();
    Tile tile(*this, 1, condition);
    conditional = bool(condition);
    std::vector<Memo> hiddenMemos;
    std::vector<Operation *> hiddenPoints;
    unsigned oldLevel = indices.level;
    if (level < oldLevel) {
      builder.setInsertionPoint(insertBefore[level]);
      // Deeper values do not dominate that point.
      std::move(memos.begin() + level + 1, memos.end(), std::back_inserter(hiddenMemos));
      std::move(insertBefore.begin() + level + 1, insertBefore.end(),
                std::back_inserter(hiddenPoints));
      memos.resize(level + 1);
      insertBefore.resize(level + 1);
      indices.level = level;
    }
    Key key{value, mask, 1, position};
    bool known = false;
    for (Memo &memo : memos)
      if (auto found = memo.find(key); found != memo.end() && !known)
        scalar = found->second, known = true;
    if (!known)
      scalar = emitHere(value, position);
    if (succeeded(scalar))
      memos.back()[key] = *scalar;
    if (level < oldLevel) {
      std::move(hiddenMemos.begin(), hiddenMemos.end(), std::back_inserter(memos));
      std::move(hiddenPoints.begin(), hiddenPoints.end(), std::back_inserter(insertBefore));
      indices.level = oldLevel;
    }
  }
  if (failed(scalar))
    return failure();
  return broadcast(*scalar);
}

FailureOr<Element> ElementEmitter::emitHere(Value value, const Position &position) {
  if (auto bound = bindings.find(value); bound != bindings.end())
    return bound->second(position);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != &fusion.getBlock())
      return emitError(value.getLoc(), "a region uses a value of the fusion around it");
    return load(cast<RankedTensorType>(value.getType()), inputBuffer(argument.getArgNumber()),
                position);
  }
  return emitOperation(value.getDefiningOp(), value, position);
}

FailureOr<Element> ElementEmitter::emitOperation(Operation *op, Value value,
                                                 const Position &position) {
  if (auto barrier = dyn_cast<hlo::OptimizationBarrierOp>(op))
    return emit(barrier.getOperand()[cast<OpResult>(value).getResultNumber()], position);
  if (auto map = dyn_cast<hlo::MapOp>(op)) {
    FailureOr<SmallVector<Element>> operands = emitAll(map.getInputs(), position);
    if (failed(operands))
      return failure();
    FailureOr<SmallVector<Element>> results =
        emitRegion(arithmetic, map.getComputation(), *operands,
                   [&](Value outside) { return emit(outside, {}); });
    if (failed(results))
      return failure();
    return results->front();
  }
  // Between types of one width bitcast_convert is elementwise.
  auto bitcast = dyn_cast<hlo::BitcastConvertOp>(op);
  bool sameShape = bitcast && cast<RankedTensorType>(bitcast->getOperand(0).getType()).getRank() ==
                                  cast<RankedTensorType>(value.getType()).getRank();
  if (bitcast ? sameShape : isElementwise(op))
    return emitOperands(op, position);
  return emitMove(op, position);
}

/// A float sum one of whose terms is a product that nothing else uses: one
/// rounding instead of two. Decided by the program alone, so that copies of the
/// same operation in several kernels give the same bits.
FailureOr<Element> ElementEmitter::emitContracted(Operation *op, const Position &position) {
  bool subtracts = isa<hlo::SubtractOp>(op);
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  if ((!subtracts && !isa<hlo::AddOp>(op)) || !(type.isF32() || type.isF64()) ||
      !arithmetic.machine.hasFma)
    return failure();
  for (unsigned i : {0u, 1u}) {
    auto product = op->getOperand(i).getDefiningOp<hlo::MulOp>();
    if (!product || !product->hasOneUse() || bindings.count(product))
      continue;
    FailureOr<SmallVector<Element>> factors = emitAll(product->getOperands(), position);
    FailureOr<Element> other = emit(op->getOperand(1 - i), position);
    if (failed(factors) || failed(other))
      return Element{};
    Num a = (*factors)[0].re, b = (*factors)[1].re, c = other->re;
    if (subtracts)
      i == 0 ? c = -c : a = -a;
    return Element{fma(a, b, c), {}};
  }
  return failure();
}

FailureOr<Element> ElementEmitter::emitOperands(Operation *op, const Position &position) {
  if (FailureOr<Element> contracted = emitContracted(op, position); succeeded(contracted)) {
    if (!contracted->re)
      return failure();
    return contracted;
  }
  SmallVector<Element> operands;
  for (Value operand : op->getOperands()) {
    // select and clamp take scalars beside tensors.
    bool scalar = cast<RankedTensorType>(operand.getType()).getRank() == 0;
    FailureOr<Element> element = emit(operand, scalar ? Position() : position);
    if (failed(element))
      return failure();
    operands.push_back(*element);
  }
  return emitElementwise(arithmetic, op, operands);
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

int64_t kernel::chooseLanes(graph::FusionOp fusion, const machine::Machine &machine) {
  // The widest type that results or wide arithmetic have decides; narrow floats
  // are f32 in registers.
  int64_t widest = 8, doubles = 0, operations = 0;
  auto consider = [&](Type type) {
    Type element = getElementTypeOrSelf(type);
    int64_t bits =
        registerType(element).isIntOrFloat() ? registerType(element).getIntOrFloatBitWidth() : 32;
    widest = std::max(widest, std::min<int64_t>(bits, 32));
    doubles += bits == 64;
    ++operations;
  };
  for (Operation &op : fusion.getBlock())
    for (Type type : op.getResultTypes())
      if (cast<RankedTensorType>(type).getRank() > 0)
        consider(type);
  for (BlockArgument argument : fusion.getBlock().getArguments())
    if (cast<RankedTensorType>(argument.getType()).getRank() > 0)
      consider(argument.getType());
  if (2 * doubles > operations)
    widest = 64;
  return std::min(machine.lanes(widest), machine.maxLanes);
}

int64_t kernel::picosecondsPerElement(graph::FusionOp fusion, int64_t lanes) {
  int64_t cycles = 0; // of one register tile
  for (Operation &op : fusion.getBlock()) {
    if (isa<hlo::GatherOp>(op))
      cycles += 2 * lanes;
    else if (isa<hlo::ExpOp, hlo::LogOp, hlo::TanhOp, hlo::LogisticOp, hlo::SineOp, hlo::CosineOp,
                 hlo::Expm1Op, hlo::Log1pOp, hlo::RsqrtOp, hlo::SqrtOp, hlo::DivOp, hlo::CbrtOp>(
                 op))
      cycles += 20;
    else if (isa<hlo::PowOp, hlo::RemOp, hlo::Atan2Op, hlo::TanOp>(op))
      cycles += 80;
    else
      cycles += 1;
  }
  // Memory: about a byte per 100 ps and core.
  int64_t bytes = 0;
  for (Type type : fusion.getResultTypes())
    bytes +=
        std::max<int64_t>(1, memoryType(getElementTypeOrSelf(type)).getIntOrFloatBitWidth() / 8);
  for (Value input : fusion.getInputs())
    if (cast<RankedTensorType>(input.getType()).getRank() > 0)
      bytes += std::max<int64_t>(
          1, memoryType(getElementTypeOrSelf(input.getType())).getIntOrFloatBitWidth() / 8);
  return cycles * 350 / lanes + bytes * 50;
}
