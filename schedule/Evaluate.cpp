//===- Evaluate.cpp - schedule programs on real bytes ----------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "schedule/Evaluate.h"

#include "reference/Interpreter.h"
#include "schedule/Sharing.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/ScopeExit.h"

#include <list>

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::schedule;
using reference::Tensor;

namespace {

/// Bytes that are no sensible value in any type: memory before it is written.
constexpr char kUnwritten = char(0xA5);

class ProgramPlayer {
public:
  ProgramPlayer(ProgramOp program, ModuleOp module, EvaluationCounters &counters)
      : program(program), module(module), symbols(module), counters(counters),
        arena(program.getArenaBytes(), kUnwritten) {}

  FailureOr<SmallVector<Tensor>> run(ArrayRef<Tensor> arguments);

private:
  MutableArrayRef<char> bytesOf(Value buffer);
  FailureOr<Tensor> read(Value buffer, Location loc);
  LogicalResult write(Value buffer, const Tensor &tensor, Location loc);

  LogicalResult play(Block &block);
  LogicalResult play(Operation &op);
  LogicalResult playLaunch(LaunchOp op);
  LogicalResult playLibrary(LibraryOp op);
  LogicalResult playWhile(WhileOp op);
  LogicalResult playCase(CaseOp op);
  LogicalResult bind(ArrayRef<Tensor> arguments);
  FailureOr<SmallVector<Tensor>> evaluate(graph::FusionOp fusion, ArrayRef<Tensor> inputs);

  ProgramOp program;
  ModuleOp module;
  SymbolTable symbols;
  EvaluationCounters &counters;
  std::vector<char> arena;
  std::list<std::vector<char>> blocks; ///< of arguments, results and constants
  DenseMap<Value, std::vector<char> *> blockOf;
};

MutableArrayRef<char> ProgramPlayer::bytesOf(Value buffer) {
  size_t bytes = byteSizeOf(cast<MemRefType>(buffer.getType()));
  if (auto arenaOp = buffer.getDefiningOp<ArenaOp>())
    return MutableArrayRef<char>(arena).slice(arenaOp.getOffset(), bytes);
  if (auto view = buffer.getDefiningOp<ViewOp>())
    return bytesOf(view.getSource()).slice(view.getByteOffset(), bytes);
  return MutableArrayRef<char>(*blockOf.lookup(buffer)).take_front(bytes);
}

FailureOr<Tensor> ProgramPlayer::read(Value buffer, Location loc) {
  auto memref = cast<MemRefType>(buffer.getType());
  auto type = RankedTensorType::get(memref.getShape(), memref.getElementType());
  FailureOr<Tensor> tensor = Tensor::fromBytes(type, bytesOf(buffer));
  if (failed(tensor))
    return emitError(loc) << "cannot read a buffer of " << memref;
  return tensor;
}

LogicalResult ProgramPlayer::write(Value buffer, const Tensor &tensor, Location loc) {
  MutableArrayRef<char> bytes = bytesOf(buffer);
  if (bytes.size() != tensor.byteSize())
    return emitError(loc) << "a value of " << tensor.byteSize() << " bytes for a buffer of "
                          << bytes.size();
  llvm::copy(ArrayRef<char>(tensor.data(), tensor.byteSize()), bytes.begin());
  return success();
}

FailureOr<SmallVector<Tensor>> ProgramPlayer::evaluate(graph::FusionOp fusion,
                                                       ArrayRef<Tensor> inputs) {
  // As a function of the module, so that regions can read values of the body and
  // composites find their decompositions.
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto function = builder.create<func::FuncOp>(
      fusion.getLoc(), "spokeshave.evaluated",
      builder.getFunctionType(fusion.getOperandTypes(), fusion.getResultTypes()));
  auto erase = llvm::make_scope_exit([&] { function.erase(); });
  IRMapping mapping;
  fusion.getBody().cloneInto(&function.getBody(), mapping);
  Operation *yield = function.getBody().front().getTerminator();
  builder.setInsertionPoint(yield);
  builder.create<func::ReturnOp>(yield->getLoc(), yield->getOperands());
  yield->erase();
  return reference::evaluateFunction(function, inputs);
}

LogicalResult ProgramPlayer::playLaunch(LaunchOp op) {
  ++counters.launches;
  auto kernel = symbols.lookup<KernelOp>(op.getKernel());
  if (!kernel)
    return op.emitOpError() << "launches " << op.getKernelAttr() << ", which is no schedule.kernel";
  ValueRange inputs = op.getBuffers().take_front(op.getNumInputs());
  ValueRange outputs = op.getBuffers().drop_front(op.getNumInputs());
  graph::FusionOp fusion = kernel.getFusion();
  if (inputs.size() != fusion.getInputs().size() || outputs.size() != fusion.getNumResults())
    return op.emitOpError() << "has not the buffers that " << op.getKernelAttr() << " takes";
  SmallVector<Tensor> tensors;
  for (Value input : inputs) {
    FailureOr<Tensor> tensor = read(input, op.getLoc());
    if (failed(tensor))
      return failure();
    tensors.push_back(*tensor);
  }
  // The real kernel writes only what an update changes: the rest must be there.
  for (auto [index, output] : llvm::enumerate(outputs))
    if (std::optional<unsigned> updated = updatedInput(fusion, index))
      if (!llvm::equal(bytesOf(output), bytesOf(inputs[*updated])))
        return op.emitOpError() << "updates a buffer that does not hold input " << *updated;
  FailureOr<SmallVector<Tensor>> results = evaluate(fusion, tensors);
  if (failed(results))
    return failure();
  for (auto [output, result] : llvm::zip_equal(outputs, *results))
    if (failed(write(output, result, op.getLoc())))
      return failure();
  return success();
}

/// By the operation that the call was made of.
LogicalResult ProgramPlayer::playLibrary(LibraryOp op) {
  ++counters.calls;
  SmallVector<Tensor> tensors;
  Block block;
  OpBuilder builder = OpBuilder::atBlockEnd(&block);
  OperationState state(op.getLoc(), ("stablehlo." + op.getRoutine()).str());
  for (auto [index, buffer] : llvm::enumerate(op.getBuffers())) {
    auto memref = cast<MemRefType>(buffer.getType());
    auto type = RankedTensorType::get(memref.getShape(), memref.getElementType());
    if (index >= op.getNumInputs()) {
      state.types.push_back(type);
      continue;
    }
    FailureOr<Tensor> tensor = read(buffer, op.getLoc());
    if (failed(tensor))
      return failure();
    tensors.push_back(*tensor);
    state.operands.push_back(block.addArgument(type, op.getLoc()));
  }
  state.addAttributes(op.getConfig().getValue());
  FailureOr<SmallVector<Tensor>> results = reference::evaluateOp(builder.create(state), tensors);
  if (failed(results))
    return failure();
  for (auto [output, result] :
       llvm::zip_equal(op.getBuffers().drop_front(op.getNumInputs()), *results))
    if (failed(write(output, result, op.getLoc())))
      return failure();
  return success();
}

LogicalResult ProgramPlayer::playWhile(WhileOp op) {
  for (int64_t trip = 0;; ++trip) {
    if (op.getTripCount()) {
      if (trip >= int64_t(*op.getTripCount()))
        return success();
    } else {
      if (failed(play(op.getCondition().front())))
        return failure();
      if (bytesOf(op.getPredicate())[0] == 0)
        return success();
    }
    if (failed(play(op.getBody().front())))
      return failure();
  }
}

LogicalResult ProgramPlayer::playCase(CaseOp op) {
  MutableArrayRef<char> bytes = bytesOf(op.getIndex());
  int64_t last = op.getBranches().size() - 1, index = 0;
  if (bytes.size() == 1) { // a boolean: true is branch 0
    index = bytes[0] ? 0 : 1;
  } else {
    int32_t value;
    memcpy(&value, bytes.data(), sizeof(value));
    index = value;
  }
  if (index < 0 || index > last)
    index = last;
  return play(op.getBranches()[index].front());
}

LogicalResult ProgramPlayer::play(Operation &op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case<ArenaOp, ViewOp>([](auto) { return success(); })
      .Case([&](ConstantOp constant) -> LogicalResult {
        FailureOr<Tensor> tensor = Tensor::fromAttribute(constant.getValue());
        if (failed(tensor))
          return op.emitOpError() << "has no data";
        blocks.emplace_back(tensor->data(), tensor->data() + tensor->byteSize());
        blockOf[constant.getResult()] = &blocks.back();
        return success();
      })
      .Case([&](ParallelOp region) {
        ++counters.regions;
        return play(region.getBody().front());
      })
      .Case([&](LaunchOp launch) { return playLaunch(launch); })
      .Case([&](CopyOp copy) {
        MutableArrayRef<char> from = bytesOf(copy.getSource()), to = bytesOf(copy.getTarget());
        std::vector<char> bytes(from.begin(), from.end());
        llvm::copy(bytes, to.begin());
        ++counters.copies;
        counters.copiedBytes += bytes.size();
        return success();
      })
      .Case([&](LibraryOp library) { return playLibrary(library); })
      .Case([&](WhileOp loop) { return playWhile(loop); })
      .Case([&](CaseOp branches) { return playCase(branches); })
      .Default([&](Operation *) { return op.emitOpError() << "cannot be evaluated"; });
}

LogicalResult ProgramPlayer::play(Block &block) {
  for (Operation &op : block)
    if (failed(play(op)))
      return failure();
  return success();
}

LogicalResult ProgramPlayer::bind(ArrayRef<Tensor> arguments) {
  if (arguments.size() != program.getNumArguments())
    return program.emitOpError() << "takes " << program.getNumArguments() << " arguments, not "
                                 << arguments.size();
  for (auto [block, tensor] : llvm::zip_equal(program.getProgramArguments(), arguments)) {
    if (tensor.byteSize() != size_t(byteSizeOf(cast<MemRefType>(block.getType()))))
      return program.emitOpError() << "gets an argument of another size";
    blocks.emplace_back(tensor.data(), tensor.data() + tensor.byteSize());
    blockOf[block] = &blocks.back();
  }
  for (auto [block, alias] : llvm::zip_equal(program.getProgramResults(), program.getAliases())) {
    if (alias >= 0) {
      blockOf[block] = blockOf[program.getProgramArguments()[alias]];
      continue;
    }
    blocks.emplace_back(byteSizeOf(cast<MemRefType>(block.getType())), kUnwritten);
    blockOf[block] = &blocks.back();
  }
  return success();
}

FailureOr<SmallVector<Tensor>> ProgramPlayer::run(ArrayRef<Tensor> arguments) {
  if (failed(bind(arguments)) || failed(play(program.getBlock())))
    return failure();
  SmallVector<Tensor> results;
  for (BlockArgument result : program.getProgramResults()) {
    FailureOr<Tensor> tensor = read(result, program.getLoc());
    if (failed(tensor))
      return failure();
    results.push_back(*tensor);
  }
  return results;
}

} // namespace

FailureOr<SmallVector<Tensor>> spokeshave::schedule::evaluateProgram(ModuleOp module,
                                                                     ArrayRef<Tensor> arguments,
                                                                     EvaluationCounters *counters) {
  auto programs = module.getOps<ProgramOp>();
  if (programs.empty())
    return module.emitError() << "has no schedule.program";
  EvaluationCounters ignored;
  return ProgramPlayer(*programs.begin(), module, counters ? *counters : ignored).run(arguments);
}
