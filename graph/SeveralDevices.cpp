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
// Outside of manual computations there is no partitioner: work on whole values
// is done by every device, elementwise work on equal parts stays on the parts,
// and anything else on parts is an error that says so.
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
  /// Ends of loops, branches and the like: what they give is whole.
  LogicalResult visitEnd(Operation *op);

  /// The part of `value` that `wanted` says; null: all of it.
  FailureOr<Value> convert(Operation *at, Value value, const Split *wanted);
  Value gather(Operation *at, Value value, const Split &split);
  FailureOr<Value> slice(Operation *at, Value value, const Split &split);
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
  if (succeeded(split) && split->devices() != processes.count())
    return op->emitOpError() << "has a mesh of " << split->devices() << " devices in a program for "
                             << processes.count();
  return split;
}

//===----------------------------------------------------------------------===//
// Between parts and wholes
//===----------------------------------------------------------------------===//

Value Partitioner::gather(Operation *at, Value value, const Split &split) {
  OpBuilder builder(at);
  CollectiveEmit make(builder, at->getLoc(), processes);
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
  CollectiveEmit make(builder, at->getLoc(), processes);
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

FailureOr<Value> Partitioner::convert(Operation *at, Value value, const Split *wanted) {
  const Split *has = splitOf(value);
  if (wanted && wanted->isWhole())
    wanted = nullptr;
  if (has && wanted && *has == *wanted)
    return value;
  if (has)
    value = gather(at, value, *has);
  return wanted ? slice(at, value, *wanted) : FailureOr<Value>(value);
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
      wanted = *has; // the framework leaves it to us
    }
    main.removeResultAttr(number, StringAttr::get(main.getContext(), "sdy.sharding"));
    if (!wanted)
      continue;
    FailureOr<Value> value = convert(op, operand.get(), &*wanted);
    if (failed(value))
      return failure();
    operand.set(*value);
    if (!wanted->isWhole())
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
                              << local->getType()
                              << " on a device: some of its axes need a partitioner, which "
                                 "this compiler does not have";
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
    if (!split->isWhole()) {
      // A value of its own: inside it counted as all there is.
      auto type = cast<RankedTensorType>(value.getType());
      auto whole = cast<RankedTensorType>(result.getType());
      FailureOr<RankedTensorType> local = split->localType(op, whole);
      if (failed(local))
        return failure();
      if (*local != type)
        return op.emitOpError() << "gives " << type << " for what is " << *local
                                << " on a device: some of its axes need a partitioner, which "
                                   "this compiler does not have";
      value = builder.create<sh::ReshapeOp>(op.getLoc(), type, value);
      setSplit(value, *split);
    }
    result.replaceAllUsesWith(value);
  }
  op.erase();
  return success();
}

/// On whole values a sharding is advice that need not be taken.
LogicalResult Partitioner::visitConstraint(Operation *op, sdy::TensorShardingAttr sharding) {
  Value value = op->getOperand(0);
  if (splitOf(value)) {
    FailureOr<Split> wanted = read(op, sharding);
    FailureOr<Value> converted = failure();
    if (succeeded(wanted))
      converted = convert(op, value, &*wanted);
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

LogicalResult Partitioner::visitEnd(Operation *op) {
  for (OpOperand &operand : op->getOpOperands()) {
    FailureOr<Value> whole = convert(op, operand.get(), nullptr);
    if (failed(whole))
      return failure();
    operand.set(*whole);
  }
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
  if (op->hasTrait<OpTrait::IsTerminator>())
    return visitEnd(op);
  const Split *split = nullptr;
  bool allEqual = true;
  for (Value operand : op->getOperands())
    if (const Split *one = splitOf(operand)) {
      allEqual &= !split || *split == *one;
      split = one;
    }
  if (!split) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (failed(visitBlock(block)))
          return failure();
    return success();
  }
  bool isElementwise = classify(op) == OpClass::Elementwise && op->getNumRegions() == 0;
  if (isElementwise && allEqual) {
    Split copy = *split; // the map grows below
    return visitElementwise(op, copy);
  }
  return op->emitOpError()
         << "works on arrays that are split over devices, which needs a partitioner; this compiler "
            "has none: write what each device does, with jax.shard_map, or replicate the operands";
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
