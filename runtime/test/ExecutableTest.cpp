//===- ExecutableTest.cpp - loading and running programs -----------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/test/TestProgram.h"

#include "runtime/Memory.h"

#include <numeric>
#include <thread>

namespace spokeshave::runtime::test {
namespace {

std::unique_ptr<Executable> load(std::unique_ptr<cpu::Program> program) {
  return get(Executable::create(std::move(program)));
}

std::unique_ptr<cpu::Program> withIr(const char *ir) {
  auto program = scaleProgram();
  program->objects = {objectOf(compileIr(ir))};
  return program;
}

/// Runs kScaleIr's program and checks its result.
void runScale(const Executable &executable, ThreadPool *pool = nullptr) {
  std::vector<float> in(1024), out(1024);
  std::iota(in.begin(), in.end(), 0.0f);
  ExecuteCounters counters;
  ExecuteArgument arguments[] = {argument(in)};
  ExecuteResult results[] = {result(out)};
  ExecuteArgs args;
  args.arguments = arguments;
  args.results = results;
  args.pool = pool;
  args.counters = &counters;
  ASSERT_EQ(messageOf(executable.execute(args)), "");
  for (int i = 0; i < 1024; ++i)
    ASSERT_EQ(out[i], 2.0f * float(i) + 3.0f);
  EXPECT_EQ(counters.parallelRegions, 1);
  EXPECT_EQ(counters.launches, 1);
  EXPECT_EQ(counters.libraryCalls, 0);
}

TEST(Executable, RunsAParallelProgram) {
  auto executable = load(scaleProgram());
  ThreadPool one(1), four(4);
  runScale(*executable, &one);
  runScale(*executable, &four);
  runScale(*executable);
  EXPECT_EQ(executable->counters().executions, 3);
  EXPECT_GT(executable->codeBytes(), 0);
  EXPECT_NE(executable->symbol("driver"), nullptr);
  EXPECT_EQ(executable->symbol("nothing"), nullptr);
}

TEST(Executable, LinksSeveralObjects) {
  // The driver calls a function of the first object through two others, and reads
  // a constant of the second.
  auto program = callProgram({});
  program->calls.clear();
  program->objects = {
      objectOf(compileIr("define i32 @three() {\n  ret i32 3\n}\n")),
      objectOf(compileIr("@four = constant i32 4\n"
                         "declare i32 @three()\n"
                         "define i32 @twice() {\n"
                         "  %a = call i32 @three()\n  %b = call i32 @three()\n"
                         "  %c = add i32 %a, %b\n  ret i32 %c\n}\n")),
      objectOf(compileIr("@four = external constant i32\n"
                         "declare i32 @twice()\n"
                         "define i32 @driver(ptr %0, ptr %1, ptr %2, ptr %3, ptr %4) {\n"
                         "  %a = call i32 @twice()\n  %b = load i32, ptr @four\n"
                         "  %c = add i32 %a, %b\n  %d = sub i32 %c, 10\n  ret i32 %d\n}\n"))};
  auto executable = load(std::move(program));
  EXPECT_FALSE(executable->execute({}));
  EXPECT_NE(executable->symbol("three"), nullptr);
}

TEST(Executable, RunsOnManyThreadsAtOnce) {
  auto executable = load(scaleProgram());
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 50; ++j)
        runScale(*executable);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(executable->counters().executions, 300);
}

TEST(Executable, AliasedResults) {
  auto program = scaleProgram();
  program->results = {floats({1024}, 0)};
  auto executable = load(std::move(program));
  std::vector<float> in(1024, 1.0f), out(1024);
  auto run = [&](bool donated, void *target) {
    ExecuteArgument arguments[] = {argument(in, donated)};
    ExecuteResult results[] = {{target, 4096}};
    ExecuteArgs args;
    args.arguments = arguments;
    args.results = results;
    return codeOf(executable->execute(args));
  };
  // Not donated: the argument survives, in whatever way the program works.
  EXPECT_EQ(run(false, out.data()), std::nullopt);
  EXPECT_EQ(in[7], 1.0f);
  EXPECT_EQ(out[7], 5.0f);
  EXPECT_EQ(run(false, in.data()), ErrorCode::BadArgument);
  // Donated: in place.
  EXPECT_EQ(run(true, in.data()), std::nullopt);
  EXPECT_EQ(in[7], 5.0f);
}

TEST(Executable, BadArguments) {
  auto executable = load(scaleProgram());
  std::vector<float> data(1025);
  auto run = [&](std::vector<ExecuteArgument> arguments, std::vector<ExecuteResult> results) {
    ExecuteArgs args;
    args.arguments = arguments;
    args.results = results;
    return codeOf(executable->execute(args));
  };
  std::vector<float> out(1024);
  EXPECT_EQ(run({}, {result(out)}), ErrorCode::BadArgument);
  EXPECT_EQ(run({{data.data(), 4100}}, {result(out)}), ErrorCode::BadArgument);
  EXPECT_EQ(run({{nullptr, 4096}}, {result(out)}), ErrorCode::BadArgument);
  EXPECT_EQ(run({{reinterpret_cast<char *>(data.data()) + 1, 4096}}, {result(out)}),
            ErrorCode::BadArgument);
  EXPECT_EQ(run({{data.data(), 4096}}, {}), ErrorCode::BadArgument);
  EXPECT_EQ(run({{data.data(), 4096}}, {{out.data(), 4}}), ErrorCode::BadArgument);
}

TEST(Executable, CancelStopsALoop) {
  auto program = withIr(R"(
define i32 @driver(ptr %context, ptr %a, ptr %r, ptr %arena, ptr %scratch) {
entry:
  %pcancel = getelementptr i8, ptr %context, i64 8
  %cancel = load ptr, ptr %pcancel
  br label %loop
loop:
  %word = load volatile i32, ptr %cancel
  %stop = icmp ne i32 %word, 0
  br i1 %stop, label %leave, label %loop
leave:
  %pcancelled = getelementptr i8, ptr %context, i64 32
  %cancelled = load ptr, ptr %pcancelled
  %status = call i32 %cancelled(ptr %context)
  ret i32 %status
}
)");
  program->arguments.clear();
  program->results.clear();
  auto executable = load(std::move(program));
  CancelToken token;
  ExecuteArgs args;
  args.cancel = &token;
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    token.cancel();
  });
  EXPECT_EQ(codeOf(executable->execute(args)), ErrorCode::Cancelled);
  canceller.join();
  // Still cancelled: does not even begin.
  EXPECT_EQ(codeOf(executable->execute(args)), ErrorCode::Cancelled);
}

TEST(Executable, CancelStopsAParallelRegion) {
  auto executable = load(scaleProgram());
  CancelToken token;
  ThreadPool pool(2);
  std::atomic<int> ran{0};
  cpu::KernelFunction kernel = [](void *const *buffers, int64_t, int64_t, void *) {
    ++*static_cast<std::atomic<int> *>(buffers[0]);
    static_cast<CancelToken *>(buffers[1])->cancel();
  };
  void *buffers[] = {&ran, &token};
  cpu::Launch launch{kernel, buffers, 1000, 10000, 0};
  EXPECT_EQ(codeOf(pool.parallel(launch, token.address())), ErrorCode::Cancelled);
  EXPECT_LT(ran, 10);
}

TEST(Executable, ForeignObjects) {
  auto code = [](std::unique_ptr<cpu::Program> program) {
    return codeOf(Executable::create(std::move(program)));
  };
  auto program = scaleProgram();
  program->objects = {objectOf(std::vector<char>(1000, 'x'))};
  EXPECT_EQ(code(std::move(program)), ErrorCode::ExecutableMismatch);
  program = scaleProgram();
  program->objects.clear();
  EXPECT_EQ(code(std::move(program)), ErrorCode::ExecutableMismatch);
  program = scaleProgram();
  program->driverSymbol = "missing";
  EXPECT_EQ(code(std::move(program)), ErrorCode::ExecutableMismatch);
  program = scaleProgram();
  program->isa = "vax";
  EXPECT_EQ(code(std::move(program)), ErrorCode::ExecutableMismatch);
  program = scaleProgram();
  program->results[0].alias = 5;
  EXPECT_EQ(code(std::move(program)), ErrorCode::ExecutableMismatch);
}

const char *const kExternIr = R"(
declare double @NAME(double)
define i32 @driver(ptr %context, ptr %a, ptr %r, ptr %arena, ptr %scratch) {
  %in = load ptr, ptr %a
  %out = load ptr, ptr %r
  %x = load double, ptr %in
  %y = call double @NAME(double %x)
  store double %y, ptr %out
  ret i32 0
}
)";

std::unique_ptr<cpu::Program> externProgram(const std::string &name) {
  std::string ir = kExternIr;
  for (size_t at; (at = ir.find("NAME")) != std::string::npos;)
    ir.replace(at, 4, name);
  auto program = withIr(ir.c_str());
  program->arguments = {values("f64", {1}, 8)};
  program->results = {values("f64", {1}, 8)};
  return program;
}

TEST(Executable, OnlyAllowedSymbols) {
  for (const char *name : {"system", "malloc", "dlopen", "sinl", "no_such_function"}) {
    auto executable = Executable::create(externProgram(name));
    ASSERT_FALSE(executable) << name;
    EXPECT_NE(messageOf(executable.takeError()).find(name), std::string::npos);
  }
  auto executable = load(externProgram("expm1"));
  std::vector<double> in = {0.5}, out = {0};
  ExecuteArgument arguments[] = {argument(in)};
  ExecuteResult results[] = {result(out)};
  ExecuteArgs args;
  args.arguments = arguments;
  args.results = results;
  EXPECT_EQ(messageOf(executable->execute(args)), "");
  EXPECT_EQ(out[0], std::expm1(0.5));
}

TEST(Executable, DenormalsAreKept) {
  // x * 0.5 of a denormal, while the caller has switched denormals off.
  auto program = withIr(R"(
define i32 @driver(ptr %context, ptr %a, ptr %r, ptr %arena, ptr %scratch) {
  %in = load ptr, ptr %a
  %out = load ptr, ptr %r
  %x = load float, ptr %in
  %y = fmul float %x, 0.5
  store float %y, ptr %out
  ret i32 0
}
)");
  program->arguments = program->results = {floats({1})};
  auto executable = load(std::move(program));
  std::vector<float> in = {1e-38f}, out = {0};
  ExecuteArgument arguments[] = {argument(in)};
  ExecuteResult results[] = {result(out)};
  ExecuteArgs args;
  args.arguments = arguments;
  args.results = results;
  unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before | 0x8040);
  std::optional<ErrorCode> code = codeOf(executable->execute(args));
  unsigned after = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before);
  EXPECT_EQ(code, std::nullopt);
  EXPECT_NE(out[0], 0.0f);
  EXPECT_EQ(after & 0x8040, 0x8040u);
}

TEST(Executable, OutOfMemoryIsAnError) {
  auto program = scaleProgram();
  program->stats.arenaBytes = int64_t(1) << 50;
  auto executable = load(std::move(program));
  std::vector<float> in(1024), out(1024);
  ExecuteArgument arguments[] = {argument(in)};
  ExecuteResult results[] = {result(out)};
  ExecuteArgs args;
  args.arguments = arguments;
  args.results = results;
  EXPECT_EQ(codeOf(executable->execute(args)), ErrorCode::OutOfMemory);
}

TEST(Executable, UnknownStatusIsInternal) {
  auto program =
      withIr("define i32 @driver(ptr %c, ptr %a, ptr %r, ptr %t, ptr %s) { ret i32 77 }");
  program->arguments.clear();
  program->results.clear();
  EXPECT_EQ(codeOf(load(std::move(program))->execute({})), ErrorCode::Internal);
}

TEST(Executable, MemoryIsFlatOverTenThousandLoads) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  GTEST_SKIP() << "the sanitizer keeps freed memory on purpose";
#endif
#endif
  std::shared_ptr<const cpu::Program> program = scaleProgram();
  auto once = [&] { runScale(*get(Executable::create(program))); };
  for (int i = 0; i < 500; ++i)
    once();
  int64_t before = residentBytes();
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 10000; ++i)
    once();
  std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - begin;
  RecordProperty("microseconds_per_load", static_cast<int>(elapsed.count() / 10));
  EXPECT_LT(residentBytes() - before, 4 << 20);
}

} // namespace
} // namespace spokeshave::runtime::test
