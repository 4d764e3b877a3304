//===- TestProgram.cpp - programs made of hand-written LLVM IR -------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/test/TestProgram.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

#include <fstream>
#include <unistd.h>

namespace spokeshave::runtime::test {

std::vector<char> compileIr(llvm::StringRef ir) {
  static const bool once =
      (llvm::InitializeNativeTarget(), llvm::InitializeNativeTargetAsmPrinter(), true);
  (void)once;
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(ir, diagnostic, context);
  if (!module || llvm::verifyModule(*module, &llvm::errs())) {
    diagnostic.print("test", llvm::errs());
    throw std::runtime_error("the test's IR is wrong");
  }
  std::string triple = llvm::sys::getProcessTriple(), error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, "x86-64", "", {}, llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Default));
  module->setTargetTriple(triple);
  module->setDataLayout(machine->createDataLayout());
  llvm::SmallVector<char> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    throw std::runtime_error("no object files for this target");
  passes.run(*module);
  return {object.begin(), object.end()};
}

const char *const kScaleIr = R"(
%launch = type { ptr, ptr, i64, i64, i64 }
define internal void @kernel(ptr %buffers, i64 %begin, i64 %end, ptr %scratch) {
entry:
  %in = load ptr, ptr %buffers
  %p1 = getelementptr ptr, ptr %buffers, i64 1
  %constant = load ptr, ptr %p1
  %p2 = getelementptr ptr, ptr %buffers, i64 2
  %out = load ptr, ptr %p2
  %c = load float, ptr %constant
  store float %c, ptr %scratch
  %first = mul i64 %begin, 64
  %last = mul i64 %end, 64
  br label %loop
loop:
  %i = phi i64 [ %first, %entry ], [ %next, %loop ]
  %pi = getelementptr float, ptr %in, i64 %i
  %x = load float, ptr %pi
  %y = fmul float %x, 2.0
  %d = load float, ptr %scratch
  %z = fadd float %y, %d
  %po = getelementptr float, ptr %out, i64 %i
  store float %z, ptr %po
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %last
  br i1 %more, label %loop, label %done
done:
  ret void
}
define i32 @driver(ptr %context, ptr %arguments, ptr %results, ptr %arena, ptr %scratch) {
  %in = load ptr, ptr %arguments
  %out = load ptr, ptr %results
  %pconstants = getelementptr i8, ptr %context, i64 40
  %constants = load ptr, ptr %pconstants
  %constant = load ptr, ptr %constants
  store ptr %in, ptr %arena
  %a1 = getelementptr ptr, ptr %arena, i64 1
  store ptr %constant, ptr %a1
  %a2 = getelementptr ptr, ptr %arena, i64 2
  store ptr %out, ptr %a2
  %l = alloca %launch
  store ptr @kernel, ptr %l
  %l1 = getelementptr %launch, ptr %l, i64 0, i32 1
  store ptr %arena, ptr %l1
  %l2 = getelementptr %launch, ptr %l, i64 0, i32 2
  store i64 16, ptr %l2
  %l3 = getelementptr %launch, ptr %l, i64 0, i32 3
  store i64 5000, ptr %l3
  %l4 = getelementptr %launch, ptr %l, i64 0, i32 4
  store i64 128, ptr %l4
  %pparallel = getelementptr i8, ptr %context, i64 16
  %parallel = load ptr, ptr %pparallel
  %status = call i32 %parallel(ptr %context, ptr %l, i64 1)
  ret i32 %status
}
)";

cpu::Object objectOf(std::vector<char> bytes) {
  return std::make_shared<const std::vector<char>>(std::move(bytes));
}

static int64_t product(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

cpu::ValueSpec values(std::string elementType, std::vector<int64_t> shape, int64_t elementBytes) {
  return {std::move(elementType), shape, product(shape) * elementBytes, -1};
}

cpu::ValueSpec floats(std::vector<int64_t> shape, int64_t alias) {
  return {"f32", shape, product(shape) * 4, alias};
}

std::unique_ptr<cpu::Program> scaleProgram() {
  auto program = std::make_unique<cpu::Program>();
  program->name = "scale";
  program->isa = "x86-64";
  program->driverSymbol = "driver";
  program->objects = {objectOf(compileIr(kScaleIr))};
  float constant = 3;
  program->constants.emplace_back(sizeof constant);
  memcpy(program->constants[0].data(), &constant, sizeof constant);
  program->arguments = {floats({1024})};
  program->results = {floats({1024})};
  program->stats.arenaBytes = 24;
  program->stats.flops = 2048;
  program->stats.kernels.push_back({"kernel", "scale", "loop", "here:1", 1, 16, 2048, 8192, 2});
  return program;
}

std::unique_ptr<cpu::Program> callProgram(cpu::CallSpec call) {
  std::string ir = R"(
define i32 @driver(ptr %context, ptr %arguments, ptr %results, ptr %arena, ptr %scratch) {
)";
  size_t inputs = call.inputs.size(), outputs = call.outputs.size();
  for (size_t i = 0; i < inputs + outputs; ++i) {
    std::string n = std::to_string(i), j = std::to_string(i < inputs ? i : i - inputs);
    std::string from = i < inputs ? "%arguments" : "%results";
    ir += "  %p" + n + " = getelementptr ptr, ptr " + from + ", i64 " + j + "\n  %v" + n +
          " = load ptr, ptr %p" + n + "\n  %q" + n + " = getelementptr ptr, ptr %arena, i64 " + n +
          "\n  store ptr %v" + n + ", ptr %q" + n + "\n";
  }
  ir += R"(
  %pcall = getelementptr i8, ptr %context, i64 24
  %call = load ptr, ptr %pcall
  %status = call i32 %call(ptr %context, i64 0, ptr %arena)
  ret i32 %status
}
)";
  auto program = std::make_unique<cpu::Program>();
  program->name = "call";
  program->isa = "x86-64";
  program->driverSymbol = "driver";
  program->objects = {objectOf(compileIr(ir))};
  program->arguments = call.inputs;
  program->results = call.outputs;
  program->stats.arenaBytes = 8 * static_cast<int64_t>(inputs + outputs);
  program->calls.push_back(std::move(call));
  return program;
}

int64_t residentBytes() {
  std::ifstream file("/proc/self/statm");
  int64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

} // namespace spokeshave::runtime::test
