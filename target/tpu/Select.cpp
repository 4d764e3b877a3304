//===- Select.cpp - control flow of instruction selection ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A structured recursion over the kernel's body. Values that loops and branches
// carry get a register of their own, which moves write; blocks fall through to
// the next one.
//
//===----------------------------------------------------------------------===//
#include "target/tpu/Select.h"

#include "support/Location.h"
#include "target/tpu/Selector.h"
#include "target/tpu/UnrollLoops.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::tpu;

FailureOr<Kernel> tpu::selectInstructions(spokeshave::kernel::FuncOp kernel) {
  return Selector(kernel).run();
}

FailureOr<Kernel> Selector::run() {
  kernel.name = source.getSymName().str();
  kernel.vmemBytes = llvm::alignTo(source.getScratchBytes(), kRegisterBytes);
  beginBlock();
  // Of a staged kernel the number of the task is that of the core.
  kernel.cores = std::max<int64_t>(1, source.getTasks());
  Reg core = newReg(File::Scalar);
  values[source.getTask()] = core;
  emitScalar(Opcode::Argument, core).imm = source.getBuffers().size();
  if (failed(selectBlock(source.getBlock())))
    return failure();
  emitScalar(Opcode::Halt, {});
  return std::move(kernel);
}

uint32_t Selector::beginBlock() {
  kernel.blocks.emplace_back();
  return kernel.blocks.size() - 1;
}

LogicalResult Selector::selectBlock(mlir::Block &block) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      continue;
    location = addLocation(kernel, describeLocation(op.getLoc()));
    for (Type type : op.getResultTypes())
      if (auto vector = dyn_cast<VectorType>(type);
          vector && vector.getNumElements() > kRegisterLanes)
        return op.emitOpError() << "makes a value of " << vector.getNumElements()
                                << " lanes, more than a register has";
    if (failed(select(op)))
      return failure();
  }
  return success();
}

LogicalResult Selector::select(Operation &op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return selectFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return selectIf(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return selectWhile(loop);
  if (auto load = dyn_cast<spokeshave::kernel::LoadOp>(op))
    return selectLoad(load);
  if (auto store = dyn_cast<spokeshave::kernel::StoreOp>(op))
    return selectStore(store);
  if (auto table = dyn_cast<spokeshave::kernel::TableOp>(op))
    return selectTable(table);
  if (auto start = dyn_cast<spokeshave::kernel::DmaStartOp>(op))
    return selectDma(start);
  if (auto wait = dyn_cast<spokeshave::kernel::DmaWaitOp>(op)) {
    Reg semaphore = get(wait.getSemaphore());
    emitScalar(Opcode::DmaWait, {}, semaphore);
    return success();
  }
  if (isa<spokeshave::kernel::LoadRowsOp, spokeshave::kernel::StoreRowsOp>(op))
    return selectRows(op);
  if (isa<spokeshave::kernel::MatrixLatchOp, spokeshave::kernel::MatrixSwapOp,
          spokeshave::kernel::MatrixPushOp, spokeshave::kernel::MatrixPopOp>(op))
    return selectMatrix(op);
  if (isa<spokeshave::kernel::ScratchOp, spokeshave::kernel::PrefetchOp>(op))
    return success(); // an offset; VMEM has no cache
  return selectValue(op);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// to[i] = from[i], all at once: a target may be another's source.
void Selector::moveAll(ArrayRef<Reg> to, ValueRange from) {
  SmallVector<Reg> sources;
  for (Value value : from)
    sources.push_back(get(value));
  auto isTarget = [&](Reg reg) { return llvm::is_contained(to, reg); };
  for (auto [i, value] : llvm::enumerate(from)) {
    if (sources[i] == to[i] || !isTarget(sources[i]))
      continue;
    Reg saved = newReg(sources[i].file);
    emit(Opcode::Move, value.getType(), saved, sources[i]);
    sources[i] = saved;
  }
  for (auto [i, value] : llvm::enumerate(from))
    if (!(sources[i] == to[i]))
      emit(Opcode::Move, value.getType(), to[i], sources[i]);
}

/// A branch out of the present block if `condition` is false; `exits` remembers
/// where a target is still missing.
void Selector::branchUnless(Value condition, std::vector<std::pair<uint32_t, uint32_t>> &exits) {
  Reg inverse = newReg(File::Scalar);
  Reg given = get(condition);
  Instruction &flip = emitScalar(Opcode::Xor, inverse, given);
  flip.type = ElementType::I1;
  flip.immediate = 2, flip.imm = 1;
  emitScalar(Opcode::BranchIf, {}, inverse);
  uint32_t block = kernel.blocks.size() - 1;
  exits.push_back({block, kernel.blocks[block].instructions.size() - 1});
}

/// A scalar instruction whose second operand may be a constant.
Instruction &Selector::emitWith(Opcode opcode, Reg dst, Reg a, Value b) {
  std::optional<int64_t> constant = immediateOf(b);
  Reg second = constant ? Reg() : get(b);
  Instruction &made = emitScalar(opcode, dst, a, second);
  if (constant)
    made.immediate = 2, made.imm = *constant;
  return made;
}

LogicalResult Selector::selectFor(scf::ForOp op) {
  std::optional<int64_t> first = immediateOf(op.getLowerBound()),
                         last = immediateOf(op.getUpperBound());
  bool mayBeEmpty = !first || !last || *first >= *last;
  Reg lower = get(op.getLowerBound());
  Reg iv = newReg(File::Scalar);
  SmallVector<Reg> carried;
  for (Value init : op.getInitArgs())
    carried.push_back(newReg(init.getType()));
  moveAll(carried, op.getInitArgs());
  emitScalar(Opcode::Move, iv, lower);
  uint32_t entry = kernel.blocks.size() - 1, skip = 0;
  if (mayBeEmpty) {
    Reg empty = newReg(File::Scalar);
    Instruction &test = emitWith(Opcode::CompareI, empty, lower, op.getUpperBound());
    test.predicate = uint8_t(IntPredicate::Sge);
    emitScalar(Opcode::BranchIf, {}, empty);
    skip = kernel.blocks[entry].instructions.size() - 1;
  }

  uint32_t body = beginBlock();
  if (auto trips = op->getAttrOfType<IntegerAttr>(kUsualTrips))
    kernel.blocks[body].usualTrips = trips.getInt();
  values[op.getInductionVar()] = iv;
  for (auto [argument, reg] : llvm::zip_equal(op.getRegionIterArgs(), carried))
    values[argument] = reg;
  if (failed(selectBlock(*op.getBody())))
    return failure();
  moveAll(carried, op.getBody()->getTerminator()->getOperands());
  emitWith(Opcode::Add, iv, iv, op.getStep());
  Reg again = newReg(File::Scalar);
  Instruction &compare = emitWith(Opcode::CompareI, again, iv, op.getUpperBound());
  compare.predicate = uint8_t(IntPredicate::Slt);
  emitScalar(Opcode::BranchIf, {}, again).imm = body;

  uint32_t exit = beginBlock();
  if (mayBeEmpty)
    kernel.blocks[entry].instructions[skip].imm = exit;
  for (auto [result, reg] : llvm::zip_equal(op.getResults(), carried))
    values[result] = reg;
  return success();
}

LogicalResult Selector::selectIf(scf::IfOp op) {
  SmallVector<Reg> results;
  for (Type type : op.getResultTypes())
    results.push_back(newReg(type));
  std::vector<std::pair<uint32_t, uint32_t>> toElse;
  branchUnless(op.getCondition(), toElse);
  auto fill = [&](Region &region) -> LogicalResult {
    beginBlock();
    if (region.empty())
      return success();
    if (failed(selectBlock(region.front())))
      return failure();
    moveAll(results, region.front().getTerminator()->getOperands());
    return success();
  };
  if (failed(fill(op.getThenRegion())))
    return failure();
  std::pair<uint32_t, uint32_t> toJoin;
  bool hasElse = !op.getElseRegion().empty();
  if (hasElse) {
    emitScalar(Opcode::Branch, {});
    toJoin = {uint32_t(kernel.blocks.size() - 1),
              uint32_t(kernel.blocks.back().instructions.size() - 1)};
    uint32_t first = kernel.blocks.size();
    if (failed(fill(op.getElseRegion())))
      return failure();
    kernel.blocks[toElse[0].first].instructions[toElse[0].second].imm = first;
  }
  uint32_t join = beginBlock();
  auto patch = hasElse ? toJoin : toElse[0];
  kernel.blocks[patch.first].instructions[patch.second].imm = join;
  for (auto [result, reg] : llvm::zip_equal(op.getResults(), results))
    values[result] = reg;
  return success();
}

LogicalResult Selector::selectWhile(scf::WhileOp op) {
  SmallVector<Reg> carried;
  for (Value init : op.getInits())
    carried.push_back(newReg(init.getType()));
  moveAll(carried, op.getInits());
  uint32_t before = beginBlock();
  for (auto [argument, reg] : llvm::zip_equal(op.getBeforeArguments(), carried))
    values[argument] = reg;
  if (failed(selectBlock(*op.getBeforeBody())))
    return failure();
  auto condition = cast<scf::ConditionOp>(op.getBeforeBody()->getTerminator());
  SmallVector<Reg> forwarded;
  for (Value value : condition.getArgs())
    forwarded.push_back(newReg(value.getType()));
  moveAll(forwarded, condition.getArgs());
  std::vector<std::pair<uint32_t, uint32_t>> exits;
  branchUnless(condition.getCondition(), exits);
  for (auto [argument, result, reg] :
       llvm::zip_equal(op.getAfterArguments(), op.getResults(), forwarded))
    values[argument] = values[result] = reg;
  beginBlock();
  if (failed(selectBlock(*op.getAfterBody())))
    return failure();
  moveAll(carried, op.getAfterBody()->getTerminator()->getOperands());
  emitScalar(Opcode::Branch, {}).imm = before;
  uint32_t exit = beginBlock();
  kernel.blocks[exits[0].first].instructions[exits[0].second].imm = exit;
  return success();
}
