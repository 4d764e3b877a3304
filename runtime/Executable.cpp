//===- Executable.cpp - a compiled program, loaded and ready to run --------===//
//
// Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/Executable.h"

#include "machine/Machine.h"
#include "runtime/FloatingPoint.h"
#include "runtime/Library.h"
#include "runtime/Loader.h"
#include "runtime/Memory.h"
#include "support/Error.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

namespace spokeshave::runtime {

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

bool machineSupportsIsa(llvm::StringRef isa) {
  using machine::Isa;
  for (Isa each : {Isa::X86_64, Isa::Avx2, Isa::Avx512, Isa::Amx})
    if (isa == machine::nameOf(each))
      return machine::canRun(each);
  return false;
}

namespace {
/// What happened so far in all executions, summed without a lock.
struct AtomicCounters {
  std::atomic<int64_t> executions{0}, libraryCalls{0}, customCalls{0}, parallelRegions{0},
      inlineRegions{0}, launches{0}, nanoseconds{0};
};
} // namespace

struct Executable::Impl {
  std::shared_ptr<const cpu::Program> program;
  std::unique_ptr<LoadedObject> object;
  cpu::DriverFunction driver = nullptr;
  std::vector<std::unique_ptr<PreparedCall>> calls;
  std::vector<void *> constants;
  ScopedMemory constantCopies; ///< of those that were not aligned
  AtomicCounters counters;

  llvm::Error loadCode();
  llvm::Error checkSpecs() const;
  llvm::Error placeConstants();
  llvm::Error prepareCalls(const CustomCallRegistry &registry);
  llvm::Error checkBuffers(const ExecuteArgs &args) const;
};

static llvm::Error mismatch(const llvm::Twine &message) {
  return makeError(ErrorCode::ExecutableMismatch, message);
}

llvm::Error Executable::Impl::loadCode() {
  if (!machineSupportsIsa(program->isa))
    return mismatch("the program was compiled for '" + program->isa +
                    "', which this machine does not have");
  std::vector<llvm::MemoryBufferRef> buffers;
  for (const cpu::Object &code : program->objects)
    buffers.emplace_back(llvm::StringRef(code->data(), code->size()), program->name);
  auto loaded = LoadedObject::load(buffers);
  if (!loaded)
    return loaded.takeError();
  object = std::move(*loaded);
  driver = reinterpret_cast<cpu::DriverFunction>(object->symbol(program->driverSymbol));
  if (!driver)
    return mismatch("the object code has no function '" + program->driverSymbol + "'");
  return llvm::Error::success();
}

llvm::Error Executable::Impl::checkSpecs() const {
  auto count = static_cast<int64_t>(program->arguments.size());
  std::vector<bool> taken(program->arguments.size());
  for (const cpu::ValueSpec &result : program->results) {
    if (result.alias < 0)
      continue;
    if (result.alias >= count || taken[result.alias] ||
        program->arguments[result.alias].byteSize != result.byteSize)
      return mismatch("a result of the program aliases an argument that cannot hold it");
    taken[result.alias] = true;
  }
  if (program->stats.arenaBytes < 0 || program->stats.scratchBytes < 0)
    return mismatch("the program asks for a negative amount of memory");
  return llvm::Error::success();
}

/// Generated code may rely on 64 bytes of alignment, which a std::vector does
/// not give.
llvm::Error Executable::Impl::placeConstants() {
  auto aligned = [](const std::vector<char> &data) {
    return reinterpret_cast<uintptr_t>(data.data()) % kAlignment == 0;
  };
  size_t bytes = 0;
  for (const std::vector<char> &data : program->constants)
    if (!aligned(data))
      bytes += llvm::alignTo(data.size(), kAlignment);
  llvm::Expected<ScopedMemory> memory = ScopedMemory::create(bytes);
  if (!memory)
    return memory.takeError();
  constantCopies = std::move(*memory);
  char *next = constantCopies.get();
  for (const std::vector<char> &data : program->constants) {
    if (aligned(data)) {
      constants.push_back(const_cast<char *>(data.data())); // code only reads it
      continue;
    }
    std::memcpy(next, data.data(), data.size());
    constants.push_back(next);
    next += llvm::alignTo(data.size(), kAlignment);
  }
  return llvm::Error::success();
}

llvm::Error Executable::Impl::prepareCalls(const CustomCallRegistry &registry) {
  for (const cpu::CallSpec &spec : program->calls) {
    auto call = spec.isLibrary ? prepareLibraryCall(spec) : prepareCustomCall(spec, registry);
    if (!call)
      return call.takeError();
    calls.push_back(std::move(*call));
  }
  return llvm::Error::success();
}

Executable::Executable(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Executable::~Executable() = default;

llvm::Expected<std::unique_ptr<Executable>>
Executable::create(std::shared_ptr<const cpu::Program> program,
                   const CustomCallRegistry &registry) {
  auto impl = std::make_unique<Impl>();
  impl->program = std::move(program);
  // Calls first: an unknown target is the user's error and says more.
  if (llvm::Error error = impl->prepareCalls(registry))
    return std::move(error);
  if (llvm::Error error = impl->checkSpecs())
    return std::move(error);
  if (llvm::Error error = impl->placeConstants())
    return std::move(error);
  if (llvm::Error error = impl->loadCode())
    return std::move(error);
  return std::unique_ptr<Executable>(new Executable(std::move(impl)));
}

const cpu::Program &Executable::program() const {
  return *impl->program;
}
int64_t Executable::codeBytes() const {
  return static_cast<int64_t>(impl->object->mappedBytes());
}
void *Executable::symbol(llvm::StringRef name) const {
  return impl->object->symbol(name);
}

ExecuteCounters Executable::counters() const {
  const AtomicCounters &all = impl->counters;
  ExecuteCounters result;
  result.executions = all.executions;
  result.libraryCalls = all.libraryCalls;
  result.customCalls = all.customCalls;
  result.parallelRegions = all.parallelRegions;
  result.inlineRegions = all.inlineRegions;
  result.launches = all.launches;
  result.nanoseconds = all.nanoseconds;
  return result;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

namespace {

/// What the driver returns; 0 is success. Generated code only passes it on.
enum Status : int32_t { kSuccess = 0, kCancelled = 1, kFailed = 2 };

/// One execution. RunContext::runtime points here.
struct Run {
  cpu::RunContext context;
  CallEnvironment environment;
  int maxThreads = 0;
  const std::vector<cpu::CallSpec> *specs = nullptr;
  const std::vector<std::unique_ptr<PreparedCall>> *calls = nullptr;
  ScopedMemory scratch; ///< of parallel regions: grows to the largest
  std::unique_ptr<Error> error;
  ExecuteCounters counters;

  int32_t fail(llvm::Error failure) {
    error = takeError(std::move(failure));
    return kFailed;
  }
  static Run &of(cpu::RunContext *context) { return *static_cast<Run *>(context->runtime); }
};

int32_t runParallel(cpu::RunContext *context, const cpu::Launch *launches, int64_t count) {
  Run &run = Run::of(context);
  ThreadPool &pool = *run.environment.pool;
  llvm::ArrayRef<cpu::Launch> list(launches, static_cast<size_t>(count));
  int threads = pool.threadsFor(list, run.maxThreads);
  // All threads' scratch is there before the first one starts.
  size_t bytes = static_cast<size_t>(ThreadPool::scratchStride(list)) * threads;
  if (bytes > run.scratch.size()) {
    llvm::Expected<ScopedMemory> larger = ScopedMemory::create(bytes);
    if (!larger)
      return run.fail(larger.takeError());
    run.scratch = std::move(*larger);
  }
  ++run.counters.parallelRegions;
  run.counters.inlineRegions += threads == 1;
  run.counters.launches += count;
  return pool.parallel({list, context->cancel, threads, run.scratch.get()}) ? kSuccess : kCancelled;
}

int32_t runCall(cpu::RunContext *context, int64_t index, void *const *buffers) {
  Run &run = Run::of(context);
  if (index < 0 || index >= static_cast<int64_t>(run.calls->size()))
    return run.fail(makeError(ErrorCode::Internal,
                              llvm::formatv("the program has no call number {0}", index).str()));
  if (context->cancel && *context->cancel)
    return kCancelled;
  ++((*run.specs)[index].isLibrary ? run.counters.libraryCalls : run.counters.customCalls);
  if (llvm::Error error = (*run.calls)[index]->run(buffers, run.environment))
    return run.fail(std::move(error));
  return context->cancel && *context->cancel ? kCancelled : kSuccess;
}

int32_t runCancelled(cpu::RunContext *) {
  return kCancelled;
}

const int32_t kNeverCancelled = 0;
/// Where empty buffers point.
alignas(64) char emptyBuffer[64];

/// The alignment that loads of an element rely on: its size, a complex
/// number's part, one byte for anything narrower.
size_t alignmentOf(llvm::StringRef type) {
  if (type.consume_front("complex<"))
    type = type.drop_back();
  unsigned bits;
  type = type.ltrim("uisbf");
  if (type.consumeInteger(10, bits))
    return 1;
  return std::clamp<size_t>(llvm::bit_floor(bits / 8), 1, 8);
}

llvm::Error checkBuffer(llvm::StringRef what, size_t index, const void *data, size_t bytes,
                        const cpu::ValueSpec &spec) {
  auto complain = [&](const llvm::Twine &why) {
    return makeError(ErrorCode::BadArgument, llvm::formatv("{0} {1} ", what, index).str() + why);
  };
  if (bytes != static_cast<size_t>(spec.byteSize))
    return complain(
        llvm::formatv("has {0} bytes, the program wants {1}", bytes, spec.byteSize).str());
  if (!data && bytes > 0)
    return complain("has no memory");
  if (reinterpret_cast<uintptr_t>(data) % alignmentOf(spec.elementType) != 0)
    return complain("is not aligned to its elements of type " + spec.elementType);
  return llvm::Error::success();
}

} // namespace

llvm::Error Executable::Impl::checkBuffers(const ExecuteArgs &args) const {
  const auto &arguments = program->arguments, &results = program->results;
  if (args.arguments.size() != arguments.size() || args.results.size() != results.size())
    return makeError(ErrorCode::BadArgument,
                     llvm::formatv("program '{0}' takes {1} arguments and gives {2} results, not "
                                   "{3} and {4}",
                                   program->name, arguments.size(), results.size(),
                                   args.arguments.size(), args.results.size())
                         .str());
  for (size_t i = 0; i < arguments.size(); ++i)
    if (llvm::Error error = checkBuffer("argument", i, args.arguments[i].data,
                                        args.arguments[i].bytes, arguments[i]))
      return error;
  for (size_t i = 0; i < results.size(); ++i) {
    if (llvm::Error error =
            checkBuffer("result", i, args.results[i].data, args.results[i].bytes, results[i]))
      return error;
    if (int64_t alias = results[i].alias; alias >= 0 && results[i].byteSize > 0 &&
                                          args.results[i].data == args.arguments[alias].data &&
                                          !args.arguments[alias].donated)
      return makeError(ErrorCode::BadArgument,
                       llvm::formatv("result {0} may not overwrite argument {1}, which is not "
                                     "donated",
                                     i, alias)
                           .str());
  }
  return llvm::Error::success();
}

static void addCounters(AtomicCounters &sum, const ExecuteCounters &one) {
  auto add = [](std::atomic<int64_t> &total, int64_t value) {
    total.fetch_add(value, std::memory_order_relaxed);
  };
  add(sum.executions, one.executions);
  add(sum.libraryCalls, one.libraryCalls);
  add(sum.customCalls, one.customCalls);
  add(sum.parallelRegions, one.parallelRegions);
  add(sum.inlineRegions, one.inlineRegions);
  add(sum.launches, one.launches);
  add(sum.nanoseconds, one.nanoseconds);
}

/// The base pointers that the driver gets. An aliased pair has one pointer, the
/// result's: where it is not the argument's own, the bytes move there first.
static void placeBuffers(const cpu::Program &program, const ExecuteArgs &args,
                         llvm::SmallVectorImpl<void *> &arguments,
                         llvm::SmallVectorImpl<void *> &results) {
  for (const ExecuteArgument &argument : args.arguments)
    arguments.push_back(argument.bytes ? argument.data : emptyBuffer);
  for (auto [spec, result] : llvm::zip(program.results, args.results)) {
    results.push_back(result.bytes ? result.data : emptyBuffer);
    if (spec.alias < 0)
      continue;
    if (arguments[spec.alias] != results.back())
      std::memcpy(results.back(), arguments[spec.alias], result.bytes);
    arguments[spec.alias] = results.back();
  }
}

static std::unique_ptr<Error> errorOf(int32_t status, Run &run) {
  if (status == kSuccess)
    return nullptr;
  if (run.error)
    return std::move(run.error);
  if (status == kCancelled)
    return std::make_unique<Error>(ErrorCode::Cancelled, "the execution was cancelled");
  return std::make_unique<Error>(
      ErrorCode::Internal, llvm::formatv("the program returned the unknown status {0}", status));
}

llvm::Error Executable::execute(const ExecuteArgs &args) const {
  if (llvm::Error error = impl->checkBuffers(args))
    return error;
  if (args.cancel && args.cancel->cancelled())
    return makeError(ErrorCode::Cancelled, "the execution was cancelled before it began");
  const cpu::Program &program = *impl->program;
  auto arenaBytes = llvm::alignTo(static_cast<uint64_t>(program.stats.arenaBytes), kAlignment);
  llvm::Expected<ScopedMemory> arena =
      ScopedMemory::create(arenaBytes + static_cast<size_t>(program.stats.scratchBytes));
  if (!arena)
    return arena.takeError();

  Run run;
  run.environment = {args.pool ? args.pool : &ThreadPool::global(),
                     args.cancel ? args.cancel->address() : &kNeverCancelled,
                     args.runId,
                     args.deviceOrdinal,
                     args.userData,
                     args.exchange,
                     args.device};
  run.maxThreads = args.maxThreads;
  run.specs = &program.calls;
  run.calls = &impl->calls;
  run.context = {
      cpu::kAbiVersion,       0,   run.environment.cancel, runParallel, runCall, runCancelled,
      impl->constants.data(), &run};
  llvm::SmallVector<void *, 16> arguments, results;
  placeBuffers(program, args, arguments, results);

  auto begin = std::chrono::steady_clock::now();
  int32_t status;
  {
    ScopedFloatingPoint modes;
    char *base = arena->get() ? arena->get() : emptyBuffer;
    status = impl->driver(&run.context, arguments.data(), results.data(), base, base + arenaBytes);
  }
  auto elapsed = std::chrono::steady_clock::now() - begin;
  run.counters.executions = 1;
  run.counters.nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count();
  addCounters(impl->counters, run.counters);
  if (args.counters)
    *args.counters = run.counters;
  if (std::unique_ptr<Error> error = errorOf(status, run))
    return llvm::Error(std::move(error));
  return llvm::Error::success();
}

} // namespace spokeshave::runtime
