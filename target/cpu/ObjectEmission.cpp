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

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/DCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <atomic>
#include <mutex>
#include <thread>

using namespace spokeshave;
using namespace spokeshave::cpu;

CodeModule::CodeModule(llvm::StringRef name)
    : context(std::make_unique<llvm::LLVMContext>()),
      module(std::make_unique<llvm::Module>(name, *context)) {}
CodeModule::CodeModule(CodeModule &&) = default;
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

llvm::Error generate(llvm::Module &module, llvm::TargetMachine &target, llvm::CodeGenFileType type,
                     llvm::SmallVectorImpl<char> &out) {
  llvm::raw_svector_ostream os(out);
  llvm::legacy::PassManager manager;
  if (target.addPassesToEmitFile(manager, os, nullptr, type, /*DisableVerify=*/true))
    return makeError(ErrorCode::Internal, "the code generator cannot write object code");
  manager.run(module);
  return llvm::Error::success();
}

llvm::Error emitOne(CodeModule &code, const machine::Machine &machine,
                    const EmissionOptions &options, EmittedCode &result) {
  auto target = createTargetMachine(machine);
  if (!target)
    return target.takeError();
  prepare(*code.module, **target);
  if (llvm::Error error = verify(*code.module))
    return error;
  optimize(*code.module, **target);
  if (options.wantIr) {
    llvm::raw_string_ostream os(result.ir);
    code.module->print(os, nullptr);
  }
  if (options.wantAssembly) {
    // Code generation changes the module: the text comes from a copy.
    std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*code.module);
    llvm::SmallVector<char> text;
    if (llvm::Error error = generate(*copy, **target, llvm::CodeGenFileType::AssemblyFile, text))
      return error;
    result.assembly.assign(text.begin(), text.end());
  }
  llvm::SmallVector<char, 0> object;
  if (llvm::Error error =
          generate(*code.module, **target, llvm::CodeGenFileType::ObjectFile, object))
    return error;
  result.object.assign(object.begin(), object.end());
  return llvm::Error::success();
}

} // namespace

llvm::Expected<std::vector<EmittedCode>> cpu::emitObjects(llvm::MutableArrayRef<CodeModule> modules,
                                                          const machine::Machine &machine,
                                                          const EmissionOptions &options) {
  std::vector<EmittedCode> results(modules.size());
  std::atomic<size_t> next{0};
  std::mutex mutex;
  llvm::Error all = llvm::Error::success();
  auto work = [&] {
    for (size_t i = next++; i < modules.size(); i = next++)
      if (llvm::Error error = emitOne(modules[i], machine, options, results[i])) {
        std::lock_guard<std::mutex> lock(mutex);
        all = llvm::joinErrors(std::move(all), std::move(error));
      }
  };
  // The calling thread works too, alone if the system gives it no others.
  std::vector<std::thread> helpers;
  try {
    for (int64_t i = 1; i < std::min<int64_t>(options.threads, modules.size()); ++i)
      helpers.emplace_back(work);
  } catch (const std::system_error &) {
  }
  work();
  for (std::thread &helper : helpers)
    helper.join();
  if (all)
    return all;
  return results;
}
