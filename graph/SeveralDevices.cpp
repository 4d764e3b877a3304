//===- SeveralDevices.cpp - from global arrays to one device's parts -------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A framework gives one program over whole arrays, with shardings at its ends, and
// manual computations that see a device's part. Here the program becomes that of
// each device: arguments and results are parts, manual computations stand in
// their place, and where a value is wanted cut in another way than it is, it is
// gathered or sliced.
//
// Outside of manual computations elementwise work stays on parts. All other work is
// done by every device in whole, on operands that are gathered first: right, but
// not faster than on one device.
//
//===----------------------------------------------------------------------===//
#include "graph/Classify.h"
#include "graph/CollectiveEmit.h"
#include "graph/Passes.h"

#include "mlir/IR/IRMapping.h"

namespace spokeshave::graph {
#define GEN_PASS_DEF_SEVERALDEVICES
#include "graph/Passes.h.inc"
} // namespace spokeshave::graph

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::graph;
namespace sh = spokeshave::stablehlo;

namespace {

class Partitioner {
public:
  Partitioner(func::FuncOp main, Processes processes) : main(main), processes(processes) {}
  LogicalResult run();

private:
  FailureOr<Split> read(Operation *op, sdy::TensorShardingAttr sharding,
                        std::optional<ArrayRef<StringAttr>> manual = {}) const;
  LogicalResult takeArguments();
  LogicalResult giveResults(func::ReturnOp op);
  LogicalResult visitBlock(Block &block);
  LogicalResult visit(Operation *op);
  LogicalResult visitManual(sdy::ManualComputationOp op);
  LogicalResult visitConstraint(Operation *op, sdy::TensorShardingAttr sharding);
  LogicalResult visitElementwise(Operation *op, const Split &split);
  /// Anything else, and the ends of loops and branches: on whole values.
  LogicalResult visitWhole(Operation *op);

  /// The part of `value` that `wanted` says; null: all of it.
  FailureOr<Value> convert(Operation *at, Value value, const Split *wanted);
  Value gather(Operation *at, Value value, const Split &split);
  FailureOr<Value> slice(Operation *at, Value value, const Split &split);
  FailureOr<Value> makeTerms(Operation *at, Value value, const Split &split);
  Value knownWhole(Operation *at, Value value) const;
  const Split *splitOf(Value value) const {
    auto found = splits.find(value);
    return found == splits.end() ? nullptr : &found->second;
  }
  void setSplit(Value value, const Split &split) {
    if (!split.isWhole())
      splits.insert({value, split});
  }
  FailureOr<std::optional<Split>> wantedOfUses(BlockArgument argument);

  func::FuncOp main;
  Processes processes;
  DenseMap<Value, Split> splits; ///< of values that are parts; others are whole
  DenseMap<Value, Value> wholes; ///< of parts whose whole is there as well
};

/// Tells the framework which device has which part, on argument or result
/// `graph.parts` = parts of each dimension, then the part's number per device.
Attribute describe(MLIRContext *context, const Split &split) {
  SmallVector<int64_t> numbers;
  for (size_t dim = 0; dim < split.rank(); ++dim)
    numbers.push_back(split.partsOf(dim));
  for (int64_t device = 0; device < split.devices(); ++device) {
    int64_t part = 0;
    for (size_t dim = 0; dim < split.rank(); ++dim)
      part = part * split.partsOf(dim) + split.indexOf(device, dim);
    numbers.push_back(part);
  }
  return DenseI64ArrayAttr::get(context, numbers);
}

FailureOr<Split> Partitioner::read(Operation *op, sdy::TensorShardingAttr sharding,
                                   std::optional<ArrayRef<StringAttr>> manual) const {
  FailureOr<Split> split = Split::of(op, sharding, manual);
  if (succeeded(split) && !split->isWhole() && split->devices() != processes.count())
    return op->emitOpError() << "has a mesh of " << split->devices() << " devices in a program for "
                             << processes.count();
  return split;
}

//===----------------------------------------------------------------------===//
// Between parts and wholes
//===----------------------------------------------------------------------===//

Value Partitioner::gather(Operation *at, Value value, const Split &split) {
  OpBuilder builder(at);
  CollectiveEmit make(builder, at->getLoc(), processes, "resharding");
  for (size_t dim = 0; dim < split.rank(); ++dim) {
    if (split.partsOf(dim) == 1)
      continue;
    Value all = make.move(make.stack(value, split.groupsOf(dim)), 0, dim);
    SmallVector<int64_t> shape(make.emit.shapeOf(value));
    shape[dim] *= split.partsOf(dim);
    value = make.emit.reshape(all, shape);
  }
  return value;
}

FailureOr<Value> Partitioner::slice(Operation *at, Value value, const Split &split) {
  auto whole = dyn_cast<RankedTensorType>(value.getType());
  if (!whole)
    return at->emitOpError() << "splits a value that is no tensor";
  FailureOr<RankedTensorType> local = split.localType(at, whole);
  if (failed(local))
    return failure();
  OpBuilder builder(at);
  if (isSplatConstant(value.getDefiningOp())) {
    auto splat = cast<SplatElementsAttr>(value.getDefiningOp<sh::ConstantOp>().getValue());
    return Value(builder.create<sh::ConstantOp>(at->getLoc(),
                                                cast<ElementsAttr>(splat.resizeSplat(*local))));
  }
  CollectiveEmit make(builder, at->getLoc(), processes, "resharding");
  SmallVector<int32_t> table;
  SmallVector<size_t> cut;
  for (size_t dim = 0; dim < split.rank(); ++dim)
    if (split.partsOf(dim) > 1)
      cut.push_back(dim);
  for (int64_t device = 0; device < processes.count(); ++device)
    for (size_t dim : cut)
      table.push_back(split.indexOf(device, dim) * local->getDimSize(dim));
  Value row = make.rowOf(table, cut.size());
  Value zero = make.emit.integer(RankedTensorType::get({}, builder.getI32Type()), 0);
  SmallVector<Value> starts(split.rank(), zero);
  for (auto [column, dim] : llvm::enumerate(cut))
    starts[dim] = make.element(row, column);
  return Value(builder.create<sh::DynamicSliceOp>(at->getLoc(), *local, value, starts,
                                                  builder.getDenseI64ArrayAttr(local->getShape())));
}

/// Terms of which the first device of each group holds all, the others zeros.
FailureOr<Value> Partitioner::makeTerms(Operation *at, Value value, const Split &split) {
  if (split.reduction() != sdy::ReductionOp::SUM)
    return at->emitOpError() << "makes terms of a maximum or minimum, which is not supported";
  OpBuilder builder(at);
  CollectiveEmit make(builder, at->getLoc(), processes, "resharding");
  SmallVector<bool> isFirst;
  for (int64_t device = 0; device < processes.count(); ++device)
    isFirst.push_back(split.isFirstOfTerms(device));
  auto zeros = cast<ElementsAttr>(builder.getZeroAttr(value.getType()));
  return make.choose(make.flagOf(isFirst), value,
                     builder.create<sh::ConstantOp>(at->getLoc(), zeros));
}

/// What the value is as a whole, where that is known at `at`.
Value Partitioner::knownWhole(Operation *at, Value value) const {
  Value whole = wholes.lookup(value);
  return whole && whole.getParentBlock()->findAncestorOpInBlock(*at) ? whole : Value();
}

FailureOr<Value> Partitioner::convert(Operation *at, Value value, const Split *wanted) {
  std::optional<Split> has;
  if (const Split *found = splitOf(value))
    has = *found;
  if (wanted && wanted->isWhole())
    wanted = nullptr;
  if (has && wanted && *has == *wanted)
    return value;
  Value part = value;
  if (has && has->isTerm()) {
    OpBuilder builder(at);
    CollectiveEmit make(builder, at->getLoc(), processes, "resharding");
    part = make.reduce(part, has->groupsOfTerms(), has->reduction());
    has = has->reduced();
  }
  std::optional<Split> cut; // without terms
  if (wanted)
    cut = wanted->reduced();
  if (!has || has->isWhole() || !cut || !(*has == *cut)) {
    if (has && !has->isWhole()) {
      Value whole = knownWhole(at, value);
      part = wholes[value] = whole ? whole : gather(at, part, *has);
    }
    if (cut && !cut->isWhole()) {
      FailureOr<Value> sliced = slice(at, part, *cut);
      if (failed(sliced))
        return failure();
      wholes[*sliced] = part;
      part = *sliced;
    }
  }
  return wanted && wanted->isTerm() ? makeTerms(at, part, *wanted) : FailureOr<Value>(part);
}

//===----------------------------------------------------------------------===//
// The ends of the program
//===----------------------------------------------------------------------===//

/// Without a sharding, an argument is best cut as the only computation that reads
/// it wants it.
FailureOr<std::optional<Split>> Partitioner::wantedOfUses(BlockArgument argument) {
  std::optional<Split> wanted;
  for (OpOperand &use : argument.getUses()) {
    auto manual = dyn_cast<sdy::ManualComputationOp>(use.getOwner());
    if (!manual || use.getOperandNumber() >= manual.getInShardings().getShardings().size())
      return std::optional<Split>();
    FailureOr<Split> split =
        read(manual, manual.getInShardings().getShardings()[use.getOperandNumber()],
             manual.getManualAxes().getValue());
    if (failed(split))
      return failure();
    if (wanted && !(*wanted == *split))
      return std::optional<Split>();
    wanted = std::move(*split);
  }
  return wanted;
}

LogicalResult Partitioner::takeArguments() {
  for (BlockArgument argument : main.getArguments()) {
    unsigned number = argument.getArgNumber();
    std::optional<Split> split;
    if (auto sharding = main.getArgAttrOfType<sdy::TensorShardingAttr>(number, "sdy.sharding")) {
      FailureOr<Split> given = read(main, sharding);
      if (failed(given))
        return failure();
      split = std::move(*given);
    } else {
      FailureOr<std::optional<Split>> wanted = wantedOfUses(argument);
      if (failed(wanted))
        return failure();
      split = std::move(*wanted);
    }
    main.removeArgAttr(number, "sdy.sharding");
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!split || !type || split->isWhole())
      continue;
    FailureOr<RankedTensorType> local = split->localType(main, type);
    if (failed(local))
      return failure();
    argument.setType(*local);
    setSplit(argument, *split);
    if (!split->reduced().isWhole())
      main.setArgAttr(number, "graph.parts", describe(main.getContext(), *split));
  }
  return success();
}

LogicalResult Partitioner::giveResults(func::ReturnOp op) {
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    std::optional<Split> wanted;
    if (auto sharding = main.getResultAttrOfType<sdy::TensorShardingAttr>(number, "sdy.sharding")) {
      FailureOr<Split> given = read(main, sharding);
      if (failed(given))
        return failure();
      wanted = std::move(*given);
    } else if (const Split *has = splitOf(operand.get())) {
      wanted = has->reduced(); // the framework leaves it to us
    }
    main.removeResultAttr(number, StringAttr::get(main.getContext(), "sdy.sharding"));
    if (!wanted)
      continue;
    FailureOr<Value> value = convert(op, operand.get(), &*wanted);
    if (failed(value))
      return failure();
    operand.set(*value);
    if (!wanted->reduced().isWhole())
      main.setResultAttr(number, "graph.parts", describe(main.getContext(), *wanted));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// What stands between them
//===----------------------------------------------------------------------===//

LogicalResult Partitioner::visitManual(sdy::ManualComputationOp op) {
  Block &body = op.getBody().front();
  if (failed(visitBlock(body)))
    return failure();
  auto splitsOf = [&](sdy::TensorShardingPerValueAttr shardings) {
    return shardings.getShardings();
  };
  ArrayRef<StringAttr> manual = op.getManualAxes().getValue();
  for (auto [operand, argument, sharding] :
       llvm::zip_equal(op.getTensors(), body.getArguments(), splitsOf(op.getInShardings()))) {
    FailureOr<Split> split = read(op, sharding, manual);
    if (failed(split))
      return failure();
    FailureOr<Value> local = convert(op, operand, &*split);
    if (failed(local))
      return failure();
    if (local->getType() != argument.getType())
      return op.emitOpError() << "takes " << argument.getType() << " of what is "
                              << local->getType() << " on a device";
    argument.replaceAllUsesWith(*local);
  }
  Operation *end = body.getTerminator();
  SmallVector<Value> given(end->getOperands());
  op->getBlock()->getOperations().splice(op->getIterator(), body.getOperations(), body.begin(),
                                         end->getIterator());
  OpBuilder builder(op);
  for (auto [result, value, sharding] :
       llvm::zip_equal(op.getResults(), given, splitsOf(op.getOutShardings()))) {
    FailureOr<Split> split = read(op, sharding, manual);
    if (failed(split))
      return failure();
    if (!split->isWhole() || splitOf(value)) {
      // A value of its own: inside it counted as all there is.
      auto type = cast<RankedTensorType>(value.getType());
      auto whole = cast<RankedTensorType>(result.getType());
      FailureOr<RankedTensorType> local = split->localType(op, whole);
      if (failed(local))
        return failure();
      if (*local != type)
        return op.emitOpError() << "gives " << type << " for what is " << *local << " on a device";
      value = builder.create<sh::ReshapeOp>(op.getLoc(), type, value);
      setSplit(value, *split);
    }
    result.replaceAllUsesWith(value);
  }
  op.erase();
  return success();
}

LogicalResult Partitioner::visitConstraint(Operation *op, sdy::TensorShardingAttr sharding) {
  Value value = op->getOperand(0);
  FailureOr<Split> wanted = read(op, sharding);
  if (failed(wanted))
    return failure();
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  // On whole values it is advice, which is not taken where it does not fit.
  bool fits = type && type.getRank() == int64_t(wanted->rank()) &&
              llvm::all_of(llvm::seq<size_t>(0, wanted->rank()), [&](size_t dim) {
                return type.getDimSize(dim) % wanted->partsOf(dim) == 0;
              });
  if (fits || splitOf(value)) {
    FailureOr<Value> converted = convert(op, value, &*wanted);
    if (failed(converted))
      return failure();
    if (*converted != value)
      setSplit(*converted, *wanted);
    value = *converted;
  }
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
  return success();
}

LogicalResult Partitioner::visitElementwise(Operation *op, const Split &split) {
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = cast<RankedTensorType>(operand.get().getType());
    if (type.getRank() == 0) // a predicate or bound for all
      continue;
    FailureOr<Value> local = convert(op, operand.get(), &split);
    if (failed(local))
      return failure();
    operand.set(*local);
  }
  for (Value result : op->getResults()) {
    FailureOr<RankedTensorType> local =
        split.localType(op, cast<RankedTensorType>(result.getType()));
    if (failed(local))
      return failure();
    result.setType(*local);
    setSplit(result, split);
  }
  return success();
}

LogicalResult Partitioner::visitWhole(Operation *op) {
  for (OpOperand &operand : op->getOpOperands()) {
    FailureOr<Value> whole = convert(op, operand.get(), nullptr);
    if (failed(whole))
      return failure();
    operand.set(*whole);
  }
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (failed(visitBlock(block)))
        return failure();
  return success();
}

LogicalResult Partitioner::visit(Operation *op) {
  if (auto manual = dyn_cast<sdy::ManualComputationOp>(op))
    return visitManual(manual);
  if (auto constraint = dyn_cast<sdy::ShardingConstraintOp>(op))
    return visitConstraint(op, constraint.getSharding());
  if (auto reshard = dyn_cast<sdy::ReshardOp>(op))
    return visitConstraint(op, reshard.getSharding());
  if (auto end = dyn_cast<func::ReturnOp>(op))
    return giveResults(end);
  bool isElementwise = classify(op) == OpClass::Elementwise && op->getNumRegions() == 0;
  for (Value operand : op->getOperands())
    if (const Split *split = splitOf(operand); split && isElementwise) {
      Split parts = split->reduced(); // a copy: the map grows below
      return parts.isWhole() ? visitWhole(op) : visitElementwise(op, parts);
    }
  return visitWhole(op);
}

LogicalResult Partitioner::visitBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (failed(visit(&op)))
      return failure();
  return success();
}

LogicalResult Partitioner::run() {
  if (!main.getBody().hasOneBlock())
    return main.emitError() << "must have one block";
  if (failed(takeArguments()) || failed(visitBlock(main.getBody().front())))
    return failure();
  Operation *end = main.getBody().front().getTerminator();
  main.setFunctionType(FunctionType::get(main.getContext(), main.getBody().getArgumentTypes(),
                                         end->getOperandTypes()));
  return success();
}

/// Does the program speak of shardings at all? If not, it is each device's already.
bool hasShardings(func::FuncOp main) {
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    if (main.getArgAttr(i, "sdy.sharding"))
      return true;
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    if (main.getResultAttr(i, "sdy.sharding"))
      return true;
  return main
      .walk([](Operation *op) {
        return isa<sdy::SdyDialect>(op->getDialect()) ? WalkResult::interrupt()
                                                      : WalkResult::advance();
      })
      .wasInterrupted();
}

class SeveralDevicesPass : public graph::impl::SeveralDevicesBase<SeveralDevicesPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    Processes processes = Processes::of(module);
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (processes.count() == 1 || !main)
      return;
    if (hasShardings(main)) {
      if (processes.replicas != 1) {
        module.emitError() << "shardings over " << processes.replicas
                           << " replicas are not supported: they are of partitions";
        return signalPassFailure();
      }
      if (failed(Partitioner(main, processes).run()))
        return signalPassFailure();
    }
  }
};

} // namespace
