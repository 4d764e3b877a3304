//===- KernelRun.cpp - runs one kernel on raw data -------------------------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes a StableHLO module whose @main is to be one fusion of a given kind,
// lowers it to one kernel, compiles that in process and runs it on the bytes of
// input files. No graph or schedule pass takes part, so that kernel forms are
// tested alone; tests/kernel/test_kernels.py drives it.
//
//   kernel-run FILE.mlir KIND ISA[+pairs] OUTPUT-PREFIX [INPUT.bin ...]
//
// Prints "tasks N ns T": the number of tasks and the best time of a few runs.
//
//===----------------------------------------------------------------------===//
#include "input/Dialects.h"
#include "input/StablehloOps.h"
#include "kernel/Lowering.h"
#include "kernel/Types.h"
#include "schedule/ScheduleDialect.h"
#include "target/cpu/EmitKernel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"

#include <ctime>

using namespace mlir;
using namespace spokeshave;

static void check(bool good, const llvm::Twine &message) {
  if (good)
    return;
  llvm::errs() << "kernel-run: " << message << "\n";
  exit(1);
}

/// Replaces the calls in @main by the bodies of their callees.
static void inlineCalls(ModuleOp module, func::FuncOp main) {
  while (!main.getOps<func::CallOp>().empty()) {
    func::CallOp call = *main.getOps<func::CallOp>().begin();
    auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
    check(bool(callee), "no callee");
    IRMapping mapping;
    mapping.map(callee.getArguments(), call.getOperands());
    OpBuilder builder(call);
    for (Operation &op : callee.front()) {
      if (op.hasTrait<OpTrait::IsTerminator>()) {
        for (auto [result, value] : llvm::zip_equal(call.getResults(), op.getOperands()))
          result.replaceAllUsesWith(mapping.lookupOrDefault(value));
        break;
      }
      builder.clone(op, mapping);
    }
    call.erase();
  }
}

/// Wraps the body of @main in schedule.kernel { graph.fusion }.
static schedule::KernelOp makeKernel(ModuleOp module, graph::FusionKind kind) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  check(bool(main), "no @main");
  inlineCalls(module, main);
  OpBuilder builder(module.getContext());
  builder.setInsertionPointToEnd(module.getBody());
  OperationState state(main.getLoc(), schedule::KernelOp::getOperationName());
  state.addAttribute("sym_name", builder.getStringAttr("kernel"));
  state.addRegion()->emplaceBlock();
  auto kernel = cast<schedule::KernelOp>(builder.create(state));
  Block &outer = kernel.getBody().front();
  for (Type type : main.getArgumentTypes())
    outer.addArgument(type, main.getLoc());
  builder.setInsertionPointToStart(&outer);
  auto fusion = builder.create<graph::FusionOp>(main.getLoc(), main.getResultTypes(),
                                                outer.getArguments(), kind, "test");
  Block &body = fusion.getBlock();
  for (auto [from, to] : llvm::zip_equal(main.getArguments(), body.getArguments()))
    from.replaceAllUsesWith(to);
  Operation *end = main.front().getTerminator();
  body.getOperations().splice(body.end(), main.front().getOperations(), main.front().begin(),
                              end->getIterator());
  builder.setInsertionPointToEnd(&body);
  builder.create<graph::YieldOp>(end->getLoc(), end->getOperands());
  main.erase();
  return kernel;
}

/// The passes that make straight code of what the emitter wrote.
static void optimize(llvm::Module &module) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder passes;
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(graphs);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, graphs, modules);
  llvm::ModulePassManager pipeline;
  check(!passes.parsePassPipeline(pipeline,
                                  "function(early-cse<memssa>,instcombine<no-verify-fixpoint>,"
                                  "loop-mssa(licm<allowspeculation>),early-cse,simplifycfg)"),
        "bad pipeline");
  pipeline.run(module, modules);
}

/// Of this thread on a processor: what else runs there does not count.
static int64_t threadNanoseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

int main(int argc, char **argv) {
  check(argc >= 5, "too few arguments");
  bool quiet = !getenv("KERNEL_RUN_DUMP");
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  DialectRegistry registry;
  registerInputDialects(registry);
  registry.insert<graph::GraphDialect, schedule::ScheduleDialect>();
  kernel::registerKernelDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto module = parseSourceFile<ModuleOp>(argv[1], &context);
  check(bool(module), "cannot parse");
  auto kind = graph::symbolizeFusionKind(argv[2]);
  check(kind.has_value(), "unknown kind");
  // "+pairs" forces products of bf16 pairs, which not every machine that can has
  // reason to use.
  llvm::StringRef isa(argv[3]);
  bool pairs = isa.consume_back("+pairs");
  auto machine = machine::describe(isa);
  check(bool(machine), "unknown machine");
  check(!pairs || machine->hasBf16, "no products of bf16 pairs");
  machine->hasFastBf16Dots |= pairs;

  makeKernel(*module, *kind);
  check(succeeded(kernel::lowerKernels(*module, *machine)), "cannot lower");
  if (!quiet)
    module->dump();
  check(succeeded(verify(*module)), "the kernel is not valid");
  auto function = *module->getOps<kernel::FuncOp>().begin();
  auto llvmContext = std::make_unique<llvm::LLVMContext>();
  auto llvmModule = std::make_unique<llvm::Module>("kernel", *llvmContext);
  auto jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
  llvmModule->setDataLayout(jit->getDataLayout());
  llvmModule->setTargetTriple(jit->getTargetTriple().str());
  check(succeeded(cpu::emitKernel(function, *llvmModule, *machine)), "cannot emit");
  check(!llvm::verifyModule(*llvmModule, &llvm::errs()), "LLVM IR is not valid");
  optimize(*llvmModule);
  if (!quiet)
    llvmModule->print(llvm::errs(), nullptr);

  int64_t tasks = function.getTasks(), inputs = function.getNumInputs();
  std::vector<std::vector<char>> data;
  std::vector<void *> buffers;
  std::vector<size_t> sizes;
  for (auto [i, buffer] : llvm::enumerate(function.getBuffers())) {
    auto type = cast<MemRefType>(buffer.getType());
    size_t bytes = type.getNumElements() * (type.getElementType().getIntOrFloatBitWidth() / 8);
    // Canaries on both sides of each buffer.
    data.emplace_back(bytes + 256, char(0xAB));
    char *start = data.back().data() + 64;
    start += (64 - reinterpret_cast<uintptr_t>(start) % 64) % 64;
    if (int64_t(i) < inputs) {
      check(int(i) + 5 < argc, "too few inputs");
      auto file = llvm::MemoryBuffer::getFile(argv[i + 5]);
      check(bool(file) && (*file)->getBufferSize() == bytes, "input has the wrong size");
      memcpy(start, (*file)->getBufferStart(), bytes);
    }
    // An update works in place: its first input and first result are one.
    if (*kind == graph::FusionKind::Update && int64_t(i) == inputs)
      start = static_cast<char *>(buffers[0]);
    buffers.push_back(start);
    sizes.push_back(bytes);
  }
  int32_t cancelWord = 0;
  buffers.push_back(&cancelWord); // for kernels that poll it
  int64_t scratchBytes = function.getScratchBytes();
  std::vector<char> scratch(scratchBytes + 128, char(0xCD));
  char *scratchStart = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64);

  llvm::cantFail(jit->addIRModule({std::move(llvmModule), std::move(llvmContext)}));
  auto symbol = jit->lookup("kernel");
  if (!symbol) {
    llvm::logAllUnhandledErrors(symbol.takeError(), llvm::errs());
    check(false, "unresolved symbols");
  }
  auto run = symbol->toPtr<void (*)(void *const *, int64_t, int64_t, void *)>();
  int64_t best = INT64_MAX;
  for (int i = 0; i < (getenv("KERNEL_RUN_TIME") ? 20 : 1); ++i) {
    int64_t start = threadNanoseconds();
    // Backwards and in two pieces: tasks must not depend on each other.
    run(buffers.data(), tasks / 2, tasks, scratchStart);
    run(buffers.data(), 0, tasks / 2, scratchStart);
    best = std::min(best, threadNanoseconds() - start);
  }
  for (auto [i, bytes] : llvm::enumerate(data)) {
    char *start = static_cast<char *>(buffers[i]);
    bool elsewhere = start < bytes.data() || start > bytes.data() + bytes.size();
    auto isCanary = [](char c) { return c == char(0xAB); };
    bool intact =
        elsewhere || (std::all_of(bytes.data(), start, isCanary) &&
                      std::all_of(start + sizes[i], bytes.data() + bytes.size(), isCanary));
    check(intact, "buffer " + llvm::Twine(i) + " was written out of bounds");
    if (int64_t(i) < inputs)
      continue;
    std::error_code error;
    llvm::raw_fd_ostream file(std::string(argv[4]) + std::to_string(i - inputs), error);
    file.write(start, sizes[i]);
  }
  llvm::outs() << "tasks " << tasks << " ns " << best << "\n";
  return 0;
}
