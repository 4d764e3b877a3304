//===- KernelCompiler.cpp - the kernels of a program to objects ------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "target/cpu/KernelCompiler.h"

#include "kernel/Lowering.h"
#include "kernel/Types.h"
#include "target/cpu/Timing.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace spokeshave;
using namespace spokeshave::cpu;

/// A module costs some thousand instructions of LLVM's time in itself: small
/// functions share one, up to this many instructions.
static constexpr int64_t kFullModule = 200;

KernelCompiler::KernelCompiler(const machine::Machine &machine, const EmissionOptions &emission,
                               bool shares, bool isOne)
    : machine(machine), emission(emission), shares(shares), isOne(isOne),
      machineKey(llvm::formatv("{0:x-} ", machine.hash())), emitter(machine, emission) {}

std::string KernelCompiler::keyOf(StringRef content) const {
  return content.empty() ? "" : machineKey + content.str();
}

/// A symbol that says what is in the object, wherever it is linked.
std::string KernelCompiler::newSymbol(StringRef name, StringRef key) {
  std::string symbol = llvm::formatv("{0}.{1:x-}", name, llvm::xxh3_64bits(key));
  while (unitOf.contains(symbol)) // two keys with one hash
    symbol += "'";
  return symbol;
}

void KernelCompiler::addUnit(Unit unit) {
  unitOf[unit.code->symbol] = units.size();
  units.push_back(std::move(unit));
}

/// A kernel.func without a body: what the driver reads is in its attributes.
static kernel::FuncOp declare(schedule::KernelOp op, const KernelCode &code) {
  graph::FusionOp fusion = op.getFusion();
  SmallVector<Type> buffers;
  for (Type type : llvm::concat<const Type>(llvm::to_vector(fusion.getInputs().getTypes()),
                                            llvm::to_vector(fusion.getResultTypes())))
    buffers.push_back(kernel::bufferType(cast<RankedTensorType>(type)));
  OpBuilder builder(op);
  auto kernel = builder.create<kernel::FuncOp>(fusion.getLoc(), op.getSymName(), code.tasks,
                                               fusion.getNumOperands(), buffers);
  kernel.setScratchBytes(code.scratchBytes);
  kernel.setTaskCostNs(code.taskCostNs);
  kernel.setPollsCancel(code.pollsCancel);
  setObjectSymbol(kernel, code.symbol);
  op.erase();
  return kernel;
}

std::shared_ptr<const KernelCode> KernelCompiler::findShared(StringRef key) const {
  return shares && !key.empty() ? KernelCache::global().find(key) : nullptr;
}

FailureOr<kernel::FuncOp> KernelCompiler::lower(schedule::KernelOp op, KernelInfo &info) {
  double begin = threadMilliseconds();
  std::string key = isOne ? "" : keyOf(keys.write(op.getFusion()));
  std::shared_ptr<const KernelCode> code = findShared(key);
  if (code && !unitOf.contains(code->symbol)) {
    kernel::FuncOp kernel = declare(op, *code);
    addUnit({"", code});
    info.tasks = code->tasks;
    info.instructions = code->instructions;
    info.isShared = true;
    info.compileMs = threadMilliseconds() - begin;
    return kernel;
  }
  FailureOr<kernel::FuncOp> kernel = kernel::lowerKernel(op, machine);
  if (failed(kernel))
    return failure();
  info.tasks = kernel->getTasks();
  info.compileMs = threadMilliseconds() - begin;
  keyOfKernel[info.symbol] = std::move(key);
  return kernel;
}

llvm::Module &KernelCompiler::driverModule() {
  if (!driver)
    driver.emplace("program");
  return *driver->module;
}

/// Where the next function goes.
llvm::Module &KernelCompiler::openModule() {
  if (isOne ? places.empty() : !open)
    places.push_back(std::make_shared<LinkedObject>());
  if (isOne)
    return driverModule();
  if (!open)
    open.emplace("kernels");
  return *open->module;
}

void KernelCompiler::closeModule() {
  if (!open)
    return;
  emitter.add(std::move(*open), openInstructions);
  open.reset();
  openInstructions = 0;
}

/// The function of `code` is in the open module.
void KernelCompiler::addCompiled(std::string key, std::shared_ptr<KernelCode> code,
                                 KernelInfo *info) {
  code->instructions = openModule().getFunction(code->symbol)->getInstructionCount();
  code->place = places.back();
  openInstructions += code->instructions;
  addUnit({std::move(key), code, true, places.size() - 1, info});
}

/// Sees to it that a function that one in the open module calls is in one of the
/// program's objects.
LogicalResult
KernelCompiler::addCallee(StringRef symbol, StringRef content,
                          llvm::function_ref<LogicalResult(llvm::Module &, Callees &)> emit) {
  std::string key = keyOf(content);
  if (!unitOf.contains(symbol)) {
    if (std::shared_ptr<const KernelCode> code = findShared(key)) {
      addUnit({"", code});
    } else {
      auto made = std::make_shared<KernelCode>();
      made->symbol = symbol.str();
      Callees callees;
      if (failed(emit(openModule(), callees)) || failed(addCallees(callees)))
        return failure();
      addCompiled(std::move(key), made, nullptr);
    }
  }
  const std::shared_ptr<const LinkedObject> &place = units[unitOf[symbol]].code->place;
  auto &needs = places.back()->needs;
  if (place != places.back() && !llvm::is_contained(needs, place))
    needs.push_back(place);
  return success();
}

LogicalResult KernelCompiler::addCallees(const Callees &callees) {
  for (auto &[symbol, op] : callees.tiles) {
    kernel::TileDotOp tile = op;
    auto emit = [&](llvm::Module &module, Callees &) {
      emitTileFunction(tile, symbol, module, machine);
      return success();
    };
    if (failed(addCallee(symbol, symbol, emit))) // the symbol tells everything
      return failure();
  }
  for (auto &[symbol, op] : callees.loops) {
    scf::ForOp loop = op;
    auto emit = [&](llvm::Module &module, Callees &inner) {
      return emitLoopFunction(loop, sharedLoops[loop], module, machine, &inner);
    };
    if (failed(addCallee(symbol, contentOfLoop[symbol], emit)))
      return failure();
  }
  return success();
}

/// A call and its function are some ten instructions: smaller loops stay in place.
static constexpr int64_t kSmallestSharedLoop = 24;

namespace {

/// A loop that can be a function, if it stands in several kernels.
struct LoopCandidate {
  scf::ForOp loop;
  size_t hash; ///< equal for equal loops
};

/// Size and hash of operations with all that is in them. Operands, but for their
/// types, are left out: values have no names that two kernels share.
struct LoopScan {
  int64_t size = 0;
  size_t hash = 0;
  bool polls = false; ///< the kernel knows where

  void add(Operation &op, SmallVectorImpl<LoopCandidate> &candidates);
};

void LoopScan::add(Operation &op, SmallVectorImpl<LoopCandidate> &candidates) {
  LoopScan inner;
  inner.size = 1;
  inner.polls = isa<kernel::CancelledOp>(op);
  inner.hash = OperationEquivalence::computeHash(&op, OperationEquivalence::ignoreHashValue,
                                                 OperationEquivalence::ignoreHashValue,
                                                 OperationEquivalence::IgnoreLocations);
  for (Region &region : op.getRegions())
    for (Operation &nested : region.getOps())
      inner.add(nested, candidates);
  if (auto loop = dyn_cast<scf::ForOp>(op);
      loop && loop.getNumResults() == 0 && inner.size >= kSmallestSharedLoop && !inner.polls)
    candidates.push_back({loop, inner.hash});
  size += inner.size;
  polls |= inner.polls;
  hash = llvm::hash_combine(hash, inner.hash);
}

} // namespace

void KernelCompiler::shareLoops(ArrayRef<kernel::FuncOp> kernels) {
  SmallVector<LoopCandidate> candidates;
  for (kernel::FuncOp kernel : kernels) {
    LoopScan scan;
    scan.add(*kernel, candidates);
  }
  llvm::DenseMap<size_t, int64_t> hashes;
  for (const LoopCandidate &candidate : candidates)
    ++hashes[candidate.hash];
  struct Found {
    std::string content;
    llvm::SetVector<Value> captured;
  };
  DenseMap<Operation *, Found> found;
  llvm::StringMap<int64_t> counts;
  for (const LoopCandidate &candidate : candidates) {
    if (hashes[candidate.hash] < 2)
      continue; // its text, which takes longer, is that of no other
    Found entry;
    entry.content = keys.write(candidate.loop, entry.captured);
    ++counts[entry.content];
    found[candidate.loop] = std::move(entry);
  }
  for (kernel::FuncOp kernel : kernels)
    kernel->walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      auto entry = found.find(loop);
      if (entry == found.end() || entry->second.content.empty() ||
          counts[entry->second.content] < 2)
        return WalkResult::advance();
      std::string symbol = llvm::formatv("loop.{0:x-}", llvm::xxh3_64bits(entry->second.content));
      contentOfLoop[symbol] = entry->second.content;
      sharedLoops[loop] = {symbol, entry->second.captured.takeVector()};
      return WalkResult::skip(); // it is called as a whole
    });
}

/// Whether a function mostly calls tiles of a product. Gathers take an address apart
/// that the fast selection of instructions leaves in wide registers.
static bool isFrame(const llvm::Function &function, const Callees &callees) {
  return !callees.tiles.empty() &&
         llvm::none_of(llvm::instructions(function), [](const llvm::Instruction &instruction) {
           auto *call = dyn_cast<llvm::IntrinsicInst>(&instruction);
           return call && call->getIntrinsicID() == llvm::Intrinsic::masked_gather;
         });
}

LogicalResult KernelCompiler::emit(kernel::FuncOp kernel, KernelInfo &info) {
  auto found = keyOfKernel.find(info.symbol);
  if (found == keyOfKernel.end())
    return success(); // from the cache
  double begin = threadMilliseconds();
  auto code = std::make_shared<KernelCode>();
  std::string key = std::move(found->second);
  // Without a key that is good for the process, the name in this program.
  code->symbol = key.empty() ? info.symbol : newSymbol(info.name, key);
  setObjectSymbol(kernel, code->symbol);
  llvm::Module &module = openModule();
  Callees callees;
  callees.shared = &sharedLoops;
  if (failed(emitKernel(kernel, module, machine, &callees)))
    return failure();
  code->tasks = kernel.getTasks();
  code->scratchBytes = kernel.getScratchBytes();
  code->taskCostNs = kernel.getTaskCostNs();
  code->pollsCancel = kernel.getPollsCancel();
  llvm::Function &function = *module.getFunction(code->symbol);
  if (isFrame(function, callees))
    function.addFnAttr(kFrameAttribute);
  info.instructions = function.getInstructionCount();
  if (failed(addCallees(callees)))
    return failure();
  addCompiled(std::move(key), code, &info);
  // A kernel and its new callees stand together: objects only need earlier ones.
  if (openInstructions >= kFullModule && !isOne)
    closeModule();
  info.compileMs += threadMilliseconds() - begin;
  return success();
}

llvm::Error KernelCompiler::finish(Program &program) {
  closeModule();
  int64_t instructions = driverModule().getInstructionCount();
  emitter.add(std::move(*driver), instructions);
  auto emitted = emitter.finish();
  if (!emitted)
    return emitted.takeError();
  for (auto [number, code] : llvm::enumerate(*emitted)) {
    ir += code.ir;
    assembly += code.assembly;
    optimizeMs += code.optimizeMs;
    generateMs += code.generateMs;
    if (number == places.size()) // the driver's, unless it stands with the kernels
      places.push_back(std::make_shared<LinkedObject>());
    places[number]->object = std::make_shared<const std::vector<char>>(std::move(code.object));
  }
  shareCode(*emitted);
  collectObjects(program);
  return llvm::Error::success();
}

/// Gives what was made to the process, and kernels their part of a module's time.
void KernelCompiler::shareCode(ArrayRef<EmittedCode> emitted) {
  std::vector<int64_t> instructions(emitted.size());
  for (const Unit &unit : units)
    if (unit.isMade)
      instructions[unit.module] += unit.code->instructions;
  for (const Unit &unit : units) {
    if (!unit.isMade)
      continue;
    const EmittedCode &module = emitted[unit.module];
    if (unit.info)
      unit.info->compileMs += (module.optimizeMs + module.generateMs) *
                              double(unit.code->instructions) / double(instructions[unit.module]);
    if (shares && !unit.key.empty())
      KernelCache::global().insert(unit.key, unit.code);
  }
}

/// Each object once, those of callees before those of callers, the driver's last.
void KernelCompiler::collectObjects(Program &program) {
  CompileStats &stats = program.stats;
  llvm::DenseSet<const LinkedObject *> seen;
  for (const auto &place : places)
    seen.insert(place.get()); // made here: they stand in order behind the others
  auto add = [&](const LinkedObject &linked) {
    program.objects.push_back(linked.object);
    stats.codeBytes += linked.object->size();
  };
  std::function<void(const LinkedObject &)> addShared = [&](const LinkedObject &linked) {
    if (!seen.insert(&linked).second)
      return;
    for (const auto &needed : linked.needs)
      addShared(*needed);
    add(linked);
    ++stats.sharedObjects;
  };
  for (const Unit &unit : units)
    addShared(*unit.code->place);
  for (const auto &place : places)
    add(*place);
  stats.objects = program.objects.size();
}
