//===- EmitProgram.cpp - a finished plan becomes schedule.program ----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All temporaries, constants and views stand at the top of the program, so that
// runs of launches are not broken up; each run becomes one parallel region.
//
//===----------------------------------------------------------------------===//
#include "schedule/Kernels.h"
#include "schedule/Plan.h"

#include "input/StablehloOps.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::schedule;

namespace {

class ProgramEmitter {
public:
  ProgramEmitter(Plan &plan, ModuleOp module)
      : plan(plan), module(module), kernels(module), top(module.getContext()),
        builder(module.getContext()) {}
  void run();

private:
  void createProgram();
  Value buffer(BufferUse use);
  SmallVector<Value> buffers(const Step &step);
  void emitSequence(const Sequence &steps);
  void emit(const Step &step);
  void emitMoves(const Step &step);
  void emitLaunch(Location loc, FlatSymbolRefAttr kernel, size_t inputs, ValueRange buffers);
  void emitCall(const Step &step);
  void emitWhile(const Step &step);
  void emitCase(const Step &step);
  void emitInto(Region &region, const Sequence &steps);
  /// Later launches start a new region.
  void endRegion() { parallel = {}; }

  Plan &plan;
  ModuleOp module;
  KernelTable kernels;
  ProgramOp program;
  OpBuilder top;     ///< where buffers are declared
  OpBuilder builder; ///< where steps go
  ParallelOp parallel;
  DenseMap<std::pair<NodeId, Type>, Value> declared;
};

void ProgramEmitter::createProgram() {
  func::FuncOp function = plan.function;
  builder.setInsertionPoint(function);
  program = builder.create<ProgramOp>(function.getLoc(), function.getSymName(),
                                      plan.arguments.size(), plan.arenaBytes, plan.aliases);
  Block &block = program.getBody().emplaceBlock();
  for (NodeId node : llvm::concat<NodeId>(plan.arguments, plan.results))
    block.addArgument(plan.nodes[node].type, plan.nodes[node].loc);
  // The declarations' builder stays before this marker, the steps come after.
  builder.setInsertionPointToEnd(&block);
}

/// The memref of a node, seen with the use's type; declared once.
Value ProgramEmitter::buffer(BufferUse use) {
  NodeId root = plan.classOf[use.node];
  const Node &node = plan.nodes[root];
  Value &value = declared[{root, use.type}];
  if (value)
    return value;
  Value base;
  switch (node.home) {
  case Home::Arena:
    return value = top.create<ArenaOp>(node.loc, use.type, plan.offsetOf[root]);
  case Home::Constant:
    base = declared.lookup({root, node.type});
    if (!base)
      base = top.create<ConstantOp>(node.loc, node.type, node.constant);
    break;
  case Home::Argument:
    base = program.getProgramArguments()[node.number];
    break;
  case Home::Result:
    base = program.getProgramResults()[node.number];
    break;
  }
  declared[{root, node.type}] = base;
  if (use.type == base.getType())
    return declared[{root, use.type}] = base;
  Value view = top.create<ViewOp>(node.loc, use.type, base, /*byte_offset=*/0);
  return declared[{root, use.type}] = view;
}

SmallVector<Value> ProgramEmitter::buffers(const Step &step) {
  SmallVector<Value> values;
  for (BufferUse use : step.reads)
    values.push_back(buffer(use));
  for (BufferUse use : step.writes)
    values.push_back(buffer(use));
  return values;
}

void ProgramEmitter::emitLaunch(Location loc, FlatSymbolRefAttr kernel, size_t inputs,
                                ValueRange buffers) {
  if (!parallel) {
    parallel = builder.create<ParallelOp>(loc);
    parallel.getBody().emplaceBlock();
  }
  OpBuilder inner = OpBuilder::atBlockEnd(&parallel.getBody().front());
  inner.create<LaunchOp>(loc, kernel, builder.getI64IntegerAttr(inputs), buffers);
}

/// The copies that are left. A constant of one value is written, not copied.
void ProgramEmitter::emitMoves(const Step &step) {
  constexpr int64_t kWorthAKernel = 256;
  for (const Copy &move : step.moves) {
    const Node &source = plan.nodes[move.source.node];
    auto dense = dyn_cast_or_null<DenseElementsAttr>(source.constant);
    if (dense && dense.isSplat() && source.bytes() >= kWorthAKernel) {
      Value target = buffer({move.target.node, source.type});
      emitLaunch(step.op->getLoc(), kernels.fillFor(dense, source.loc), 0, target);
      continue;
    }
    endRegion();
    Value from = buffer(move.source), to = buffer(move.target);
    builder.create<CopyOp>(step.op->getLoc(), from, to);
  }
}

void ProgramEmitter::emitCall(const Step &step) {
  endRegion();
  SmallVector<Value> operands = buffers(step);
  Location loc = step.op->getLoc();
  if (step.kind == Step::Kind::Library) {
    builder.create<LibraryOp>(loc, step.op->getName().stripDialect(), step.reads.size(), operands,
                              step.op->getAttrDictionary());
    return;
  }
  auto call = cast<stablehlo::CustomCallOp>(step.op);
  NamedAttrList config(call->getAttrDictionary());
  for (StringRef name : {"call_target_name", "api_version", "has_side_effect"})
    config.erase(name);
  // JAX writes calls of typed FFI targets for old readers: attributes under
  // another name, and no version.
  auto version = uint32_t(call.getApiVersion());
  if (Attribute attributes = config.erase("mhlo.backend_config")) {
    config.set("backend_config", attributes);
    version = uint32_t(stablehlo::CustomCallApiVersion::API_VERSION_TYPED_FFI);
  }
  builder.create<CustomCallOp>(loc, call.getCallTargetName(), step.reads.size(), operands,
                               config.getDictionary(builder.getContext()), version);
}

void ProgramEmitter::emitInto(Region &region, const Sequence &steps) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&region.emplaceBlock());
  endRegion();
  emitSequence(steps);
  endRegion();
}

void ProgramEmitter::emitWhile(const Step &step) {
  endRegion();
  Value predicate = step.selector ? buffer(*step.selector) : Value();
  IntegerAttr trips = step.trips ? builder.getI64IntegerAttr(*step.trips) : IntegerAttr();
  auto loop = builder.create<WhileOp>(step.op->getLoc(), predicate, trips);
  emitInto(loop.getCondition(), step.blocks[0]);
  emitInto(loop.getBody(), step.blocks[1]);
}

void ProgramEmitter::emitCase(const Step &step) {
  endRegion();
  auto branches =
      builder.create<CaseOp>(step.op->getLoc(), buffer(*step.selector), step.blocks.size());
  for (auto [region, block] : llvm::zip_equal(branches.getBranches(), step.blocks))
    emitInto(region, block);
}

void ProgramEmitter::emit(const Step &step) {
  emitMoves(step);
  switch (step.kind) {
  case Step::Kind::Launch:
    emitLaunch(step.op->getLoc(), kernels.kernelFor(cast<graph::FusionOp>(step.op)),
               step.reads.size(), buffers(step));
    break;
  case Step::Kind::Library:
  case Step::Kind::CustomCall:
    emitCall(step);
    break;
  case Step::Kind::While:
    emitWhile(step);
    break;
  case Step::Kind::Case:
    emitCase(step);
    break;
  case Step::Kind::Copies:
    break;
  }
}

void ProgramEmitter::emitSequence(const Sequence &steps) {
  for (const Step &step : steps)
    emit(step);
}

void ProgramEmitter::run() {
  createProgram();
  // Steps are collected in a block of their own and joined to the declarations
  // at the end.
  Block *declarations = &program.getBlock();
  Region scratch;
  Block *steps = &scratch.emplaceBlock();
  top.setInsertionPointToEnd(declarations);
  builder.setInsertionPointToEnd(steps);
  emitSequence(plan.steps);
  declarations->getOperations().splice(declarations->end(), steps->getOperations());
  plan.function.erase();
}

} // namespace

LogicalResult spokeshave::schedule::emitProgram(Plan &plan, ModuleOp module) {
  ProgramEmitter(plan, module).run();
  return success();
}
