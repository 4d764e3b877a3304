//===- Driver.cpp - schedule.program to one LLVM function ------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All addresses of a program are bases plus constants: the arena's, an
// argument's, a result's, a constant's. So the driver is data rather than code:
// on entry one small loop fills a table of buffer pointers, another the launch
// records, both behind the temporaries in the arena; then a parallel region is
// one call with a pointer into the tables, in loops too. Code and compile time
// per launch stay small, however long the program is.
//
//===----------------------------------------------------------------------===//
#include "target/cpu/Driver.h"

#include "kernel/KernelDialect.h"
#include "kernel/Types.h"
#include "target/cpu/Abi.h"
#include "target/cpu/EmitKernel.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::cpu;

namespace {

/// Regions estimated below this run on the caller's thread without asking the
/// pool, which would come to the same decision for more.
constexpr int64_t kInlineNanoseconds = 8000;
/// Inline regions of at most so many launches are spelled out as direct calls.
constexpr size_t kMostDirectCalls = 8;

/// An address: an entry of one of the tables of bases, plus an offset. The context
/// is seen as a table of pointers: one of them is the cancel word's.
struct Address {
  enum Table : int32_t { Arena, Arguments, Results, Constants, Context };
  Table table;
  int32_t index;
  int64_t offset;
};

class DriverEmitter {
public:
  DriverEmitter(schedule::ProgramOp program, ModuleOp module, llvm::Module &llvmModule,
                const machine::Machine &machine, DriverLayout &layout)
      : program(program), symbols(module), llvmModule(llvmModule), machine(machine), layout(layout),
        builder(llvmModule.getContext()) {}
  LogicalResult run();

private:
  // Addresses and tables, before any code.
  Address addressOf(Value buffer);
  int64_t addSlots(ValueRange buffers);
  LogicalResult layOut();
  LogicalResult layOutRegion(schedule::ParallelOp region);
  LogicalResult layOutLaunch(schedule::LaunchOp launch);
  llvm::Function *functionOf(kernel::FuncOp kernel);

  // Code.
  void emitEntry();
  void emitFill(llvm::Value *count, llvm::function_ref<void(llvm::Value *)> body);
  void emitBlock(Block &block);
  void emit(Operation &op);
  void emitParallel(schedule::ParallelOp op);
  void emitRegion(schedule::ParallelOp op);
  void emitInline(schedule::ParallelOp op);
  void emitCopy(schedule::CopyOp op);
  void emitCall(Operation &op);
  void emitWhile(schedule::WhileOp op);
  void emitCase(schedule::CaseOp op);
  void emitCancelPoll();
  void emitStatusCheck(llvm::Value *status);

  llvm::BasicBlock *newBlock(const llvm::Twine &name) {
    return llvm::BasicBlock::Create(llvmModule.getContext(), name, function);
  }
  llvm::Value *contextField(llvm::Type *type, size_t offset) {
    return builder.CreateLoad(
        type, builder.CreateConstGEP1_64(builder.getInt8Ty(), function->getArg(0), offset));
  }
  llvm::Value *slotAddress(int64_t slot) {
    return builder.CreateConstGEP1_64(builder.getPtrTy(), slotTable, slot);
  }
  llvm::Value *slotPointer(int64_t slot) {
    return builder.CreateLoad(builder.getPtrTy(), slotAddress(slot));
  }
  llvm::GlobalVariable *makeTable(llvm::StringRef name, llvm::Type *type,
                                  ArrayRef<llvm::Constant *> entries);

  struct LaunchInfo {
    kernel::FuncOp kernel;
    int64_t slots = 0;  ///< of its buffers
    int64_t record = 0; ///< its launch record
  };
  struct RegionInfo {
    bool isInline = false;
    int64_t firstRecord = 0;
    size_t launches = 0;
  };

  schedule::ProgramOp program;
  SymbolTable symbols;
  llvm::Module &llvmModule;
  const machine::Machine &machine;
  DriverLayout &layout;

  std::vector<Address> slots;
  std::vector<kernel::FuncOp> recordKernels;
  std::vector<int64_t> recordSlots;
  DenseMap<Operation *, LaunchInfo> launches;
  DenseMap<Operation *, RegionInfo> regions;
  DenseMap<Operation *, int64_t> slotsOf; ///< of copies, loops, cases and calls
  DenseMap<Operation *, int64_t> callNumbers;
  DenseMap<Attribute, int32_t> constantNumbers;

  llvm::IRBuilder<> builder;
  llvm::Function *function = nullptr;
  llvm::Value *slotTable = nullptr, *recordTable = nullptr;
};

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

Address DriverEmitter::addressOf(Value buffer) {
  if (auto argument = dyn_cast<BlockArgument>(buffer)) {
    int32_t number = argument.getArgNumber(), arguments = program.getNumArguments();
    return number < arguments ? Address{Address::Arguments, number, 0}
                              : Address{Address::Results, number - arguments, 0};
  }
  Operation *op = buffer.getDefiningOp();
  if (auto arena = dyn_cast<schedule::ArenaOp>(op))
    return {Address::Arena, 0, int64_t(arena.getOffset())};
  if (auto view = dyn_cast<schedule::ViewOp>(op)) {
    Address address = addressOf(view.getSource());
    address.offset += int64_t(view.getByteOffset());
    return address;
  }
  auto constant = cast<schedule::ConstantOp>(op);
  auto [entry, isNew] = constantNumbers.try_emplace(constant.getValue(), layout.constants.size());
  if (isNew)
    layout.constants.push_back(constant.getValue());
  return {Address::Constants, entry->second, 0};
}

int64_t DriverEmitter::addSlots(ValueRange buffers) {
  int64_t first = slots.size();
  for (Value buffer : buffers)
    slots.push_back(addressOf(buffer));
  return first;
}

LogicalResult DriverEmitter::layOutLaunch(schedule::LaunchOp launch) {
  auto kernel = symbols.lookup<kernel::FuncOp>(launch.getKernel());
  if (!kernel)
    return launch.emitOpError() << "launches " << launch.getKernelAttr()
                                << ", which is no kernel.func";
  // The program's buffers have StableHLO's element types, a kernel's those that
  // memory holds for them.
  auto inKernel = [](Type type) -> Type {
    auto buffer = cast<MemRefType>(type);
    return kernel::bufferType(RankedTensorType::get(buffer.getShape(), buffer.getElementType()));
  };
  if (!llvm::equal(kernel.getBuffers().getTypes(),
                   llvm::map_range(launch.getBuffers().getTypes(), inKernel)))
    return launch.emitOpError() << "passes buffers of other types than " << kernel.getSymName()
                                << " takes";
  launches[launch] = {kernel, addSlots(launch.getBuffers())};
  static_assert(offsetof(RunContext, cancel) == sizeof(void *));
  if (kernel.getPollsCancel())
    slots.push_back({Address::Context, 1, 0});
  return success();
}

LogicalResult DriverEmitter::layOutRegion(schedule::ParallelOp region) {
  RegionInfo info;
  int64_t nanoseconds = 0, mostTasks = 0, scratch = 0;
  for (auto launch : region.getBody().front().getOps<schedule::LaunchOp>()) {
    if (failed(layOutLaunch(launch)))
      return failure();
    kernel::FuncOp kernel = launches[launch].kernel;
    int64_t tasks = kernel.getTasks();
    nanoseconds += tasks * int64_t(kernel.getTaskCostNs());
    mostTasks = std::max(mostTasks, tasks);
    scratch = std::max<int64_t>(scratch, kernel.getScratchBytes());
    ++info.launches;
  }
  // Without a second task in any launch there is nothing to share.
  info.isInline = nanoseconds < kInlineNanoseconds || mostTasks <= 1;
  info.firstRecord = recordKernels.size();
  if (info.isInline)
    layout.scratchBytes = std::max(layout.scratchBytes, scratch);
  if (!info.isInline || info.launches > kMostDirectCalls)
    for (auto launch : region.getBody().front().getOps<schedule::LaunchOp>()) {
      recordKernels.push_back(launches[launch].kernel);
      recordSlots.push_back(launches[launch].slots);
    }
  regions[region] = info;
  return success();
}

/// Numbers everything that the code will refer to.
LogicalResult DriverEmitter::layOut() {
  WalkResult result = program.walk([&](Operation *op) {
    if (auto region = dyn_cast<schedule::ParallelOp>(op))
      return failed(layOutRegion(region)) ? WalkResult::interrupt() : WalkResult::advance();
    if (isa<schedule::LaunchOp, schedule::ViewOp>(op))
      return WalkResult::advance();
    if (isa<schedule::LibraryOp, schedule::CustomCallOp>(op)) {
      callNumbers[op] = layout.calls.size();
      layout.calls.push_back(op);
    }
    if (op != program.getOperation() && op->getNumOperands() > 0)
      slotsOf[op] = addSlots(op->getOperands());
    return WalkResult::advance();
  });
  int64_t tables = slots.size() * sizeof(void *) + recordKernels.size() * sizeof(Launch);
  layout.arenaBytes =
      llvm::alignTo(int64_t(program.getArenaBytes()), 64) + llvm::alignTo(tables, 64);
  return failure(result.wasInterrupted());
}

llvm::Function *DriverEmitter::functionOf(kernel::FuncOp kernel) {
  if (llvm::Function *existing = llvmModule.getFunction(objectSymbol(kernel)))
    return existing;
  llvm::Type *pointer = builder.getPtrTy(), *i64 = builder.getInt64Ty();
  auto *type = llvm::FunctionType::get(builder.getVoidTy(), {pointer, i64, i64, pointer}, false);
  return llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, objectSymbol(kernel),
                                llvmModule);
}

llvm::GlobalVariable *DriverEmitter::makeTable(llvm::StringRef name, llvm::Type *type,
                                               ArrayRef<llvm::Constant *> entries) {
  auto *array = llvm::ArrayType::get(type, entries.size());
  return new llvm::GlobalVariable(llvmModule, array, /*isConstant=*/true,
                                  llvm::GlobalValue::InternalLinkage,
                                  llvm::ConstantArray::get(array, entries), name);
}

//===----------------------------------------------------------------------===//
// Entry
//===----------------------------------------------------------------------===//

/// for (i = 0; i < count; ++i) body(i), count > 0
void DriverEmitter::emitFill(llvm::Value *count, llvm::function_ref<void(llvm::Value *)> body) {
  llvm::BasicBlock *before = builder.GetInsertBlock();
  llvm::BasicBlock *loop = newBlock("fill"), *after = newBlock("filled");
  builder.CreateBr(loop);
  builder.SetInsertPoint(loop);
  llvm::PHINode *i = builder.CreatePHI(builder.getInt64Ty(), 2);
  i->addIncoming(builder.getInt64(0), before);
  body(i);
  llvm::Value *next = builder.CreateNUWAdd(i, builder.getInt64(1));
  i->addIncoming(next, builder.GetInsertBlock());
  builder.CreateCondBr(builder.CreateICmpULT(next, count), loop, after);
  builder.SetInsertPoint(after);
}

void DriverEmitter::emitEntry() {
  llvm::Type *pointer = builder.getPtrTy(), *i32 = builder.getInt32Ty(),
             *i64 = builder.getInt64Ty(), *i8 = builder.getInt8Ty();
  builder.SetInsertPoint(newBlock("entry"));
  llvm::Value *arena = function->getArg(3);
  slotTable = builder.CreateConstGEP1_64(
      i8, arena, llvm::alignTo(int64_t(program.getArenaBytes()), 64), "slots");
  recordTable = builder.CreateConstGEP1_64(pointer, slotTable, slots.size(), "records");
  if (slots.empty())
    return;

  // The tables of bases; the arena's has one entry, behind them.
  constexpr int64_t kTables = Address::Context + 1;
  auto *bases = builder.CreateAlloca(pointer, builder.getInt64(kTables + 1), "bases");
  auto baseAt = [&](int64_t i) { return builder.CreateConstGEP1_64(pointer, bases, i); };
  builder.CreateStore(arena, baseAt(kTables));
  builder.CreateStore(baseAt(kTables), baseAt(Address::Arena));
  builder.CreateStore(function->getArg(0), baseAt(Address::Context));
  builder.CreateStore(function->getArg(1), baseAt(Address::Arguments));
  builder.CreateStore(function->getArg(2), baseAt(Address::Results));
  builder.CreateStore(contextField(pointer, offsetof(RunContext, constants)),
                      baseAt(Address::Constants));

  auto *addressType = llvm::StructType::get(i32, i32, i64);
  SmallVector<llvm::Constant *> addresses;
  for (const Address &address : slots)
    addresses.push_back(llvm::ConstantStruct::get(addressType, {builder.getInt32(address.table),
                                                                builder.getInt32(address.index),
                                                                builder.getInt64(address.offset)}));
  llvm::Value *addressTable = makeTable("addresses", addressType, addresses);
  emitFill(builder.getInt64(slots.size()), [&](llvm::Value *i) {
    auto field = [&](unsigned number) {
      llvm::Value *entry =
          builder.CreateGEP(addressType, addressTable, {i, builder.getInt32(number)});
      return builder.CreateLoad(addressType->getElementType(number), entry);
    };
    llvm::Value *table = builder.CreateLoad(pointer, builder.CreateGEP(pointer, bases, field(0)));
    llvm::Value *base = builder.CreateLoad(pointer, builder.CreateGEP(pointer, table, field(1)));
    builder.CreateStore(builder.CreateGEP(i8, base, field(2)),
                        builder.CreateGEP(pointer, slotTable, i));
  });

  if (recordKernels.empty())
    return;
  // Records as in Launch, but `buffers` counts from the table of slots.
  static_assert(sizeof(Launch) == 40 && offsetof(Launch, buffers) == 8);
  auto *recordType = llvm::StructType::get(pointer, i64, i64, i64, i64);
  SmallVector<llvm::Constant *> records;
  for (auto [kernel, first] : llvm::zip_equal(recordKernels, recordSlots))
    records.push_back(llvm::ConstantStruct::get(
        recordType, {functionOf(kernel), builder.getInt64(first * sizeof(void *)),
                     builder.getInt64(kernel.getTasks()), builder.getInt64(kernel.getTaskCostNs()),
                     builder.getInt64(kernel.getScratchBytes())}));
  llvm::Value *templates = makeTable("launches", recordType, records);
  emitFill(builder.getInt64(records.size()), [&](llvm::Value *i) {
    for (unsigned number = 0; number < 5; ++number) {
      auto at = [&](llvm::Value *table) {
        return builder.CreateGEP(recordType, table, {i, builder.getInt32(number)});
      };
      llvm::Value *value = builder.CreateLoad(recordType->getElementType(number), at(templates));
      if (number == 1)
        value = builder.CreateGEP(i8, slotTable, value);
      builder.CreateStore(value, at(recordTable));
    }
  });
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Leaves the driver with a status that is not 0.
void DriverEmitter::emitStatusCheck(llvm::Value *status) {
  llvm::BasicBlock *failed = newBlock("failed"), *next = newBlock("next");
  builder.CreateCondBr(builder.CreateICmpNE(status, builder.getInt32(0)), failed, next);
  builder.SetInsertPoint(failed);
  builder.CreateRet(status);
  builder.SetInsertPoint(next);
}

void DriverEmitter::emitCancelPoll() {
  llvm::BasicBlock *cancelled = newBlock("cancelled"), *next = newBlock("next");
  llvm::Value *word = contextField(builder.getPtrTy(), offsetof(RunContext, cancel));
  llvm::Value *value = builder.CreateLoad(builder.getInt32Ty(), word, /*isVolatile=*/true);
  builder.CreateCondBr(builder.CreateICmpNE(value, builder.getInt32(0)), cancelled, next);
  builder.SetInsertPoint(cancelled);
  llvm::Value *leave = contextField(builder.getPtrTy(), offsetof(RunContext, cancelled));
  auto *type = llvm::FunctionType::get(builder.getInt32Ty(), {builder.getPtrTy()}, false);
  builder.CreateRet(builder.CreateCall(type, leave, {function->getArg(0)}));
  builder.SetInsertPoint(next);
}

void DriverEmitter::emitInline(schedule::ParallelOp op) {
  const RegionInfo &info = regions[op];
  llvm::Value *scratch = function->getArg(4), *zero = builder.getInt64(0);
  if (info.launches <= kMostDirectCalls) {
    for (auto launch : op.getBody().front().getOps<schedule::LaunchOp>()) {
      LaunchInfo &target = launches[launch];
      builder.CreateCall(
          functionOf(target.kernel),
          {slotAddress(target.slots), zero, builder.getInt64(target.kernel.getTasks()), scratch});
    }
    return;
  }
  llvm::Type *pointer = builder.getPtrTy(), *i64 = builder.getInt64Ty();
  auto *type = llvm::FunctionType::get(builder.getVoidTy(), {pointer, i64, i64, pointer}, false);
  emitFill(builder.getInt64(info.launches), [&](llvm::Value *i) {
    llvm::Value *number = builder.CreateAdd(i, builder.getInt64(info.firstRecord));
    llvm::Value *record =
        builder.CreateGEP(builder.getInt8Ty(), recordTable,
                          builder.CreateMul(number, builder.getInt64(sizeof(Launch))));
    auto field = [&](llvm::Type *type, size_t offset) {
      return builder.CreateLoad(type,
                                builder.CreateConstGEP1_64(builder.getInt8Ty(), record, offset));
    };
    builder.CreateCall(type, field(pointer, offsetof(Launch, kernel)),
                       {field(pointer, offsetof(Launch, buffers)), zero,
                        field(i64, offsetof(Launch, tasks)), scratch});
  });
}

void DriverEmitter::emitParallel(schedule::ParallelOp op) {
  emitRegion(op);
  // A kernel that was told to stop has left its results undone.
  for (auto launch : op.getBody().front().getOps<schedule::LaunchOp>())
    if (launches[launch].kernel.getPollsCancel())
      return emitCancelPoll();
}

void DriverEmitter::emitRegion(schedule::ParallelOp op) {
  const RegionInfo &info = regions[op];
  if (info.isInline)
    return emitInline(op);
  llvm::Type *pointer = builder.getPtrTy(), *i64 = builder.getInt64Ty();
  llvm::Value *run = contextField(pointer, offsetof(RunContext, parallel));
  llvm::Value *first = builder.CreateConstGEP1_64(builder.getInt8Ty(), recordTable,
                                                  info.firstRecord * int64_t(sizeof(Launch)));
  auto *type = llvm::FunctionType::get(builder.getInt32Ty(), {pointer, pointer, i64}, false);
  emitStatusCheck(
      builder.CreateCall(type, run, {function->getArg(0), first, builder.getInt64(info.launches)}));
}

void DriverEmitter::emitCopy(schedule::CopyOp op) {
  int64_t bytes = schedule::byteSizeOf(cast<MemRefType>(op.getTarget().getType()));
  if (bytes == 0)
    return;
  // Arguments of the user are aligned to their element only.
  llvm::MaybeAlign align(1);
  int64_t slot = slotsOf[op];
  builder.CreateMemCpy(slotPointer(slot + 1), align, slotPointer(slot), align, bytes);
}

void DriverEmitter::emitCall(Operation &op) {
  llvm::Type *pointer = builder.getPtrTy(), *i64 = builder.getInt64Ty();
  llvm::Value *call = contextField(pointer, offsetof(RunContext, call));
  auto *type = llvm::FunctionType::get(builder.getInt32Ty(), {pointer, i64, pointer}, false);
  llvm::Value *buffers = op.getNumOperands() > 0 ? slotAddress(slotsOf[&op]) : slotTable;
  emitStatusCheck(builder.CreateCall(
      type, call, {function->getArg(0), builder.getInt64(callNumbers[&op]), buffers}));
}

void DriverEmitter::emitWhile(schedule::WhileOp op) {
  llvm::BasicBlock *before = builder.GetInsertBlock();
  llvm::BasicBlock *header = newBlock("while"), *body = newBlock("body"), *exit = newBlock("done");
  builder.CreateBr(header);
  builder.SetInsertPoint(header);
  llvm::PHINode *trip = nullptr;
  if (std::optional<uint64_t> trips = op.getTripCount()) {
    trip = builder.CreatePHI(builder.getInt64Ty(), 2, "trip");
    trip->addIncoming(builder.getInt64(0), before);
    builder.CreateCondBr(builder.CreateICmpSLT(trip, builder.getInt64(*trips)), body, exit);
  } else {
    emitBlock(op.getCondition().front());
    llvm::Value *predicate = builder.CreateLoad(builder.getInt8Ty(), slotPointer(slotsOf[op]));
    builder.CreateCondBr(builder.CreateICmpNE(predicate, builder.getInt8(0)), body, exit);
  }
  builder.SetInsertPoint(body);
  emitBlock(op.getBody().front());
  emitCancelPoll();
  if (trip)
    trip->addIncoming(builder.CreateNSWAdd(trip, builder.getInt64(1)), builder.GetInsertBlock());
  builder.CreateBr(header);
  builder.SetInsertPoint(exit);
}

void DriverEmitter::emitCase(schedule::CaseOp op) {
  bool isIf = cast<MemRefType>(op.getIndex().getType()).getElementType().isInteger(1);
  llvm::Type *type = isIf ? builder.getInt8Ty() : builder.getInt32Ty();
  llvm::Value *index = builder.CreateLoad(type, slotPointer(slotsOf[op]));
  if (isIf) // true is branch 0
    index =
        builder.CreateZExt(builder.CreateICmpEQ(index, builder.getInt8(0)), builder.getInt32Ty());
  SmallVector<llvm::BasicBlock *> branches;
  for (size_t i = 0; i < op.getBranches().size(); ++i)
    branches.push_back(newBlock("branch"));
  llvm::BasicBlock *exit = newBlock("joined");
  llvm::SwitchInst *choice = builder.CreateSwitch(index, branches.back(), branches.size());
  for (auto [number, branch] : llvm::enumerate(ArrayRef(branches).drop_back()))
    choice->addCase(builder.getInt32(number), branch);
  for (auto [region, branch] : llvm::zip_equal(op.getBranches(), branches)) {
    builder.SetInsertPoint(branch);
    emitBlock(region.front());
    builder.CreateBr(exit);
  }
  builder.SetInsertPoint(exit);
}

void DriverEmitter::emit(Operation &op) {
  llvm::TypeSwitch<Operation *>(&op)
      .Case([&](schedule::ParallelOp region) { emitParallel(region); })
      .Case([&](schedule::CopyOp copy) { emitCopy(copy); })
      .Case([&](schedule::WhileOp loop) { emitWhile(loop); })
      .Case([&](schedule::CaseOp branches) { emitCase(branches); })
      .Case<schedule::LibraryOp, schedule::CustomCallOp>([&](auto) { emitCall(op); })
      .Default([](Operation *) {}); // buffers: addresses already
}

void DriverEmitter::emitBlock(Block &block) {
  for (Operation &op : block)
    emit(op);
}

LogicalResult DriverEmitter::run() {
  if (failed(layOut()))
    return failure();
  llvm::Type *pointer = builder.getPtrTy();
  auto *type = llvm::FunctionType::get(builder.getInt32Ty(),
                                       {pointer, pointer, pointer, pointer, pointer}, false);
  layout.symbol = ("spokeshave.driver." + program.getSymName()).str();
  function =
      llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, layout.symbol, llvmModule);
  setFunctionAttributes(*function, machine);
  function->addFnAttr(kFrameAttribute);
  emitEntry();
  emitBlock(program.getBlock());
  builder.CreateRet(builder.getInt32(0));
  return success();
}

} // namespace

LogicalResult cpu::emitDriver(schedule::ProgramOp program, ModuleOp module,
                              llvm::Module &llvmModule, const machine::Machine &machine,
                              DriverLayout &layout) {
  return DriverEmitter(program, module, llvmModule, machine, layout).run();
}
