//===- ObjectEmission.cpp - LLVM IR to object code -------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pipeline of our own, not LLVM's: kernels arrive vectorised, unrolled and
// without memory to promote, so most of O2 would look for what is not there. What
// is left to do is what writing IR in one pass leaves behind: common index
// arithmetic, invariants of loops, constants.
//
//===----------------------------------------------------------------------===//
#include "target/cpu/ObjectEmission.h"

#include "support/Error.h"
#include "target/cpu/EmitKernel.h"
#include "target/cpu/Timing.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Pass.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/DCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

using namespace spokeshave;
using namespace spokeshave::cpu;

CodeModule::CodeModule(llvm::StringRef name)
    : context(std::make_unique<llvm::LLVMContext>()),
      module(std::make_unique<llvm::Module>(name, *context)) {}
CodeModule::CodeModule(CodeModule &&) = default;
CodeModule &CodeModule::operator=(CodeModule &&) = default;
CodeModule::~CodeModule() = default;

namespace {

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(const machine::Machine &machine) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
  constexpr const char *kTriple = "x86_64-unknown-linux-gnu";
  std::string problem;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(kTriple, problem);
  if (!target)
    return makeError(ErrorCode::Internal, "no code generator: " + problem);
  llvm::TargetOptions options;
  // The kernel level says which products are fused; nobody else may.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> result(target->createTargetMachine(
      kTriple, machine.cpu, machine.features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
      llvm::CodeGenOptLevel::Default, /*JIT=*/false));
  if (!result)
    return makeError(ErrorCode::Internal, "no code generator for " + machine.cpu);
  return result;
}

/// A target machine while one thread uses it. To make one takes as long as to
/// compile a small kernel, so some wait for the next compilation.
class BorrowedTarget {
public:
  explicit BorrowedTarget(const machine::Machine &machine)
      : key(machine.cpu + "," + machine.features), machine(machine) {}
  ~BorrowedTarget() {
    std::lock_guard<std::mutex> lock(mutex);
    if (target && idle().size() < kMostIdle)
      idle().emplace_back(std::move(key), std::move(target));
  }

  llvm::Error get(llvm::TargetMachine *&result) {
    if (!target)
      takeIdle();
    if (!target) {
      auto made = createTargetMachine(machine);
      if (!made)
        return made.takeError();
      target = std::move(*made);
    }
    result = target.get();
    return llvm::Error::success();
  }

private:
  using Idle = std::vector<std::pair<std::string, std::unique_ptr<llvm::TargetMachine>>>;
  static constexpr size_t kMostIdle = 8;
  static Idle &idle() {
    static Idle *list = new Idle; // compilations may outlive static destruction
    return *list;
  }
  void takeIdle() {
    std::lock_guard<std::mutex> lock(mutex);
    for (auto &[itsKey, machine] : idle())
      if (itsKey == key) {
        target = std::move(machine);
        std::swap(itsKey, idle().back().first);
        std::swap(machine, idle().back().second);
        return idle().pop_back();
      }
  }

  static std::mutex mutex;
  std::string key;
  const machine::Machine &machine;
  std::unique_ptr<llvm::TargetMachine> target;
};

std::mutex BorrowedTarget::mutex;

void prepare(llvm::Module &module, llvm::TargetMachine &target) {
  module.setTargetTriple(target.getTargetTriple().str());
  module.setDataLayout(target.createDataLayout());
  // All of a program is linked into one piece: no detour through tables.
  for (llvm::GlobalObject &object : module.global_objects())
    if (!object.getName().starts_with("llvm."))
      object.setDSOLocal(true);
}

llvm::Error verify(const llvm::Module &module) {
  std::string problem;
  llvm::raw_string_ostream os(problem);
  if (!llvm::verifyModule(module, &os))
    return llvm::Error::success();
  return makeError(ErrorCode::Internal, "invalid LLVM IR: " + problem);
}

void optimize(llvm::Module &module, llvm::TargetMachine &target) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&target);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);

  llvm::FunctionPassManager passes;
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()),
                                                       /*UseMemorySSA=*/true));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::DCEPass());
  llvm::ModulePassManager manager;
  manager.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  manager.run(module, modules);
}

/// Lets LLVM's fast selector take what it knows of functions that are frames of
/// others; the rest of them, and all of other functions, goes through the selection
/// DAG, which takes twice as long over addresses and branches.
class ChooseSelector : public llvm::FunctionPass {
public:
  explicit ChooseSelector(llvm::TargetMachine &target) : FunctionPass(ID), target(target) {}
  static char ID;

  llvm::StringRef getPassName() const override { return "Choose the instruction selector"; }
  bool runOnFunction(llvm::Function &function) override {
    target.setFastISel(function.hasFnAttribute(kFrameAttribute));
    return false;
  }
  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override { usage.setPreservesAll(); }

private:
  llvm::TargetMachine &target;
};
char ChooseSelector::ID = 0;

/// The code generator's passes without those that cost more than they give here.
/// Reducing the strength of addresses takes up to four fifths of the time, since
/// it weighs all ways to write each address against all others; the kernel level
/// and EmitMemory.cpp write addresses so that what a loop does not change stands
/// outside of it, and the rest fits x86's addressing modes. Kernels hold neither
/// freezes nor integers beyond 64 bits.
class CodePassManager : public llvm::legacy::PassManager {
public:
  explicit CodePassManager(llvm::TargetMachine &target) : target(target) {}
  void add(llvm::Pass *pass) override {
    static constexpr llvm::StringLiteral kLeftOut[] = {
        "Loop Strength Reduction", "Canonicalize Freeze Instructions in Loops",
        "Expand large div/rem", "Expand large fp convert"};
    if (llvm::is_contained(kLeftOut, pass->getPassName())) {
      delete pass;
      return;
    }
    if (pass->getPassName() == "X86 DAG->DAG Instruction Selection")
      llvm::legacy::PassManager::add(new ChooseSelector(target));
    llvm::legacy::PassManager::add(pass);
  }

private:
  llvm::TargetMachine &target;
};

llvm::Error generate(llvm::Module &module, llvm::TargetMachine &target, llvm::CodeGenFileType type,
                     llvm::SmallVectorImpl<char> &out) {
  llvm::raw_svector_ostream os(out);
  CodePassManager manager(target);
  if (target.addPassesToEmitFile(manager, os, nullptr, type, /*DisableVerify=*/true))
    return makeError(ErrorCode::Internal, "the code generator cannot write object code");
  manager.run(module);
  return llvm::Error::success();
}

llvm::Error emitOne(CodeModule &code, llvm::TargetMachine &target, const EmissionOptions &options,
                    EmittedCode &result) {
  double begin = threadMilliseconds();
  prepare(*code.module, target);
  if (llvm::Error error = verify(*code.module))
    return error;
  optimize(*code.module, target);
  result.optimizeMs = threadMilliseconds() - begin;
  if (options.wantIr) {
    llvm::raw_string_ostream os(result.ir);
    code.module->print(os, nullptr);
  }
  if (options.wantAssembly) {
    // Code generation changes the module: the text comes from a copy.
    std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*code.module);
    llvm::SmallVector<char> text;
    if (llvm::Error error = generate(*copy, target, llvm::CodeGenFileType::AssemblyFile, text))
      return error;
    result.assembly.assign(text.begin(), text.end());
  }
  begin = threadMilliseconds();
  llvm::SmallVector<char, 0> object;
  if (llvm::Error error = generate(*code.module, target, llvm::CodeGenFileType::ObjectFile, object))
    return error;
  result.object.assign(object.begin(), object.end());
  result.generateMs = threadMilliseconds() - begin;
  return llvm::Error::success();
}

/// So many instructions must wait before another thread is worth its start.
constexpr int64_t kWorthAThread = 400;

} // namespace

struct ObjectEmitter::State {
  State(const machine::Machine &machine, const EmissionOptions &options)
      : machine(machine), options(options) {}

  struct Job {
    int64_t cost;
    size_t number;
    bool operator<(const Job &other) const { return cost < other.cost; }
  };

  machine::Machine machine;
  EmissionOptions options;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Job> waiting; ///< a heap: the costliest first, so that none ends late
  int64_t waitingCost = 0;
  bool isComplete = false; ///< no more modules come
  std::deque<CodeModule> modules;
  std::deque<EmittedCode> results; ///< addresses stay while others are added
  std::vector<std::thread> helpers;
  llvm::Error all = llvm::Error::success();

  void work(bool waits);
};

/// Takes job after job; helpers wait for more until none will come.
void ObjectEmitter::State::work(bool waits) {
  BorrowedTarget borrowed(machine);
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    if (waits)
      changed.wait(lock, [&] { return isComplete || !waiting.empty(); });
    if (waiting.empty())
      return;
    std::pop_heap(waiting.begin(), waiting.end());
    Job job = waiting.back();
    waiting.pop_back();
    waitingCost -= job.cost;
    CodeModule code = std::move(modules[job.number]);
    EmittedCode &result = results[job.number];
    lock.unlock();
    llvm::TargetMachine *target = nullptr;
    llvm::Error error = borrowed.get(target);
    if (!error)
      error = emitOne(code, *target, options, result);
    lock.lock();
    if (error)
      all = llvm::joinErrors(std::move(all), std::move(error));
  }
}

ObjectEmitter::ObjectEmitter(const machine::Machine &machine, const EmissionOptions &options)
    : state(std::make_unique<State>(machine, options)) {}

ObjectEmitter::~ObjectEmitter() {
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    state->waiting.clear();
    state->isComplete = true;
  }
  state->changed.notify_all();
  for (std::thread &helper : state->helpers)
    helper.join();
  llvm::consumeError(std::move(state->all));
}

size_t ObjectEmitter::add(CodeModule code, int64_t cost) {
  std::unique_lock<std::mutex> lock(state->mutex);
  size_t number = state->modules.size();
  state->modules.push_back(std::move(code));
  state->results.emplace_back();
  state->waiting.push_back({cost, number});
  std::push_heap(state->waiting.begin(), state->waiting.end());
  state->waitingCost += cost;
  bool worthMore = state->waitingCost >= kWorthAThread;
  lock.unlock();
  state->changed.notify_one();
  // This thread works too, in the end; alone if the system gives it no others.
  if (worthMore && int64_t(state->helpers.size()) + 1 < state->options.threads)
    try {
      state->helpers.emplace_back([this] { state->work(/*waits=*/true); });
    } catch (const std::system_error &) {
    }
  return number;
}

llvm::Expected<std::vector<EmittedCode>> ObjectEmitter::finish() {
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    state->isComplete = true;
  }
  state->changed.notify_all();
  state->work(/*waits=*/false);
  for (std::thread &helper : state->helpers)
    helper.join();
  state->helpers.clear();
  if (llvm::Error error = std::move(state->all))
    return error;
  return std::vector<EmittedCode>(std::make_move_iterator(state->results.begin()),
                                  std::make_move_iterator(state->results.end()));
}
