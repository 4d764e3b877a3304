//===- Driver.cpp - the steps of a program ---------------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "target/tpu/Driver.h"

#include "input/StablehloOps.h"
#include "support/Location.h"
#include "target/cpu/Constants.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::tpu;

namespace {

class StepMaker {
public:
  StepMaker(schedule::ProgramOp driver, const llvm::StringMap<uint32_t> &kernels, Program &program)
      : driver(driver), kernels(kernels), program(program) {}
  LogicalResult run();

private:
  LogicalResult makeBlock(mlir::Block &block, std::vector<Step> &steps);
  LogicalResult make(Operation &op, std::vector<Step> &steps);
  LogicalResult makeLoop(schedule::WhileOp op, std::vector<Step> &steps);
  LogicalResult makeCase(schedule::CaseOp op, std::vector<Step> &steps);
  LogicalResult makeCollective(schedule::LibraryOp op, std::vector<Step> &steps);
  FailureOr<BufferRef> bufferOf(Value value);
  FailureOr<BufferRef> sliceOf(schedule::SliceOp slice);
  FailureOr<uint32_t> constantOf(schedule::ConstantOp op);

  schedule::ProgramOp driver;
  const llvm::StringMap<uint32_t> &kernels;
  Program &program;
  DenseMap<Operation *, uint32_t> constants;
};

FailureOr<uint32_t> StepMaker::constantOf(schedule::ConstantOp op) {
  auto [found, isNew] = constants.try_emplace(op, program.constants.size());
  if (isNew) {
    FailureOr<std::vector<char>> bytes = cpu::bytesOf(op.getValue());
    if (failed(bytes))
      return op.emitOpError("has no data");
    program.constants.push_back(std::move(*bytes));
  }
  return found->second;
}

FailureOr<BufferRef> StepMaker::sliceOf(schedule::SliceOp slice) {
  FailureOr<BufferRef> made = bufferOf(slice.getSource());
  if (failed(made))
    return failure();
  made->offset += slice.getByteOffset();
  made->bytes = schedule::byteSizeOf(cast<MemRefType>(slice.getResult().getType()));
  made->rows = slice.getRows(), made->pitch = slice.getPitch();
  for (auto [value, limit, stride, wrap] : llvm::zip_equal(slice.getStarts(), slice.getLimits(),
                                                           slice.getStrides(), slice.getWraps())) {
    SliceStart start;
    start.limit = limit, start.stride = stride, start.wrap = wrap;
    if (auto trip = value.getDefiningOp<schedule::TripOp>()) {
      start.begin = trip.getBegin(), start.step = trip.getStep();
    } else {
      FailureOr<BufferRef> scalar = bufferOf(value);
      if (failed(scalar))
        return failure();
      start.at = *scalar;
      start.isSigned = !cast<MemRefType>(value.getType()).getElementType().isUnsignedInteger();
    }
    made->starts.push_back(std::move(start));
  }
  return made;
}

FailureOr<BufferRef> StepMaker::bufferOf(Value value) {
  int64_t bytes = schedule::byteSizeOf(cast<MemRefType>(value.getType()));
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    uint32_t number = argument.getArgNumber(), arguments = driver.getNumArguments();
    if (number < arguments)
      return BufferRef{{MemoryRef::Base::Argument, number, 0, bytes}};
    return BufferRef{{MemoryRef::Base::Result, number - arguments, 0, bytes}};
  }
  if (auto arena = value.getDefiningOp<schedule::ArenaOp>())
    return BufferRef{{MemoryRef::Base::Arena, 0, int64_t(arena.getOffset()), bytes}};
  if (auto near = value.getDefiningOp<schedule::NearOp>())
    return BufferRef{{MemoryRef::Base::Vmem, 0, int64_t(near.getOffset()), bytes}};
  if (auto view = value.getDefiningOp<schedule::ViewOp>()) {
    FailureOr<BufferRef> source = bufferOf(view.getSource());
    if (succeeded(source))
      source->offset += view.getByteOffset(), source->bytes = bytes;
    return source;
  }
  if (auto slice = value.getDefiningOp<schedule::SliceOp>())
    return sliceOf(slice);
  if (auto constant = value.getDefiningOp<schedule::ConstantOp>()) {
    FailureOr<uint32_t> number = constantOf(constant);
    if (failed(number))
      return failure();
    return BufferRef{{MemoryRef::Base::Constant, *number, 0, bytes}};
  }
  return emitError(value.getLoc(), "a buffer of unknown origin");
}

LogicalResult StepMaker::makeLoop(schedule::WhileOp op, std::vector<Step> &steps) {
  Step step;
  step.kind = Step::Kind::While;
  step.location = describeLocation(op.getLoc());
  step.blocks.resize(2);
  if (op.getTripCount()) {
    step.trips = *op.getTripCount();
  } else {
    FailureOr<BufferRef> predicate = bufferOf(op.getPredicate());
    if (failed(predicate) || failed(makeBlock(op.getCondition().front(), step.blocks[0])))
      return failure();
    step.buffers.push_back(*predicate);
  }
  if (failed(makeBlock(op.getBody().front(), step.blocks[1])))
    return failure();
  steps.push_back(std::move(step));
  return success();
}

LogicalResult StepMaker::makeCase(schedule::CaseOp op, std::vector<Step> &steps) {
  Step step;
  step.kind = Step::Kind::Case;
  step.location = describeLocation(op.getLoc());
  step.isIf = cast<MemRefType>(op.getIndex().getType()).getElementType().isInteger(1);
  FailureOr<BufferRef> index = bufferOf(op.getIndex());
  if (failed(index))
    return failure();
  step.buffers.push_back(*index);
  for (Region &branch : op.getBranches())
    if (failed(makeBlock(branch.front(), step.blocks.emplace_back())))
      return failure();
  steps.push_back(std::move(step));
  return success();
}

LogicalResult StepMaker::makeCollective(schedule::LibraryOp op, std::vector<Step> &steps) {
  using Kind = Collective::Kind;
  DictionaryAttr config = op.getConfig();
  auto made = config.getAs<StringAttr>("graph.of");
  StringRef of = made ? made.getValue() : op.getRoutine();
  bool reduces =
      llvm::StringSwitch<bool>(of)
          .Cases("all_reduce", "reduce_scatter", "collective_reduce", "cross-replica-sum", true)
          .Default(false);
  auto kind = llvm::StringSwitch<std::optional<Kind>>(op.getRoutine())
                  .Case("all_gather", Kind::Gather)
                  .Case("all_to_all", reduces ? Kind::ReduceScatter : Kind::Exchange)
                  .Case("collective_broadcast", Kind::Broadcast)
                  .Case("collective_permute", Kind::Permute)
                  .Case("replica_id", Kind::ReplicaId)
                  .Case("partition_id", Kind::PartitionId)
                  .Case("send", Kind::Send)
                  .Case("recv", Kind::Receive)
                  .Case("infeed", Kind::Infeed)
                  .Case("outfeed", Kind::Outfeed)
                  .Default(std::nullopt);
  if (!kind)
    return op.emitError() << "the chip has no library routine '" << op.getRoutine() << "'";
  std::string move = *kind == Kind::ReduceScatter ? "reduce_scatter" : op.getRoutine().str();
  Collective collective{*kind, {}, of == move ? move : (of + " by " + move).str()};
  auto groups = config.getAs<DenseIntElementsAttr>(*kind == Kind::Permute ? "source_target_pairs"
                                                                          : "replica_groups");
  if (groups) {
    int64_t columns = groups.getType().getDimSize(1), position = 0;
    collective.groups.resize(groups.getType().getDimSize(0));
    for (const APInt &id : groups.getValues<APInt>())
      collective.groups[position++ / columns].push_back(id.getSExtValue());
  }
  if (auto channel = config.getAs<stablehlo::ChannelHandleAttr>("channel_handle"))
    collective.channel = channel.getHandle();
  Step step;
  step.kind = Step::Kind::Collective;
  step.inputs = op.getNumInputs();
  step.location = describeLocation(op.getLoc());
  step.collective = program.collectives.size();
  for (Value operand : op.getBuffers()) {
    FailureOr<BufferRef> buffer = bufferOf(operand);
    if (failed(buffer))
      return failure();
    step.buffers.push_back(*buffer);
  }
  program.collectives.push_back(std::move(collective));
  steps.push_back(std::move(step));
  return success();
}

LogicalResult StepMaker::make(Operation &op, std::vector<Step> &steps) {
  if (auto parallel = dyn_cast<schedule::ParallelOp>(op))
    return makeBlock(parallel.getBody().front(), steps);
  if (auto loop = dyn_cast<schedule::WhileOp>(op))
    return makeLoop(loop, steps);
  if (auto branches = dyn_cast<schedule::CaseOp>(op))
    return makeCase(branches, steps);
  if (schedule::isPlace(&op))
    return success();
  if (auto library = dyn_cast<schedule::LibraryOp>(op))
    return makeCollective(library, steps);
  if (auto call = dyn_cast<schedule::CustomCallOp>(op))
    return op.emitError() << "the chip cannot call '" << call.getTarget() << "'";
  Step step;
  step.location = describeLocation(op.getLoc());
  if (auto launch = dyn_cast<schedule::LaunchOp>(op)) {
    step.kernel = kernels.lookup(launch.getKernel());
    step.inputs = launch.getNumInputs();
  } else if (isa<schedule::CopyOp>(op)) {
    step.kind = Step::Kind::Copy;
  } else if (auto start = dyn_cast<schedule::StartOp>(op)) {
    step.kind = Step::Kind::Start;
    step.semaphore = start.getSignal();
    if (auto parts = start.getParts())
      for (size_t i = 0; i < parts->size(); i += 2)
        step.parts.push_back({(*parts)[i], (*parts)[i + 1]});
    step.when = start.getFirstRun()   ? Step::When::FirstRun
                : start.getNextRun()  ? Step::When::NextRun
                : start.getNextTrip() ? Step::When::NextTrip
                                      : Step::When::Always;
  } else if (auto wait = dyn_cast<schedule::WaitOp>(op)) {
    step.kind = Step::Kind::Wait;
    step.semaphore = wait.getSignal();
  } else {
    return op.emitOpError("has no step on the chip");
  }
  for (Value operand : op.getOperands()) {
    FailureOr<BufferRef> buffer = bufferOf(operand);
    if (failed(buffer))
      return failure();
    step.buffers.push_back(*buffer);
  }
  steps.push_back(std::move(step));
  return success();
}

LogicalResult StepMaker::makeBlock(mlir::Block &block, std::vector<Step> &steps) {
  for (Operation &op : block)
    if (failed(make(op, steps)))
      return failure();
  return success();
}

LogicalResult StepMaker::run() {
  for (BlockArgument argument : driver.getProgramArguments())
    program.arguments.push_back(cpu::specOf(cast<MemRefType>(argument.getType())));
  for (auto [result, alias] : llvm::zip_equal(driver.getProgramResults(), driver.getAliases())) {
    program.results.push_back(cpu::specOf(cast<MemRefType>(result.getType())));
    program.results.back().alias = alias;
  }
  program.arenaBytes = driver.getArenaBytes();
  return makeBlock(driver.getBlock(), program.steps);
}

} // namespace

LogicalResult tpu::makeSteps(schedule::ProgramOp driver, const llvm::StringMap<uint32_t> &kernels,
                             Program &program) {
  return StepMaker(driver, kernels, program).run();
}
