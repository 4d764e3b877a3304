//===- EmitKernel.cpp - kernel.func to LLVM IR -----------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A structured recursion over the kernel's body that writes LLVM IR with
// IRBuilder. It replaces MLIR's conversions to its LLVM dialect and the
// translation of that: see docs/decisions/0001-kernels-become-llvm-ir-directly.md
// for what this saves.
//
//===----------------------------------------------------------------------===//
#include "target/cpu/EmitKernel.h"

#include "target/cpu/KernelEmitter.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::cpu;

LogicalResult cpu::emitKernel(kernel::FuncOp kernel, llvm::Module &module,
                              const machine::Machine &machine, Callees *callees) {
  return KernelEmitter(module, machine, callees).emitFunction(kernel);
}

void cpu::emitTileFunction(kernel::TileDotOp op, StringRef symbol, llvm::Module &module,
                           const machine::Machine &machine) {
  KernelEmitter(module, machine, nullptr).emitTileFunction(op, symbol);
}

LogicalResult cpu::emitLoopFunction(scf::ForOp loop, const LoopFunction &info, llvm::Module &module,
                                    const machine::Machine &machine, Callees *callees) {
  return KernelEmitter(module, machine, callees).emitLoopFunction(loop, info);
}

static constexpr StringLiteral kObjectSymbol = "object_symbol";

StringRef cpu::objectSymbol(kernel::FuncOp kernel) {
  auto symbol = kernel->getAttrOfType<StringAttr>(kObjectSymbol);
  return symbol ? symbol.getValue() : kernel.getSymName();
}

void cpu::setObjectSymbol(kernel::FuncOp kernel, StringRef symbol) {
  kernel->setAttr(kObjectSymbol, StringAttr::get(kernel.getContext(), symbol));
}

void cpu::setFunctionAttributes(llvm::Function &function, const machine::Machine &machine) {
  function.setDoesNotThrow();
  function.addFnAttr("target-cpu", machine.cpu);
  function.addFnAttr("target-features", machine.features);
  // Some AVX-512 processors are tuned by LLVM for vectors of 256 bits: say that
  // we mean what we wrote.
  std::string width = std::to_string(machine.vectorBits);
  function.addFnAttr("prefer-vector-width", width);
  function.addFnAttr("min-legal-vector-width", width);
}

llvm::BasicBlock *KernelEmitter::newBlock(const llvm::Twine &name) {
  return llvm::BasicBlock::Create(module.getContext(), name, function);
}

LogicalResult KernelEmitter::emitFunction(kernel::FuncOp kernel) {
  llvm::Type *pointer = builder.getPtrTy(), *i64 = builder.getInt64Ty();
  auto *type =
      llvm::FunctionType::get(builder.getVoidTy(), {pointer, i64, i64, pointer}, /*vararg=*/false);
  function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, objectSymbol(kernel),
                                    module);
  setFunctionAttributes(*function, machine);
  function->addParamAttr(0, llvm::Attribute::NoAlias);
  function->addParamAttr(0, llvm::Attribute::ReadOnly);
  function->addParamAttr(3, llvm::Attribute::NoAlias);
  function->addParamAttr(3,
                         llvm::Attribute::getWithAlignment(module.getContext(), llvm::Align(64)));
  scratch = function->getArg(3);

  llvm::BasicBlock *entry = newBlock("entry"), *header = newBlock("task"), *exit = newBlock("exit");
  builder.SetInsertPoint(entry);
  for (auto [i, buffer] : llvm::enumerate(kernel.getBuffers())) {
    llvm::Value *slot = builder.CreateConstInBoundsGEP1_64(pointer, function->getArg(0), i);
    values[buffer] = builder.CreateAlignedLoad(pointer, slot, llvm::Align(8));
  }
  int64_t tileRows = unitRows(kernel);
  if (tileRows)
    emitTileConfiguration(tileRows);
  if (kernel.getPollsCancel()) {
    llvm::Value *slot = builder.CreateConstInBoundsGEP1_64(pointer, function->getArg(0),
                                                           kernel.getBuffers().size());
    cancelWord = builder.CreateAlignedLoad(pointer, slot, llvm::Align(8));
  }
  llvm::Value *begin = function->getArg(1), *end = function->getArg(2);
  builder.CreateCondBr(builder.CreateICmpSLT(begin, end), header, exit);

  builder.SetInsertPoint(header);
  llvm::PHINode *task = builder.CreatePHI(i64, 2);
  task->addIncoming(begin, entry);
  values[kernel.getTask()] = task;
  if (failed(emitBlock(kernel.getBlock())))
    return failure();
  llvm::Value *next = builder.CreateNSWAdd(task, builder.getInt64(1));
  task->addIncoming(next, builder.GetInsertBlock());
  builder.CreateCondBr(builder.CreateICmpSLT(next, end), header, exit);
  builder.SetInsertPoint(exit);
  if (tileRows)
    emitTileRelease();
  builder.CreateRetVoid();
  return success();
}

LogicalResult KernelEmitter::emitBlock(Block &block) {
  for (Operation &op : block)
    if (!op.hasTrait<OpTrait::IsTerminator>() && failed(emit(op)))
      return failure();
  return success();
}

LogicalResult KernelEmitter::emit(Operation &op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return callees && callees->shared && callees->shared->contains(loop)
               ? (emitLoopCall(loop), success())
               : emitFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return emitIf(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return emitWhile(loop);
  if (auto store = dyn_cast<kernel::StoreOp>(op))
    return emitStore(store), success();
  if (auto prefetch = dyn_cast<kernel::PrefetchOp>(op))
    return emitPrefetch(prefetch), success();
  if (auto dot = dyn_cast<kernel::TileDotOp>(op))
    return emitTileDot(dot), success();
  if (auto reduce = dyn_cast<kernel::ReduceAngleOp>(op))
    return emitReduceAngle(reduce), success();
  if (op.getNumResults() == 1) {
    if (llvm::Value *value = emitValue(op)) {
      values[op.getResult(0)] = value;
      return success();
    }
  }
  return op.emitOpError("has no translation to LLVM IR");
}

//===----------------------------------------------------------------------===//
// Loops as functions
//===----------------------------------------------------------------------===//

llvm::FunctionType *KernelEmitter::loopType(const LoopFunction &info) {
  SmallVector<llvm::Type *> types{builder.getPtrTy()};
  for (Value value : info.captured)
    types.push_back(convert(value.getType()));
  return llvm::FunctionType::get(builder.getVoidTy(), types, false);
}

void KernelEmitter::emitLoopCall(scf::ForOp loop) {
  const LoopFunction &info = callees->shared->find(loop)->second;
  callees->loops.insert({info.symbol, loop});
  SmallVector<llvm::Value *> arguments{scratch};
  for (Value value : info.captured)
    arguments.push_back(get(value));
  builder.CreateCall(module.getOrInsertFunction(info.symbol, loopType(info)), arguments);
}

LogicalResult KernelEmitter::emitLoopFunction(scf::ForOp loop, const LoopFunction &info) {
  function =
      cast<llvm::Function>(module.getOrInsertFunction(info.symbol, loopType(info)).getCallee());
  setFunctionAttributes(*function, machine);
  function->addParamAttr(0, llvm::Attribute::NoAlias);
  function->addParamAttr(0,
                         llvm::Attribute::getWithAlignment(module.getContext(), llvm::Align(64)));
  scratch = function->getArg(0);
  for (auto [i, value] : llvm::enumerate(info.captured))
    values[value] = function->getArg(i + 1);
  builder.SetInsertPoint(newBlock("entry"));
  WalkResult result = loop->walk([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      Operation *outside = operand.getDefiningOp();
      if (outside && !loop->isAncestor(outside) && !values.contains(operand) &&
          failed(emit(*outside)))
        return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted() || failed(emitFor(loop)))
    return failure();
  builder.CreateRetVoid();
  return success();
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

SmallVector<llvm::PHINode *> KernelEmitter::makePhis(TypeRange types) {
  SmallVector<llvm::PHINode *> phis;
  for (Type type : types)
    phis.push_back(builder.CreatePHI(convert(type), 2));
  return phis;
}

/// What the values are when control leaves the current block.
void KernelEmitter::addIncoming(ArrayRef<llvm::PHINode *> phis, ValueRange incoming) {
  for (auto [phi, value] : llvm::zip_equal(phis, incoming))
    phi->addIncoming(get(value), builder.GetInsertBlock());
}

LogicalResult KernelEmitter::emitFor(scf::ForOp op) {
  llvm::Value *lower = get(op.getLowerBound()), *upper = get(op.getUpperBound());
  llvm::BasicBlock *body = newBlock("for"), *exit = newBlock("for.end");
  // Rotated: the test stands at the end, once more before the first iteration.
  llvm::BasicBlock *before = builder.GetInsertBlock();
  llvm::Value *runs = builder.CreateICmpSLT(lower, upper);
  builder.CreateCondBr(runs, body, exit);

  builder.SetInsertPoint(body);
  llvm::PHINode *iv = builder.CreatePHI(lower->getType(), 2);
  iv->addIncoming(lower, before);
  values[op.getInductionVar()] = iv;
  SmallVector<llvm::PHINode *> carried = makePhis(op.getInitArgs().getTypes());
  for (auto [phi, argument, init] :
       llvm::zip_equal(carried, op.getRegionIterArgs(), op.getInitArgs())) {
    phi->addIncoming(get(init), before);
    values[argument] = phi;
  }
  if (failed(emitBlock(*op.getBody())))
    return failure();
  ValueRange yielded = op.getBody()->getTerminator()->getOperands();
  llvm::BasicBlock *last = builder.GetInsertBlock();
  addIncoming(carried, yielded);
  llvm::Value *next = builder.CreateNSWAdd(iv, get(op.getStep()));
  iv->addIncoming(next, last);
  builder.CreateCondBr(builder.CreateICmpSLT(next, upper), body, exit);

  builder.SetInsertPoint(exit);
  SmallVector<llvm::PHINode *> results = makePhis(op.getResultTypes());
  for (auto [phi, result, init, value] :
       llvm::zip_equal(results, op.getResults(), op.getInitArgs(), yielded)) {
    phi->addIncoming(get(init), before);
    phi->addIncoming(get(value), last);
    values[result] = phi;
  }
  return success();
}

LogicalResult KernelEmitter::emitBranchOfIf(Region &region, llvm::BasicBlock *block,
                                            llvm::BasicBlock *join,
                                            SmallVectorImpl<llvm::PHINode *> &results) {
  builder.SetInsertPoint(block);
  if (!region.empty()) {
    if (failed(emitBlock(region.front())))
      return failure();
    addIncoming(results, region.front().getTerminator()->getOperands());
  }
  builder.CreateBr(join);
  return success();
}

LogicalResult KernelEmitter::emitIf(scf::IfOp op) {
  llvm::BasicBlock *yes = newBlock("then"), *no = newBlock("else"), *join = newBlock("endif");
  builder.CreateCondBr(get(op.getCondition()), yes, no);
  builder.SetInsertPoint(join);
  SmallVector<llvm::PHINode *> results = makePhis(op.getResultTypes());
  for (auto [phi, result] : llvm::zip_equal(results, op.getResults()))
    values[result] = phi;
  if (failed(emitBranchOfIf(op.getThenRegion(), yes, join, results)) ||
      failed(emitBranchOfIf(op.getElseRegion(), no, join, results)))
    return failure();
  builder.SetInsertPoint(join);
  return success();
}

LogicalResult KernelEmitter::emitWhile(scf::WhileOp op) {
  llvm::BasicBlock *before = newBlock("while"), *after = newBlock("do"),
                   *exit = newBlock("while.end"), *entry = builder.GetInsertBlock();
  builder.CreateBr(before);
  builder.SetInsertPoint(before);
  SmallVector<llvm::PHINode *> carried = makePhis(op.getInits().getTypes());
  for (auto [phi, argument, init] :
       llvm::zip_equal(carried, op.getBeforeArguments(), op.getInits())) {
    phi->addIncoming(get(init), entry);
    values[argument] = phi;
  }
  if (failed(emitBlock(*op.getBeforeBody())))
    return failure();
  auto condition = cast<scf::ConditionOp>(op.getBeforeBody()->getTerminator());
  builder.CreateCondBr(get(condition.getCondition()), after, exit);
  // The condition's operands dominate both the loop's body and its exit.
  for (auto [argument, result, value] :
       llvm::zip_equal(op.getAfterArguments(), op.getResults(), condition.getArgs()))
    values[argument] = values[result] = get(value);

  builder.SetInsertPoint(after);
  if (failed(emitBlock(*op.getAfterBody())))
    return failure();
  addIncoming(carried, op.getAfterBody()->getTerminator()->getOperands());
  builder.CreateBr(before);
  builder.SetInsertPoint(exit);
  return success();
}
