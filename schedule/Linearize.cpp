//===- Linearize.cpp - from tensors in @main to nodes and steps ------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The only place in schedule/ that knows the operations of the graph level.
// Numbers the steps in program order, gives each tensor that needs memory a
// node, and writes down, as copies that may turn out to be nothing, where values
// meet: loop entries and latches, ends of branches, results.
//
//===----------------------------------------------------------------------===//
#include "schedule/Linearizer.h"

#include "schedule/Sharing.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::schedule;

static FailureOr<MemRefType> bufferType(RankedTensorType type, Location loc) {
  if (!type.hasStaticShape())
    return emitError(loc) << "unsupported: a tensor of dynamic shape " << type;
  if (byteSizeOfElement(type.getElementType()) == 0)
    return emitError(loc) << "unsupported element type " << type.getElementType();
  return MemRefType::get(type.getShape(), type.getElementType());
}

LogicalResult Linearizer::makeNodes(Type type, Location loc, Buffers &buffers) {
  if (isa<stablehlo::TokenType>(type))
    return success();
  if (auto tuple = dyn_cast<TupleType>(type)) {
    for (Type element : tuple.getTypes())
      if (failed(makeNodes(element, loc, buffers)))
        return failure();
    return success();
  }
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return emitError(loc) << "unsupported type " << type;
  FailureOr<MemRefType> memref = bufferType(tensor, loc);
  if (failed(memref))
    return failure();
  buffers.push_back({plan.addNode(*memref, loc), *memref});
  return success();
}

/// New nodes for `value`, arriving in the newest window.
FailureOr<Buffers> Linearizer::define(Value value) {
  Buffers buffers;
  if (failed(makeNodes(value.getType(), value.getLoc(), buffers)))
    return failure();
  for (BufferUse use : buffers)
    plan.plainValues.push_back({use.node, block, windows() - 1});
  buffersOf[value] = buffers;
  return buffers;
}

void Linearizer::addReads(Step &step, ValueRange values) {
  for (Value value : values)
    for (BufferUse use : buffersOf[value]) {
      read(step, use, step.window);
      step.reads.push_back(use);
    }
}

void Linearizer::addCopy(Step &step, BufferUse source, BufferUse target, int32_t window) {
  read(step, source, window);
  // A copy moves bytes: both ends get the target's type.
  source.type = target.type;
  step.copies.push_back({source, target});
}

//===----------------------------------------------------------------------===//
// The function's ends
//===----------------------------------------------------------------------===//

LogicalResult Linearizer::addArguments() {
  for (BlockArgument argument : plan.function.getArguments()) {
    Buffers buffers;
    if (failed(makeNodes(argument.getType(), argument.getLoc(), buffers)))
      return failure();
    if (isa<TupleType>(argument.getType()))
      return plan.function.emitError() << "unsupported: an argument that is a tuple";
    for (BufferUse use : buffers) {
      Node &node = plan.nodes[use.node];
      node.home = Home::Argument;
      node.number = plan.arguments.size();
      node.readOnly = true;
      plan.arguments.push_back(use.node);
    }
    buffersOf[argument] = buffers;
  }
  return success();
}

/// Which argument's buffer each result takes over. A donor without a named
/// result gives to the first result of its type that is still without one.
void Linearizer::addDonations() {
  func::FuncOp function = plan.function;
  plan.aliases.assign(plan.results.size(), -1);
  auto donate = [&](NodeId argument, int64_t result) {
    if (result < 0 || result >= int64_t(plan.results.size()) || plan.aliases[result] >= 0 ||
        plan.nodes[plan.results[result]].bytes() != plan.nodes[argument].bytes())
      return false;
    plan.aliases[result] = plan.nodes[argument].number;
    plan.nodes[argument].readOnly = false;
    return true;
  };
  auto forEachArgument = [&](StringRef name, llvm::function_ref<void(NodeId, Attribute)> visit) {
    for (auto [index, argument] : llvm::enumerate(function.getArguments()))
      if (Attribute attribute = function.getArgAttr(index, name))
        for (BufferUse use : buffersOf[argument])
          visit(use.node, attribute);
  };
  forEachArgument("tf.aliasing_output", [&](NodeId argument, Attribute attribute) {
    if (auto integer = dyn_cast<IntegerAttr>(attribute))
      donate(argument, integer.getInt());
  });
  forEachArgument("jax.buffer_donor", [&](NodeId argument, Attribute attribute) {
    auto isDonor = dyn_cast<BoolAttr>(attribute);
    if (!isDonor || !isDonor.getValue() || !plan.nodes[argument].readOnly)
      return;
    for (auto [index, result] : llvm::enumerate(plan.results))
      if (plan.nodes[result].type == plan.nodes[argument].type && donate(argument, index))
        return;
  });
}

LogicalResult Linearizer::addResults(func::ReturnOp op) {
  for (Value operand : op.getOperands()) {
    if (isa<TupleType>(operand.getType()))
      return op.emitOpError() << "unsupported: a result that is a tuple";
    for (BufferUse use : buffersOf[operand]) {
      NodeId node = plan.addNode(use.type, op.getLoc());
      plan.nodes[node].home = Home::Result;
      plan.nodes[node].number = plan.results.size();
      plan.results.push_back(node);
    }
  }
  addDonations();
  Step step{Step::Kind::Copies, op, nextWindow()};
  size_t result = 0;
  for (Value operand : op.getOperands())
    for (BufferUse use : buffersOf[operand]) {
      NodeId node = plan.results[result++];
      plan.plainValues.push_back({node, block, step.window});
      addCopy(step, use, {node, plan.nodes[node].type}, step.window);
    }
  plan.steps.push_back(std::move(step));
  return success();
}

LogicalResult Linearizer::run() {
  if (!plan.function.getBody().hasOneBlock())
    return plan.function.emitError() << "must have one block";
  plan.blocks.emplace_back();
  nextWindow(); // the arguments are there
  Block &body = plan.function.getBody().front();
  if (failed(addArguments()) || failed(visitBlock(body, plan.steps)))
    return failure();
  auto returnOp = dyn_cast<func::ReturnOp>(body.getTerminator());
  if (!returnOp)
    return plan.function.emitError() << "must end with return";
  if (failed(addResults(returnOp)))
    return failure();
  plan.blocks[0].last = windows() - 1;
  return success();
}

//===----------------------------------------------------------------------===//
// Plain operations
//===----------------------------------------------------------------------===//

LogicalResult Linearizer::visitBlock(Block &block, Sequence &steps) {
  for (Operation &op : block.without_terminator())
    if (failed(visit(&op, steps)))
      return failure();
  return success();
}

LogicalResult Linearizer::visit(Operation *op, Sequence &steps) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](graph::FusionOp fusion) { return visitFusion(fusion, steps); })
      .Case([&](stablehlo::ConstantOp constant) { return visitConstant(constant); })
      .Case<stablehlo::ReshapeOp, stablehlo::BitcastConvertOp>([&](auto) { return visitView(op); })
      .Case<stablehlo::OptimizationBarrierOp>([&](auto) {
        for (auto [operand, result] : llvm::zip_equal(op->getOperands(), op->getResults()))
          buffersOf[result] = Buffers(buffersOf[operand]);
        return success();
      })
      .Case<stablehlo::CreateTokenOp, stablehlo::AfterAllOp>([&](auto) {
        buffersOf[op->getResult(0)] = {};
        return success();
      })
      .Case([&](stablehlo::TupleOp tuple) {
        Buffers all;
        for (Value operand : tuple->getOperands())
          llvm::append_range(all, buffersOf[operand]);
        buffersOf[tuple->getResult(0)] = all;
        return success();
      })
      .Case([&](stablehlo::GetTupleElementOp get) {
        // Elements may be tuples or tokens: count the buffers before this one.
        auto types = cast<TupleType>(get.getOperand().getType()).getTypes();
        std::function<size_t(Type)> count = [&](Type type) -> size_t {
          if (auto tuple = dyn_cast<TupleType>(type)) {
            size_t sum = 0;
            for (Type element : tuple.getTypes())
              sum += count(element);
            return sum;
          }
          return isa<stablehlo::TokenType>(type) ? 0 : 1;
        };
        size_t first = 0;
        for (int64_t i = 0; i < int64_t(get.getIndex()); ++i)
          first += count(types[i]);
        ArrayRef<BufferUse> all = buffersOf[get.getOperand()];
        auto slice = all.slice(first, count(types[get.getIndex()]));
        buffersOf[get->getResult(0)] = Buffers(slice.begin(), slice.end());
        return success();
      })
      .Case<stablehlo::FftOp, stablehlo::CholeskyOp, stablehlo::TriangularSolveOp>(
          [&](auto) { return visitCall(op, Step::Kind::Library, steps); })
      // What devices do with each other, in the forms that are left of it.
      .Case<stablehlo::AllGatherOp, stablehlo::AllToAllOp, stablehlo::CollectivePermuteOp,
            stablehlo::CollectiveBroadcastOp, stablehlo::ReplicaIdOp, stablehlo::PartitionIdOp,
            stablehlo::SendOp, stablehlo::RecvOp, stablehlo::InfeedOp, stablehlo::OutfeedOp>(
          [&](auto) { return visitCall(op, Step::Kind::Library, steps); })
      .Case<stablehlo::CustomCallOp>(
          [&](auto) { return visitCall(op, Step::Kind::CustomCall, steps); })
      .Case([&](stablehlo::WhileOp loop) { return visitWhile(loop, steps); })
      .Case<stablehlo::CaseOp, stablehlo::IfOp>([&](auto) { return visitBranches(op, steps); })
      .Default(
          [&](Operation *) { return op->emitOpError() << "is not supported outside of a fusion"; });
}

LogicalResult Linearizer::visitConstant(stablehlo::ConstantOp op) {
  auto value = cast<ElementsAttr>(op.getValue());
  FailureOr<MemRefType> type = bufferType(cast<RankedTensorType>(op.getType()), op.getLoc());
  if (failed(type))
    return failure();
  auto [entry, isNew] = constants.try_emplace({value, *type}, -1);
  if (isNew) {
    entry->second = plan.addNode(*type, op.getLoc());
    Node &node = plan.nodes[entry->second];
    node.home = Home::Constant;
    node.readOnly = true;
    node.constant = value;
  }
  buffersOf[op->getResult(0)] = {{entry->second, *type}};
  return success();
}

LogicalResult Linearizer::visitView(Operation *op) {
  Value operand = op->getOperand(0), result = op->getResult(0);
  FailureOr<MemRefType> type = bufferType(cast<RankedTensorType>(result.getType()), op->getLoc());
  if (failed(type))
    return failure();
  BufferUse source = buffersOf[operand].front();
  // Types narrower than a byte are spread out, so their bits cannot be
  // reinterpreted where they lie.
  auto isNarrow = [](Type element) {
    return element.isIntOrFloat() && element.getIntOrFloatBitWidth() < 8;
  };
  Type from = source.type.getElementType(), to = type->getElementType();
  if (byteSizeOf(*type) != byteSizeOf(source.type) ||
      (from != to && (isNarrow(from) || isNarrow(to))))
    return op->emitOpError() << "is not supported outside of a fusion: not a view of its operand";
  buffersOf[result] = {{source.node, *type}};
  return success();
}

LogicalResult Linearizer::visitFusion(graph::FusionOp op, Sequence &steps) {
  Step step{Step::Kind::Launch, op, nextWindow()};
  addReads(step, op.getInputs());
  if (step.reads.size() != op.getInputs().size())
    return op.emitOpError() << "takes a token or tuple";
  for (Value result : op.getResults()) {
    FailureOr<Buffers> buffers = define(result);
    if (failed(buffers))
      return failure();
    llvm::append_range(step.writes, *buffers);
  }
  for (auto [index, target] : llvm::enumerate(step.writes)) {
    std::optional<unsigned> updated = updatedInput(op, index);
    if (updated)
      addCopy(step, step.reads[*updated], target, step.window);
    // A node that comes in as several inputs may be overwritten only if each of
    // them may.
    for (BufferUse source : step.reads) {
      bool may = source.type.getNumElements() > 0;
      bool isUpdated = false;
      for (auto [input, other] : llvm::enumerate(step.reads))
        if (other.node == source.node) {
          may &= mayShareBuffer(op, input, index);
          isUpdated |= updated && *updated == input;
        }
      if (may && (!updated || isUpdated))
        step.shares.push_back({source.node, target.node});
    }
  }
  steps.push_back(std::move(step));
  return success();
}

LogicalResult Linearizer::visitCall(Operation *op, Step::Kind kind, Sequence &steps) {
  Step step{kind, op, nextWindow()};
  addReads(step, op->getOperands());
  for (Value result : op->getResults()) {
    FailureOr<Buffers> buffers = define(result);
    if (failed(buffers))
      return failure();
    llvm::append_range(step.writes, *buffers);
  }
  steps.push_back(std::move(step));
  return success();
}

LogicalResult spokeshave::schedule::linearize(func::FuncOp function, Plan &plan,
                                              const LoopSet &doubled) {
  plan.function = function;
  return Linearizer(plan, doubled).run();
}

void spokeshave::schedule::forEachStep(Sequence &steps, llvm::function_ref<void(Step &, int)> visit,
                                       int depth) {
  for (Step &step : steps) {
    visit(step, depth);
    for (Sequence &block : step.blocks)
      forEachStep(block, visit, depth + (step.kind == Step::Kind::While));
  }
}
