//===- KernelCompiler.h - the kernels of a program to objects --------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "graph/FusionKey.h"
#include "schedule/ScheduleDialect.h"
#include "target/cpu/Compile.h"
#include "target/cpu/EmitKernel.h"
#include "target/cpu/KernelCache.h"
#include "target/cpu/ObjectEmission.h"

namespace spokeshave::cpu {

/// Lowers kernels, emits them, and gives them to LLVM while the next are lowered.
/// Few small functions share an object, a large one has its own, so that programs
/// can share them: an equal kernel that was compiled before costs neither lowering
/// nor code generation. The tiles of matrix products, and loops that stand in several
/// kernels, are functions that kernels call, and are shared alike.
class KernelCompiler {
public:
  /// `shares`: use and fill the process's cache. `isOne`: all code goes into one
  /// module, to be looked at.
  KernelCompiler(const machine::Machine &machine, const EmissionOptions &emission, bool shares,
                 bool isOne);

  /// Replaces `op` by a kernel.func with what launches must know; with a body if
  /// it had to be compiled. `info` gets its numbers.
  mlir::FailureOr<kernel::FuncOp> lower(schedule::KernelOp op, KernelInfo &info);
  /// Finds the loops that stand in several of the kernels.
  void shareLoops(llvm::ArrayRef<kernel::FuncOp> kernels);
  /// Emits `kernel` if it has a body.
  mlir::LogicalResult emit(kernel::FuncOp kernel, KernelInfo &info);
  /// The module for the driver: the last to be filled before finish().
  llvm::Module &driverModule();

  /// Waits for LLVM. Fills the objects of `program` and the rest of its numbers.
  llvm::Error finish(Program &program);
  /// The text of all code, if the emission options want it.
  std::string ir, assembly;
  double optimizeMs = 0, generateMs = 0; ///< LLVM's processor time

private:
  /// Code that the program needs, in the order in which it is to be linked.
  struct Unit {
    std::string key;
    std::shared_ptr<const KernelCode> code;
    bool isMade = false; ///< in the module `module`; else from the cache
    size_t module = 0;
    KernelInfo *info = nullptr; ///< of a kernel that is made
  };
  std::string keyOf(llvm::StringRef content) const;
  std::string newSymbol(llvm::StringRef name, llvm::StringRef key);
  void addUnit(Unit unit);
  void shareCode(llvm::ArrayRef<EmittedCode> emitted);
  void collectObjects(Program &program);
  llvm::Module &openModule();
  void closeModule();
  void addCompiled(std::string key, std::shared_ptr<KernelCode> code, KernelInfo *info);
  mlir::LogicalResult addCallees(const Callees &callees);
  mlir::LogicalResult
  addCallee(llvm::StringRef symbol, llvm::StringRef content,
            llvm::function_ref<mlir::LogicalResult(llvm::Module &, Callees &)> emit);
  std::shared_ptr<const KernelCode> findShared(llvm::StringRef key) const;

  machine::Machine machine;
  EmissionOptions emission;
  bool shares, isOne;
  std::string machineKey;
  graph::FusionKeyWriter keys;
  ObjectEmitter emitter;
  std::optional<CodeModule> driver; ///< or everything
  std::optional<CodeModule> open;   ///< takes functions until it is full
  int64_t openInstructions = 0;
  /// What becomes of the modules given to the emitter, then of the open one.
  std::vector<std::shared_ptr<LinkedObject>> places;
  std::vector<Unit> units;
  llvm::StringMap<size_t> unitOf; ///< by symbol
  LoopFunctions sharedLoops;
  llvm::StringMap<std::string> contentOfLoop; ///< by symbol
  llvm::StringMap<std::string> keyOfKernel;   ///< by the kernel.func's name
};

} // namespace spokeshave::cpu
